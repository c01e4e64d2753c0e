/* What a party of Trio takes tells nothing of the numbers.
 *
 * A party's messages must be uniform and independent of each other, given all that it knows without
 * them.  So each sum of them with signs -1, 0, 1, one at least not 0, and of what it knows anyway
 * with such signs, must be uniform (of bits, each XOR): a mask that is missing shows in the sum
 * that is free of the others.  Each byte of the sums goes through a chi-square test with 255
 * degrees of freedom, for two inputs that have nothing in common.  A value over 500 has a
 * probability of 1e-17 by Wilson and Hilferty's approximation; there are 25000 tests, and 1e-9
 * leaves room for an approximation that is wrong by a factor of a thousand. */
#include <stdlib.h>
#include <string.h>

#include "tests/share/sight.h"

enum { P0, P1, P2, N = 8192, MOST = 6, VALUES = 256, LIMIT = 500 };

/* What one party has taken, and what it knows anyway, as arrays of elements. */
typedef struct view {
    dpi_ring ring;
    size_t n, taken, all;
    uint64_t *array[MOST]; /* [n]; those taken first */
} view;

static void add_array(view *v, const unsigned char *from)
{
    size_t bytes = dpi_ring_bytes(v->ring);
    uint64_t *to = calloc(v->n, sizeof *to);
    assert_non_null(to);
    assert_true(v->all < MOST);
    for (size_t i = 0; i < v->n; i++)
        memcpy(&to[i], from + i * bytes, bytes);
    v->array[v->all++] = to;
}

static void free_view(view *v)
{
    for (size_t k = 0; k < v->all; k++)
        free(v->array[k]);
}

/* ---- uniform? ---- */

static double chi_square(const view *v, const uint64_t *sum, size_t byte)
{
    size_t count[VALUES] = {0};
    double expected = (double)v->n / VALUES, total = 0;
    for (size_t i = 0; i < v->n; i++)
        count[sum[i] >> (8 * byte) & 0xff]++;
    for (size_t k = 0; k < VALUES; k++)
        total += ((double)count[k] - expected) * ((double)count[k] - expected) / expected;
    return total;
}

static void add_up(const view *v, const int sign[], uint64_t *sum)
{
    memset(sum, 0, v->n * sizeof *sum);
    for (size_t k = 0; k < v->all; k++)
        for (size_t i = 0; sign[k] != 0 && i < v->n; i++)
            sum[i] = v->ring == DPI_RING_BITS
                         ? sum[i] ^ v->array[k][i]
                         : sum[i] + (uint64_t)(int64_t)sign[k] * v->array[k][i];
}

/* The next of all choices of signs; false when there is none left.  Of bits there is no -1. */
static bool next_signs(const view *v, int sign[])
{
    int first = v->ring == DPI_RING_BITS ? 0 : -1;
    for (size_t k = 0; k < v->all; k++) {
        if (sign[k] < 1) {
            sign[k]++;
            return true;
        }
        sign[k] = first;
    }
    return false;
}

/* The largest of all sums' chi-squares. */
static double largest_chi_square(const view *v)
{
    int sign[MOST];
    double largest = 0;
    uint64_t *sum = calloc(v->n, sizeof *sum);
    assert_non_null(sum);
    for (size_t k = 0; k < v->all; k++)
        sign[k] = v->ring == DPI_RING_BITS ? 0 : -1;
    do {
        bool takes = false;
        for (size_t k = 0; k < v->taken; k++)
            takes = takes || sign[k] != 0;
        if (!takes)
            continue;
        add_up(v, sign, sum);
        for (size_t byte = 0; byte < dpi_ring_bytes(v->ring); byte++) {
            double x = chi_square(v, sum, byte);
            largest = x > largest ? x : largest;
        }
    } while (next_signs(v, sign));
    free(sum);
    return largest;
}

/* ---- views ---- */

static void add_arrays(view *v, const sight_bytes *b)
{
    size_t bytes = v->n * dpi_ring_bytes(v->ring);
    for (size_t at = 0; at + bytes <= b->n; at += bytes)
        add_array(v, b->at + at);
    assert_int_equal(b->n % bytes, 0);
}

/* P2's own message without what P0 has told it, where that is a sum. */
static void add_own(view *v, const sight *of)
{
    bool product = of->kind == SIGHT_PRODUCT || of->kind == SIGHT_LINEAR;
    if (of->kind == SIGHT_SHIFTED)
        add_arrays(v, &of->sent[P2][P1]);
    if (!product)
        return;
    add_arrays(v, &of->sent[P2][P1]);
    for (size_t i = 0; i < v->n; i++)
        v->array[v->all - 1][i] = of->ring == DPI_RING_BITS
                                      ? v->array[v->all - 1][i] ^ v->array[0][i]
                                      : v->array[v->all - 1][i] - v->array[0][i];
}

static view view_of(const sight *of, size_t role)
{
    bool planes = of->kind == SIGHT_TO_BITS;
    view v = {.ring = planes ? DPI_RING_BITS : of->ring,
              .n = planes ? SIGHT_PLANES * dpi_share_words(of->n) : of->n};
    for (size_t from = 0; from < SIGHT_ROLES; from++)
        add_arrays(&v, &of->sent[from][role]);
    v.taken = v.all;
    if (role == P0 || v.taken == 0)
        return v;
    if (role == P1)
        add_arrays(&v, &of->sent[P1][P2]);
    else
        add_own(&v, of);
    /* Masks that P2 was told are no knowledge of its own. */
    if (role == P1 || (of->kind != SIGHT_SHIFTED && of->kind != SIGHT_HALVES && !planes))
        add_arrays(&v, &of->part[role][1]);
    if (planes || of->kind == SIGHT_HALVES)
        add_arrays(&v, &of->operand[role]);
    return v;
}

