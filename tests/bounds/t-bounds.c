/* Private quantiles: what one unit can move, how large the noise is, what is found, paid and
 * refused. */
#include <tacit/bounds.h>

#include <math.h>
#include <string.h>

#include "bounds/quantile.h"
#include "random/failure.h"
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { MOST = 10000 };

static double x[MOST][2];
static int32_t person[MOST];

/* x[i] = (i', -i'), with 0, 1/n, ... in a mixed order as i'; records i and i + 1 are of one person
 * where i is divisible by 3. */
static dp_dataset *set_up(size_t n, bool grouped)
{
    dp_dataset *data = dp_dataset_new(n);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++) {
        x[i][0] = (double)(i * 7919 % n) / (double)n;
        x[i][1] = -x[i][0];
        person[i] = (int32_t)(i % 3 == 1 ? i - 1 : i);
    }
    dp_dataset_real(data, "x", 2, &x[0][0]);
    dp_dataset_index(data, "person", person);
    if (grouped)
        dp_dataset_unit(data, "person");
    return data;
}

/* ---- what a unit moves ---- */

static const double shares[] = {1e-9, 0.01, 0.25, 0.5, 0.7, 0.999999};
enum { N_SHARES = sizeof shares / sizeof *shares };

/* Counts of `n` values, of units of 1, 2 and 4 rows in turns; unit `without` (of `units`) is left
 * out. */
static int64_t count_of(size_t n, const double *value, double share, double at, size_t without)
{
    static double kept[64];
    static size_t start[64];
    dpi_units units = {.n = 0, .start = start};
    size_t rows = 0, at_row = 0;
    for (size_t u = 0; at_row < n; u++) {
        size_t of = (size_t)1 << u % 3;
        if (u != without) {
            memcpy(kept + rows, value + at_row, of * sizeof *kept);
            rows += of;
            start[++units.n] = rows;
        }
        at_row += of;
    }
    const dpi_quantile q = {.x = kept, .units = &units, .below = dpi_quantile_parts(share)};
    return dpi_quantile_count(&q, at);
}

static void no_unit_moves_a_count_further_than_is_accounted_for(void **state)
{
    (void)state;
    enum { N = 35, UNITS = 15 };
    double value[N], other[N];
    for (size_t k = 0; k < N_SHARES; k++) {
        const dpi_quantile q = {.below = dpi_quantile_parts(shares[k])};
        int64_t bound = dpi_quantile_most(&q), greatest = 0, apart = 0;
        for (uint64_t pattern = 1; pattern < 4000; pattern += 7) {
            for (size_t i = 0; i < N; i++) {
                value[i] = (double)(pattern * (i + 3) * 40503 % 8);
                other[i] = 7 - value[i];
            }
            for (double at = -1; at < 8; at += 4) {
                int64_t whole = count_of(N, value, shares[k], at, UNITS);
                for (size_t u = 0; u < UNITS; u++) {
                    int64_t less = count_of(N, value, shares[k], at, u);
                    int64_t moved = whole > less ? whole - less : less - whole;
                    greatest = moved > greatest ? moved : greatest;
                }
                memcpy(other + 1, value + 1, (N - 1) * sizeof *value); /* the first unit replaced */
                int64_t moved = whole - count_of(N, other, shares[k], at, UNITS);
                moved = moved > 0 ? moved : -moved;
                apart = moved > apart ? moved : apart;
            }
        }
        assert_int_equal(greatest, bound);
        assert_true(apart == DPI_QUANTILE_PARTS && apart <= 2 * bound);
    }
}

/* In steps of the grid, of which noise has 2^32: never above 2^32 / sigma, and little below it. */
static void noise_is_at_least_what_is_accounted_for(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_SHARES; k++)
        for (double sigma = 0.1; sigma <= 4096; sigma = sigma < 4000 ? sigma * 1.0137 : sigma + 1) {
            const dpi_quantile q = {.below = dpi_quantile_parts(shares[k])};
            long double moved =
                (long double)dpi_quantile_scale(&q, sigma) * (long double)dpi_quantile_most(&q);
            assert_true(moved * (long double)sigma <= 0x1p32L);
            assert_true(moved * (long double)sigma > 0.98L * 0x1p32L);
            assert_close(dpi_quantile_noise(&q, sigma),
                         sigma * (double)dpi_quantile_most(&q) / DPI_QUANTILE_PARTS, 0.02, 0);
        }
}

/* 105 of 200 are below, noise is 5: the sum is one standard deviation above, and below zero with
 * probability 0.1587.  Of 40000 draws that is 6346 +- 73; 6.2 standard deviations leave 6e-10, and
 * noise 4 % off would be told in half of all cases. */
