/* Multivariate priors and likelihoods by public calls: what is refused and how, draws, fits. */
#include <math.h>

#include "tests/lib/check.h"
#include <tacit/algebra.h>
#include <tacit/fit.h>
#include <tacit/infer.h>
#include <tacit/model.h>
#include <tacit/multivariate.h>
#include <tacit/simulate.h>

enum { K = 2, GROUPS = 12, N = 600 };

typedef struct scene {
    dp_model *m;
    dp_plate rows, groups;
    dp_expr loc, factor, four, wide;
} scene;

static const double factor[K * K] = {1.2, 0, -0.7, 0.5};

static scene begin(void)
{
    static const double four[4] = {1, 2, 3, 4}, wide[6] = {1, 2, 3, 4, 5, 6};
    scene s = {.m = dp_model_new()};
    s.rows = dp_unit_plate(s.m, "rows");
    s.groups = dp_plate_new(s.m, "groups", GROUPS);
    s.loc = dp_sample(s.m, "loc", K, dp_normal(0, 2));
    s.factor = dp_constant_matrix(s.m, K, K, factor);
    s.four = dp_constant(s.m, 4, four);
    s.wide = dp_constant_matrix(s.m, 3, 2, wide);
    return s;
}

static void refused(scene s, const char *says)
{
    assert_int_equal(dp_model_status(s.m), DP_ESHAPE);
    assert_contains(dp_model_error(s.m), says);
    dp_model_free(s.m);
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    scene s = begin();
    (void)dp_sample(s.m, "b", 1, dp_multivariate_normal_cholesky(dp_num(0), s.factor));
    refused(s, "'b': multivariate_normal is of n >= 2 numbers; give their number as n");
    s = begin();
    (void)dp_sample_in(s.groups, "b", 1, dp_multivariate_normal_cholesky(dp_num(0), s.factor));
    refused(s, "'b': multivariate_normal is of n >= 2 numbers; give their number as n");
    s = begin();
    (void)dp_sample(s.m, "b", 3, dp_multivariate_normal_cholesky(dp_num(0), s.factor));
    refused(s, "'b' is [3], but the arguments of multivariate_normal are together [2]");
    s = begin();
    (void)dp_sample(s.m, "b", 4, dp_multivariate_normal_cholesky(s.four, s.factor));
    refused(s, "; multivariate_normal takes a loc that is a number or [K] and a "
               "factor [K][K]");
    s = begin();
    dp_observe(s.rows, "y", dp_multivariate_normal_cholesky(s.loc, s.wide));
    refused(s, "; multivariate_normal takes");
    s = begin();
    dp_observe(s.rows, "y", dp_multivariate_normal_cholesky(s.loc, dp_num(1)));
    refused(s, "; multivariate_normal takes");
    s = begin();
    (void)dp_sample(s.m, "b", K, dp_multivariate_normal_precision(s.loc, s.wide));
    refused(s, "a Cholesky factor is that of a square matrix");
    s = begin();
    (void)dp_sample(s.m, "b", 3, dp_multivariate_normal_low_rank(dp_num(0), s.wide, s.four));
    refused(s, "a factor [K][r] and a variance that is a number or [K]");
    s = begin();
    (void)dp_sample(s.m, "b", K, dp_multivariate_student_t(dp_exp(s.loc), dp_num(0), s.factor));
    refused(s, "a df that is a number, a loc that is a number or [K] and a factor [K][K]");
}

static void misplaced_factors_are_refused(void **state)
{
    (void)state;
    scene s = begin();
    (void)dp_sample(s.m, "l", 1, dp_lkj_cholesky(1));
    refused(s, "'l': lkj_cholesky is of a matrix [n][n], n >= 2; give its rows as n");
    s = begin();
    (void)dp_sample(s.m, "l", K, dp_lkj_cholesky_v(dp_exp(s.loc)));
    refused(s, "; lkj_cholesky takes an eta that is a number");
    s = begin();
    dp_observe(s.rows, "l", dp_lkj_cholesky(1));
    refused(s, "'l': lkj_cholesky needs a vector [K]");
    s = begin();
    dp_observe(s.rows, "x", dp_multivariate_normal_cholesky(dp_num(0), dp_identity_matrix(s.m, 1)));
    refused(s, "'x': multivariate_normal needs a vector [K], K >= 2");
    s = begin();
    dp_observe(s.rows, "x", dp_gaussian_random_walk(dp_sum(s.loc), dp_num(1), dp_num(1)));
    refused(s, "'x': gaussian_random_walk needs a vector [K], K >= 2");
    s = begin();
    (void)dp_sample_in(s.groups, "l", K, dp_lkj_cholesky(1));
    assert_int_equal(dp_model_status(s.m), DP_EUNSUPPORTED);
    assert_contains(dp_model_error(s.m), "'l': a value of lkj_cholesky is a matrix");
    dp_model_free(s.m);
    s = begin();
    (void)dp_sample(s.m, "l", K, dp_lkj_cholesky(0));
    assert_int_equal(dp_model_status(s.m), DP_EDOMAIN);
    dp_model_free(s.m);
}