static sight sight_with(sight_kind kind, dpi_ring ring, int64_t x, int64_t y)
{
    /* Of planes a word is an element. */
    size_t n = kind == SIGHT_TO_BITS ? (size_t)N * 64 / SIGHT_PLANES / 64 * 64 : N;
    return (sight){.kind = kind, .ring = ring, .n = n, .shift = 5, .x = x, .y = y};
}

static void check_views(const scene *s, sight of)
{
    sight_run(s, &of);
    for (size_t role = 0; role < SIGHT_ROLES; role++) {
        view v = view_of(&of, role);
        double x = largest_chi_square(&v);
        if (x >= LIMIT)
            print_error("gate %d, ring %d, role %zu: a chi-square of %.0f\n", (int)of.kind,
                        (int)of.ring, role, x);
        assert_true(x < LIMIT);
        assert_true(role != P0 || v.taken == 0);
        assert_true(role != P2 || v.taken > 0);
        free_view(&v);
    }
    sight_free(&of);
}

static void what_a_party_takes_is_uniform_whatever_the_numbers(void **state)
{
    for (sight_kind kind = 0; kind < SIGHT_KINDS; kind++)
        for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_BITS; ring++)
            if (sight_is(kind, ring)) {
                check_views(*state, sight_with(kind, ring, 0, 0));
                check_views(*state, sight_with(kind, ring, -1, INT64_C(0x123456789abcdef1)));
            }
}

/* ---- a mask that is missing is seen ---- */

/* to += or -= n elements of a mask (of bits XOR), as a sender without that mask would have sent
 * it. */
static void unmask(const sight *of, void *to, size_t n, const void *mask, bool add)
{
    bool bits = of->ring == DPI_RING_BITS || of->kind == SIGHT_TO_BITS;
    uint64_t *a = to;
    uint32_t *a32 = to;
    const uint64_t *b = mask;
    const uint32_t *b32 = mask;
    for (size_t i = 0; i < n; i++)
        if (bits)
            a[i] ^= b[i];
        else if (of->ring == DPI_RING_64)
            a[i] += add ? b[i] : 0 - b[i];
        else
            a32[i] += add ? b32[i] : 0 - b32[i];
}

static void assert_seen(const sight *of, size_t role)
{
    view v = view_of(of, role);
    double x = largest_chi_square(&v);
    if (x < LIMIT)
        print_error("gate %d, ring %d, role %zu: only %.0f\n", (int)of->kind, (int)of->ring, role,
                    x);
    assert_true(x >= LIMIT);
    free_view(&v);
}

/* Without F: P0 tells P2 what F hides. */
static void drop_first_mask(const scene *s, sight_kind kind, dpi_ring ring)
{
    sight of = sight_with(kind, ring, 0, 0);
    sight_run(s, &of);
    sight_bytes *d = &of.sent[P0][P2];
    if (kind == SIGHT_PRODUCT) { /* e, which P0 makes of what it holds of x and y */
        for (size_t i = 0; i < of.n; i++) {
            const uint64_t *x = (const void *)of.operand[P0].at, *y = (const void *)of.factor.at;
            const uint32_t *x32 = (const void *)x, *y32 = (const void *)y;
            if (ring == DPI_RING_32)
                ((uint32_t *)(void *)d->at)[i] = x32[i] * y32[i];
            else
                ((uint64_t *)(void *)d->at)[i] = ring == DPI_RING_BITS ? x[i] & y[i] : x[i] * y[i];
        }
    } else { /* what P1 has drawn for it is its own part */
        size_t n = kind == SIGHT_TO_BITS ? d->n / sizeof(uint64_t) : of.n;
        unmask(&of, d->at, n, of.part[P1][1].at, true);
    }
    assert_seen(&of, P2);
    sight_free(&of);
}

/* Without L1 or L2: the other one of P1 and P2 takes what only the first mask hides. */
static void drop_last_mask(const scene *s, sight_kind kind, dpi_ring ring, size_t from)
{
    sight of = sight_with(kind, ring, 0, 0);
    size_t to = from == P1 ? P2 : P1;
    sight_run(s, &of);
    unmask(&of, of.sent[from][to].at, of.n, of.part[from][1].at, false);
    assert_seen(&of, to);
    sight_free(&of);
}

static void a_mask_that_is_missing_is_seen(void **state)
{
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_BITS; ring++) {
        static const sight_kind with_last[] = {SIGHT_PRODUCT, SIGHT_LINEAR, SIGHT_FROM_BITS,
                                               SIGHT_INJECT};
        static const sight_kind with_first[] = {SIGHT_PRODUCT, SIGHT_SHIFTED, SIGHT_TO_BITS,
                                                SIGHT_HALVES};
        for (size_t k = 0; k < 4; k++) {
            if (sight_is(with_first[k], ring))
                drop_first_mask(*state, with_first[k], ring);
            if (!sight_is(with_last[k], ring))
                continue;
            drop_last_mask(*state, with_last[k], ring, P1);
            drop_last_mask(*state, with_last[k], ring, P2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_party_takes_is_uniform_whatever_the_numbers),
        cmocka_unit_test(a_mask_that_is_missing_is_seen),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
