/* Sigmoid and tanh: every number that the table tells apart, and what lies outside. */
#include "share/table.h"

#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "tests/share/rows.h"

typedef struct tables {
    dpi_ring ring;
    int bits, shift;
    bool tanh, in_place;
    size_t n, block;
    uint64_t salt;
    const int64_t *x;
    scene_told told;
} tables;

static void body(dpi_party *p, void *user)
{
    tables *u = user;
    dpi_table t;
    dpi_blocks room;
    if (p->row == &dpi_clear)
        memcpy(p->room, &u->salt, sizeof u->salt);
    dpi_table_make(u->ring, u->bits, u->shift, u->tanh, &t);
    if (dpi_blocks_new(p, u->ring, DPI_CARRIES_PLANES, u->block, &room, NULL) != DP_OK)
        abort();
    dpi_share x = scene_give(p, u->ring, u->n, u->x, 1), z = scene_share(p, u->ring, u->n);
    dpi_table_run(p, u->ring, &t, &room, &x, u->in_place ? &x : &z);
    scene_tell(p, &u->told, u->ring, dpi_ring_bits(u->ring), u->in_place ? &x : &z);
    dpi_blocks_free(&room);
    dpi_share_free(&x);
    dpi_share_free(&z);
}

static void check_tables(const scene *s, const rows_case *c, tables *u)
{
    scene_end end[DPI_SHARE_PARTIES];
    int64_t *z = calloc(u->n, sizeof *z);
    assert_non_null(z);
    scene_run_well(s, &(scene_opts){.row = c->row, .apart = c->apart, .body = body, .user = u},
                   end);
    scene_join(c->row, &u->told, z);
    for (size_t i = 0; i < u->n; i++) {
        int64_t y = dpi_sigmoid_table(dpi_to_knots(u->x[i], u->shift));
        assert_int_equal(z[i], u->tanh ? 2 * y - (1 << DPI_TABLE_FRACTION) : y);
    }
    free(z);
}

static void every_number_of_the_table_is_met(void **state)
{
    enum { N = 1 << 15 };
    int64_t *x = calloc(N, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < N; i++)
        x[i] = i - N / 2;
    for (int tanh = 0; tanh < 2; tanh++) {
        tables u = {.ring = tanh ? DPI_RING_64 : DPI_RING_32,
                    .bits = 15,
                    .tanh = tanh,
                    .in_place = tanh,
                    .n = N,
                    .block = N,
                    .x = x};
        check_tables(*state, &rows_all[0], &u);
    }
    free(x);
}

/* Numbers of all sizes, and those around the places where the table bends. */
static void fill(const tables *u, uint64_t *at, int64_t *x)
{
    const int64_t most = (int64_t)((UINT64_C(1) << u->bits) - 1);
    for (size_t i = 0; i < u->n; i++) {
        int64_t knot = ((int64_t)(rows_next(at) % 66) - 33) * 256;
        knot = u->shift >= 0 ? knot * ((int64_t)1 << u->shift) : knot / ((int64_t)1 << -u->shift);
        x[i] = i % 2 == 0 ? rows_number(i, u->bits, at)
                          : knot + (int64_t)(rows_next(at) % 5) - 2 -
                                (u->shift > 0 ? ((int64_t)1 << u->shift) / 2 : 0);
        x[i] = x[i] > most ? most : x[i] < -most ? -most : x[i];
    }
}

static void all_scales_are_brought_to_the_table(void **state)
{
    enum { N = 600 };
    int64_t x[N];
    uint64_t at = 1;
    for (int bits = 1; bits <= 59; bits++)
        for (int shift = -30; shift <= 46; shift++) {
            tables u = {.ring = dpi_table_bits(bits, shift) <= 30 ? DPI_RING_32 : DPI_RING_64,
                        .bits = bits,
                        .shift = shift,
                        .tanh = (bits + shift) % 2 == 0,
                        .n = N,
                        .block = N,
                        .salt = at,
                        .x = x};
            if (dpi_table_bits(bits, shift) > 62)
                continue;
            fill(&u, &at, x);
            check_tables(*state, &rows_all[0], &u);
        }
}

static void all_protocols_look_up_alike(void **state)
{
    static const size_t sizes[] = {1, 65, 1000};
    int64_t x[1000];
    uint64_t at = 2;
    for (size_t c = 0; c < ROWS_ALL; c++)
        for (size_t k = 0; k < 3; k++) {
            tables u = {.ring = k == 1 ? DPI_RING_32 : DPI_RING_64,
                        .bits = k == 1 ? 20 : 40,
                        .shift = k == 1 ? 3 : 21,
                        .tanh = k == 2,
                        .in_place = k == 0,
                        .n = sizes[k],
                        .block = 256,
                        .x = x};
            fill(&u, &at, x);
            check_tables(*state, &rows_all[c], &u);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_the_table_is_met),
        cmocka_unit_test(all_scales_are_brought_to_the_table),
        cmocka_unit_test(all_protocols_look_up_alike),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
