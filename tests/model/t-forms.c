/* Forms of distributions by public calls: priors, observations, stored models, data that do not
 * fit, what is refused and how. */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "model/store.h"
#include "tests/lib/check.h"
#include <tacit/fit.h>
#include <tacit/forms.h>
#include <tacit/simulate.h>

enum { N = 4000 };

typedef struct scene {
    dp_model *m;
    dp_plate rows;
    dp_expr w;
} scene;

static scene begin(void)
{
    scene s = {.m = dp_model_new()};
    s.rows = dp_unit_plate(s.m, "rows");
    s.w = dp_sample(s.m, "w", 1, dp_normal(0, 1));
    return s;
}

static void refused(scene s, dp_status status, const char *says)
{
    assert_int_equal(dp_model_status(s.m), status);
    assert_contains(dp_model_error(s.m), says);
    assert_contains(dp_model_error(s.m), "t-forms.c:");
    dp_model_free(s.m);
}

/* ---- what is refused ---- */

static void observe_refused(dp_dist (*of)(scene s), dp_status status, const char *says)
{
    scene s = begin();
    dp_observe(s.rows, "y", of(s));
    refused(s, status, says);
}

static dp_dist no_tails(scene s)
{
    return dp_truncated(dp_categorical_logit(s.w), 0, 1);
}

static dp_dist of_nothing(scene s)
{
    (void)s;
    return dp_truncated((dp_dist){0}, 0, 1);
}

static dp_dist twice(scene s)
{
    return dp_truncated(dp_truncated(dp_normal_v(s.w, dp_num(1)), 0, 1), 0.2, 0.9);
}

static dp_dist empty(scene s)
{
    return dp_truncated(dp_normal_v(s.w, dp_num(1)), 2, 1);
}

static dp_dist not_a_number(scene s)
{
    return dp_truncated(dp_normal_v(s.w, dp_num(1)), NAN, 1);
}

static dp_dist from_infinity(scene s)
{
    return dp_truncated(dp_normal_v(s.w, dp_num(1)), INFINITY, INFINITY);
}

static dp_dist below_zero(scene s)
{
    return dp_truncated(dp_exponential_v(dp_exp(s.w)), -INFINITY, -1);
}

static dp_dist mixed(scene s)
{
    const double half[] = {0.5, 0.5};
    return dp_mixture(dp_constant(s.m, 2, half), dp_truncated(dp_normal(0, 1), 0, 1));
}

static dp_dist of_uniform(scene s)
{
    (void)s;
    return dp_truncated(dp_uniform(0, 1), 0.2, 0.4);
}

static void truncations_that_are_none_are_refused(void **state)
{
    (void)state;
    observe_refused(no_tails, DP_EUNSUPPORTED, "the family has no distribution function");
    observe_refused(of_nothing, DP_EINVAL, "'y' has no distribution");
    observe_refused(twice, DP_EUNSUPPORTED, "a truncation is of a family");
    observe_refused(empty, DP_EDOMAIN, "'y': the interval from 2 to 1 is empty");
    observe_refused(not_a_number, DP_EDOMAIN, "low of truncated(normal) is nan");
    observe_refused(from_infinity, DP_EDOMAIN, "low of truncated below(normal) is inf");
    observe_refused(below_zero, DP_EDOMAIN, "'y': the interval from 0 to -1 is empty");
    observe_refused(mixed, DP_EUNSUPPORTED, "dp_mixture takes components of");
    observe_refused(of_uniform, DP_EUNSUPPORTED, "give the family the narrower bounds");
}

/* ---- stored models ---- */

static void assert_comes_back(const dp_model *m)
{
    dpi_bytes bytes = {0}, again = {0};
    dp_error err = {0};
    dp_model *copy;
    assert_ok(dp_model_status(m), dp_model_error(m));
    assert_ok(dpi_model_store(m, &bytes, &err), err.text);
    assert_ok(dpi_model_restore(NULL, bytes.at, bytes.n, &copy, &err), err.text);
    assert_int_equal(copy->n_sites, m->n_sites);
    for (size_t i = 0; i < m->n_sites; i++)
        if (m->sites[i].family != NULL)
            assert_string_equal(copy->sites[i].family->name, m->sites[i].family->name);
    assert_ok(dpi_model_store(copy, &again, &err), err.text);
    assert_int_equal(again.n, bytes.n);
    assert_memory_equal(again.at, bytes.at, bytes.n);
    dpi_bytes_free(&bytes);
    dpi_bytes_free(&again);
    dp_model_free(copy);
}

