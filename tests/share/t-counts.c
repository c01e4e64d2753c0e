/* What things made of several gates send, bit by bit, on which link and when: maxima, labels and
 * pools, among three and among four.
 *
 * A gate's bits for one number of l bits, by message (quad.h; trio.h has dealt and half alone):
 *
 *              dealt before   rest before   half each way   shown   rounds
 *   to bits    l              0             0               l       0
 *   AND        1              1             1               1       1
 *   inject     2 l            l             l               2 l     1
 *   from bit   l              l             l               l       1
 *
 * A sign has 86 ANDs in 6 rounds for 32 bits, 181 in 7 for 64.  Published for Quad are 150 bits of
 * rest and 150 shown for a relu of 32 bits, where these are 118 and 182: an injection published has
 * two of rest and one shown, which lets a cheat learn a bit (doc/design/share-quad.md).  The sum is
 * the same. */
#include <stdlib.h>

#include "share/max.h"
#include "share/plan.h"
#include "tests/share/rows.h"

enum { P0, P1, P2, P3, N = 128, MOST = 10 };

typedef struct bits {
    uint64_t dealt, rest, half, shown, rounds;
} bits;

static bits times(uint64_t n, bits b)
{
    return (bits){n * b.dealt, n * b.rest, n * b.half, n * b.shown, b.rounds};
}

static bits plus(bits a, bits b)
{
    return (bits){a.dealt + b.dealt, a.rest + b.rest, a.half + b.half, a.shown + b.shown,
                  a.rounds + b.rounds};
}

static bits inject_of(uint64_t l)
{
    return (bits){2 * l, l, l, 2 * l, 1};
}

/* To bits and the ANDs of a sign, of numbers that need all bits of the ring. */
static bits sign_of(dpi_ring ring)
{
    static const bits ands[] = {
        [DPI_RING_64] = {181, 181, 181, 181, 7}, [DPI_RING_32] = {86, 86, 86, 86, 6}};
    const uint64_t l = (uint64_t)dpi_ring_bits(ring);
    return plus(ands[ring], (bits){l, 0, 0, l, 0});
}

/* A comparison and the choice of one of two, or of two and their places. */
static bits choice_of(dpi_ring ring, bool with_place)
{
    const bits one = inject_of((uint64_t)dpi_ring_bits(ring));
    return plus(sign_of(ring), times(with_place ? 2 : 1, one));
}

static void check_ends(const scene_end *end, const dpi_share_row *row, bits b, const char *what)
{
    const bool four = row == &dpi_quad;
    const size_t dealer = row->dealer;
    for (size_t from = 0; from < row->parties; from++)
        for (size_t to = 0; to < row->parties; to++) {
            const uint64_t before = from == dealer && to == P2           ? b.dealt
                                    : four && from == dealer && to == P0 ? b.rest
                                                                         : 0;
            const uint64_t online = from + to == P1 + P2 && from * to > 0 ? b.half
                                    : four && from == P2 && to == P0      ? b.shown
                                                                          : 0;
            if (8 * end[from].traffic.prepared[to] != before ||
                8 * end[from].traffic.online[to] != online)
                fail_msg("%s, %s: P%zu to P%zu has %llu and %llu bytes", what, row->name, from, to,
                         (unsigned long long)end[from].traffic.prepared[to],
                         (unsigned long long)end[from].traffic.online[to]);
        }
    if (end[P1].traffic.turns != b.rounds)
        fail_msg("%s, %s: %llu rounds, not %llu", what, row->name,
                 (unsigned long long)end[P1].traffic.turns, (unsigned long long)b.rounds);
    assert_int_equal(end[dealer].traffic.turns, 0);
}

/* ---- maxima and labels ---- */

typedef struct choosing {
    dpi_ring ring;
    size_t k;
    bool label;
} choosing;

static void choose(dpi_party *p, void *user)
{
    choosing *c = user;
    static const int64_t x[N * MOST];
    dpi_carries tree;
    dpi_blocks room;
    dpi_carries_make(c->ring, dpi_ring_bits(c->ring), 0, false, &tree);
    if (dpi_blocks_new(p, c->ring, (size_t)tree.n_planes, N * MOST, &room, NULL) != DP_OK)
        abort();
    dpi_share numbers = scene_give(p, c->ring, c->k * N, x, 1);
    dpi_share place = scene_share(p, c->ring, c->k * N);
    if (c->label)
        dpi_argmax_of(p, c->ring, &tree, &room, c->k, N, &numbers, &place);
    else
        dpi_max_of(p, c->ring, &tree, &room, c->k, N, &numbers);
    dpi_blocks_free(&room);
    dpi_share_free(&numbers);
    dpi_share_free(&place);
}

/* Of k numbers k - 1 choices, in as many levels as a tree has; the last one of a label is of places
 * alone.  Published, labels have one-hot bits, and an AND for each and level besides. */
