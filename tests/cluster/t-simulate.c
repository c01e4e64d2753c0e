/* Times of plans against what can be told by hand. */
#include "cluster/simulate.h"

#include <math.h>

#include "tests/lib/check.h"

static double total(dpi_plan *p, const dpi_costs *costs)
{
    dpi_times t;
    dp_error err = {0};
    assert_ok(dpi_simulate(p, costs, &t, &err), err.text);
    dpi_plan_free(p);
    return t.total;
}

/* `rounds` of a kernel on each card, of which all others get each result. */
static void kernels(dpi_plan *p, uint32_t cards, size_t rounds, double seconds)
{
    uint32_t made[DPI_PLAN_CARDS];
    dpi_plan_begin(p, cards);
    for (size_t r = 0; r < rounds; r++) {
        for (uint32_t i = 0; i < cards; i++)
            made[i] = dpi_plan_do(p, (dpi_step){.op = DPI_OP_WORK, .card = i, .seconds = seconds},
                                  0, NULL);
        dpi_plan_exchange(p, 0, cards, made);
    }
}

/* With S = (P - 1) B / beta a round of messages: min(W, S) + R max(W, S). */
static void kernels_and_their_messages_overlap(void **state)
{
    static const double work[] = {.001, .01, .2};
    const dpi_costs costs = {.bytes = 20971520, .bandwidth = 12.5e9};
    (void)state;
    for (uint32_t cards = 1; cards <= 64; cards *= 2)
        for (size_t k = 0; k < 3; k++) {
            dpi_plan p;
            const double sending = (cards - 1) * costs.bytes / costs.bandwidth, w = work[k];
            kernels(&p, cards, 16, w);
            assert_close(total(&p, &costs), fmin(w, sending) + 16 * fmax(w, sending), 1e-12, 0);
        }
}

static void sums_take_rounds_of_a_tree(void **state)
{
    const dpi_costs costs = {
        .operation = {[DPI_SUMS] = .004}, .bytes = 1e6, .bandwidth = 1e8, .latency = .001};
    (void)state;
    for (uint32_t cards = 1; cards <= 64; cards++) {
        dpi_plan p;
        uint32_t values[DPI_PLAN_CARDS];
        dpi_plan_begin(&p, cards);
        for (uint32_t i = 0; i < cards; i++)
            values[i] = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = i}, 0, NULL);
        dpi_plan_sum(&p, cards, values);
        assert_int_equal(dpi_plan_messages(&p), cards - 1);
        const double tree = ceil(log2(cards)) * (.01 + .001 + .004), seconds = total(&p, &costs);
        assert_true(seconds <= tree * (1 + 1e-12)); /* less where a card has nobody to wait for */
        if ((cards & (cards - 1)) == 0)
            assert_close(seconds, tree, 1e-12, 0);
    }
}

/* Each from a card of its own, and each behind the other all the same. */
static void a_card_gets_one_at_a_time(void **state)
{
    const dpi_costs costs = {.bytes = 1e6, .bandwidth = 1e8};
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 4);
    for (uint32_t i = 1; i < 4; i++)
        dpi_plan_send(&p, dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = i}, 0, NULL), i, 0);
    assert_close(total(&p, &costs), .03, 1e-12, 0);
}

/* A switch that copies sends to all at once, and to one after another to those that are taken. */
static void what_is_copied_goes_out_once(void **state)
{
    dpi_costs costs = {.bytes = 1e6, .bandwidth = 1e8, .latency = .001};
    (void)state;
    for (int copying = 0; copying < 2; copying++) {
        dpi_plan p;
        dpi_plan_begin(&p, 8);
        p.copied = costs.copying = copying;
        const uint32_t v = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = 1}, 0, NULL);
        const uint32_t w = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
        dpi_plan_send(&p, v, 1, 7);
        dpi_plan_broadcast(&p, w, 0, 8);
        const uint32_t z = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
        dpi_plan_send(&p, z, 0, 2);
        assert_int_equal(dpi_plan_messages(&p), 9);
        assert_close(total(&p, &costs), copying ? .031 : .041, 1e-12, 0);
    }
}

/* Of two stages the second begins when the first is over, or when its own card is free. */
static void stages_add_up_to_the_end(void **state)
{
    dpi_costs costs = {.bytes = 0};
    (void)state;
    for (int stagewise = 0; stagewise < 2; stagewise++) {
        dpi_plan p;
        dpi_times t;
        dp_error err = {0};
        dpi_plan_begin(&p, 2);
        costs.stagewise = stagewise;
        for (uint32_t k = 0; k < 4; k++) {
            p.stage = k / 2;
            dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = k % 2, .seconds = k % 3}, 0,
                        NULL);
        }
        assert_ok(dpi_simulate(&p, &costs, &t, &err), err.text);
        assert_close(t.stage[0], 1, 0, 0);
        assert_close(t.stage[1], stagewise ? 2 : 1, 0, 0);
        assert_close(t.total, t.stage[0] + t.stage[1], 0, 0);
        dpi_plan_free(&p);
    }
}

/* Up, across and down, one behind the other; within a host not across. */
static void hosts_relay(void **state)
{
    const dpi_costs costs = {
        .bytes = 16e6, .bandwidth = 1.25e9, .route = DPI_ROUTE_HOST, .per_host = 2, .lane = 16e9};
    (void)state;
    for (uint32_t to = 1; to < 4; to++) {
        dpi_plan p;
        dpi_plan_begin(&p, 4);
        const uint32_t v = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
        dpi_plan_send(&p, v, 0, to);
        assert_close(total(&p, &costs), .002 + (to < 2 ? 0 : .0128), 1e-12, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_and_their_messages_overlap),
                                       cmocka_unit_test(sums_take_rounds_of_a_tree),
                                       cmocka_unit_test(a_card_gets_one_at_a_time),
                                       cmocka_unit_test(what_is_copied_goes_out_once),
                                       cmocka_unit_test(stages_add_up_to_the_end),
                                       cmocka_unit_test(hosts_relay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
