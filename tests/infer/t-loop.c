/* Fits by the loop: which models have one, what it finds, what it spends and says of itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/tacit.h>

#include "tests/graph/faulty.h"
#include "tests/infer/loop-models.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { N = LOOP_N, D = LOOP_D, K = LOOP_K };
static loop_records records;

static int draw_records(void **state)
{
    (void)state;
    loop_draw(&records);
    return 0;
}

static dp_fit *fit_of(size_t k, const dp_fit_opts *o)
{
    dp_fit *fit;
    dp_error err = {0};
    dp_model *m = loop_models[k].make();
    dp_dataset *data = loop_data(&records, N);
    assert_ok(dp_fit_private(m, data, o, &fit, &err), err.text);
    dp_dataset_free(data);
    dp_model_free(m);
    return fit;
}

static const dp_diagnostic *diagnostic(const dp_fit *fit, const char *name)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(d[k].name, name) == 0)
            return &d[k];
    return NULL;
}

/* ---- tests ---- */

static void every_kind_has_a_fit_that_says_how_it_was_made(void **state)
{
    (void)state;
    for (size_t k = 0; k < LOOP_MODELS; k++)
        for (int private = 0; private < 2; private ++) {
            dp_fit_opts o = {.seed = 3, .mode = DP_NO_PRIVACY, .method = DP_METHOD_ROUNDS};
            if (private)
                o = (dp_fit_opts){.seed = 3, .epsilon = 1, .delta = 1e-5};
            dp_fit *fit = fit_of(k, &o);
            const dp_diagnostic *d = diagnostic(fit, "method");
            assert_non_null(d);
            assert_true(d->bad);
            assert_contains(d->words, loop_models[k].why);
            assert_contains(d->words, "too narrow");
            assert_int_equal(strstr(d->words, "noisy gradient steps") != NULL, private);
            assert_int_equal(strstr(d->words, "noise of privacy") != NULL, private);
            /* A network's parameters are points, which have no standard deviation to go by. */
            assert_int_equal(diagnostic(fit, "convergence") != NULL, k != LOOP_NETWORK);
            dp_fit_free(fit);
        }
}

static void spends_at_most_what_was_asked(void **state)
{
    static const double epsilon[] = {0.1, 1, 4, 30};
    (void)state;
    for (size_t k = 0; k < sizeof epsilon / sizeof epsilon[0]; k++) {
        dp_privacy p;
        const dp_fit_opts o = {.epsilon = epsilon[k], .delta = 1e-5};
        dp_fit *fit = fit_of(LOOP_COLUMNS, &o);
        dp_fit_privacy(fit, &p);
        assert_true(p.is_private);
        assert_true(p.epsilon <= epsilon[k] && p.epsilon > 0.99 * epsilon[k]);
        assert_true(p.delta <= 1e-5);
        dp_fit_free(fit);
    }
}

static void the_ledger_has_what_was_reported(void **state)
{
    dp_error err = {0};
    dp_privacy p;
    dp_interval spent;
    dp_dataset *data = loop_data(&records, N);
    dp_model *m = loop_models[LOOP_MIXTURE].make();
    dp_fit *fit;
    (void)state;
    const dp_budget budget = {.epsilon = 1.2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = data};
    dp_ledger *ledger = folder_ledger(1);
    assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
    const dp_fit_opts o = {.epsilon = 1, .delta = 1e-6, .ledger = ledger, .ledger_data = "records"};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    dp_fit_privacy(fit, &p);
    assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
    assert_close(spent.upper, p.epsilon, 1e-6, 0);
    const dp_ledger_statement *all;
    assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
    assert_int_equal(all->data[1].n, 1);
    assert_int_equal(all->data[1].entries[0].n, 3);
    uint64_t steps = 0;
    for (size_t k = 0; k < 3; k++)
        steps += all->data[1].entries[0].begun[k];
    assert_int_equal(steps, p.steps);
    dp_ledger_statement_free(all);
    dp_fit_free(fit);
    /* There is no room for another one. */
    fit = NULL;
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EPRIVACY, &err, "epsilon");
    assert_null(fit);
    dp_ledger_close(ledger);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void data_that_do_not_fit_cost_nothing(void **state)
{
    dp_error err = {0};
    dp_interval spent;
    dp_fit *fit;
    double kept = records.x[5];
    records.x[5] = NAN;
    dp_dataset *data = loop_data(&records, N);
    dp_model *m = loop_models[LOOP_MIXTURE].make();
    (void)state;
    const dp_budget budget = {.epsilon = 1, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = data};
    dp_ledger *ledger = folder_ledger(1);
    assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
    const dp_fit_opts o = {.epsilon = 1, .delta = 1e-6, .ledger = ledger, .ledger_data = "records"};
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EDATA, &err, "dp_check_data");
    assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
    assert_true(spent.upper == 0);
    dp_ledger_close(ledger);
    dp_model_free(m);
    dp_dataset_free(data);
    records.x[5] = kept;
}

