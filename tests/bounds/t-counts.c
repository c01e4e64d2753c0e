/* Private counts: what is counted, what one unit can move, how large the noise is, what is paid and
 * refused. */
#include <tacit/counts.h>

#include <math.h>
#include <string.h>

#include "random/failure.h"
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { MOST = 20000, UNITS = 400 };

static double x[MOST];
static int32_t group[MOST], person[MOST];

static const dp_count_axis axes[] = {
    {"x", -1, 3, 8}, {"group", 2, 8, 7}, {"group", 2, 8, 3}, {"x", 0, 1, 1}};
static const dp_count_table tables[] = {{0, DP_ONE_WAY}, {1, DP_ONE_WAY}, {0, 2}, {3, DP_ONE_WAY}};
enum { CELLS = 8 + 7 + 24 + 1, N_TABLES = 4 };

/* Records `from` on, of which each third is of the person before it. */
static dp_dataset *set_up(size_t from, size_t n, bool grouped)
{
    dp_dataset *data = dp_dataset_new(n);
    assert_non_null(data);
    for (size_t i = 0; i < MOST; i++) {
        x[i] = -1 + 4 * (double)(i * 7919 % MOST) / MOST;
        group[i] = (int32_t)(2 + i * i % 7);
        person[i] = (int32_t)(i % 3 == 1 ? i - 1 : i);
    }
    dp_dataset_real(data, "x", 1, x + from);
    dp_dataset_index(data, "group", group + from);
    dp_dataset_index(data, "person", person + from);
    if (grouped)
        dp_dataset_unit(data, "person");
    return data;
}

static const dp_count_opts plain = {
    .axes = axes, .n_axes = 4, .tables = tables, .n_tables = N_TABLES, .delta = 1e-6};

/* Counts with noise that is known and the same for equal seeds. */
static void seeded(const dp_dataset *data, double sigma, uint64_t seed, double *counts)
{
    dp_error err = {0};
    dp_count_opts o = plain;
    o.sigma = sigma;
    o.seed = seed;
    assert_ok(dp_private_counts(data, &o, CELLS, counts, NULL, NULL, &err), err.text);
}

