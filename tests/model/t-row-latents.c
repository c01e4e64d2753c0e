/* Latents that are rows or matrices with a support of their own, by public calls: directions,
 * covariances. */
#include <math.h>
#include <stdio.h>

#include "tests/lib/check.h"
#include <tacit/algebra.h>
#include <tacit/fit.h>
#include <tacit/infer.h>
#include <tacit/model.h>
#include <tacit/multivariate.h>
#include <tacit/simulate.h>
#include <tacit/svi.h>

enum { K = 3, N = 1000, GROUPS = 4 };

/* ---- a direction that is learnt ---- */

static const double way[K] = {0.6, -0.48, 0.64}, error_sd = 0.5;
static double x[N * K], y[N];

static dp_model *direction(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr u = dp_sample(m, "u", K, dp_unit_vector());
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", K), u), dp_num(error_sd)));
    return m;
}

static dp_dataset *records(void)
{
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(41, &rng, &err), err.text);
    dp_rng_normal(rng, (size_t)N * K, x);
    dp_rng_normal(rng, N, y);
    for (size_t i = 0; i < N; i++) {
        y[i] *= error_sd;
        for (size_t k = 0; k < K; k++)
            y[i] += way[k] * x[K * i + k];
    }
    dp_rng_free(rng);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", K, x);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

typedef struct exact {
    double mean[K], sd[K];
} exact;

static double log_likelihood(const double *u)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        double e = y[i];
        for (size_t k = 0; k < K; k++)
            e -= u[k] * x[K * i + k];
        sum -= 0.5 * e * e / (error_sd * error_sd);
    }
    return sum;
}

/* The posterior's moments by the midpoint rule over longitude and height, in which the sphere's
 * area is even. */
static exact solve(void)
{
    enum { STEPS = 400 };
    const double top = log_likelihood(way);
    double mass = 0, first[K] = {0}, second[K] = {0};
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            double turn = 2 * acos(-1) * (i + 0.5) / STEPS, height = 2 * (j + 0.5) / STEPS - 1,
                   wide = sqrt(1 - height * height);
            const double u[K] = {wide * cos(turn), wide * sin(turn), height};
            /* Far from the data's direction there is nothing. */
            if (u[0] * way[0] + u[1] * way[1] + u[2] * way[2] < 0.95)
                continue;
            double w = exp(log_likelihood(u) - top);
            mass += w;
            for (int k = 0; k < K; k++) {
                first[k] += w * u[k];
                second[k] += w * u[k] * u[k];
            }
        }
    exact e;
    for (int k = 0; k < K; k++) {
        e.mean[k] = first[k] / mass;
        e.sd[k] = sqrt(second[k] / mass - e.mean[k] * e.mean[k]);
    }
    return e;
}

static void assert_near(const dp_fit *fit, const exact *e, double within)
{
    dp_error err = {0};
    dp_summary found[K];
    assert_ok(dp_fit_summary(fit, "u", K, found, &err), err.text);
    for (int k = 0; k < K; k++) {
        assert_close(found[k].mean, e->mean[k], 0, within * e->sd[k]);
        assert_close(found[k].sd, e->sd[k], within, 0);
    }
}

static void a_direction_is_learnt_and_kept(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit, *loaded;
    dp_dataset *data = records();
    dp_model *m = direction();
    assert_ok(dp_model_status(m), dp_model_error(m));
    const exact e = solve();
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_int_equal(dp_fit_size(fit, "u"), K);
    assert_near(fit, &e, 0.15);
    assert_ok(dp_fit_save(fit, "t-row-latents.fit", &err), err.text);
    assert_ok(dp_fit_load("t-row-latents.fit", &loaded, &err), err.text);
    assert_int_equal(remove("t-row-latents.fit"), 0);
    assert_near(loaded, &e, 0.15);
    dp_fit_free(loaded);
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void steps_find_a_direction(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_summary found[K];
    dp_dataset *data = records();
    dp_model *m = direction();
    const exact e = solve();
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .steps = 600,
                           .step_size = 0.03,
                           .sampling = DP_SAMPLING_FULL,
                           .average = 0.3,
                           .seed = 1};
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "u", K, found, &err), err.text);
    for (int k = 0; k < K; k++)
        assert_close(found[k].mean, e.mean[k], 0, e.sd[k]);
    dp_fit_free(fit);
    dp_svi_free(svi);
    const dp_fit_opts private = {.epsilon = 4, .delta = 1e-5, .seed = 3};
    assert_ok(dp_fit_private(m, data, &private, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "u", K, found, &err), err.text);
    for (int k = 0; k < K; k++) {
        assert_true(found[k].sd > 0.8 * e.sd[k] && found[k].sd < 4 * e.sd[k]);
        assert_close(found[k].mean, e.mean[k], 0, 6.2 * found[k].sd);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* ---- what is refused ---- */

static void refused(dp_model *m, dp_status status, const char *says)
{
    assert_int_equal(dp_model_status(m), status);
    assert_contains(dp_model_error(m), says);
    dp_model_free(m);
}

static void misplaced_directions_are_refused(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    (void)dp_sample(m, "u", 1, dp_unit_vector());
    refused(m, DP_ESHAPE, "'u': unit_vector is of n >= 2 numbers whose squares sum to 1");
    m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "u", dp_unit_vector());
    refused(m, DP_ESHAPE, "'u': unit_vector needs a vector [K]");
    m = direction();
    dp_model *guide = dp_guide_new(m);
    (void)dp_sample(guide, "u", K, dp_unit_vector());
    refused(guide, DP_EUNSUPPORTED, "a guide cannot sample from unit_vector");
    guide = dp_guide_new(m);
    (void)dp_sample(guide, "u", K, dp_normal(0, 1));
    refused(guide, DP_EDOMAIN, "the model's unit_vector needs numbers whose squares sum to 1");
    dp_model_free(m);
}

