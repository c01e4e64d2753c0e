/* Layers: where ciphertexts are computed, and that work is split evenly and adds up. */
#include "cluster/network.h"

#include <math.h>

#include "tests/lib/check.h"

static const dpi_costs costs = {.operation = {1, 1, .02, .02},
                                .falling = .025,
                                .bytes = .7,
                                .bandwidth = 1,
                                .stagewise = true,
                                .copying = true};
static const double none[60];

/* Groups of a round are apart, of one size, and take what cards there are for them. */
static void groups_share_the_cards(void **state)
{
    (void)state;
    for (uint32_t cards = 1; cards <= 64; cards *= 2)
        for (uint32_t n = 1; n <= 64; n++)
            for (int rest = 0; rest < 2; rest++) {
                const dpi_mapping m = {.cards = cards, .rest = (dpi_rest)rest};
                uint64_t taken[65] = {0};
                for (uint32_t i = 0; i < n; i++) {
                    const dpi_place at = dpi_place_of(&m, n, i);
                    const uint32_t left = n % cards;
                    const bool split = at.round == n / cards && (n < cards || rest == 1);
                    assert_true(at.round <= n / cards && at.first + at.cards <= cards);
                    for (uint32_t c = at.first; c < at.first + at.cards; c++) {
                        assert_true((taken[at.round] >> c & 1) == 0);
                        taken[at.round] |= (uint64_t)1 << c;
                    }
                    assert_true(at.cards == 1 || split);
                    if (split)
                        assert_true(at.cards * left <= cards && 2 * at.cards * left > cards);
                }
            }
}

/* Units go to cards in equal shares, but for one, and their times add up. */
static void work_is_split_evenly(void **state)
{
    (void)state;
    for (uint32_t cards = 1; cards <= 64; cards *= 2)
        for (uint32_t n = 1; n <= 48; n += 7) {
            const dpi_costs free = {.bandwidth = 0};
            uint32_t values[64];
            double all = 0;
            dpi_plan p;
            dpi_times t;
            dp_error err = {0};
            dpi_plan_begin(&p, cards);
            dpi_plan_work(&p, n, 1511, .5, values);
            assert_ok(dpi_simulate(&p, &free, &t, &err), err.text);
            for (size_t c = 0; c < cards; c++) {
                assert_true(fabs(t.busy[c] - .5 * 1511 / cards) <= .5);
                all += t.busy[c];
            }
            assert_close(all, .5 * 1511, 1e-12, 0);
            assert_close(t.total, .5 * ceil(1511. / cards), 1e-12, 0);
            dpi_plan_free(&p);
        }
}

/* With n ciphertexts on C cards and nothing sent: rounds of a bootstrap and its polynomials, and
 * even work; where the last round is filled all cards end together, nearly. */
static void rounds_take_what_they_should(void **state)
{
    static const double want[] = {2, 2, 1.5}; /* 12 on 8 cards, of all in one round */
    dpi_costs silent = costs;
    dpi_ways ways;
    dp_error err = {0};
    (void)state;
    silent.bytes = 0;
    assert_ok(dpi_ways_find(15, &costs, none, none, &ways, &err), err.text);
    const dpi_network one = {"one", 1, {{1, 1, 8000}}}, twelve = {"twelve", 1, {{1, 12, 8000}}};
    dpi_network_times single, times;
    dpi_mapping m = {.cards = 1, .costs = &silent, .ways = &ways};
    assert_ok(dpi_network_simulate(&one, &m, 0, &single, &err), err.text);
    m.cards = 8;
    for (int rest = 0; rest < 3; rest += 2) {
        m.rest = (dpi_rest)rest;
        assert_ok(dpi_network_simulate(&twelve, &m, 8000, &times, &err), err.text);
        assert_close(times.total, 1000 + want[rest] * single.total, .002, 0);
        assert_close(times.total, times.silent, 0, 0);
    }
    m.rest = DPI_REST_REGROUPED;
    assert_ok(dpi_network_simulate(&twelve, &m, 8000, &times, &err), err.text);
    assert_true(times.total < 1000 + 1.9 * single.total);
}

/* Work of a filled round that is done early needs nothing of that round. */
static void early_work_needs_earlier_rounds_alone(void **state)
{
    dpi_ways ways;
    dp_error err = {0};
    uint32_t values[64];
    dpi_plan p;
    size_t early = 0;
    (void)state;
    assert_ok(dpi_ways_find(15, &costs, none, none, &ways, &err), err.text);
    const dpi_mapping m = {.cards = 8, .costs = &costs, .ways = &ways, .rest = DPI_REST_FILLED};
    dpi_plan_begin(&p, 8);
    dpi_plan_layer(&p, &m, &(dpi_spread_layer){1, 12, 8000}, 1, values);
    for (size_t k = 0; k < p.n_steps; k++) {
        const dpi_step *s = &p.step[k];
        if (s->op != DPI_OP_WORK || s->n_in != 8)
            continue;
        early++;
        assert_true(s->seconds > 0);
        for (uint32_t j = 0; j < 8; j++)
            assert_int_equal(p.value[p.in[s->in + j]].at, 0xff);
    }
    assert_int_equal(early, 4);
    for (uint32_t i = 0; i < 12; i++)
        assert_true((p.value[values[i]].at >> dpi_place_of(&m, 12, i).first & 1) == 1);
    dpi_plan_free(&p);
}

static void work_of_nothing(void *of)
{
    uint32_t values[64];
    dpi_plan_work(of, 2, 1, 1, values);
}

static void broken_calls_abort(void **state)
{
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 2);
    assert_aborts(work_of_nothing, &p);
    dpi_plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_share_the_cards),
                                       cmocka_unit_test(work_is_split_evenly),
                                       cmocka_unit_test(rounds_take_what_they_should),
                                       cmocka_unit_test(early_work_needs_earlier_rounds_alone),
                                       cmocka_unit_test(broken_calls_abort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
