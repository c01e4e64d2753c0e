/* Rounding shifts of max(x, 0): every number of a few bits, all shifts at their edges, and the same
 * among several parties. */
#include "share/relu.h"

#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "tests/share/rows.h"

typedef struct relus {
    dpi_ring ring;
    int bits, shift;
    size_t n, block;
    bool in_place;
    uint64_t salt; /* of dpi_clear */
    const int64_t *x;
    scene_told z, after; /* z, and what became of x */
} relus;

static void body(dpi_party *p, void *user)
{
    relus *u = user;
    dpi_relu r;
    dpi_blocks room;
    if (p->row == &dpi_clear)
        memcpy(p->room, &u->salt, sizeof u->salt);
    dpi_relu_make(u->ring, u->bits, u->shift, &r);
    dpi_share x = scene_give(p, u->ring, u->n, u->x, 1), z = scene_share(p, u->ring, u->n);
    if (dpi_blocks_new(p, u->ring, (size_t)r.tree.n_planes, u->block, &room, NULL) != DP_OK)
        abort();
    dpi_relu_run(p, u->ring, &r, &room, &x, u->in_place ? &x : &z);
    scene_tell(p, &u->z, u->ring, dpi_ring_bits(u->ring), u->in_place ? &x : &z);
    scene_tell(p, &u->after, u->ring, dpi_ring_bits(u->ring), &x);
    dpi_blocks_free(&room);
    dpi_share_free(&x);
    dpi_share_free(&z);
}

static void check_relus(const scene *s, const dpi_share_row *row, bool apart, relus *u)
{
    scene_end end[DPI_SHARE_PARTIES];
    int64_t *z = calloc(u->n, sizeof *z), *after = calloc(u->n, sizeof *after);
    assert_non_null(z);
    assert_non_null(after);
    scene_run_well(s, &(scene_opts){.row = row, .apart = apart, .body = body, .user = u}, end);
    scene_join(row, &u->z, z);
    scene_join(row, &u->after, after);
    for (size_t i = 0; i < u->n; i++) {
        assert_true(z[i] == dpi_round_shift(u->x[i] > 0 ? u->x[i] : 0, u->shift));
        assert_true(u->in_place || after[i] == u->x[i]);
    }
    free(z);
    free(after);
}

static void every_number_of_ten_bits_is_shifted_as_in_the_clear(void **state)
{
    enum { BITS = 10, N = (2 << BITS) - 1, SALTS = 5 };
    int64_t x[N];
    for (int i = 0; i < N; i++)
        x[i] = i - (1 << BITS) + 1;
    for (int shift = 0; shift <= BITS; shift++)
        for (uint64_t salt = 0; salt < SALTS; salt++) {
            relus u = {.ring = salt % 2 == 0 ? DPI_RING_64 : DPI_RING_32,
                       .bits = BITS,
                       .shift = shift,
                       .n = N,
                       .block = 700,
                       .in_place = salt == 1,
                       .salt = salt,
                       .x = x};
            check_relus(*state, &dpi_clear, false, &u);
        }
}

static void every_shift_of_every_size_is_exact_at_its_edges(void **state)
{
    enum { N = 500 };
    int64_t x[N];
    uint64_t at = 1;
    for (int bits = 1; bits <= 62; bits++)
        for (int shift = 0; shift <= bits; shift++) {
            for (size_t i = 0; i < N; i++)
                x[i] = rows_number(i, bits, &at);
            relus u = {.ring = bits <= 30 && shift % 2 == 0 ? DPI_RING_32 : DPI_RING_64,
                       .bits = bits,
                       .shift = shift,
                       .n = N,
                       .block = N,
                       .salt = at,
                       .x = x};
            check_relus(*state, &dpi_clear, false, &u);
        }
}

static void without_a_shift_the_ring_may_be_full(void **state)
{
    enum { N = 500 };
    int64_t x[N];
    uint64_t at = 2;
    for (size_t i = 0; i < N; i++)
        x[i] = rows_number(i, 31, &at);
    relus u = {.ring = DPI_RING_32, .bits = 31, .n = N, .block = N, .x = x};
    check_relus(*state, &dpi_clear, false, &u);
}

static void all_protocols_shift_alike(void **state)
{
    static const size_t sizes[] = {1, 63, 64, 65, 1000, 3 * 4096 + 77};
    static const int bits[] = {1, 20, 30, 45, 62};
    int64_t *x = calloc(sizes[5], sizeof *x);
    assert_non_null(x);
    uint64_t at = 3;
    for (size_t c = 0; c < ROWS_ALL; c++)
        for (size_t k = 0; k < 6; k++)
            for (size_t b = 0; b < 5; b++) {
                for (size_t i = 0; i < sizes[k]; i++)
                    x[i] = rows_number(i, bits[b], &at);
                relus u = {.ring = bits[b] <= 30 && k % 2 == 0 ? DPI_RING_32 : DPI_RING_64,
                           .bits = bits[b],
                           .shift = (int)(rows_next(&at) % (unsigned)(bits[b] + 1)),
                           .n = sizes[k],
                           .block = 4096,
                           .in_place = k % 2 == 1,
                           .x = x};
                check_relus(*state, rows_all[c].row, rows_all[c].apart, &u);
            }
    free(x);
}

/* Bits a number: 182 before and 118 each way online in 7 rounds for 32 bits, 373 and 245 in 8 for
 * 64; through Quad the same between P1 and P2, and what P0 hears besides. */
static void a_relu_sends_what_the_formulas_say(void **state)
{
    enum { N = 640 };
    static const struct {
        dpi_ring ring;
        uint64_t bits, before, online, turns, to_p0_before, to_p0;
    } known[] = {{DPI_RING_32, 31, 182, 118, 7, 86 + 32, 32 + 86 + 64},
                 {DPI_RING_64, 63, 373, 245, 8, 181 + 64, 64 + 181 + 128}};
    int64_t x[N];
    uint64_t at = 4;
    for (size_t k = 0; k < 2; k++)
        for (size_t c = 0; c < ROWS_ALL; c++) {
            for (size_t i = 0; i < N; i++)
                x[i] = rows_number(i, (int)known[k].bits, &at);
            relus u = {
                .ring = known[k].ring, .bits = (int)known[k].bits, .n = N, .block = N, .x = x};
            scene_end end[DPI_SHARE_PARTIES];
            if (rows_all[c].row == &dpi_clear)
                continue;
            scene_run_well(
                *state,
                &(scene_opts){
                    .row = rows_all[c].row, .apart = rows_all[c].apart, .body = body, .user = &u},
                end);
            scene_drop(&u.z);
            scene_drop(&u.after);
            const bool four = rows_all[c].row == &dpi_quad;
            assert_int_equal(end[four ? 3 : 0].traffic.prepared[2], N / 8 * known[k].before);
            assert_int_equal(end[1].traffic.online[2], N / 8 * known[k].online);
            assert_int_equal(end[2].traffic.online[1], N / 8 * known[k].online);
            assert_int_equal(end[1].traffic.turns, known[k].turns);
            assert_int_equal(end[2].traffic.online[0], four ? N / 8 * known[k].to_p0 : 0);
            if (four)
                assert_int_equal(end[3].traffic.prepared[0], N / 8 * known[k].to_p0_before);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_ten_bits_is_shifted_as_in_the_clear),
        cmocka_unit_test(every_shift_of_every_size_is_exact_at_its_edges),
        cmocka_unit_test(without_a_shift_the_ring_may_be_full),
        cmocka_unit_test(all_protocols_shift_alike),
        cmocka_unit_test(a_relu_sends_what_the_formulas_say),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