static const double one[4] = {1, 0, 0, 1};

static void misplaced_covariances_are_refused(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "l",
               dp_wishart_cholesky(dp_num(4), dp_constant_matrix(m, 2, 2, one)));
    refused(m, DP_EUNSUPPORTED, "'l': a value of wishart_cholesky is a matrix, of which records");
    m = dp_model_new();
    (void)dp_sample(m, "l", 3,
                    dp_inverse_wishart_cholesky(dp_num(4), dp_constant_matrix(m, 2, 2, one)));
    refused(m, DP_ESHAPE, "'l' is [3][3], but the arguments of inverse_wishart_cholesky");
    m = dp_model_new();
    (void)dp_sample(m, "l", 2, dp_wishart_cholesky(dp_num(4), dp_num(1)));
    refused(m, DP_ESHAPE, "takes a df that is a number and a scale_factor [K][K]");
    m = dp_model_new();
    (void)dp_sample(m, "l", 2, dp_wishart_cholesky(dp_num(-1), dp_constant_matrix(m, 2, 2, one)));
    refused(m, DP_EDOMAIN, "'l': df of wishart_cholesky is -1");
}

/* The inverse of Wishart's is conjugate: W has df + n degrees of freedom and the scale I + Y'Y. */
static void a_covariance_has_its_conjugate_posterior(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static double seen[2 * ROWS];
    double scale[4] = {1, 0, 0, 1};
    const double df = 5, left = df + ROWS - 3;
    dp_error err = {0};
    dp_rng *rng;
    dp_fit *fit;
    dp_summary found[4];
    assert_ok(dp_rng_new(43, &rng, &err), err.text);
    dp_rng_normal(rng, (size_t)2 * ROWS, seen);
    dp_rng_free(rng);
    for (size_t i = 0; i < ROWS; i++) {
        seen[2 * i + 1] = 0.5 * seen[2 * i + 1] - 0.7 * seen[2 * i];
        for (size_t e = 0; e < 4; e++)
            scale[e] += seen[2 * i + e / 2] * seen[2 * i + e % 2];
    }
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr l = dp_sample(
        m, "l", 2, dp_inverse_wishart_cholesky(dp_num(df), dp_constant_matrix(m, 2, 2, one)));
    (void)dp_deterministic(m, "w", dp_matmul(l, dp_transpose(l)));
    dp_observe(rows, "seen", dp_multivariate_normal_cholesky(dp_num(0), l));
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_dataset_real(data, "seen", 2, seen);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", 4, found, &err), err.text);
    for (size_t e = 0; e < 4; e++) {
        double a = scale[e], b = scale[0] * scale[3],
               sd = sqrt(((left + 2) * a * a + left * (e % 3 == 0 ? a * a : b)) /
                         ((left + 1) * left * left * (left - 2)));
        assert_close(found[e].mean, a / left, 0, 0.15 * sd);
        assert_close(found[e].sd, sd, 0.1, 0);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* ---- one of each group ---- */

static void groups_have_directions_of_their_own(void **state)
{
    (void)state;
    static const int32_t group[N] = {0};
    double u[GROUPS * K];
    dp_error err = {0};
    dp_simulator *sim;
    dp_rng *rng;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr each = dp_sample_in(groups, "u", K, dp_unit_vector());
    dp_expr mine = dp_pick(each, dp_index(rows, "g", groups));
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", K), mine), dp_num(error_sd)));
    assert_ok(dp_model_status(m), dp_model_error(m));
    dp_dataset *data = records();
    dp_dataset_index(data, "g", group);
    assert_ok(dp_simulator_new(m, data, &sim, &err), err.text);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
    assert_ok(dp_simulated(sim, "u", (size_t)GROUPS * K, u, &err), err.text);
    for (size_t g = 0; g < GROUPS; g++)
        assert_close(hypot(hypot(u[K * g], u[K * g + 1]), u[K * g + 2]), 1, 1e-15, 0);
    dp_simulator_free(sim);
    dp_rng_free(rng);
    /* All records are of the first group: it has their direction, and the others the prior's. */
    dp_fit *fit;
    dp_summary found[GROUPS * K];
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "u", (size_t)GROUPS * K, found, &err), err.text);
    const exact e = solve();
    for (size_t k = 0; k < (size_t)GROUPS * K; k++) {
        double mean = k < K ? e.mean[k] : 0, sd = k < K ? e.sd[k] : 1 / sqrt(3);
        assert_close(found[k].mean, mean, 0, 0.3 * sd);
        assert_close(found[k].sd, sd, 0.15, 0);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_direction_is_learnt_and_kept),
        cmocka_unit_test(steps_find_a_direction),
        cmocka_unit_test(misplaced_directions_are_refused),
        cmocka_unit_test(misplaced_covariances_are_refused),
        cmocka_unit_test(a_covariance_has_its_conjugate_posterior),
        cmocka_unit_test(groups_have_directions_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