static void noise_has_the_size_that_is_told(void **state)
{
    (void)state;
    enum { N = 200, DRAWS = 40000 };
    dp_error err = {0};
    dp_noise *noise;
    double value[N], low, high;
    uint64_t begun = 0;
    size_t above = 0;
    const dpi_units units = {.n = N};
    const dpi_quantile q = {
        .x = value, .units = &units, .below = dpi_quantile_parts(0.5), .low = 0, .high = 2};
    for (size_t i = 0; i < N; i++)
        value[i] = i < 105 ? 1 : 2;
    assert_close(dpi_quantile_noise(&q, 10), 5, 1e-4, 0);
    assert_ok(dp_noise_new_seeded(5, &noise, &err), err.text);
    for (int i = 0; i < DRAWS; i++) {
        assert_ok(dpi_quantile_search(&q, 10, 1, noise, &low, &high, &begun, &err), err.text);
        assert_true((low == 0 && high == 1) || (low == 1 && high == 2));
        above += low == 1;
    }
    dp_noise_free(noise);
    assert_int_equal(begun, DRAWS);
    double p = erfc(sqrt(0.5)) / 2;
    assert_close((double)above, p * DRAWS, 0, 6.2 * sqrt(p * (1 - p) * DRAWS));
}

/* ---- what is found ---- */

/* The share at an answer is off by no more than 7 standard deviations of the noise (3e-12 a
 * count). */
static void quantiles_are_found(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_privacy privacy;
    dp_quantile_answer found[5];
    const dp_quantile asked[] = {{"x", 0, 0, 1, 0.5},
                                 {"x", 0, -3, 2, 0.02},
                                 {"x", 1, -1, 1, 0.75},
                                 {"x", DP_NORM, 0, 10, 0.9},
                                 {"x", 0, 2, 6, 0.5}};
    const double truth[] = {0.5, 0.02, -0.25, 0.9 * sqrt(2), 2};
    for (int grouped = 0; grouped < 2; grouped++) {
        dp_dataset *data = set_up(MOST, grouped);
        const dp_quantile_opts o = {
            .asked = asked, .n = 5, .epsilon = 1, .delta = 1e-6, .levels = 14};
        assert_ok(dp_private_quantiles(data, &o, found, &privacy, &err), err.text);
        for (int k = 0; k < 5; k++) {
            double slope = k == 3 ? sqrt(2) : 1; /* of the value by the share */
            double least = grouped ? MOST * 2.0 / 3 : MOST;
            assert_true(found[k].noise > 1 && found[k].noise < 60);
            assert_close(found[k].within, (asked[k].high - asked[k].low) * 0x1p-15, 1e-12, 0);
            /* 5e-3: the other values of a person lie elsewhere, 2e-4 a record and a part. */
            assert_close(found[k].value, truth[k], 0,
                         slope * 7 * found[k].noise / least + found[k].within +
                             (grouped ? 5e-3 : 1e-4));
        }
        assert_true(privacy.is_private && privacy.why_not == NULL && privacy.warning == NULL);
        assert_contains(privacy.adjacency, grouped ? "one unit (all rows" : "one record");
        dp_dataset_free(data);
    }
}

static void bounds_hold_the_share_asked_for(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_bounds_answer found[2];
    double same[MOST];
    dp_dataset *data = set_up(MOST, false);
    for (size_t i = 0; i < MOST; i++)
        same[i] = 3;
    dp_dataset_real(data, "same", 1, same);
    const dp_quantile asked[] = {{"x", 0, -1, 3, 0.9}, {"same", 0, 0, 10, 0.9}};
    const dp_quantile_opts o = {.asked = asked, .n = 2, .epsilon = 1, .delta = 1e-6};
    assert_ok(dp_private_bounds(data, &o, found, NULL, &err), err.text);
    double off = 7 * found[0].noise / MOST + 2 * found[0].within + 1e-3;
    assert_close(found[0].low, 0.05, 0, off);
    assert_close(found[0].high, 0.95, 0, off);
    assert_true(off < 0.05);
    assert_true(found[1].low < found[1].high && found[1].low <= 3 && found[1].high >= 3);
    assert_close(found[1].high - found[1].low, 2 * found[1].within, 1e-9, 0);
    dp_dataset_free(data);
}