static void models_with_forms_come_back(void **state)
{
    (void)state;
    scene s = begin();
    dp_expr a = dp_sample(s.m, "a", 1, dp_truncated(dp_normal(0, 1), -1, 2));
    dp_expr b = dp_sample(s.m, "b", 3, dp_truncated(dp_cauchy_v(a, dp_num(1)), 0.5, INFINITY));
    (void)dp_sample(s.m, "c", 2, dp_truncated(dp_gumbel(0, 1), -INFINITY, -0.5));
    (void)dp_sample(s.m, "d", 2, dp_truncated(dp_exponential(1), -3, 4));
    dp_observe(s.rows, "y", dp_truncated(dp_normal_v(s.w, dp_sum(b)), 0, INFINITY));
    assert_comes_back(s.m);
    dp_model_free(s.m);
}

/* ---- draws, data, fits ---- */

static double y[N];

static dp_status start(scene s, dp_error *err)
{
    dp_svi *svi;
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    assert_ok(dp_model_status(s.m), dp_model_error(s.m));
    dp_status status = dp_svi_new(s.m, NULL, data, &o, &svi, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(s.m);
    return status;
}

static void records_outside_the_bounds_are_refused(void **state)
{
    (void)state;
    for (int bad = 0; bad < 3; bad++) {
        dp_error err = {0};
        scene s = begin();
        for (size_t i = 0; i < N; i++)
            y[i] = 1;
        dp_observe(s.rows, "y",
                   bad == 2 ? dp_truncated(dp_log_normal_v(s.w, dp_num(1)), -INFINITY, 2)
                            : dp_truncated(dp_normal_v(s.w, dp_num(1)), 0, 2));
        y[7] = bad == 1 ? 2.5 : -0.5;
        assert_fails(start(s, &err), DP_EDATA, &err, "column 'y', record 7 (from 0)");
    }
}

/* Priors keep to their bounds, and so do records. */
static void draws_keep_to_the_bounds(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_simulator *sim;
    dp_rng *rng;
    scene s = begin();
    dp_expr a = dp_sample(s.m, "a", 1, dp_truncated(dp_normal(0, 1), 1, 1.5));
    (void)dp_sample(s.m, "b", 3, dp_truncated(dp_normal(0, 1), -INFINITY, -1));
    dp_observe(s.rows, "y", dp_truncated(dp_normal_v(a, dp_num(1)), 6, INFINITY));
    dp_dataset *data = dp_dataset_new(N);
    assert_ok(dp_simulator_new(s.m, data, &sim, &err), err.text);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    for (int t = 0; t < 20; t++) {
        double drawn, others[3];
        assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
        assert_ok(dp_simulated(sim, "a", 1, &drawn, &err), err.text);
        assert_ok(dp_simulated(sim, "b", 3, others, &err), err.text);
        assert_true(drawn > 1 && drawn <= 1.5);
        assert_true(others[0] <= -1 && others[1] <= -1 && others[2] <= -1);
    }
    assert_ok(dp_simulate_records(sim, "y", rng, N, y, &err), err.text);
    for (size_t i = 0; i < N; i++)
        assert_true(y[i] > 6 && y[i] < 14);
    dp_rng_free(rng);
    dp_simulator_free(sim);
    dp_dataset_free(data);
    dp_model_free(s.m);
}

/* Fits without privacy of y, a normal of mean -1 and scale 1 seen above 0: the mean comes back only
 * where the cut is known.  The model goes before the run, as it may. */
static double fitted_mean(bool cut)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_summary mean;
    scene s = {.m = dp_model_new()};
    s.rows = dp_unit_plate(s.m, "rows");
    dp_expr w = dp_sample(s.m, "w", 1, dp_truncated(dp_normal(0, 3), -10, 1.5));
    dp_dist dist = dp_normal_v(w, dp_num(1));
    dp_observe(s.rows, "y", cut ? dp_truncated(dist, 0, INFINITY) : dist);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .steps = 1000,
                           .step_size = 0.05,
                           .sampling = DP_SAMPLING_POISSON,
                           .rate = 0.1,
                           .average = 0.3,
                           .seed = 1};
    assert_ok(dp_model_status(s.m), dp_model_error(s.m));
    assert_ok(dp_svi_new(s.m, NULL, data, &o, &svi, &err), err.text);
    dp_model_free(s.m);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", 1, &mean, &err), err.text);
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(data);
    return mean.mean;
}

static void a_fit_knows_what_was_cut_off(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(23, &rng, &err), err.text);
    for (size_t i = 0; i < N; i++)
        do {
            dp_rng_normal(rng, 1, &y[i]);
            y[i] -= 1;
        } while (y[i] <= 0);
    dp_rng_free(rng);
    /* Its standard error is 1 / sqrt(N x 0.2), 0.035. */
    assert_close(fitted_mean(true), -1, 0, 0.25);
    assert_close(fitted_mean(false), 0.52, 0, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations_that_are_none_are_refused),
        cmocka_unit_test(models_with_forms_come_back),
        cmocka_unit_test(records_outside_the_bounds_are_refused),
        cmocka_unit_test(draws_keep_to_the_bounds),
        cmocka_unit_test(a_fit_knows_what_was_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
