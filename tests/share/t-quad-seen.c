/* What the parties of Quad take and compare: messages are uniform, and errors are seen in every
 * case. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "share/quad.h"
#include "tests/share/gates.h"
#include "tests/share/quiet.h"

enum {
    P0,
    P1,
    P2,
    P3,
    SETS = QUIET_SETS,
    FEW = 1024,    /* numbers that errors are tried on */
    MANY = 1 << 13 /* of one tile, whose messages are counted */
};

static size_t element(const gate *g)
{
    return dpi_ring_bytes(g->kind == GATE_TO_BITS ? DPI_RING_BITS : g->ring);
}

static bool of_bits(const gate *g)
{
    return g->kind == GATE_TO_BITS || g->ring == DPI_RING_BITS;
}

static uint64_t get(const gate *g, const unsigned char *bytes, size_t i)
{
    uint64_t v = 0;
    memcpy(&v, bytes + i * element(g), element(g));
    return v;
}

/* ---- all gates ---- */

enum { GATES = 24 };

static size_t all_gates(size_t n, gate all[GATES])
{
    static const dpi_ring rings[] = {DPI_RING_64, DPI_RING_32};
    size_t count = 0, rows = n / 64;
    all[count++] = (gate){.name = "AND", .kind = GATE_MULTIPLY, .ring = DPI_RING_BITS, .n = n};
    for (size_t r = 0; r < 2; r++) {
        const dpi_ring ring = rings[r];
        const gate layer = {.name = "linear",
                            .kind = GATE_LINEAR,
                            .ring = ring,
                            .n = rows * 64,
                            .layer = {rows, 64, 1, 1, 1, NULL}};
        gate planes = {.name = "to_bits", .kind = GATE_TO_BITS, .ring = ring, .n_planes = 32};
        planes.n = 2 * n;
        for (int k = 0; k < 32; k++)
            planes.plane[k] = k;
        all[count++] = (gate){.name = "multiply", .kind = GATE_MULTIPLY, .ring = ring, .n = n};
        all[count++] = layer;
        all[count] = layer;
        all[count].name = "linear with a shift";
        all[count++].shift = 7;
        all[count++] = planes;
        all[count++] =
            (gate){.name = "halves", .kind = GATE_HALVES, .ring = ring, .n = n, .shift = 9};
        all[count++] =
            (gate){.name = "from_bits", .kind = GATE_FROM_BITS, .ring = ring, .n = n, .bits = 1};
        all[count++] = (gate){
            .name = "from_bits of three", .kind = GATE_FROM_BITS, .ring = ring, .n = n, .bits = 3};
        all[count++] = (gate){.name = "inject", .kind = GATE_INJECT, .ring = ring, .n = n};
    }
    assert_true(count <= GATES);
    return count;
}

static quiet_run play(gate_numbers *u, uint64_t seed)
{
    quiet_run q = {.row = &dpi_quad, .body = gate_body, .user = u, .seed = seed};
    quiet_play(&q);
    gate_drop(u);
    return q;
}

/* ---- errors ---- */

/* A cheating role's errors: in a message, all numbers of one of the arrays that it is made of; or
 * in all messages of the role. */
typedef struct lie {
    const gate *g;
    size_t numbers; /* of an array */
    size_t from, to, array;
    bool everywhere, negative_to_p0;
    uint64_t error; /* XOR of bits; of numbers added */
} lie;

static void tell_lie(void *of, const scene_message *m)
{
    const lie *l = of;
    size_t bytes = element(l->g);
    if (m->from != l->from || (!l->everywhere && m->to != l->to))
        return;
    for (size_t i = 0; i < m->n / bytes; i++) {
        if (!l->everywhere && i / l->numbers != l->array)
            continue;
        uint64_t v = get(l->g, m->bytes, i);
        uint64_t by = l->negative_to_p0 && m->to == P0 ? 0 - l->error : l->error;
        v = of_bits(l->g) ? v ^ l->error : v + by;
        memcpy(m->bytes + i * bytes, &v, bytes);
    }
}

