/* Signs and carries by trees: exhaustively for 8 bits, edges and random numbers for all others.
 * Operands are a party's that knows everything. */
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

#include "share/compare.h"

enum { WORD = 64, EXHAUSTIVE = 1 << 16, RANDOM = 1000000 };

static dpi_party party = {.row = &dpi_clear};

static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t v = *state;
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

static uint64_t bit_of(const dpi_share *words, size_t i)
{
    return ((const uint64_t *)words->part[0])[i / WORD] >> i % WORD & 1;
}

static uint64_t low_bits(int bits)
{
    return bits >= WORD ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static void put_planes(const dpi_carries *t, size_t n, const uint64_t *x, const dpi_share *planes)
{
    uint64_t *at = planes->part[0];
    size_t words = dpi_share_words(n);
    memset(at, 0, (size_t)t->n_planes * words * sizeof *at);
    for (int k = 0; k < t->n_planes; k++)
        for (size_t i = 0; i < n; i++)
            at[(size_t)k * words + i / WORD] |= (x[i] >> t->plane[k] & 1) << i % WORD;
}

/* Runs a tree over operands m and u of numbers of `bits` bits, and looks at each result. */
static void check_operands(const dpi_carries *t, dpi_ring ring, size_t n, const uint64_t *m,
                           const uint64_t *u)
{
    size_t words = dpi_share_words(n);
    dpi_planes room;
    dp_error err;
    assert_int_equal(dpi_planes_new(&party, (size_t)t->n_planes, words, &room, &err), DP_OK);
    put_planes(t, n, m, &room.array[DPI_CARRIES_P]);
    put_planes(t, n, u, &room.array[DPI_CARRIES_OUT]);
    dpi_carries_run(&party, t, words, &room);
    dpi_share sign = dpi_carries_sign(t, &room, words);
    int top = dpi_ring_bits(ring) - 1;
    for (size_t i = 0; i < n; i++) {
        assert_true(bit_of(&sign, i) == ((m[i] + u[i]) >> t->positions & 1));
        if (t->split > 0) {
            uint64_t low = low_bits(t->split);
            dpi_share carry = dpi_carries_in(t, &room, words);
            assert_true(bit_of(&carry, i) == (((m[i] & low) + (u[i] & low)) >> t->split & 1));
        }
        if (t->wrap) {
            dpi_share wrap = dpi_carries_out(t, &room, words);
            assert_true(bit_of(&wrap, i) == ((m[i] | u[i]) >> top & 1));
        }
    }
    dpi_planes_free(&room);
}

static void all_pairs_of_8_bits_give_their_sign_carry_and_wrap(void **state)
{
    (void)state;
    uint64_t *m = calloc(EXHAUSTIVE, sizeof *m), *u = calloc(EXHAUSTIVE, sizeof *u), at = 1;
    assert_non_null(m);
    assert_non_null(u);
    for (size_t i = 0; i < EXHAUSTIVE; i++) { /* what is above does not matter but for the top */
        m[i] = (next(&at) & ~UINT64_C(255)) | i >> 8;
        u[i] = (next(&at) & ~UINT64_C(255)) | (i & 255);
    }
    for (int split = 0; split < 8; split++) {
        dpi_carries t;
        dpi_carries_make(DPI_RING_64, 8, split, split % 2 == 1, &t);
        check_operands(&t, DPI_RING_64, EXHAUSTIVE, m, u);
    }
    free(m);
    free(u);
}

static void every_size_and_split_is_right(void **state)
{
    (void)state;
    enum { N = 200 };
    uint64_t m[N], u[N], at = 2;
    for (int bits = 2; bits <= WORD; bits++)
        for (int split = 0; split < bits; split++) {
            dpi_ring ring = bits <= 32 && split % 2 == 0 ? DPI_RING_32 : DPI_RING_64;
            for (size_t i = 0; i < N; i++) { /* half of them with long carries */
                m[i] = next(&at);
                u[i] = i % 2 == 0 ? next(&at) : ~m[i] + (next(&at) % 3) * (next(&at) & m[i]) + 1;
                if (i % 8 == 3)
                    u[i] = (UINT64_C(1) << next(&at) % WORD) - m[i];
                if (ring == DPI_RING_32) {
                    m[i] = (uint32_t)m[i];
                    u[i] = (uint32_t)u[i];
                }
            }
            dpi_carries t;
            dpi_carries_make(ring, bits, split, split % 3 != 0, &t);
            check_operands(&t, ring, N, m, u);
        }
}

static void counts_are_those_of_the_paper(void **state)
{
    (void)state;
    const struct {
        int bits, ands, rounds;
    } known[] = {{2, 1, 1}, {3, 3, 2}, {16, 39, 5}, {32, 86, 6}, {64, 181, 7}};
    dpi_carries t;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dpi_carries_make(DPI_RING_64, known[i].bits, 0, false, &t);
        assert_int_equal(dpi_carries_ands(&t), known[i].ands);
        assert_int_equal(dpi_carries_rounds(&t), known[i].rounds);
    }
    for (int bits = 2; bits <= WORD; bits++)
        for (int split = 1; split < bits; split++) {
            dpi_carries whole;
            dpi_carries_make(DPI_RING_64, bits, 0, false, &whole);
            dpi_carries_make(DPI_RING_64, bits, split, true, &t);
            assert_true(dpi_carries_ands(&t) <= dpi_carries_ands(&whole) + 1);
            assert_true(dpi_carries_rounds(&t) <= dpi_carries_rounds(&whole) + 1);
            assert_true(t.n_copies[t.n_levels] <= DPI_CARRIES_COPIES);
        }
}