/* A factor that is NaN is found when it is used, not when it is declared. */
static void draws_of_no_covariance_are_nan(void **state)
{
    (void)state;
    static const double none[K * K] = {1, 2, 2, 1};
    dp_error err = {0};
    dp_simulator *sim;
    dp_rng *rng;
    double b[K] = {0};
    scene s = begin();
    (void)dp_sample(
        s.m, "b", K,
        dp_multivariate_normal_covariance(dp_num(0), dp_constant_matrix(s.m, K, K, none)));
    dp_dataset *data = dp_dataset_new(1);
    assert_ok(dp_simulator_new(s.m, data, &sim, &err), err.text);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
    assert_ok(dp_simulated(sim, "b", K, b, &err), err.text);
    assert_true(isnan(b[0]) && isnan(b[1]));
    dp_rng_free(rng);
    dp_simulator_free(sim);
    dp_dataset_free(data);
    dp_model_free(s.m);
}

/* ---- intercepts and slopes of groups ---- */

static double x[N], y[N];
static int32_t group[N];

static dp_model *slopes(void)
{
    scene s = begin();
    dp_expr b = dp_sample_in(s.groups, "b", K, dp_multivariate_normal_cholesky(s.loc, s.factor));
    dp_expr at = dp_pick(b, dp_index(s.rows, "group", s.groups));
    dp_expr line = dp_add(dp_slice(at, 0, 1), dp_mul(dp_slice(at, 1, 1), dp_data(s.rows, "x", 1)));
    dp_observe(s.rows, "y", dp_normal_v(line, dp_num(1)));
    return s.m;
}

static dp_dataset *simulated(const dp_model *m, double *truth)
{
    dp_error err = {0};
    dp_simulator *sim;
    dp_rng *rng;
    assert_ok(dp_rng_new(23, &rng, &err), err.text);
    dp_rng_normal(rng, N, x);
    for (int32_t i = 0; i < N; i++)
        group[i] = i % 3 == 0 ? i % 2 : i / 3 % GROUPS; /* more of two groups than of others */
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_index(data, "group", group);
    assert_ok(dp_simulator_new(m, data, &sim, &err), err.text);
    assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
    assert_ok(dp_simulated(sim, "b", (size_t)K * GROUPS, truth, &err), err.text);
    assert_ok(dp_simulate_records(sim, "y", rng, N, y, &err), err.text);
    dp_dataset_real(data, "y", 1, y);
    dp_simulator_free(sim);
    dp_rng_free(rng);
    return data;
}

/* Inverse of a 2 x 2 symmetric matrix. */
static void inverse(const double a[3], double out[3])
{
    double det = a[0] * a[2] - a[1] * a[1];
    out[0] = a[2] / det;
    out[1] = -a[1] / det;
    out[2] = a[0] / det;
}

typedef struct exact {
    double mean[2 + 2 * GROUPS], sd[2 + 2 * GROUPS];
} exact;