/* What two honest roles have seen differently of each number in a set. */
static void add_differences(const lie *l, const gate_numbers *u, const quiet_run *q, size_t a,
                            size_t b, size_t set, uint64_t *seen)
{
    const quiet_bytes *va = &q->view[a][set], *vb = &q->view[b][set];
    const gate *g = l->g;
    bool three = set == 7 || set == 11 || set == 13 || set == 14; /* see components first */
    size_t bytes = element(g), given = (u->n_x + u->n_y + u->n_bias) * dpi_ring_bytes(g->ring) +
                                       u->n_bit * sizeof(uint64_t);
    size_t begin = three ? given : 0;
    if ((set >> a & set >> b & 1) == 0)
        return;
    assert_int_equal(va->n, vb->n);
    assert_true(va->n >= begin);
    for (size_t i = 0; i < (va->n - begin) / bytes; i++)
        seen[i % l->numbers] |= get(g, va->bytes + begin, i) ^ get(g, vb->bytes + begin, i);
}

static bool is_seen(const lie *l, gate_numbers *u)
{
    quiet_run q = {.row = &dpi_quad,
                   .body = gate_body,
                   .user = u,
                   .seed = 5,
                   .tamper = tell_lie,
                   .of = (void *)(uintptr_t)l};
    uint64_t *seen = calloc(l->numbers, sizeof *seen);
    bool all = true;
    assert_non_null(seen);
    quiet_play(&q);
    gate_drop(u);
    for (size_t a = P0; a <= P3; a++)
        for (size_t b = a + 1; b <= P3; b++)
            for (size_t set = 0; a != l->from && b != l->from && set < SETS; set++)
                add_differences(l, u, &q, a, b, set, seen);
    for (size_t i = 0; i < l->numbers; i++)
        all = all && (of_bits(l->g) ? (seen[i] & l->error) == l->error : seen[i] != 0);
    quiet_forget(&q);
    free(seen);
    return all;
}

/* The lowest bit, the highest, both, and others. */
static size_t errors_of(const gate *g, uint64_t error[8])
{
    uint64_t top = UINT64_C(1) << (8 * element(g) - 1), state = 3;
    const uint64_t some[] = {1, top, top + 1, top >> 1, 2, top + 2};
    memcpy(error, some, sizeof some);
    error[6] = UINT64_MAX;
    error[7] = gate_next(&state);
    return 8;
}

static void try_lies(const gate *g, gate_numbers *u, const quiet_run *honest, size_t from)
{
    uint64_t error[8];
    size_t n_errors = errors_of(g, error);
    for (size_t e = 0; e < n_errors; e++) {
        lie l = {.g = g, .numbers = u->n_z, .from = from, .error = error[e]};
        for (l.to = P0; l.to <= P3; l.to++) {
            size_t n = honest->n_messages[from][l.to];
            size_t arrays = n == 0 ? 0 : honest->message[from][l.to][0].n / element(g) / u->n_z;
            assert_true(n <= 1);
            for (l.array = 0; l.array < arrays; l.array++)
                if (!is_seen(&l, u))
                    fail_msg("%s of ring %d: an error %llx of P%zu to P%zu is not seen", g->name,
                             (int)g->ring, (unsigned long long)l.error, from, l.to);
        }
        for (int negative = 0; negative < 2; negative++) {
            l = (lie){.g = g,
                      .numbers = u->n_z,
                      .from = from,
                      .error = error[e],
                      .everywhere = true,
                      .negative_to_p0 = negative > 0};
            if (honest->n_messages[from][P0] + honest->n_messages[from][P1] +
                    honest->n_messages[from][P2] >
                0)
                assert_true(is_seen(&l, u));
        }
    }
}

static void every_error_is_seen_whatever_the_numbers_are(void **state)
{
    gate gates[GATES];
    size_t n = all_gates(FEW, gates), messages = 0;
    (void)state;
    for (size_t k = 0; k < n; k++) {
        gate_numbers u = gate_numbers_of(&gates[k], k + 1);
        quiet_run honest = play(&u, 5);
        for (size_t from = P0; from <= P3; from++) {
            for (size_t to = P0; to <= P3; to++)
                messages += honest.n_messages[from][to];
            try_lies(&gates[k], &u, &honest, from);
        }
        quiet_forget(&honest);
        gate_numbers_free(&u);
    }
    print_message("# %zu kinds of messages\n", messages);
}

/* Honest parties see the same. */
static void honest_parties_see_the_same(void **state)
{
    gate gates[GATES];
    size_t n = all_gates(FEW, gates);
    (void)state;
    for (size_t k = 0; k < n; k++) {
        gate_numbers u = gate_numbers_of(&gates[k], k + 1);
        quiet_run q = play(&u, 6);
        for (size_t set = 0; set < SETS; set++)
            for (size_t a = P0; a <= P3; a++)
                for (size_t b = a + 1; b <= P3; b++) {
                    if ((set >> a & set >> b & 1) == 0)
                        continue;
                    assert_int_equal(q.view[a][set].n, q.view[b][set].n);
                    if (q.view[a][set].n > 0)
                        assert_memory_equal(q.view[a][set].bytes, q.view[b][set].bytes,
                                            q.view[a][set].n);
                }
        quiet_forget(&q);
        gate_numbers_free(&u);
    }
}

