/* What Trio's gates send, element by element, on which link and when. */
#include "tests/share/sight.h"

enum { P0, P1, P2 };

/* Elements for each number: P0 to P2 in the preparation, P1 and P2 to each other online; rounds. */
typedef struct costs {
    const char *name;
    size_t dealt, exchanged;
} costs;

static const costs table[SIGHT_KINDS] = {
    [SIGHT_PRODUCT] = {"product", 1, 1},
    [SIGHT_LINEAR] = {"linear", 1, 1},
    [SIGHT_SHIFTED] = {"linear with a shift", 1, 1},
    [SIGHT_TO_BITS] = {"to bits", SIGHT_PLANES, 0}, /* words of bits */
    [SIGHT_HALVES] = {"halves", 1, 0},
    [SIGHT_FROM_BITS] = {"from bits", SIGHT_BITS, 1},
    [SIGHT_INJECT] = {"inject", 2, 1},
};

static void check_link(const sight *of, size_t from, size_t to, size_t prepared, size_t online)
{
    const dpi_mesh_traffic *t = &of->end[from].traffic;
    if (t->prepared[to] != prepared || t->online[to] != online)
        print_error("%s of %zu: P%zu to P%zu %llu and %llu bytes, not %zu and %zu\n",
                    table[of->kind].name, of->n, from, to, (unsigned long long)t->prepared[to],
                    (unsigned long long)t->online[to], prepared, online);
    assert_int_equal(t->prepared[to], prepared);
    assert_int_equal(t->online[to], online);
    assert_int_equal(of->sent[from][to].n, prepared + online);
}

static void check_counts(const scene *s, sight of)
{
    const costs *c = &table[of.kind];
    sight_run(s, &of);
    size_t bytes = of.kind == SIGHT_TO_BITS ? dpi_share_words(of.n) * sizeof(uint64_t)
                                            : of.n * dpi_ring_bytes(of.ring);
    for (size_t from = 0; from < SIGHT_ROLES; from++)
        for (size_t to = 0; to < SIGHT_ROLES; to++)
            check_link(&of, from, to, from == P0 && to == P2 ? c->dealt * bytes : 0,
                       from != P0 && to != P0 && from != to ? c->exchanged * bytes : 0);
    if (of.apart) {
        assert_int_equal(of.late[P0], 0);
        assert_int_equal(of.early[P1] + of.early[P2], 0);
        if (of.n <= DPI_SHARE_TILE / 2) /* else a tile after the other, which are no rounds */
            for (size_t r = P1; r <= P2; r++)
                assert_int_equal(of.end[r].traffic.turns, c->exchanged);
    }
    assert_int_equal(of.end[P0].traffic.turns, 0);
    sight_free(&of);
}

static void each_gate_sends_what_the_table_says(void **state)
{
    static const size_t sizes[] = {4, 64, 1000, 2 * DPI_SHARE_TILE + 8};
    for (sight_kind kind = 0; kind < SIGHT_KINDS; kind++)
        for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_BITS; ring++)
            for (size_t k = 0; sight_is(kind, ring) && k < 8; k++)
                check_counts(*state, (sight){.kind = kind,
                                             .ring = ring,
                                             .n = sizes[k / 2],
                                             .shift = 3,
                                             .x = -7,
                                             .y = 11,
                                             .apart = k % 2 == 1});
}

/* A tile is one message each way: round trips are not paid for by the number of elements. */
static void a_tile_is_one_message(void **state)
{
    sight of = {.kind = SIGHT_PRODUCT, .ring = DPI_RING_64, .n = DPI_SHARE_TILE};
    sight_run(*state, &of);
    assert_int_equal(of.messages[P0][P2], 1);
    assert_int_equal(of.messages[P1][P2], 1);
    assert_int_equal(of.messages[P2][P1], 1);
    sight_free(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gate_sends_what_the_table_says),
        cmocka_unit_test(a_tile_is_one_message),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