/* The posterior is normal: of loc from each group's least squares, of b given loc. */
static exact solve(void)
{
    exact e;
    double prior[3] = {factor[0] * factor[0], factor[0] * factor[2],
                       factor[2] * factor[2] + factor[3] * factor[3]};
    double p[3], seen[GROUPS][3] = {{0}}, told[GROUPS][2] = {{0}};
    inverse(prior, p);
    for (int i = 0; i < N; i++) {
        double *f = seen[group[i]], *t = told[group[i]];
        f[0] += 1, f[1] += x[i], f[2] += x[i] * x[i];
        t[0] += y[i], t[1] += x[i] * y[i];
    }
    double all[3] = {0.25, 0, 0.25}, sum[2] = {0}, of[GROUPS][3], loc[3];
    for (int g = 0; g < GROUPS; g++) {
        /* b | loc has precision P + F and mean of[g] (P loc + t); integrated over b, loc is told
         * P - P of P, and P of t. */
        double whole[3] = {p[0] + seen[g][0], p[1] + seen[g][1], p[2] + seen[g][2]};
        inverse(whole, of[g]);
        double a[2][2] = {{p[0] * of[g][0] + p[1] * of[g][1], p[0] * of[g][1] + p[1] * of[g][2]},
                          {p[1] * of[g][0] + p[2] * of[g][1], p[1] * of[g][1] + p[2] * of[g][2]}};
        all[0] += p[0] - (a[0][0] * p[0] + a[0][1] * p[1]);
        all[1] += p[1] - (a[0][0] * p[1] + a[0][1] * p[2]);
        all[2] += p[2] - (a[1][0] * p[1] + a[1][1] * p[2]);
        for (int k = 0; k < 2; k++)
            sum[k] += a[k][0] * told[g][0] + a[k][1] * told[g][1];
    }
    inverse(all, loc);
    for (int k = 0; k < 2; k++) {
        e.mean[k] = loc[k] * sum[0] + loc[k + 1] * sum[1];
        e.sd[k] = sqrt(loc[2 * k]);
    }
    for (int g = 0; g < GROUPS; g++) {
        double right[2] = {p[0] * e.mean[0] + p[1] * e.mean[1] + told[g][0],
                           p[1] * e.mean[0] + p[2] * e.mean[1] + told[g][1]};
        for (int k = 0; k < 2; k++) {
            double of_loc[2] = {of[g][k] * p[0] + of[g][k + 1] * p[1],
                                of[g][k] * p[1] + of[g][k + 1] * p[2]};
            e.mean[2 + 2 * g + k] = of[g][k] * right[0] + of[g][k + 1] * right[1];
            e.sd[2 + 2 * g + k] =
                sqrt(of[g][2 * k] + of_loc[0] * of_loc[0] * loc[0] +
                     2 * of_loc[0] * of_loc[1] * loc[1] + of_loc[1] * of_loc[1] * loc[2]);
        }
    }
    return e;
}

static void near(const dp_fit *fit, const char *name, size_t n, const double *mean,
                 const double *sd, double within)
{
    dp_error err = {0};
    dp_summary found[2 * GROUPS];
    assert_ok(dp_fit_summary(fit, name, n, found, &err), err.text);
    for (size_t k = 0; k < n; k++) {
        assert_close(found[k].mean, mean[k], 0, within * sd[k]);
        assert_close(found[k].sd, sd[k], within, 0);
    }
}