/* ---- what is taken ---- */

/* A byte of numbers that should be uniform.  Chi-square has 255 degrees of freedom; by Laurent and
 * Massart it is over 600 with a probability of e^-55 at most, and bins of 32 numbers add little to
 * that.  How often its lowest and its highest bit are set is off by 9 standard deviations with
 * 2 e^-40 by Hoeffding's inequality.  Of 10^6 bytes: 1e-11. */
static void assert_uniform(const gate *g, size_t n, const uint64_t *v, int shift, const char *what)
{
    double bins[256] = {0}, expected = (double)n / 256, sum = 0, low = 0, high = 0;
    double most = 4.5 * sqrt((double)n);
    for (size_t i = 0; i < n; i++)
        bins[v[i] >> shift & 255]++;
    for (size_t k = 0; k < 256; k++) {
        sum += (bins[k] - expected) * (bins[k] - expected) / expected;
        low += k % 2 == 0 ? 0 : bins[k];
        high += k < 128 ? 0 : bins[k];
    }
    if (sum > 600 || fabs(low - (double)n / 2) > most || fabs(high - (double)n / 2) > most)
        fail_msg("%s of ring %d, %s: chi-square %.0f of 255, %.0f and %.0f bits of %zu", g->name,
                 (int)g->ring, what, sum, low, high, n);
}

/* What a role knows of each number: arrays that it takes, then those that it draws, and its
 * components of x. */
enum { ARRAYS = 16 };

typedef struct known {
    size_t n, taken; /* arrays, and how many of them were taken */
    size_t numbers;
    uint64_t *array[ARRAYS];
} known;

static void add_array(known *k)
{
    assert_true(k->n < ARRAYS);
    k->array[k->n] = calloc(k->numbers, sizeof(uint64_t));
    assert_non_null(k->array[k->n++]);
}

/* Bytes are arrays of `count` numbers one after the other: numbers first ... of the next arrays. */
static void add_bytes(const gate *g, const quiet_bytes *bytes, size_t count, size_t first,
                      size_t to, known *k)
{
    for (size_t at = 0; at < bytes->n / element(g); at++) {
        if (to + at / count == k->n)
            add_array(k);
        k->array[to + at / count][first + at % count] = get(g, bytes->bytes, at);
    }
}

/* Draws come block after block, in the same calls for each; those of bits at once. */
static void add_draws(const gate *g, const quiet_bytes *draw, size_t calls, known *k)
{
    size_t blocks = g->kind == GATE_TO_BITS ? 1 : k->numbers / DPI_QUAD_BLOCK, begin = k->n;
    size_t count = k->numbers / blocks, each = calls / blocks;
    assert_int_equal(calls % blocks, 0);
    for (size_t block = 0; block < blocks; block++)
        for (size_t c = 0, to = begin; c < each; c++) {
            const quiet_bytes *bytes = &draw[block * each + c];
            add_bytes(g, bytes, count, block * count, to, k);
            to += bytes->n / element(g) / count;
        }
}

/* Component c of x as the role has seen it; of GATE_TO_BITS the planes of the sum of two. */
static void add_component(const gate *g, const quiet_run *q, size_t role, size_t c, size_t other,
                          known *k)
{
    const unsigned char *bytes = q->view[role][15 & ~(1U << c)].bytes;
    const unsigned char *more = q->view[role][15 & ~(1U << other)].bytes;
    size_t each = dpi_ring_bytes(g->ring), words = dpi_share_words(g->n), to = k->n;
    add_array(k);
    if (g->kind != GATE_TO_BITS) {
        add_bytes(g, &(quiet_bytes){(unsigned char *)(uintptr_t)bytes, k->numbers * each},
                  k->numbers, 0, to, k);
        return;
    }
    for (size_t i = 0; i < g->n; i++) {
        uint64_t v = 0, w = 0;
        memcpy(&v, bytes + i * each, each);
        memcpy(&w, more + i * each, each);
        for (size_t j = 0; j < g->n_planes; j++)
            k->array[to][j * words + i / 64] |= ((v + w) >> g->plane[j] & 1) << i % 64;
    }
}

