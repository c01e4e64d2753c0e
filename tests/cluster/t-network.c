/* Hydra's tables II and figures 6, 8 and 9 by simulated plans: one number of each network is
 * fitted, to its time on 64 cards, and all else follows. */
#include "cluster/network.h"

#include <math.h>

#include "tests/lib/check.h"

enum { SMALL, MIDDLE, LARGE };

/* Seconds on 1, 8 and 64 cards, and on one card of FAB. */
static const double table_2[DPI_NETWORKS][3] = {{41.29, 5.60, 1.49},
                                                {686.63, 86.79, 12.94},
                                                {462.44, 72.31, 13.81},
                                                {18004.83, 2382.18, 321.58}};
static const double fab[DPI_NETWORKS] = {131.94, 2255.46, 1302.68, 51813.24};

static const dpi_costs costs = {.operation = {1, 1, .02, .02},
                                .falling = .025,
                                .bytes = .7,
                                .bandwidth = 1,
                                .stagewise = true,
                                .copying = true};

typedef struct fitted {
    dpi_ways ways;
    double work[DPI_NETWORKS], one[DPI_NETWORKS];
    double none[60];
} fitted;

static dpi_network_times on_cards(const fitted *f, size_t network, size_t cards, dpi_rest rest)
{
    const dpi_mapping m = {.cards = cards, .costs = &costs, .ways = &f->ways, .rest = rest};
    dpi_network_times t;
    dp_error err = {0};
    assert_ok(dpi_network_simulate(&dpi_networks[network], &m, f->work[network], &t, &err),
              err.text);
    return t;
}

static int fit(void **state)
{
    static fitted f;
    dp_error err = {0};
    assert_ok(dpi_ways_find(15, &costs, f.none, f.none, &f.ways, &err), err.text);
    const dpi_mapping m = {.cards = 64, .costs = &costs, .ways = &f.ways};
    for (size_t k = 0; k < DPI_NETWORKS; k++) {
        const double ratio = table_2[k][SMALL] / table_2[k][LARGE];
        assert_ok(dpi_network_fit(&dpi_networks[k], &m, ratio, &f.work[k], &err), err.text);
        f.one[k] = on_cards(&f, k, 1, DPI_REST_ALONE).total;
        assert_close(f.one[k] / on_cards(&f, k, 64, DPI_REST_ALONE).total, ratio, 1e-6, 0);
    }
    *state = &f;
    return 0;
}

static void eight_cards_follow_from_64(void **state)
{
    static const double off[] = {.02, .02, .11, .035};
    for (size_t k = 0; k < DPI_NETWORKS; k++) {
        const double seconds = on_cards(*state, k, 8, DPI_REST_ALONE).total;
        assert_close(seconds / ((fitted *)*state)->one[k] * table_2[k][SMALL], table_2[k][MIDDLE],
                     off[k], 0);
    }
}

/* What both ResNets say of the time of a rotation is the same, nearly. */
static void rotations_take_as_long_in_both(void **state)
{
    const fitted *f = *state;
    assert_close(table_2[0][SMALL] / f->one[0], table_2[1][SMALL] / f->one[1], .1, 0);
}

/* Efficiencies fall, those of ResNet-18 first, and OPT's last. */
static void curves_are_in_order(void **state)
{
    const fitted *f = *state;
    double last[DPI_NETWORKS] = {0}, gain[DPI_NETWORKS];
    for (size_t cards = 1; cards <= 64; cards *= 2)
        for (size_t k = 0; k < DPI_NETWORKS; k++) {
            const double speedup = f->one[k] / on_cards(f, k, cards, DPI_REST_ALONE).total;
            assert_true(speedup > last[k] && speedup <= (double)cards * (1 + 1e-9));
            gain[k] = speedup / last[k];
            last[k] = speedup;
        }
    for (size_t k = 1; k < DPI_NETWORKS; k++)
        assert_true(gain[0] < gain[k] && last[0] < last[k]);
    for (size_t k = 0; k + 1 < DPI_NETWORKS; k++)
        assert_true(gain[3] > gain[k] && last[3] > last[k]);
}