/* A person with 5000 records is one of 101 units. */
static void a_unit_of_many_records_counts_once(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_quantile_answer found;
    dp_dataset *data = set_up(5100, false);
    for (size_t i = 0; i < 5100; i++) {
        x[i][0] = i < 5000 ? 0.9 : 0.1;
        person[i] = i < 5000 ? -7 : (int32_t)i;
    }
    const dp_quantile asked = {"x", 0, 0, 1, 0.5};
    const dp_quantile_opts o = {
        .asked = &asked, .n = 1, .sigma = 1, .delta = 1e-6, .levels = 10, .seed = 3};
    assert_ok(dp_private_quantiles(data, &o, &found, NULL, &err), err.text);
    assert_close(found.value, 0.9, 0, 0.01);
    dp_dataset_unit(data, "person");
    assert_ok(dp_private_quantiles(data, &o, &found, NULL, &err), err.text);
    assert_close(found.value, 0.1, 0, 0.01);
    dp_dataset_free(data);
}

/* ---- what is paid ---- */

static void the_account_is_the_accountants(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_quantile_answer found[3];
    dp_privacy privacy;
    double epsilon, sigma;
    const dp_quantile asked[] = {
        {"x", 0, 0, 1, 0.5}, {"x", 0, 0, 1, 0.1}, {"x", DP_NORM, 0, 1, 0.5}};
    dp_dataset *data = set_up(500, false);
    dp_quantile_opts o = {.asked = asked, .n = 3, .delta = 1e-3, .epsilon = 0.7, .levels = 20};
    assert_ok(dp_private_quantiles(data, &o, found, &privacy, &err), err.text);
    const double delta = dpi_release_delta(1e-3);
    assert_ok(dp_approximate_sigma(0.7, delta, 1, 60, DP_SAMPLING_FULL, &sigma, &err), err.text);
    const dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = sigma, .rate = 1, .steps = 60};
    assert_ok(dp_epsilon(&m, delta, &epsilon, &err), err.text);
    assert_true(privacy.sigma == sigma && privacy.epsilon == epsilon && privacy.delta == 1e-3);
    assert_true(epsilon <= 0.7 && epsilon > 0.699 && privacy.steps == 60 && privacy.eta == 0);
    assert_true(privacy.is_private && privacy.warning == NULL);
    o.seed = 5;
    o.delta = 2e-3;
    assert_ok(dp_private_quantiles(data, &o, found, &privacy, &err), err.text);
    assert_true(!privacy.is_private && privacy.warning != NULL);
    assert_contains(privacy.why_not, "seeded");
    dp_dataset_free(data);
}

static void the_ledger_has_the_entry_before_the_data_are_looked_at(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_bounds_answer found;
    dp_privacy privacy;
    dp_interval spent, again;
    const dp_ledger_statement *s;
    const dp_quantile asked = {"x", 1, -1, 1, 0.9};
    dp_dataset *data = set_up(300, true);
    dp_ledger *ledger = folder_ledger(10);
    const dp_budget budget = {
        .epsilon = 1, .delta = 1e-6, .adjacency = DP_ADD_REMOVE, .unit = "person"};
    const dp_ledger_source source = {.records = data};
    assert_ok(dp_ledger_add_data(ledger, "columns", &source, &budget, &err), err.text);
    dp_quantile_opts o = {.asked = &asked,
                          .n = 1,
                          .delta = 1e-6,
                          .epsilon = 0.6,
                          .ledger = ledger,
                          .ledger_data = "columns",
                          .ledger_label = "range of x"};
    assert_ok(dp_private_bounds(data, &o, &found, &privacy, &err), err.text);
    assert_ok(dp_ledger_spent(ledger, "columns", &spent, &err), err.text);
    assert_true(spent.upper == privacy.epsilon && spent.upper > 0.599);
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    const dp_ledger_entry *e = &s->data[1].entries[0];
    assert_true(s->data[1].n == 1 && e->settled > 0 && e->n == 1 && e->list[0].steps == 24);
    assert_true(e->begun[0] == 24 && e->list[0].sigma == privacy.sigma);
    assert_string_equal(e->columns, "quantiles of x, person");
    assert_string_equal(e->label, "range of x");
    dp_ledger_statement_free(s);

    double kept = x[7][1]; /* refused for the budget, not for what stands there */
    x[7][1] = NAN;
    o.epsilon = 0.9;
    assert_fails(dp_private_bounds(data, &o, &found, &privacy, &err), DP_EPRIVACY, &err,
                 "would fit");
    assert_true(isnan(found.low) && privacy.epsilon == INFINITY && !privacy.is_private);
    x[7][1] = kept;
    o.epsilon = 0.01;
    o.ledger_data = "d"; /* a file: its records are not compared with these */
    dp_dataset *single = set_up(300, false);
    x[7][0] = NAN;
    assert_fails(dp_private_bounds(single, &o, &found, NULL, &err), DP_EDATA, &err, "not finite");
    assert_ok(dp_ledger_spent(ledger, "d", &again, &err), err.text);
    assert_true(again.upper == 0);
    o.ledger_data = "columns";
    assert_fails(dp_private_bounds(single, &o, &found, NULL, &err), DP_EMISMATCH, &err,
                 "unit column");
    dp_dataset_free(single);
    dp_dataset_free(data);
    dp_ledger_close(ledger);
}

