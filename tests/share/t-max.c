/* Largest numbers and their first places. */
#include "share/max.h"

#include <stdlib.h>
#include <string.h>

#include "tests/share/rows.h"

typedef struct rows_of {
    dpi_ring ring;
    int bits;
    size_t k, n, block; /* x[k][n] */
    bool places;
    uint64_t salt;
    const int64_t *x;
    scene_told told;
} rows_of;

static void body(dpi_party *p, void *user)
{
    rows_of *u = user;
    dpi_carries tree;
    dpi_blocks room;
    if (p->row == &dpi_clear)
        memcpy(p->room, &u->salt, sizeof u->salt);
    dpi_carries_make(u->ring, u->bits + 2, 0, false, &tree);
    if (dpi_blocks_new(p, u->ring, (size_t)tree.n_planes, u->block, &room, NULL) != DP_OK)
        abort();
    dpi_share x = scene_give(p, u->ring, u->k * u->n, u->x, 1);
    dpi_share place = scene_share(p, u->ring, u->k * u->n);
    for (size_t i = 0; i < u->k; i++) {
        dpi_share row = dpi_share_from(u->ring, &place, i * u->n, u->n);
        p->row->add_public(p, u->ring, NULL, i, &row);
    }
    if (u->places)
        dpi_argmax_of(p, u->ring, &tree, &room, u->k, u->n, &x, &place);
    else
        dpi_max_of(p, u->ring, &tree, &room, u->k, u->n, &x);
    dpi_share first = dpi_share_from(u->ring, u->places ? &place : &x, 0, u->n);
    scene_tell(p, &u->told, u->ring, dpi_ring_bits(u->ring), &first);
    dpi_blocks_free(&room);
    dpi_share_free(&x);
    dpi_share_free(&place);
}

static void check_rows(const scene *s, const rows_case *c, rows_of *u)
{
    scene_end end[DPI_SHARE_PARTIES];
    int64_t *z = calloc(u->n, sizeof *z);
    assert_non_null(z);
    scene_run_well(s, &(scene_opts){.row = c->row, .apart = c->apart, .body = body, .user = u},
                   end);
    scene_join(c->row, &u->told, z);
    for (size_t i = 0; i < u->n; i++) {
        size_t best = 0;
        for (size_t j = 1; j < u->k; j++)
            best = u->x[j * u->n + i] > u->x[best * u->n + i] ? j : best;
        assert_true(z[i] == (u->places ? (int64_t)best : u->x[best * u->n + i]));
    }
    free(z);
}

/* Numbers of which many are equal, or of full size. */
static void check_sizes(void **state, bool places)
{
    static const size_t ks[] = {1, 2, 3, 4, 5, 9, 10, 16, 31}, ns[] = {1, 5, 64, 130};
    static const int bits[] = {2, 30, 62};
    enum { MOST = 31 * 130 };
    int64_t *x = calloc(MOST, sizeof *x);
    assert_non_null(x);
    uint64_t at = 1;
    for (size_t c = 0; c < ROWS_ALL; c++)
        for (size_t k = 0; k < 9; k++)
            for (size_t n = 0; n < 4; n++) {
                int b = bits[(k + n) % 3];
                for (size_t i = 0; i < ks[k] * ns[n]; i++)
                    x[i] = rows_number(rows_next(&at) % 40, b, &at);
                rows_of u = {.ring = b <= 30 && n % 2 == 0 ? DPI_RING_32 : DPI_RING_64,
                             .bits = b,
                             .k = ks[k],
                             .n = ns[n],
                             .block = 192,
                             .places = places,
                             .salt = at,
                             .x = x};
                check_rows(*state, &rows_all[c], &u);
            }
    free(x);
}

static void the_largest_of_several_is_found(void **state)
{
    check_sizes(state, false);
}

static void the_first_of_equal_ones_is_the_place(void **state)
{
    check_sizes(state, true);
}

/* All orders and ties of four numbers of two bits. */
static void every_tie_of_four_goes_to_the_first(void **state)
{
    enum { K = 4, VALUES = 7, N = VALUES * VALUES * VALUES * VALUES };
    int64_t *x = calloc((size_t)K * N, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0, of = 0; i < N; of = ++i)
        for (size_t j = 0; j < K; j++, of /= VALUES)
            x[j * N + i] = (int64_t)(of % VALUES) - VALUES / 2;
    rows_of u = {
        .ring = DPI_RING_64, .bits = 2, .k = K, .n = N, .block = N, .places = true, .x = x};
    check_rows(*state, &rows_all[0], &u);
    free(x);
}

static void levels_are_a_logarithm(void **state)
{
    (void)state;
    assert_int_equal(dpi_max_levels(1), 0);
    assert_int_equal(dpi_max_levels(2), 1);
    assert_int_equal(dpi_max_levels(9), 4);
    assert_int_equal(dpi_max_levels(16), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_of_several_is_found),
        cmocka_unit_test(the_first_of_equal_ones_is_the_place),
        cmocka_unit_test(every_tie_of_four_goes_to_the_first),
        cmocka_unit_test(levels_are_a_logarithm),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