static void convolutions_scale_and_bootstraps_do_not(void **state)
{
    for (size_t k = 0; k < 2; k++) {
        const dpi_network_times one = on_cards(*state, k, 1, DPI_REST_ALONE);
        const dpi_network_times all = on_cards(*state, k, 64, DPI_REST_ALONE);
        assert_true(one.stage[DPI_STAGE_WORK] > 50 * all.stage[DPI_STAGE_WORK]);
        assert_true(one.stage[DPI_STAGE_BOOT] < 16 * all.stage[DPI_STAGE_BOOT]);
        assert_true(one.stage[DPI_STAGE_BOOT] > 8 * all.stage[DPI_STAGE_BOOT]);
    }
}

/* Messages take some percent at the most on 8 cards, and most of ResNet-18. */
static void messages_take_little_of_large_networks(void **state)
{
    double share[DPI_NETWORKS];
    for (size_t k = 0; k < DPI_NETWORKS; k++) {
        const dpi_network_times t = on_cards(*state, k, 64, DPI_REST_ALONE);
        share[k] = 1 - t.silent / t.total;
        const dpi_network_times few = on_cards(*state, k, 8, DPI_REST_ALONE);
        assert_true(1 - few.silent / few.total < .04);
    }
    assert_true(share[0] > share[1] && share[0] > share[2]);
    assert_true(share[3] < share[1] && share[3] < .03);
}

/* Cards of FAB's speed, with messages through hosts of eight. */
static void hosts_are_no_matter_until_there_are_many(void **state)
{
    const fitted *f = *state;
    for (size_t k = 0; k < DPI_NETWORKS; k++) {
        const double rotation = fab[k] / f->one[k];
        dpi_costs c = costs;
        dpi_mapping m = {.costs = &c, .ways = &f->ways};
        dpi_network_times t;
        dp_error err = {0};
        for (size_t i = 0; i < DPI_COUNTS; i++)
            c.operation[i] *= rotation;
        c.bytes = 20.6e6;
        c.bandwidth = 1.25e9;
        c.route = DPI_ROUTE_HOST;
        c.per_host = 8;
        c.lane = 16e9;
        m.cards = 8;
        assert_ok(dpi_network_simulate(&dpi_networks[k], &m, f->work[k] * rotation, &t, &err),
                  err.text);
        const double hydra = on_cards(f, k, 8, DPI_REST_ALONE).total;
        assert_close(t.total / rotation, hydra, .06, 0);
        m.cards = 64;
        assert_ok(dpi_network_simulate(&dpi_networks[k], &m, f->work[k] * rotation, &t, &err),
                  err.text);
        const double silent = t.silent_stage[DPI_STAGE_BOOT], boot = t.stage[DPI_STAGE_BOOT];
        if (k < 2)
            assert_true(silent < .4 * boot);
    }
}

/* BERT's 12 ciphertexts on 8 cards, as parts of what Hydra's two rounds take. */
static void last_rounds_are_filled(void **state)
{
    const double alone = on_cards(*state, 2, 8, DPI_REST_ALONE).total;
    const double regrouped = on_cards(*state, 2, 8, DPI_REST_REGROUPED).total;
    assert_true(regrouped < .97 * alone);
    assert_true(on_cards(*state, 2, 8, DPI_REST_FILLED).total < .9 * alone);
}

static void what_cannot_be_is_told(void **state)
{
    const fitted *f = *state;
    const dpi_mapping m = {.cards = 8, .costs = &costs, .ways = &f->ways};
    double work;
    dp_error err = {0};
    assert_int_equal(dpi_network_fit(&dpi_networks[0], &m, 9, &work, &err), DP_EACCURACY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_cards_follow_from_64),
                                       cmocka_unit_test(rotations_take_as_long_in_both),
                                       cmocka_unit_test(curves_are_in_order),
                                       cmocka_unit_test(convolutions_scale_and_bootstraps_do_not),
                                       cmocka_unit_test(messages_take_little_of_large_networks),
                                       cmocka_unit_test(hosts_are_no_matter_until_there_are_many),
                                       cmocka_unit_test(last_rounds_are_filled),
                                       cmocka_unit_test(what_cannot_be_is_told)};
    return cmocka_run_group_tests(tests, fit, NULL);
}