static void maxima_and_labels_send_what_their_gates_do(void **state)
{
    static const size_t ks[] = {2, 3, 9, 10}, levels[] = {1, 2, 4, 4};
    for (size_t c = 1; c < ROWS_ALL; c++)
        for (size_t i = 0; i < 4; i++)
            for (int label = 0; label < 2; label++)
                for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++) {
                    choosing u = {.ring = ring, .k = ks[i], .label = label > 0};
                    scene_end end[DPI_SHARE_PARTIES];
                    bits b = times(ks[i] - 1 - u.label, choice_of(ring, u.label));
                    if (u.label)
                        b = plus(b, choice_of(ring, false));
                    b = times(N, b);
                    b.rounds = levels[i] * (sign_of(ring).rounds + 1);
                    scene_run_well(*state,
                                   &(scene_opts){.row = rows_all[c].row,
                                                 .apart = rows_all[c].apart,
                                                 .body = choose,
                                                 .user = &u},
                                   end);
                    check_ends(end, rows_all[c].row, b, label ? "label" : "largest");
                }
}

/* Of a relu, which is a choice: what is published, and what is sent in its place. */
static void a_choice_is_as_dear_as_published(void **state)
{
    static const bits published = {182, 150, 118, 150, 7};
    const bits own = choice_of(DPI_RING_32, false);
    (void)state;
    assert_int_equal(own.dealt, published.dealt);
    assert_int_equal(own.half, published.half);
    assert_int_equal(own.rounds, published.rounds);
    assert_int_equal(own.rest, 118);
    assert_int_equal(own.shown, 182);
    assert_int_equal(own.rest + own.shown, published.rest + published.shown);
    assert_int_equal(choice_of(DPI_RING_64, false).dealt, 373);
    assert_int_equal(choice_of(DPI_RING_64, false).half, 245);
    assert_int_equal(choice_of(DPI_RING_64, false).rounds, 8);
}

/* ---- pools ---- */

typedef struct pooling {
    dp_program *p;
    dpi_share_plan *plan;
} pooling;

static void pool(dpi_party *p, void *user)
{
    const pooling *u = user;
    static const int64_t x[N * 64];
    dpi_share_room *room;
    const dpi_ring ring = dpi_share_plan_ring(u->plan);
    if (dpi_share_room_new(p, u->plan, &room, NULL) != DP_OK)
        abort();
    dpi_share in = scene_give(p, ring, N * dp_program_inputs(u->p), x, 1);
    dpi_share out = scene_share(p, ring, N * dpi_share_answers(u->plan));
    dpi_share_run(p, u->plan, room, &(dpi_share){0}, 2, N, &in, &out);
    dpi_share_free(&in);
    dpi_share_free(&out);
    dpi_share_room_free(room);
}

/* Images of 6 x 6 in windows of 2 x 2: nine choices among four.  Means are sums times a number: no
 * message, where one element in the preparation is published, for a shift that is not done here. */
static void check_pool(const scene *s, bool largest)
{
    static const dp_window window = {.size = {2, 2}, .stride = {2, 2}};
    const dpi_share_opts o = {.batch = N};
    dp_error err = {0};
    pooling u = {.p = dp_program_new()};
    assert_non_null(u.p);
    const int x = dp_program_image(u.p, 6, 6, 1, "x", -1, 1);
    (void)(largest ? dp_program_max_pool(u.p, x, &window)
                   : dp_program_average_pool(u.p, x, &window));
    assert_ok(dp_program_fix(u.p, NULL, &err), err.text);
    assert_ok(dpi_share_plan_new(u.p, &o, &u.plan, &err), err.text);
    const dpi_ring ring = dpi_share_plan_ring(u.plan);
    const uint64_t l = (uint64_t)dpi_ring_bits(ring);
    for (size_t c = 1; c < ROWS_ALL; c++) {
        scene_end end[DPI_SHARE_PARTIES];
        bits b = {0};
        if (largest) {
            const dpi_carries *t = &u.plan->step[0].tree;
            const uint64_t ands = (uint64_t)dpi_carries_ands(t), planes = (uint64_t)t->n_planes;
            const bits sign = {planes + ands, ands, ands, planes + ands, 0};
            b = times((uint64_t)N * 9 * 3, plus(sign, inject_of(l)));
            b.rounds = 2 * ((uint64_t)dpi_carries_rounds(t) + 1);
        }
        scene_run_well(
            s,
            &(scene_opts){
                .row = rows_all[c].row, .apart = rows_all[c].apart, .body = pool, .user = &u},
            end);
        check_ends(end, rows_all[c].row, b, largest ? "max pool" : "average pool");
    }
    dpi_share_plan_free(u.plan);
    dp_program_free(u.p);
}

static void pools_send_what_their_choices_do_and_means_nothing(void **state)
{
    check_pool(*state, true);
    check_pool(*state, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maxima_and_labels_send_what_their_gates_do),
        cmocka_unit_test(a_choice_is_as_dear_as_published),
        cmocka_unit_test(pools_send_what_their_choices_do_and_means_nothing),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
