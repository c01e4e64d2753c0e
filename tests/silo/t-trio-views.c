/* What a party takes in a run is uniform, whatever the data are: but for what is opened, which is
 * under masks as well to who lacks the rest.
 *
 * Bytes of all that goes from a party to another go through a chi-square test with 255 degrees of
 * freedom, those of gifts and those of steps apart; also their XOR
 * with the bytes eight before in the same message, so that a mask which serves twice shows.  A
 * value above 500 has probability 1e-17.  Numbers are 64 bits long or whole words of bits, and rows
 * a multiple of 64, so that nothing is padded.
 *
 * dpi_mesh_draw is wrapped: masks of gifts, or of steps, can be forgotten by all alike, and then
 * the regression is what it was and the tests fail. */
#include "silo/trio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "share/mesh-parts.h"
#include "tests/silo/trio-scene.h"

enum { ROLES = DPI_TRIO_ROLES, VALUES = 256, LIMIT = 500, BACK = 8, ROWS = 512, COLUMNS = 16 };

void __real_dpi_mesh_draw(dpi_mesh *m, dpi_roles set, void *to, size_t bytes);
void __wrap_dpi_mesh_draw(dpi_mesh *m, dpi_roles set, void *to, size_t bytes);

/* Masks that are forgotten. */
static enum { NOTHING, OF_GIFTS, OF_STEPS, ONCE } forgotten;

void __wrap_dpi_mesh_draw(dpi_mesh *m, dpi_roles set, void *to, size_t bytes)
{
    __real_dpi_mesh_draw(m, set, to, bytes);
    if ((forgotten == OF_GIFTS && m->layer == 0) || (forgotten == OF_STEPS && m->layer > 0))
        memset(to, 0, bytes);
    /* The same eight bytes again and again. */
    for (size_t i = BACK; forgotten == ONCE && i < bytes; i++)
        ((unsigned char *)to)[i] = ((unsigned char *)to)[i - BACK];
}

/* What went one way. */
typedef struct way {
    size_t n, pairs, count[VALUES], again[VALUES];
} way;

typedef struct views {
    trio_table t;
    way gifts[ROLES][ROLES], steps[ROLES][ROLES];
    size_t gifts_left[ROLES][ROLES]; /* bytes */
} views;

static void add(way *w, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        w->count[bytes[i]]++;
        if (i >= BACK)
            w->again[bytes[i] ^ bytes[i - BACK]]++;
    }
    w->n += n;
    w->pairs += n > BACK ? n - BACK : 0;
}

/* A word that says how far a party is, and has no number. */
static bool is_word(const scene_message *message)
{
    static const unsigned char word[8];
    return message->n == sizeof word && memcmp(message->bytes, word, sizeof word) == 0;
}

/* In the sender's thread, and each way has one sender. */
static void note(void *user, const scene_message *message)
{
    views *v = user;
    if (message->kind != DPI_MESH_POSTED || is_word(message))
        return;
    size_t *left = &v->gifts_left[message->from][message->to];
    const bool gift = *left > 0;
    assert_true(!gift || *left >= message->n);
    add(gift ? &v->gifts[message->from][message->to] : &v->steps[message->from][message->to],
        message->bytes, message->n);
    *left -= gift ? message->n : 0;
}

static double chi_square(size_t n, const size_t count[VALUES])
{
    const double expected = (double)n / VALUES;
    double total = 0;
    for (size_t k = 0; k < VALUES; k++)
        total += ((double)count[k] - expected) * ((double)count[k] - expected) / expected;
    return total;
}

/* The largest of all ways with enough bytes. */
static double largest(way ways[ROLES][ROLES], size_t *n)
{
    double most = 0;
    *n = 0;
    for (size_t from = 0; from < ROLES; from++)
        for (size_t to = 0; to < ROLES; to++) {
            const way *w = &ways[from][to];
            if (w->n < 16 * VALUES)
                continue;
            ++*n;
            most = fmax(most, fmax(chi_square(w->n, w->count), chi_square(w->pairs, w->again)));
        }
    return most;
}

/* All rows and outcomes as small as they are alike, or drawn. */
static void look(const scene *s, bool logistic, double z, bool alike, double found[2])
{
    views *v = calloc(1, sizeof *v);
    size_t n;
    assert_non_null(v);
    v->t = (trio_table){.terms = {.logistic = logistic,
                                  .rows = ROWS,
                                  .outcome = 2,
                                  .columns = {COLUMNS, COLUMNS, COLUMNS},
                                  .row_most = {1, 1, 1},
                                  .outcome_most = 1,
                                  .residual_most = 1,
                                  .steps = 8,
                                  .step = .25,
                                  .z = z},
                        .tamper = note};
    trio_draw(&v->t);
    for (size_t p = 0; p < ROLES && alike; p++)
        memset(v->t.side[p].x, 0, (size_t)ROWS * COLUMNS * sizeof(double));
    if (alike)
        memset(v->t.side[2].y, 0, ROWS * sizeof(double));
    const size_t bytes = (size_t)ROWS * COLUMNS * sizeof(uint64_t);
    v->gifts_left[0][1] = v->gifts_left[0][2] = v->gifts_left[1][2] = bytes;
    v->gifts_left[2][1] = bytes + ROWS * sizeof(uint64_t);
    trio_run_well(s, &v->t);
    found[0] = largest(v->gifts, &n);
    assert_int_equal(n, 4);
    found[1] = largest(v->steps, &n);
    assert_int_equal(n, z > 0 ? 4 : 3); /* P0 to P2, P1 and P2; P0's noise and openings to P1 */
    trio_drop(&v->t);
    free(v);
}

static void what_parties_take_is_uniform(void **state)
{
    forgotten = NOTHING;
    for (int k = 0; k < 8; k++) {
        double found[2];
        look(*state, k % 2 == 0, k / 2 % 2 == 0 ? 0 : 5, k / 4 == 0, found);
        assert_true(found[0] < LIMIT);
        assert_true(found[1] < LIMIT);
    }
}

static void masks_that_are_forgotten_are_seen(void **state)
{
    for (int k = 0; k < 4; k++) {
        double found[2];
        forgotten = OF_GIFTS;
        look(*state, k % 2 == 0, k / 2 == 0 ? 0 : 5, true, found);
        assert_true(found[0] > LIMIT);
        assert_true(found[1] < LIMIT);
        forgotten = OF_STEPS;
        look(*state, k % 2 == 0, k / 2 == 0 ? 0 : 5, false, found);
        assert_true(found[0] < LIMIT);
        assert_true(found[1] > LIMIT);
        forgotten = ONCE;
        look(*state, k % 2 == 0, k / 2 == 0 ? 0 : 5, true, found);
        assert_true(found[0] > LIMIT);
        assert_true(found[1] > LIMIT);
    }
    forgotten = NOTHING;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_parties_take_is_uniform),
        cmocka_unit_test(masks_that_are_forgotten_are_seen),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