/* ---- what is refused ---- */

static void what_makes_no_sense_is_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        dp_quantile asked;
        dp_quantile_opts o;
        dp_status status;
        const char *why;
    } cases[] = {
        {{"z", 0, 0, 1, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_ENAME, "'z'"},
        {{NULL, 0, 0, 1, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_ENAME, "NULL"},
        {{"person", 0, 0, 1, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_ENAME, "no real column"},
        {{"x", 2, 0, 1, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_ESHAPE, "element 2"},
        {{"x", 0, 1, 1, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_EDOMAIN, "public"},
        {{"x", 0, NAN, 1, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_EDOMAIN, "public"},
        {{"x", 0, -1e308, 1e308, 0.5}, {.epsilon = 1, .delta = 1e-6}, DP_EDOMAIN, "finite"},
        {{"x", 0, 0, 1, 0}, {.epsilon = 1, .delta = 1e-6}, DP_EDOMAIN, "share"},
        {{"x", 0, 0, 1, 1}, {.epsilon = 1, .delta = 1e-6}, DP_EDOMAIN, "share"},
        {{"x", 0, 0, 1, NAN}, {.epsilon = 1, .delta = 1e-6}, DP_EDOMAIN, "share"},
        {{"x", 0, 0, 1, 0.5}, {.epsilon = 1}, DP_EDOMAIN, "delta"},
        {{"x", 0, 0, 1, 0.5}, {.epsilon = 1, .delta = 1}, DP_EDOMAIN, "delta"},
        {{"x", 0, 0, 1, 0.5}, {.delta = 1e-6}, DP_EDOMAIN, "epsilon"},
        {{"x", 0, 0, 1, 0.5}, {.epsilon = INFINITY, .delta = 1e-6}, DP_EDOMAIN, "epsilon"},
        {{"x", 0, 0, 1, 0.5}, {.epsilon = 1, .sigma = 1, .delta = 1e-6}, DP_EINVAL, "one of"},
        {{"x", 0, 0, 1, 0.5}, {.sigma = 0.01, .delta = 1e-6}, DP_EDOMAIN, "0.1 to 4096"},
        {{"x", 0, 0, 1, 0.5}, {.sigma = NAN, .delta = 1e-6}, DP_EDOMAIN, "0.1 to 4096"},
        {{"x", 0, 0, 1, 0.5}, {.epsilon = 1e-3, .delta = 1e-9}, DP_EDOMAIN, "0.1 to 4096"},
        {{"x", 0, 0, 1, 0.5}, {.sigma = 1, .delta = 1e-6, .levels = 53}, DP_EDOMAIN, "52 times"},
    };
    dp_error err = {0};
    dp_dataset *data = set_up(100, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int both = 0; both < 2; both++) {
            dp_quantile_answer one = {0, 0, 0};
            dp_bounds_answer two = {0, 0, 0, 0};
            dp_privacy privacy = {.is_private = true};
            dp_quantile_opts o = cases[i].o;
            o.asked = &cases[i].asked;
            o.n = 1;
            assert_fails(both ? dp_private_bounds(data, &o, &two, &privacy, &err)
                              : dp_private_quantiles(data, &o, &one, &privacy, &err),
                         cases[i].status, &err, cases[i].why);
            assert_true(isnan(both ? two.low : one.value));
            assert_true(!privacy.is_private && privacy.epsilon == INFINITY && privacy.delta == 1);
        }
    dp_quantile_opts o = {.delta = 1e-6, .epsilon = 1};
    dp_quantile_answer none;
    dp_bounds_answer nothing;
    assert_fails(dp_private_quantiles(data, &o, &none, NULL, &err), DP_EINVAL, &err, "ask for 1");
    assert_fails(dp_private_bounds(data, &o, &nothing, NULL, &err), DP_EINVAL, &err, "ask for 1");
    dp_dataset_unit(data, "nobody");
    assert_fails(dp_private_quantiles(data, &o, &none, NULL, &err), DP_ENAME, &err, "nobody");
    dp_dataset_free(data);
}

static void a_ledger_needs_a_name_and_no_seed(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_quantile_answer found;
    const dp_quantile asked = {"x", 0, 0, 1, 0.5};
    dp_dataset *data = set_up(100, false);
    dp_ledger *ledger = folder_ledger(10);
    dp_quantile_opts o = {.asked = &asked, .n = 1, .delta = 1e-6, .epsilon = 1, .ledger = ledger};
    assert_fails(dp_private_quantiles(data, &o, &found, NULL, &err), DP_EINVAL, &err,
                 "ledger_data");
    o.ledger_data = "d";
    o.seed = 4;
    assert_fails(dp_private_quantiles(data, &o, &found, NULL, &err), DP_EPRIVACY, &err, "seed");
    o.ledger = NULL;
    assert_fails(dp_private_quantiles(data, &o, &found, NULL, &err), DP_EINVAL, &err, "no ledger");
    o.ledger_data = NULL;
    o.ledger_label = "label";
    assert_fails(dp_private_quantiles(data, &o, &found, NULL, &err), DP_EINVAL, &err, "no ledger");
    dp_dataset_free(data);
    dp_ledger_close(ledger);
}

/* The same message wherever the value stands, in an element that is not asked for too. */
static void a_value_that_is_not_finite_is_not_located(void **state)
{
    (void)state;
    dp_quantile_answer found;
    dp_error errors[3] = {{0}};
    const dp_quantile asked = {"x", 0, 0, 1, 0.5};
    const dp_quantile_opts o = {.asked = &asked, .n = 1, .delta = 1e-6, .epsilon = 1};
    const size_t at[] = {0, 99, 40};
    for (int k = 0; k < 3; k++) {
        dp_dataset *data = set_up(100, false);
        x[at[k]][k == 2] = k == 1 ? INFINITY : NAN;
        assert_int_equal(dp_private_quantiles(data, &o, &found, NULL, &errors[k]), DP_EDATA);
        assert_string_equal(errors[k].text, errors[0].text);
        assert_null(strstr(errors[k].text, "'x'"));
        dp_dataset_free(data);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    bool failed;
    size_t k = 0;
    const dp_quantile asked[] = {{"x", 0, 0, 1, 0.5}, {"x", DP_NORM, 0, 1, 0.5}};
    dp_dataset *data = set_up(100, true);
    dp_ledger *ledger = folder_ledger(1e3);
    const dp_budget budget = {
        .epsilon = 1e3, .delta = 1e-6, .adjacency = DP_ADD_REMOVE, .unit = "person"};
    const dp_ledger_source source = {.records = data};
    assert_ok(dp_ledger_add_data(ledger, "columns", &source, &budget, NULL), "");
    const dp_quantile_opts o = {.asked = asked,
                                .n = 2,
                                .sigma = 1000,
                                .delta = 1e-6,
                                .ledger = ledger,
                                .ledger_data = "columns"};
    size_t live = faulty_live();
    do {
        dp_error err = {0};
        dp_bounds_answer found[2];
        dp_privacy privacy;
        faulty_fail(++k);
        dp_status status = dp_private_bounds(data, &o, found, &privacy, &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        /* What cannot be settled stays spent, and the answers are told. */
        assert_true(status == DP_OK || (failed && status == DP_ENOMEM));
        assert_true(isnan(found[0].low) == (status != DP_OK) &&
                    isnan(found[1].low) == (status != DP_OK) &&
                    privacy.is_private == (status == DP_OK));
        assert_int_equal(faulty_live(), live);
    } while (failed && k < 1000);
    assert_true(k > 15 && k < 1000);
    dp_dataset_free(data);
    dp_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_unit_moves_a_count_further_than_is_accounted_for),
        cmocka_unit_test(noise_is_at_least_what_is_accounted_for),
        cmocka_unit_test(noise_has_the_size_that_is_told),
        cmocka_unit_test(quantiles_are_found),
        cmocka_unit_test(bounds_hold_the_share_asked_for),
        cmocka_unit_test(a_unit_of_many_records_counts_once),
        cmocka_unit_test(the_account_is_the_accountants),
        cmocka_unit_test(the_ledger_has_the_entry_before_the_data_are_looked_at),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_a_remedy),
        cmocka_unit_test(a_ledger_needs_a_name_and_no_seed),
        cmocka_unit_test(a_value_that_is_not_finite_is_not_located),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("bounds", tests, folder_make, folder_remove);
}
