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
    observe_refused(mixed, DP_EUNSUPPORTED, "its components are families of single numbers");
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
    dp_expr k = dp_data(s.rows, "k", 1), u = dp_data(s.rows, "u", 1);
    dp_observe(s.rows, "e", dp_censored(dp_normal_v(s.w, dp_num(1)), k));
    dp_observe(s.rows, "f", dp_interval_censored(dp_normal_v(s.w, dp_num(1)), k, u));
    dp_observe(s.rows, "g", dp_zero_inflated(dp_poisson_log(u), s.w));
    dp_observe(s.rows, "h", dp_hurdle(dp_gamma_v(dp_exp(u), dp_num(1)), s.w));
    dp_observe(s.rows, "i", dp_present(dp_weighted(dp_hurdle(dp_poisson_log(u), s.w), k, 3), k));
    const dp_dist parts[] = {dp_gamma_v(dp_exp(s.w), dp_num(1)), dp_exponential(2)};
    dp_expr shares = dp_sample(s.m, "shares", 2, dp_dirichlet(1));
    dp_observe(s.rows, "l", dp_weighted(dp_mixture_of(shares, 2, parts), u, 2));
    dp_observe(s.rows, "j", dp_weighted(dp_categorical_logit(b), u, 2));
    dp_expr order = dp_sample(s.m, "order", 2, dp_ordered(dp_student_t(3, 0, 1)));
    const dp_dist inflated = dp_zero_inflated(dp_poisson_log(order), s.w);
    dp_observe(s.rows, "m", dp_present(dp_mixture(shares, inflated), k));
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

/* ---- columns that forms read ---- */

enum { FEW = 9, BAD = 5 };

typedef struct columns {
    double y[FEW], k[FEW], u[FEW];
} columns;

static columns good_columns(void)
{
    columns c;
    for (size_t i = 0; i < FEW; i++) {
        c.y[i] = 1;
        c.k[i] = 0;
        c.u[i] = 2;
    }
    return c;
}

/* Of a model that observes y by that form, with censoring and so on from k and u. */
static dp_status take(dp_dist (*of)(scene s, dp_expr k, dp_expr u), const columns *c, dp_error *err)
{
    scene s = begin();
    dp_dataset *data = dp_dataset_new(FEW);
    dp_dataset_real(data, "y", 1, c->y);
    dp_dataset_real(data, "k", 1, c->k);
    dp_dataset_real(data, "u", 1, c->u);
    dp_expr k = dp_data(s.rows, "k", 1), u = dp_data(s.rows, "u", 1);
    dp_observe(s.rows, "y", of(s, k, u));
    assert_ok(dp_model_status(s.m), dp_model_error(s.m));
    dp_status status = dp_check_data(s.m, NULL, data, err);
    dp_dataset_free(data);
    dp_model_free(s.m);
    return status;
}

static dp_dist is_censored(scene s, dp_expr k, dp_expr u)
{
    (void)u;
    return dp_censored(dp_exponential_v(dp_exp(s.w)), k);
}

static dp_dist is_between(scene s, dp_expr k, dp_expr u)
{
    return dp_interval_censored(dp_exponential_v(dp_exp(s.w)), k, u);
}

static dp_dist is_weighted(scene s, dp_expr k, dp_expr u)
{
    (void)k;
    return dp_weighted(dp_exponential_v(dp_exp(s.w)), u, 2.5);
}

static dp_dist is_present(scene s, dp_expr k, dp_expr u)
{
    (void)u;
    return dp_present(dp_truncated(dp_exponential_v(dp_exp(s.w)), 0.5, 3), k);
}

static dp_dist has_hurdle(scene s, dp_expr k, dp_expr u)
{
    (void)k;
    (void)u;
    return dp_hurdle(dp_log_normal_v(s.w, dp_num(1)), s.w);
}

static dp_dist has_zeros(scene s, dp_expr k, dp_expr u)
{
    (void)k;
    (void)u;
    return dp_zero_inflated(dp_poisson_log(s.w), s.w);
}

static void bad_columns_are_refused_by_record(void **state)
{
    (void)state;
    static const struct {
        dp_dist (*of)(scene s, dp_expr k, dp_expr u);
        double y, k, u;
        const char *says; /* NULL: taken */
    } records[] = {
        {is_censored, 1, -1, 0, NULL},
        {is_censored, 1, 1, 0, NULL},
        {is_censored, 1, 2, 0, "column 'k', record 5 (from 0): the value is not -1, 0 or 1"},
        {is_censored, 1, 0.5, 0, "column 'k', record 5 (from 0): the value is not -1, 0 or 1"},
        {is_censored, -1, 1, 0, "column 'y', record 5 (from 0): the value is not a number above 0"},
        {is_between, 1, 2, 1.5, NULL},
        {is_between, 1, 1, -7, NULL},
        {is_between, 1, 2, 1, "column 'y', record 5 (from 0): the value is not below its upper"},
        {is_between, 1, -2, 3, "column 'k', record 5 (from 0): the value is not -1, 0, 1 or 2"},
        {is_weighted, 1, 0, 2.5, NULL},
        {is_weighted, 1, 0, 0, NULL},
        {is_weighted, 1, 0, 2.6, "column 'u', record 5 (from 0): the weight is above the bound"},
        {is_weighted, 1, 0, -1, "column 'u', record 5 (from 0): the value is not a number from 0"},
        {is_present, -77, 0, 0, NULL},
        {is_present, 1, 1, 0, NULL},
        {is_present, 4, 1, 0, "column 'y', record 5 (from 0): the value is not a number between"},
        {is_present, 1, 0.5, 0, "column 'k', record 5 (from 0): the value is not 0 or 1"},
        {has_hurdle, 0, 0, 0, NULL},
        {has_hurdle, 3.5, 0, 0, NULL},
        {has_hurdle, -0.1, 0, 0, "column 'y', record 5 (from 0): the value is not a number from 0"},
        {has_zeros, 0, 0, 0, "column 'y', record 0"},
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        dp_error err = {0};
        columns c = good_columns();
        c.y[0] = records[i].of == has_zeros ? 1.5 : 1;
        c.y[BAD] = records[i].y;
        c.k[BAD] = records[i].k;
        c.u[BAD] = records[i].u;
        for (size_t j = 0; j < FEW && records[i].of == is_present; j++)
            c.k[j] = j == BAD ? c.k[j] : 1;
        dp_status status = take(records[i].of, &c, &err);
        if (records[i].says == NULL)
            assert_ok(status, err.text);
        else
            assert_fails(status, DP_EDATA, &err, records[i].says);
    }
}

