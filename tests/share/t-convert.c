/* Numbers to bits and back among parties, exhaustively for few bits: all pairs of 8 bits are
 * compared, and all numbers of 16 bits made of their bits; edges and random numbers of full size
 * have their sign. */
#include <stdlib.h>
#include <string.h>

#include "share/max.h"
#include "tests/share/rows.h"

#ifndef NUMBERS
#define NUMBERS 20000 /* random ones */
#endif

enum { PAIRS = 1 << 16, WORD = 64, BITS = 16 };

typedef struct job {
    dpi_ring ring;
    size_t n;
    int64_t *x, *y; /* [n]; of bits [BITS][words of n] */
    uint64_t salt;
    scene_told told;
} job;

/* Of dpi_clear, the addends. */
static void begin(dpi_party *p, const job *j)
{
    if (p->row == &dpi_clear)
        memcpy(p->room, &j->salt, sizeof j->salt);
}

static void run(const scene *s, const rows_case *c, void (*body)(dpi_party *p, void *user), job *j,
                int64_t *z)
{
    scene_end end[DPI_SHARE_PARTIES];
    scene_run_well(s, &(scene_opts){.row = c->row, .apart = c->apart, .body = body, .user = j},
                   end);
    scene_join(c->row, &j->told, z);
}

/* ---- the larger one of two ---- */

static void choose_larger(dpi_party *p, void *user)
{
    job *j = user;
    dpi_carries tree;
    dpi_blocks room;
    begin(p, j);
    dpi_carries_make(j->ring, 9, 0, false, &tree); /* differences have nine bits */
    if (dpi_blocks_new(p, j->ring, (size_t)tree.n_planes, DPI_BLOCK, &room, NULL) != DP_OK)
        abort();
    dpi_share x = scene_give(p, j->ring, j->n, j->x, 1), y = scene_give(p, j->ring, j->n, j->y, 2);
    dpi_share z = scene_share(p, j->ring, j->n);
    dpi_max_run(p, j->ring, &tree, &room, &x, &y, &z);
    scene_tell(p, &j->told, j->ring, dpi_ring_bits(j->ring), &z);
    dpi_blocks_free(&room);
    dpi_share_free(&x);
    dpi_share_free(&y);
    dpi_share_free(&z);
}

static void all_pairs_of_8_bits_are_compared(void **state)
{
    int64_t *x = calloc(3 * PAIRS, sizeof *x);
    assert_non_null(x);
    job j = {.n = PAIRS, .x = x, .y = x + PAIRS, .salt = 11};
    int64_t *z = x + 2 * PAIRS;
    for (int i = 0; i < PAIRS; i++) {
        j.x[i] = (int8_t)(i & 255);
        j.y[i] = (int8_t)(i >> 8);
    }
    for (size_t c = 0; c < ROWS_ALL; c++)
        for (j.ring = DPI_RING_64; j.ring <= DPI_RING_32; j.ring++) {
            run(*state, &rows_all[c], choose_larger, &j, z);
            for (int i = 0; i < PAIRS; i++)
                assert_int_equal(z[i], j.x[i] > j.y[i] ? j.x[i] : j.y[i]);
        }
    free(x);
}

/* ---- numbers of bits ---- */

static void sum_bits(dpi_party *p, void *user)
{
    job *j = user;
    const size_t words = dpi_share_words(j->n);
    dpi_share bit[BITS];
    uint64_t coefficient[BITS];
    begin(p, j);
    dpi_share b = scene_give(p, DPI_RING_BITS, BITS * words, j->x, 1);
    dpi_share z = scene_share(p, j->ring, j->n);
    for (size_t k = 0; k < BITS; k++) {
        bit[k] = dpi_share_from(DPI_RING_BITS, &b, k * words, words);
        coefficient[k] = k + 1 < BITS ? UINT64_C(1) << k : 0 - (UINT64_C(1) << k);
    }
    p->row->from_bits(p, j->ring, BITS, bit, coefficient, &z);
    scene_tell(p, &j->told, j->ring, dpi_ring_bits(j->ring), &z);
    dpi_share_free(&b);
    dpi_share_free(&z);
}

static void all_numbers_of_16_bits_are_made_of_them(void **state)
{
    enum { WORDS = PAIRS / WORD };
    int64_t *x = calloc(BITS * WORDS + PAIRS, sizeof *x), *z = x + BITS * WORDS;
    assert_non_null(x);
    job j = {.n = PAIRS, .x = x};
    for (int i = 0; i < PAIRS; i++)
        for (int k = 0; k < BITS; k++)
            x[k * WORDS + i / WORD] |= (int64_t)((uint64_t)(i >> k & 1) << i % WORD);
    for (size_t c = 0; c < ROWS_ALL; c++)
        for (j.ring = DPI_RING_64; j.ring <= DPI_RING_32; j.ring++) {
            run(*state, &rows_all[c], sum_bits, &j, z);
            for (int i = 0; i < PAIRS; i++)
                assert_int_equal(z[i], (int16_t)(uint16_t)i);
        }
    free(x);
}

/* ---- signs ---- */

/* 1 where a number is negative, from all its bits. */
static void find_signs(dpi_party *p, void *user)
{
    job *j = user;
    dpi_carries tree;
    dpi_planes room;
    begin(p, j);
    dpi_carries_make(j->ring, dpi_ring_bits(j->ring), 0, false, &tree);
    if (dpi_planes_new(p, (size_t)tree.n_planes, dpi_share_words(j->n), &room, NULL) != DP_OK)
        abort();
    dpi_share x = scene_give(p, j->ring, j->n, j->x, 1), z = scene_share(p, j->ring, j->n);
    dpi_compare_run(p, j->ring, &tree, &x, &room);
    const dpi_share sign = dpi_carries_sign(&tree, &room, dpi_share_words(j->n));
    p->row->from_bits(p, j->ring, 1, &sign, &(uint64_t){1}, &z);
    scene_tell(p, &j->told, j->ring, dpi_ring_bits(j->ring), &z);
    dpi_planes_free(&room);
    dpi_share_free(&x);
    dpi_share_free(&z);
}

static void numbers_of_full_size_have_their_sign(void **state)
{
    int64_t *x = calloc(2 * NUMBERS, sizeof *x), *z = x + NUMBERS;
    assert_non_null(x);
    uint64_t at = 6;
    job j = {.n = NUMBERS, .x = x, .salt = 12};
    for (size_t c = 1; c < ROWS_ALL; c++)
        for (j.ring = DPI_RING_64; j.ring <= DPI_RING_32; j.ring++) {
            const int bits = dpi_ring_bits(j.ring);
            const int64_t half = INT64_C(1) << (bits - 2), least = -2 * half;
            const int64_t edge[] = {0,     1,         -1,       half,     -half,
                                    least, least + 1, half - 1, 1 - half, -(least + 1)};
            for (size_t i = 0; i < NUMBERS; i++) {
                const int64_t v = (int64_t)rows_next(&at);
                x[i] = i < sizeof edge / sizeof *edge ? edge[i]
                       : bits == WORD                 ? v
                                                      : (int32_t)(uint32_t)(uint64_t)v;
            }
            run(*state, &rows_all[c], find_signs, &j, z);
            for (size_t i = 0; i < NUMBERS; i++)
                assert_int_equal(z[i], x[i] < 0);
        }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_8_bits_are_compared),
        cmocka_unit_test(all_numbers_of_16_bits_are_made_of_them),
        cmocka_unit_test(numbers_of_full_size_have_their_sign),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