/* Numbers of both rings: edges and a million random ones, through to_bits. */
static void check_numbers(dpi_ring ring)
{
    int bits = dpi_ring_bits(ring);
    uint64_t half = UINT64_C(1) << (bits - 2), least = UINT64_C(1) << (bits - 1), at = 3;
    const uint64_t edge[] = {0,        1,        UINT64_MAX, half,      0 - half,  half - 1,
                             half + 1, 1 - half, least,      least + 1, least - 1, 2};
    dpi_share x;
    dpi_planes room;
    dp_error err;
    size_t n = RANDOM, words = dpi_share_words(n);
    dpi_carries t;
    dpi_carries_make(ring, bits, 0, false, &t);
    assert_int_equal(dpi_share_new(&party, ring, n, &x, &err), DP_OK);
    assert_int_equal(dpi_planes_new(&party, (size_t)t.n_planes, words, &room, &err), DP_OK);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = i < sizeof edge / sizeof *edge ? edge[i] : next(&at);
        if (ring == DPI_RING_32)
            ((uint32_t *)x.part[0])[i] = (uint32_t)v;
        else
            ((uint64_t *)x.part[0])[i] = v;
    }
    dpi_compare_run(&party, ring, &t, &x, &room);
    dpi_share sign = dpi_carries_sign(&t, &room, words);
    for (size_t i = 0; i < n; i++) {
        int64_t v = ring == DPI_RING_32 ? ((int32_t *)x.part[0])[i] : ((int64_t *)x.part[0])[i];
        assert_true(bit_of(&sign, i) == (v < 0));
    }
    dpi_planes_free(&room);
    dpi_share_free(&x);
}

static void numbers_of_32_bits_give_their_sign(void **state)
{
    (void)state;
    check_numbers(DPI_RING_32);
}

static void numbers_of_64_bits_give_their_sign(void **state)
{
    (void)state;
    check_numbers(DPI_RING_64);
}

static int set_up(void **state)
{
    (void)state;
    dp_error err;
    return dpi_party_start(&party, &err) == DP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    dpi_party_end(&party);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_8_bits_give_their_sign_carry_and_wrap),
        cmocka_unit_test(every_size_and_split_is_right),
        cmocka_unit_test(counts_are_those_of_the_paper),
        cmocka_unit_test(numbers_of_32_bits_give_their_sign),
        cmocka_unit_test(numbers_of_64_bits_give_their_sign),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