static void a_file_keeps_what_was_said(void **state)
{
    dp_error err = {0};
    dp_fit *loaded;
    size_t n, m;
    (void)state;
    const char *path = folder_path("loop.tacit");
    dp_fit *fit = fit_of(LOOP_CODES, &(dp_fit_opts){.epsilon = 1, .delta = 1e-5, .seed = 4});
    assert_ok(dp_fit_save(fit, path, &err), err.text);
    assert_ok(dp_fit_load(path, &loaded, &err), err.text);
    const dp_diagnostic *is = diagnostic(loaded, "method"), *was = diagnostic(fit, "method");
    assert_string_equal(is->words, was->words);
    assert_true(is->bad && is->value == was->value && is->limit == was->limit);
    const dp_fit_phase *before = dp_fit_phases(fit, &n), *after = dp_fit_phases(loaded, &m);
    assert_int_equal(n, m);
    for (size_t k = 0; k < n; k++)
        assert_true(before[k].sigma == after[k].sigma && before[k].clip == after[k].clip);
    dp_fit_free(loaded);
    dp_fit_free(fit);
}

static void seeded_fits_repeat_on_any_number_of_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < LOOP_MODELS; k++) {
        const char *name = k == 0 ? "mean.loc" : k == 1 ? "W" : "level.loc";
        const size_t n = k < 2 ? K * D : D;
        double one[K * D] = {0}, two[K * D] = {0}, other[K * D] = {0};
        dp_error err = {0};
        dp_fit *fit[3] = {
            fit_of(k, &(dp_fit_opts){.epsilon = 2, .delta = 1e-5, .seed = 5}),
            fit_of(k, &(dp_fit_opts){.epsilon = 2, .delta = 1e-5, .seed = 5, .threads = 3}),
            fit_of(k, &(dp_fit_opts){.epsilon = 2, .delta = 1e-5, .seed = 6})};
        assert_ok(dp_fit_parameter(fit[0], name, n, one, &err), err.text);
        assert_ok(dp_fit_parameter(fit[1], name, n, two, &err), err.text);
        assert_ok(dp_fit_parameter(fit[2], name, n, other, &err), err.text);
        assert_memory_equal(one, two, sizeof one);
        assert_memory_not_equal(one, other, sizeof one);
        for (int j = 0; j < 3; j++)
            dp_fit_free(fit[j]);
    }
}

/* Which component has found which cluster.  Clusters are five standard deviations apart and more;
 * 0.15 is what noise at epsilon 8, clipping and 333 points a cluster leave, five times over; seeds
 * are fixed. */
static void match(uint64_t seed, size_t found[K])
{
    dp_summary mean[K * D];
    dp_error err = {0};
    dp_fit *fit = fit_of(LOOP_MIXTURE, &(dp_fit_opts){.epsilon = 8, .delta = 1e-5, .seed = seed});
    assert_ok(dp_fit_summary(fit, "mean", K * D, mean, &err), err.text);
    for (size_t c = 0; c < K; c++) {
        found[c] = K;
        for (size_t k = 0; k < K; k++)
            if (fabs(mean[k * D].mean - loop_centre[c][0]) < 0.15 &&
                fabs(mean[k * D + 1].mean - loop_centre[c][1]) < 0.15)
                found[c] = k;
        assert_true(found[c] < K);
    }
    dp_fit_free(fit);
}

/* Where components start says which of them finds which cluster, but for a seed in seven. */
static void finds_the_means_of_clusters_most_often_in_one_order(void **state)
{
    size_t first[K], other[K], same = 0;
    (void)state;
    match(7, first);
    for (uint64_t seed = 8; seed < 16; seed++) {
        match(seed, other);
        assert_true(other[0] != other[1] && other[1] != other[2] && other[0] != other[2]);
        same += memcmp(first, other, sizeof first) == 0;
    }
    assert_true(same >= 5);
}