static void mixtures_of_several_take_a_weight_for_each(void **state)
{
    (void)state;
    const dp_dist parts[] = {dp_normal(0, 1), dp_cauchy(0, 1), dp_laplace(0, 1)};
    scene s = begin();
    dp_expr two = dp_sample(s.m, "two", 2, dp_dirichlet(1));
    dp_observe(s.rows, "y", dp_mixture_of(two, 3, parts));
    refused(s, DP_ESHAPE, "weights [n], one for each component");
    s = begin();
    two = dp_sample(s.m, "two", 2, dp_dirichlet(1));
    const dp_dist rows[] = {dp_normal(0, 1), dp_normal_v(dp_log(two), dp_num(1))};
    dp_observe(s.rows, "y", dp_mixture_of(two, 2, rows));
    refused(s, DP_ESHAPE, "arguments of components that are numbers");
    s = begin();
    two = dp_sample(s.m, "two", 2, dp_dirichlet(1));
    dp_observe(s.rows, "y", dp_mixture_of(two, 2, parts));
    dp_simulator *sim;
    dp_error err = {0};
    dp_rng *rng;
    dp_dataset *data = dp_dataset_new(N);
    assert_ok(dp_simulator_new(s.m, data, &sim, &err), err.text);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
    assert_ok(dp_simulate_records(sim, "y", rng, N, y, &err), err.text);
    for (size_t i = 0; i < N; i++)
        assert_true(isfinite(y[i]));
    dp_rng_free(rng);
    dp_simulator_free(sim);
    dp_dataset_free(data);
    dp_model_free(s.m);
}

static void forms_of_observations_are_no_priors(void **state)
{
    (void)state;
    scene s = begin();
    (void)dp_sample(s.m, "v", 1, dp_weighted(dp_normal(0, 1), dp_num(1), 1));
    refused(s, DP_EUNSUPPORTED, "latent 'v' has the prior weighted(normal), which is for obs");
    s = begin();
    dp_observe(s.rows, "y", dp_weighted(dp_normal_v(s.w, dp_num(1)), dp_exp(s.w), 0));
    refused(s, DP_EDOMAIN, "bound of weighted(normal) is 0; it must be a number above 0");
    s = begin();
    dp_observe(s.rows, "y", dp_present(dp_normal_v(s.w, dp_num(1)), s.w));
    refused(s, DP_EDOMAIN, "present of present(normal) must be 0 or 1, and 'w' need not be");
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

/* Of N numbers that are normal around 0.7, those above 1 are known to be above 1, and a third is
 * missing, with 1e60 in its place.  Standard error: below 0.03. */
static void a_fit_hears_what_is_known_of_records(void **state)
{
    (void)state;
    static double k[N], present[N];
    dp_error err = {0};
    dp_rng *rng;
    dp_svi *svi;
    dp_fit *fit;
    dp_summary mean;
    assert_ok(dp_rng_new(29, &rng, &err), err.text);
    dp_rng_normal(rng, N, y);
    dp_rng_free(rng);
    for (size_t i = 0; i < N; i++) {
        k[i] = y[i] + 0.7 > 1;
        y[i] = k[i] > 0 ? 1 : y[i] + 0.7;
        present[i] = i % 3 != 0;
        y[i] = present[i] > 0 ? y[i] : 1e60;
    }
    scene s = begin();
    dp_expr censoring = dp_data(s.rows, "k", 1), is = dp_data(s.rows, "present", 1);
    dp_observe(s.rows, "y", dp_present(dp_censored(dp_normal_v(s.w, dp_num(1)), censoring), is));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_real(data, "k", 1, k);
    dp_dataset_real(data, "present", 1, present);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .steps = 500,
                           .step_size = 0.05,
                           .sampling = DP_SAMPLING_POISSON,
                           .rate = 0.1,
                           .average = 0.3,
                           .seed = 1};
    assert_ok(dp_svi_new(s.m, NULL, data, &o, &svi, &err), err.text);
    dp_model_free(s.m);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", 1, &mean, &err), err.text);
    assert_close(mean.mean, 0.7, 0, 0.1);
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations_that_are_none_are_refused),
        cmocka_unit_test(models_with_forms_come_back),
        cmocka_unit_test(records_outside_the_bounds_are_refused),
        cmocka_unit_test(bad_columns_are_refused_by_record),
        cmocka_unit_test(mixtures_of_several_take_a_weight_for_each),
        cmocka_unit_test(forms_of_observations_are_no_priors),
        cmocka_unit_test(draws_keep_to_the_bounds),
        cmocka_unit_test(a_fit_knows_what_was_cut_off),
        cmocka_unit_test(a_fit_hears_what_is_known_of_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