static void cells_divide_a_column(void **state)
{
    (void)state;
    const dp_count_axis real = {"x", -1, 3, 8}, whole = {"g", 2, 8, 3}, each = {"g", 2, 8, 7};
    static const struct {
        double value;
        size_t real, whole, each;
    } cases[] = {{-7, 0, 0, 0}, {-1, 0, 0, 0},   {-.51, 0, 0, 0},    {-.49, 1, 0, 0},
                 {2, 6, 0, 0},  {2.99, 7, 0, 0}, {3, 7, 0, 1},       {4, 7, 0, 2},
                 {5, 7, 1, 3},  {6, 7, 1, 4},    {7, 7, 2, 5},       {8, 7, 2, 6},
                 {9, 7, 2, 6},  {NAN, 0, 0, 0},  {INFINITY, 7, 2, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(dp_count_cell(&real, false, cases[i].value), cases[i].real);
        if (cases[i].value != floor(cases[i].value))
            continue;
        assert_int_equal(dp_count_cell(&whole, true, cases[i].value), cases[i].whole);
        assert_int_equal(dp_count_cell(&each, true, cases[i].value), cases[i].each);
    }
    for (size_t values = 2; values <= 1000; values++)
        for (size_t v = 0; v < values; v++) {
            const dp_count_axis all = {"g", -7, (double)values - 8, values};
            const dp_count_axis some = {"g", -7, (double)values - 8, (values + 1) / 2};
            assert_int_equal(dp_count_cell(&all, true, (double)v - 7), v);
            assert_int_equal(dp_count_cell(&some, true, (double)v - 7), v * some.cells / values);
        }
}

/* Counts of 20000 records, beside those made here, are off by noise alone: 6.6 standard deviations
 * of 40 numbers, 2e-9. */
static void counts_are_those_of_the_records(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_privacy privacy;
    double counts[CELLS], truth[CELLS] = {0}, noise;
    dp_dataset *data = set_up(0, MOST, false);
    for (size_t i = 0; i < MOST; i++) {
        const size_t a = (size_t)((x[i] + 1) * 2), g = (size_t)group[i] - 2;
        truth[a]++;
        truth[8 + g]++;
        truth[15 + 3 * a + g * 3 / 7]++;
        truth[39]++;
    }
    dp_count_opts o = plain;
    o.epsilon = 1;
    assert_ok(dp_private_counts(data, &o, CELLS, counts, &noise, &privacy, &err), err.text);
    assert_true(noise > 5 && noise < 12); /* sigma of four steps */
    for (size_t k = 0; k < CELLS; k++)
        assert_close(counts[k], truth[k], 0, 6.6 * noise);
    assert_close(counts[39], MOST, 0, 6.6 * noise);
    assert_true(privacy.is_private && privacy.why_not == NULL && privacy.warning == NULL);
    assert_string_equal(privacy.adjacency, "add or remove one record");
    dp_dataset_free(data);
}

/* The distance between the counts of neighbours, with the same noise.  Of one record it is the root
 * of the number of tables, and of a person of several less, never more. */
static void a_unit_moves_all_counts_by_the_root_of_the_tables(void **state)
{
    (void)state;
    double all[CELLS], less[CELLS];
    for (int grouped = 0; grouped < 2; grouped++) {
        double greatest = 0;
        dp_dataset *data = set_up(0, UNITS, grouped);
        seeded(data, 1, 7, all);
        for (size_t u = 0; u < 60; u += 3) { /* a person's two records, or one record alone */
            double own_x[UNITS], square = 0;
            int32_t own_group[UNITS], own_person[UNITS];
            size_t n = 0;
            for (size_t i = 0; i < UNITS; i++)
                if (i != u && !(grouped && person[i] == person[u])) {
                    own_x[n] = x[i];
                    own_group[n] = group[i];
                    own_person[n++] = person[i];
                }
            dp_dataset *other = dp_dataset_new(n);
            dp_dataset_real(other, "x", 1, own_x);
            dp_dataset_index(other, "group", own_group);
            dp_dataset_index(other, "person", own_person);
            if (grouped)
                dp_dataset_unit(other, "person");
            seeded(other, 1, 7, less);
            dp_dataset_free(other);
            for (size_t k = 0; k < CELLS; k++)
                square += (all[k] - less[k]) * (all[k] - less[k]);
            if (!grouped)
                assert_close(sqrt(square), sqrt(N_TABLES), 1e-9, 0);
            greatest = fmax(greatest, sqrt(square));
        }
        assert_true(greatest <= sqrt(N_TABLES) * (1 + 1e-9));
        dp_dataset_free(data);
    }
}

/* The whole numbers behind: a unit's 2^14 parts are at most 2^32 / sigma steps of the noise's grid,
 * and not much less. */
static void noise_is_at_least_what_is_accounted_for(void **state)
{
    (void)state;
    dp_error err = {0};
    double counts[CELLS], noise;
    dp_dataset *data = set_up(0, 10, false);
    for (double sigma = 0.1; sigma <= 4096; sigma *= 1.37) {
        dp_count_opts o = plain;
        o.sigma = sigma;
        assert_ok(dp_private_counts(data, &o, CELLS, counts, &noise, NULL, &err), err.text);
        assert_true(noise >= sigma && noise < 1.02 * sigma);
    }
    dp_dataset_free(data);
}

/* Of 4000 x 40 counts of nobody but 4 records: the mean square of noise 3 is 9 +- 9 sqrt(2 / N);
 * 6.2 standard deviations leave 6e-10, and noise 1.2 % off would be told. */
static void noise_has_the_size_that_is_told(void **state)
{
    (void)state;
    enum { CALLS = 4000 };
    double counts[CELLS], truth[CELLS], square = 0, sum = 0;
    dp_dataset *data = set_up(0, 4, false);
    seeded(data, 0.1, 1, truth); /* whole numbers but for noise of a tenth */
    for (size_t k = 0; k < CELLS; k++)
        truth[k] = rint(truth[k]);
    for (uint64_t call = 1; call <= CALLS; call++) {
        seeded(data, 3, call, counts);
        for (size_t k = 0; k < CELLS; k++) {
            square += (counts[k] - truth[k]) * (counts[k] - truth[k]);
            sum += counts[k] - truth[k];
        }
    }
    const double n = (double)CALLS * CELLS;
    assert_close(square / n, 9, 6.2 * sqrt(2 / n), 1e-4);
    assert_close(sum / n, 0, 0, 6.2 * 3 / sqrt(n));
    dp_dataset_free(data);
}

/* A person with 3000 of 3100 records is one of 101 units, in the cells of his records by parts. */
static void a_unit_of_many_records_counts_once(void **state)
{
    (void)state;
    double counts[CELLS];
    dp_dataset *data = set_up(0, 3100, false);
    for (size_t i = 0; i < 3100; i++) {
        x[i] = i < 3000 ? (i % 4 == 0 ? -1 : 3) : 0.1;
        person[i] = i < 3000 ? -7 : (int32_t)i;
    }
    dp_dataset_unit(data, "person");
    seeded(data, 0.1, 3, counts);
    assert_close(counts[0], 0.25, 0, 0.7); /* 7 standard deviations of noise */
    assert_close(counts[7], 0.75, 0, 0.7);
    assert_close(counts[2], 100, 0, 0.7);
    assert_close(counts[39], 101, 0, 0.7);
    dp_dataset_free(data);
}

/* ---- what is paid ---- */

static void the_account_is_the_accountants(void **state)
{
    (void)state;
    dp_error err = {0};
    double counts[CELLS], epsilon, sigma;
    dp_privacy privacy;
    dp_dataset *data = set_up(0, 500, false);
    dp_count_opts o = plain;
    o.epsilon = 0.7;
    o.delta = 1e-3;
    assert_ok(dp_private_counts(data, &o, CELLS, counts, NULL, &privacy, &err), err.text);
    const double delta = dpi_release_delta(1e-3);
    assert_ok(dp_approximate_sigma(0.7, delta, 1, N_TABLES, DP_SAMPLING_FULL, &sigma, &err), "");
    const dp_mechanism m = {
        .sampling = DP_SAMPLING_FULL, .sigma = sigma, .rate = 1, .steps = N_TABLES};
    assert_ok(dp_epsilon(&m, delta, &epsilon, &err), err.text);
    assert_true(privacy.sigma == sigma && privacy.epsilon == epsilon && privacy.delta == 1e-3);
    assert_true(epsilon <= 0.7 && epsilon > 0.699 && privacy.steps == N_TABLES);
    o.seed = 5;
    o.delta = 2e-3;
    assert_ok(dp_private_counts(data, &o, CELLS, counts, NULL, &privacy, &err), err.text);
    assert_true(!privacy.is_private && privacy.warning != NULL);
    assert_contains(privacy.why_not, "seeded");
    dp_dataset_free(data);
}

static void the_ledger_has_the_entry_before_the_data_are_looked_at(void **state)
{
    (void)state;
    dp_error err = {0};
    double counts[CELLS];
    dp_privacy privacy;
    dp_interval spent, again;
    const dp_ledger_statement *s;
    dp_dataset *data = set_up(0, 300, true);
    dp_ledger *ledger = folder_ledger(10);
    const dp_budget budget = {
        .epsilon = 1, .delta = 1e-6, .adjacency = DP_ADD_REMOVE, .unit = "person"};
    const dp_ledger_source source = {.records = data};
    assert_ok(dp_ledger_add_data(ledger, "columns", &source, &budget, &err), err.text);
    dp_count_opts o = plain;
    o.epsilon = 0.6;
    o.ledger = ledger;
    o.ledger_data = "columns";
    o.ledger_label = "tables";
    assert_ok(dp_private_counts(data, &o, CELLS, counts, NULL, &privacy, &err), err.text);
    assert_ok(dp_ledger_spent(ledger, "columns", &spent, &err), err.text);
    assert_true(spent.upper == privacy.epsilon && spent.upper > 0.599);
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    const dp_ledger_entry *e = &s->data[1].entries[0];
    assert_true(s->data[1].n == 1 && e->settled > 0 && e->n == 1 && e->list[0].steps == N_TABLES);
    assert_true(e->begun[0] == N_TABLES && e->list[0].sigma == privacy.sigma);
    assert_string_equal(e->columns, "counts of x, group, person");
    dp_ledger_statement_free(s);

    const double kept = x[7]; /* refused for the budget, not for what stands there */
    x[7] = NAN;
    o.epsilon = 0.9;
    assert_fails(dp_private_counts(data, &o, CELLS, counts, NULL, &privacy, &err), DP_EPRIVACY,
                 &err, "would fit");
    assert_true(isnan(counts[0]) && isnan(counts[39]) && privacy.epsilon == INFINITY);
    x[7] = kept;
    dp_dataset *single = set_up(0, 300, false);
    x[299] = NAN;
    o.epsilon = 0.01;
    o.ledger_data = "d"; /* a file: its records are not compared with these */
    assert_fails(dp_private_counts(single, &o, CELLS, counts, NULL, NULL, &err), DP_EDATA, &err,
                 "not finite");
    assert_ok(dp_ledger_spent(ledger, "d", &again, &err), err.text);
    assert_true(again.upper == 0);
    dp_dataset_free(single);
    dp_dataset_free(data);
    dp_ledger_close(ledger);
}

/* ---- what is refused ---- */

static void what_makes_no_sense_is_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        dp_count_axis axis;
        dp_count_table table;
        size_t n;
        double epsilon, delta, sigma;
        dp_status status;
        const char *why;
    } cases[] = {
        {{"z", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_ENAME, "'z'"},
        {{NULL, 0, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_ENAME, "NULL"},
        {{"two", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_ESHAPE, "2 numbers"},
        {{"x", 1, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_EDOMAIN, "public"},
        {{"x", NAN, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_EDOMAIN, "public"},
        {{"x", -1e308, 1e308, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_EDOMAIN, "finite"},
        {{"x", 0, 1, 0}, {0, DP_ONE_WAY}, 0, 1, 1e-6, 0, DP_EDOMAIN, "cells"},
        {{"x", 0, 1, (1 << 20) + 1}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_EDOMAIN, "cells"},
        {{"x", 0, 1, 1 << 20}, {0, 0}, 4, 1, 1e-6, 0, DP_EDOMAIN, "coarser"},
        {{"group", 2, 8, 8}, {0, DP_ONE_WAY}, 8, 1, 1e-6, 0, DP_EDOMAIN, "than values"},
        {{"group", 2.5, 8, 2}, {0, DP_ONE_WAY}, 2, 1, 1e-6, 0, DP_EDOMAIN, "whole"},
        {{"x", 0, 1, 4}, {1, DP_ONE_WAY}, 4, 1, 1e-6, 0, DP_EDOMAIN, "axis"},
        {{"x", 0, 1, 4}, {0, 1}, 4, 1, 1e-6, 0, DP_EDOMAIN, "axis"},
        {{"x", 0, 1, 4}, {0, DP_ONE_WAY}, 3, 1, 1e-6, 0, DP_ESHAPE, "tables have 4"},
        {{"x", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 0, 1e-6, 0, DP_EDOMAIN, "epsilon"},
        {{"x", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 0, 0, DP_EDOMAIN, "delta"},
        {{"x", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 1, 1e-6, 1, DP_EINVAL, "one of"},
        {{"x", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 0, 1e-6, 5000, DP_EDOMAIN, "number of tables"},
        {{"x", 0, 1, 4}, {0, DP_ONE_WAY}, 4, 0, 1e-6, 0.05, DP_EDOMAIN, "number of tables"},
    };
    dp_error err = {0};
    dp_dataset *data = set_up(0, 100, false);
    dp_dataset_real(data, "two", 2, x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double counts[8] = {0}, noise = 0;
        dp_privacy privacy = {.is_private = true};
        const dp_count_opts o = {.axes = &cases[i].axis,
                                 .n_axes = 1,
                                 .tables = &cases[i].table,
                                 .n_tables = 1,
                                 .epsilon = cases[i].epsilon,
                                 .delta = cases[i].delta,
                                 .sigma = cases[i].sigma};
        assert_fails(dp_private_counts(data, &o, cases[i].n, counts, &noise, &privacy, &err),
                     cases[i].status, &err, cases[i].why);
        assert_true((cases[i].n == 0 || isnan(counts[0])) && isnan(noise));
        assert_true(!privacy.is_private && privacy.epsilon == INFINITY && privacy.delta == 1);
    }
    dp_count_opts o = plain;
    double none[1];
    o.n_tables = 0;
    o.epsilon = 1;
    assert_fails(dp_private_counts(data, &o, 0, none, NULL, NULL, &err), DP_EINVAL, &err,
                 "ask for 1");
    dp_dataset_unit(data, "nobody");
    assert_fails(dp_private_counts(data, &plain, 1, none, NULL, NULL, &err), DP_ENAME, &err,
                 "nobody");
    dp_dataset_free(data);
}

static void a_ledger_needs_a_name_and_no_seed(void **state)
{
    (void)state;
    dp_error err = {0};
    double counts[CELLS];
    dp_dataset *data = set_up(0, 100, false);
    dp_ledger *ledger = folder_ledger(10);
    dp_count_opts o = plain;
    o.epsilon = 1;
    o.ledger = ledger;
    assert_fails(dp_private_counts(data, &o, CELLS, counts, NULL, NULL, &err), DP_EINVAL, &err,
                 "ledger_data");
    o.ledger_data = "d";
    o.seed = 4;
    assert_fails(dp_private_counts(data, &o, CELLS, counts, NULL, NULL, &err), DP_EPRIVACY, &err,
                 "seed");
    o.ledger = NULL;
    assert_fails(dp_private_counts(data, &o, CELLS, counts, NULL, NULL, &err), DP_EINVAL, &err,
                 "no ledger");
    dp_dataset_free(data);
    dp_ledger_close(ledger);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    bool failed;
    size_t k = 0;
    dp_dataset *data = set_up(0, 100, true);
    dp_ledger *ledger = folder_ledger(1e3);
    const dp_budget budget = {
        .epsilon = 1e3, .delta = 1e-6, .adjacency = DP_ADD_REMOVE, .unit = "person"};
    const dp_ledger_source source = {.records = data};
    assert_ok(dp_ledger_add_data(ledger, "columns", &source, &budget, NULL), "");
    dp_count_opts o = plain;
    o.sigma = 1000;
    o.ledger = ledger;
    o.ledger_data = "columns";
    const size_t live = faulty_live();
    do {
        dp_error err = {0};
        double counts[CELLS];
        dp_privacy privacy;
        faulty_fail(++k);
        dp_status status = dp_private_counts(data, &o, CELLS, counts, NULL, &privacy, &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        /* What cannot be settled stays spent, and the counts are told. */
        assert_true(status == DP_OK || (failed && status == DP_ENOMEM));
        assert_true(isnan(counts[0]) == (status != DP_OK) &&
                    isnan(counts[CELLS - 1]) == (status != DP_OK) &&
                    privacy.is_private == (status == DP_OK));
        assert_int_equal(faulty_live(), live);
    } while (failed && k < 1000);
    assert_true(k > 10 && k < 1000);
    dp_dataset_free(data);
    dp_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_divide_a_column),
        cmocka_unit_test(counts_are_those_of_the_records),
        cmocka_unit_test(a_unit_moves_all_counts_by_the_root_of_the_tables),
        cmocka_unit_test(noise_is_at_least_what_is_accounted_for),
        cmocka_unit_test(noise_has_the_size_that_is_told),
        cmocka_unit_test(a_unit_of_many_records_counts_once),
        cmocka_unit_test(the_account_is_the_accountants),
        cmocka_unit_test(the_ledger_has_the_entry_before_the_data_are_looked_at),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_a_remedy),
        cmocka_unit_test(a_ledger_needs_a_name_and_no_seed),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("counts", tests, folder_make, folder_remove);
}