/* Without privacy the posterior is the exact one; with it means are within what noise adds. */
static void a_fit_of_correlated_slopes_is_exact(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    double truth[2 * GROUPS];
    dp_model *m = slopes();
    assert_ok(dp_model_status(m), dp_model_error(m));
    dp_dataset *data = simulated(m, truth);
    const exact e = solve();
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    near(fit, "loc", 2, e.mean, e.sd, 0.2);
    near(fit, "b", 2 * GROUPS, e.mean + 2, e.sd + 2, 0.2);
    dp_fit_free(fit);
    const dp_fit_opts private = {.epsilon = 20, .delta = 1e-5, .seed = 3};
    assert_ok(dp_fit_private(m, data, &private, &fit, &err), err.text);
    dp_summary found[2 * GROUPS];
    assert_ok(dp_fit_summary(fit, "b", (size_t)2 * GROUPS, found, &err), err.text);
    for (int k = 0; k < 2 * GROUPS; k++) {
        assert_true(found[k].sd > 0.8 * e.sd[2 + k] && found[k].sd < 1.3);
        assert_close(found[k].mean, truth[k], 0, 6.5 * found[k].sd);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* ---- a correlation that is learnt ---- */

enum { MANY = 40 };

/* Standard deviations and correlation of intercepts and slopes, from groups of ten records. */
static void correlations_of_slopes_are_learnt_and_kept(void **state)
{
    (void)state;
    static double t[10 * MANY], seen_y[10 * MANY], noise[10 * MANY], b[2 * MANY];
    static int32_t of[10 * MANY];
    dp_error err = {0};
    dp_rng *rng;
    dp_fit *fit, *loaded;
    assert_ok(dp_rng_new(37, &rng, &err), err.text);
    dp_rng_normal(rng, (size_t)10 * MANY, t);
    dp_rng_normal(rng, (size_t)10 * MANY, noise);
    dp_rng_normal(rng, (size_t)2 * MANY, b);
    for (int32_t i = 0; i < 10 * MANY; i++) {
        const double *z = b + 2 * (of[i] = i / 10);
        seen_y[i] = factor[0] * z[0] + (factor[2] * z[0] + factor[3] * z[1]) * t[i] + noise[i];
    }
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", MANY);
    dp_expr scale = dp_sample(m, "scale", K, dp_half_normal(2));
    dp_expr l = dp_sample(m, "l", K, dp_lkj_cholesky(2));
    dp_expr whole = dp_matmul(dp_diagonal_matrix(scale), l);
    (void)dp_deterministic(m, "correlation", dp_matmul(l, dp_transpose(l)));
    dp_expr each = dp_sample_in(groups, "b", K, dp_multivariate_normal_cholesky(dp_num(0), whole));
    dp_expr at = dp_pick(each, dp_index(rows, "g", groups));
    dp_expr line = dp_add(dp_slice(at, 0, 1), dp_mul(dp_slice(at, 1, 1), dp_data(rows, "t", 1)));
    dp_observe(rows, "y", dp_normal_v(line, dp_num(1)));
    dp_dataset *data = dp_dataset_new((size_t)10 * MANY);
    dp_dataset_real(data, "t", 1, t);
    dp_dataset_real(data, "y", 1, seen_y);
    dp_dataset_index(data, "g", of);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 4};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    dp_summary found[K], factors[K * K], again[K * K];
    assert_int_equal(dp_fit_size(fit, "l"), K * K);
    assert_ok(dp_fit_summary(fit, "scale", K, found, &err), err.text);
    assert_ok(dp_fit_summary(fit, "l", (size_t)K * K, factors, &err), err.text);
    const double wide = hypot(factor[2], factor[3]), r = factor[2] / wide;
    assert_true(factors[0].sd < 1e-12 && factors[1].sd == 0 && factors[1].mean == 0);
    assert_close(found[0].mean, factor[0], 0, 6.2 * found[0].sd);
    assert_close(found[1].mean, wide, 0, 6.2 * found[1].sd);
    assert_close(factors[2].mean, r, 0, 6.2 * factors[2].sd);
    assert_true(factors[2].sd < 0.2 && found[0].sd < 0.25 && found[1].sd < 0.25);
    assert_ok(dp_fit_save(fit, "t-multivariate.fit", &err), err.text);
    assert_ok(dp_fit_load("t-multivariate.fit", &loaded, &err), err.text);
    assert_int_equal(remove("t-multivariate.fit"), 0);
    assert_ok(dp_fit_summary(loaded, "l", (size_t)K * K, again, &err), err.text);
    assert_memory_equal(again, factors, sizeof again);
    dp_fit_free(loaded);
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
    dp_rng_free(rng);
}

/* ---- observed rows ---- */

static double seen[4 * N];

/* Two numbers a record with a covariance that is learnt: the loop of noisy steps without noise. */
static void a_covariance_is_learnt_from_observed_rows(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_rng *rng;
    dp_svi *svi;
    dp_fit *fit;
    dp_summary sd[2], tilt[1];
    assert_ok(dp_rng_new(29, &rng, &err), err.text);
    dp_rng_normal(rng, (size_t)4 * N, seen);
    for (size_t i = 0; i < (size_t)2 * N; i++) {
        seen[2 * i + 1] = factor[2] * seen[2 * i] + factor[3] * seen[2 * i + 1];
        seen[2 * i] *= factor[0];
    }
    dp_rng_free(rng);
    static const double below[4] = {0, 0, 1, 0};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr scale = dp_sample(m, "scale", 2, dp_half_normal(2)),
            tilted = dp_sample(m, "tilt", 1, dp_normal(0, 2));
    dp_expr l =
        dp_add(dp_diagonal_matrix(scale), dp_mul(dp_constant_matrix(m, 2, 2, below), tilted));
    dp_observe(rows, "seen", dp_multivariate_normal_cholesky(dp_num(0), l));
    dp_dataset *data = dp_dataset_new((size_t)2 * N);
    dp_dataset_real(data, "seen", 2, seen);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .steps = 600,
                           .step_size = 0.03,
                           .sampling = DP_SAMPLING_FULL,
                           .average = 0.3,
                           .seed = 1};
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "scale", 2, sd, &err), err.text);
    assert_ok(dp_fit_summary(fit, "tilt", 1, tilt, &err), err.text);
    assert_close(sd[0].mean, factor[0], 0.1, 0); /* 5 standard errors */
    assert_close(sd[1].mean, factor[3], 0.1, 0);
    assert_close(tilt[0].mean, factor[2], 0, 0.1);
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(misplaced_factors_are_refused),
        cmocka_unit_test(correlations_of_slopes_are_learnt_and_kept),
        cmocka_unit_test(draws_of_no_covariance_are_nan),
        cmocka_unit_test(a_fit_of_correlated_slopes_is_exact),
        cmocka_unit_test(a_covariance_is_learnt_from_observed_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