static void add_components(const gate *g, const quiet_run *q, size_t role, known *k)
{
    if (g->kind == GATE_LINEAR || g->kind == GATE_FROM_BITS)
        return; /* of x and z there are different numbers */
    if (g->kind == GATE_TO_BITS) {
        add_component(g, q, role, role == P0 ? 1 : 3, role == P0 ? 2 : 0, k);
        return;
    }
    for (size_t c = P0; c <= P3; c++)
        if (c != role)
            add_component(g, q, role, c, c, k);
}

static known known_of(const gate *g, const quiet_run *q, size_t numbers, size_t role)
{
    known k = {.numbers = numbers};
    for (size_t from = P0; from <= P3; from++)
        for (size_t m = 0; m < q->n_messages[from][role]; m++) {
            assert_int_equal(m, 0);
            add_bytes(g, &q->message[from][role][m], numbers, 0, k.n, &k);
        }
    k.taken = k.n;
    for (size_t set = 0; set < SETS; set++)
        if (q->n_draws[role][set] > 0)
            add_draws(g, q->draw[role][set], q->n_draws[role][set], &k);
    if (k.taken > 0)
        add_components(g, q, role, &k);
    return k;
}

/* a + s b + t c, which is uniform where a was taken: one mask that hides two arrays, or one that
 * the role knows, would make some of them known.  b, c SIZE_MAX: none. */
static void check_sum(const gate *g, const known *k, const size_t which[3], const int sign[3],
                      uint64_t *sum, const char *what)
{
    memset(sum, 0, k->numbers * sizeof *sum);
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; which[j] != SIZE_MAX && i < k->numbers; i++) {
            uint64_t v = k->array[which[j]][i];
            sum[i] = of_bits(g) ? sum[i] ^ v : sign[j] > 0 ? sum[i] + v : sum[i] - v;
        }
    assert_uniform(g, k->numbers, sum, 0, what);
    assert_uniform(g, k->numbers, sum, (int)(8 * element(g)) - 8, what);
}

static void check_role(const gate *g, const quiet_run *q, size_t numbers, size_t role)
{
    static const char *const names[] = {"what P0 takes", "what P1 takes", "what P2 takes",
                                        "what P3 takes"};
    known k = known_of(g, q, numbers, role);
    uint64_t *sum = calloc(numbers, sizeof *sum);
    assert_non_null(sum);
    for (size_t a = 0; a < k.taken; a++) {
        check_sum(g, &k, (size_t[]){a, SIZE_MAX, SIZE_MAX}, (int[]){1, 1, 1}, sum, names[role]);
        for (size_t b = a + 1; b < k.n; b++)
            for (int s = -1; s < 2; s += 2) {
                check_sum(g, &k, (size_t[]){a, b, SIZE_MAX}, (int[]){1, s, 1}, sum, names[role]);
                for (size_t c = b + 1; c < k.n; c++)
                    for (int t = -1; t < 2; t += 2)
                        check_sum(g, &k, (size_t[]){a, b, c}, (int[]){1, s, t}, sum, names[role]);
            }
    }
    for (size_t a = 0; a < k.n; a++)
        free(k.array[a]);
    free(sum);
}

static void check_taken(const gate *g, int64_t all, bool drawn)
{
    gate_numbers u = gate_numbers_of(g, 9);
    for (size_t i = 0; !drawn && i < u.n_x; i++)
        u.x[i] = all;
    for (size_t i = 0; !drawn && i < u.n_y; i++)
        u.y[i] = all;
    for (size_t i = 0; !drawn && i < u.n_bit; i++)
        u.bit[i] = all;
    quiet_run q = play(&u, 7);
    for (size_t role = P0; role <= P3; role++)
        check_role(g, &q, u.n_z, role);
    assert_int_equal(q.n_messages[P0][P3] + q.n_messages[P1][P3] + q.n_messages[P2][P3], 0);
    quiet_forget(&q);
    gate_numbers_free(&u);
}

static void what_is_taken_is_uniform_whatever_the_numbers_are(void **state)
{
    gate gates[GATES];
    size_t n = all_gates(MANY, gates);
    (void)state;
    for (size_t k = 0; k < n; k++) {
        check_taken(&gates[k], 0, false);
        check_taken(&gates[k], -1, false);
        check_taken(&gates[k], 0, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_parties_see_the_same),
        cmocka_unit_test(every_error_is_seen_whatever_the_numbers_are),
        cmocka_unit_test(what_is_taken_is_uniform_whatever_the_numbers_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