static void units_are_protected_as_such(void **state)
{
    static int32_t who[N];
    dp_error err = {0};
    dp_privacy p;
    dp_fit *fit;
    dp_model *m = loop_models[LOOP_MIXTURE].make();
    dp_dataset *data = loop_data(&records, N);
    (void)state;
    for (size_t i = 0; i < N; i++)
        who[i] = (int32_t)(i / 4);
    dp_dataset_index(data, "who", who);
    dp_dataset_unit(data, "who");
    assert_ok(dp_fit_private(m, data, &(dp_fit_opts){.epsilon = 1, .delta = 1e-5}, &fit, &err),
              err.text);
    dp_fit_privacy(fit, &p);
    assert_contains(p.adjacency, "unit");
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* By the released number of records, which is told with noise. */
static void a_large_delta_is_told(void **state)
{
    (void)state;
    dp_fit *fit = fit_of(LOOP_COLUMNS, &(dp_fit_opts){.epsilon = 4, .delta = 0.01, .seed = 2});
    assert_non_null(diagnostic(fit, "delta"));
    assert_true(diagnostic(fit, "delta")->bad);
    dp_fit_free(fit);
    fit = fit_of(LOOP_COLUMNS, &(dp_fit_opts){.epsilon = 4, .delta = 1e-4, .seed = 2});
    assert_null(diagnostic(fit, "delta"));
    dp_fit_free(fit);
}

/* The accountant can do without some memory, so that such a fit may succeed. */
static void every_failing_allocation_is_survived(void **state)
{
    static const dp_fit_opts opts[] = {
        {.mode = DP_NO_PRIVACY, .method = DP_METHOD_ROUNDS, .seed = 1},
        {.epsilon = 20, .delta = 1e-3, .seed = 1}};
    (void)state;
    for (size_t k = 0; k < 4; k += 2)
        for (int o = 0; o < 2; o++) {
            dp_model *m = loop_models[k].make();
            dp_dataset *data = loop_data(&records, 12);
            size_t live = faulty_live();
            int failed = 1;
            for (size_t at = 1; failed; at++) {
                dp_error err = {0};
                dp_fit *fit = NULL;
                faulty_fail(at);
                dp_status status = dp_fit_private(m, data, &opts[o], &fit, &err);
                failed = faulty_failed();
                faulty_fail(0);
                assert_true(status == DP_OK || (failed && status == DP_ENOMEM));
                assert_int_equal(fit != NULL, status == DP_OK);
                dp_fit_free(fit);
                assert_int_equal(faulty_live(), live);
            }
            dp_dataset_free(data);
            dp_model_free(m);
        }
}

static void options_of_rounds_and_hopeless_ones_are_refused(void **state)
{
    static const dp_fit_opts opts[] = {{.epsilon = 1, .delta = 1e-5, .rounds = 5},
                                       {.epsilon = 1, .delta = 1e-5, .clip = 2},
                                       {.epsilon = 1, .delta = 1e-5, .draws = 1000}};
    static const char *const names[] = {"rounds", "clip", "draws"};
    dp_model *m = loop_models[LOOP_MIXTURE].make();
    dp_dataset *data = loop_data(&records, N);
    dp_error err = {0};
    dp_fit *fit;
    (void)state;
    for (size_t k = 0; k < 3; k++)
        assert_fails(dp_fit_private(m, data, &opts[k], &fit, &err), DP_EINVAL, &err, names[k]);
    assert_fails(dp_fit_private(m, data, &(dp_fit_opts){.epsilon = 1}, &fit, &err), DP_EDOMAIN,
                 &err, "delta");
    for (double epsilon = 1e-10; epsilon < 2e-5; epsilon *= 10) {
        const dp_fit_opts o = {.epsilon = epsilon, .delta = 1e-5};
        assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EDOMAIN, &err, "raise epsilon");
    }
    dp_dataset_free(data);
    dp_model_free(m);
}

static void what_has_no_guide_is_refused_by_name(void **state)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr share = dp_sample_in(rows, "share", 1, dp_beta(2, 2));
    dp_dataset *data = loop_data(&records, N);
    dp_error err = {0};
    dp_fit *fit;
    (void)state;
    dp_observe(rows, "y", dp_normal_v(share, dp_num(1)));
    assert_fails(dp_fit_private(m, data, &(dp_fit_opts){.epsilon = 1, .delta = 1e-5}, &fit, &err),
                 DP_EUNSUPPORTED, &err, "latent 'share'");
    dp_dataset_free(data);
    dp_model_free(m);
}

static void a_plan_refuses_and_says_why(void **state)
{
    const dp_plan_opts o = {.fit = {.epsilon = 1, .delta = 1e-5}, .records = 100};
    dp_error err = {0};
    dp_plan *plan;
    (void)state;
    for (size_t k = 0; k < LOOP_MODELS; k++) {
        dp_model *m = loop_models[k].make();
        assert_fails(dp_fit_plan(m, NULL, &o, &plan, &err), DP_EUNSUPPORTED, &err,
                     loop_models[k].why);
        dp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_fit_that_says_how_it_was_made),
        cmocka_unit_test(spends_at_most_what_was_asked),
        cmocka_unit_test_setup_teardown(the_ledger_has_what_was_reported, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(data_that_do_not_fit_cost_nothing, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_file_keeps_what_was_said, folder_make, folder_remove),
        cmocka_unit_test(seeded_fits_repeat_on_any_number_of_threads),
        cmocka_unit_test(finds_the_means_of_clusters_most_often_in_one_order),
        cmocka_unit_test(units_are_protected_as_such),
        cmocka_unit_test(a_large_delta_is_told),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_of_rounds_and_hopeless_ones_are_refused),
        cmocka_unit_test(what_has_no_guide_is_refused_by_name),
        cmocka_unit_test(a_plan_refuses_and_says_why),
    };
    return cmocka_run_group_tests(tests, draw_records, NULL);
}
