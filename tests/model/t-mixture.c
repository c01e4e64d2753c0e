/* Mixtures and simplexes by public calls: what is refused and how, draws, and fits. */
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include <tacit/fit.h>
#include <tacit/simulate.h>

enum { K = 3, N = 3000 };

typedef struct scene {
    dp_model *m;
    dp_plate rows, components;
    dp_expr weights, mean, scale;
} scene;

static scene begin(void)
{
    scene s = {.m = dp_model_new()};
    s.rows = dp_unit_plate(s.m, "rows");
    s.components = dp_plate_new(s.m, "components", K);
    s.weights = dp_sample(s.m, "weights", K, dp_dirichlet(2));
    s.mean = dp_sample_in(s.components, "mean", 2, dp_normal(0, 2));
    s.scale = dp_sample_in(s.components, "scale", 1, dp_inverse_gamma(3, 1));
    return s;
}

/* ---- what is refused ---- */

static void refused(scene s, dp_status status, const char *says)
{
    assert_int_equal(dp_model_status(s.m), status);
    assert_contains(dp_model_error(s.m), says);
    assert_contains(dp_model_error(s.m), "t-mixture.c:");
    dp_model_free(s.m);
}

static void components_that_cannot_be_mixed_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        scene s = begin();
        const dp_dist bad[] = {dp_uniform(0, 1),
                               dp_binomial_logit(dp_num(3), s.scale),
                               dp_categorical_logit(s.mean),
                               dp_dirichlet(1),
                               dp_mixture(s.weights, dp_normal(0, 1)),
                               dp_truncated(dp_normal(0, 1), 0, 1)};
        dp_observe(s.rows, "x", dp_mixture(s.weights, bad[k]));
        refused(s, DP_EUNSUPPORTED, "its components are families of single numbers");
    }
    scene s = begin();
    dp_observe(s.rows, "x", dp_mixture(s.weights, (dp_dist){0}));
    refused(s, DP_EINVAL, "'x' has no distribution");
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 7; k++) {
        scene s = begin();
        dp_expr two = dp_slice(s.mean, 0, 2), four = dp_concat(s.weights, dp_num(1));
        dp_plate others = dp_plate_new(s.m, "others", K);
        dp_expr other = dp_sample_in(others, "other", 3, dp_normal(0, 1));
        const struct {
            dp_expr weights, loc, scale;
        } bad[] = {{dp_num(1), s.mean, s.scale},
                   {dp_exp(s.mean), s.mean, s.scale},
                   {four, s.mean, s.scale},
                   {s.weights, two, s.scale},
                   {s.weights, s.mean, dp_exp(dp_slice(two, 0, 1))},
                   {s.weights, s.mean, dp_exp(other)},
                   {dp_slice(s.weights, 0, 1), dp_num(0), dp_num(1)}};
        dp_observe(s.rows, "x", dp_mixture(bad[k].weights, dp_normal_v(bad[k].loc, bad[k].scale)));
        refused(s, DP_ESHAPE, "mixture of normal takes weights [K]");
    }
}

static void misplaced_mixtures_and_simplexes_are_refused(void **state)
{
    (void)state;
    const double half[2] = {0.5, 0}, minus[2] = {0.5, -0.5};
    scene s = begin();
    (void)dp_sample(s.m, "v", 1, dp_mixture(s.weights, dp_normal(0, 1)));
    refused(s, DP_EUNSUPPORTED, "has the prior mixture of normal, which is for observations");
    s = begin();
    (void)dp_sample(s.m, "v", 1, dp_dirichlet(1));
    refused(s, DP_ESHAPE, "n >= 2 numbers above 0 that sum to 1");
    s = begin();
    dp_observe(s.rows, "x", dp_dirichlet(1));
    refused(s, DP_ESHAPE, "needs a vector [K]");
    s = begin();
    dp_observe(s.rows, "x", dp_mixture(dp_constant(s.m, 2, half), dp_normal(0, 1)));
    refused(s, DP_EDOMAIN, "weights of mixture of normal is 0");
    s = begin();
    dp_observe(s.rows, "x", dp_mixture(dp_constant(s.m, 2, minus), dp_normal(0, 1)));
    refused(s, DP_EDOMAIN, "it must be a number above 0");
    s = begin();
    (void)dp_sample(s.m, "v", 3, dp_dirichlet(0));
    refused(s, DP_EDOMAIN, "concentration of dirichlet is 0");
}

static void misplaced_orders_are_refused(void **state)
{
    (void)state;
    const dp_dist good = dp_ordered(dp_normal(0, 1));
    scene s = begin();
    (void)dp_sample(s.m, "v", 1, good);
    refused(s, DP_ESHAPE, "ordered normal is of n >= 2 numbers in increasing order");
    s = begin();
    (void)dp_sample_in(s.components, "v", 1, good);
    refused(s, DP_ESHAPE, "ordered normal is of n >= 2 numbers in increasing order");
    s = begin();
    dp_observe(s.rows, "x", good);
    refused(s, DP_ESHAPE, "needs a vector [K]");
    s = begin();
    (void)dp_sample(s.m, "v", K, dp_ordered(dp_normal_v(s.scale, dp_num(1))));
    refused(s, DP_ESHAPE, "ordered normal takes arguments that");
    s = begin();
    (void)dp_sample(s.m, "v", 3, dp_ordered(dp_gamma(1, 1)));
    refused(s, DP_EUNSUPPORTED, "'v' is ordered gamma: its numbers are of a family of single");
    s = begin();
    (void)dp_sample(s.m, "v", 3, dp_ordered((dp_dist){0}));
    refused(s, DP_EINVAL, "'v' has no distribution");
    s = begin();
    (void)dp_sample_in(s.components, "v", 2, good);
    (void)dp_sample(s.m, "w", 3, dp_ordered(dp_normal_v(dp_num(0), dp_exp(dp_sum(s.mean)))));
    assert_ok(dp_model_status(s.m), dp_model_error(s.m));
    dp_model_free(s.m);
}

static void a_guide_cannot_sample_a_simplex(void **state)
{
    (void)state;
    scene s = begin(), guide = {.m = dp_guide_new(s.m)};
    (void)dp_sample(guide.m, "weights", K, dp_normal(0, 1));
    refused(guide, DP_EDOMAIN, "sample a normal latent instead and transform it");
    guide.m = dp_guide_new(s.m);
    (void)dp_sample(guide.m, "weights", K, dp_dirichlet(1));
    refused(guide, DP_EUNSUPPORTED, "a guide cannot sample from dirichlet");
    dp_model_free(s.m);
}

static void what_shapes_allow_is_taken(void **state)
{
    (void)state;
    const double three[3] = {1, 2, 7}, locs[12] = {0};
    scene s = begin();
    dp_expr w = dp_constant(s.m, 3, three);
    dp_expr x = dp_data(s.rows, "x", 3);
    dp_observe(s.rows, "a", dp_mixture(s.weights, dp_normal_v(s.mean, s.scale)));
    dp_observe(s.rows, "b", dp_mixture(w, dp_normal_v(dp_num(0), s.scale)));
    dp_observe(s.rows, "c", dp_mixture(w, dp_student_t_v(dp_num(3), s.mean, dp_num(1))));
    dp_observe(s.rows, "d", dp_mixture(w, dp_bernoulli_logit(dp_constant_matrix(s.m, 3, 4, locs))));
    dp_observe(s.rows, "e", dp_mixture(w, dp_poisson_log(x))); /* of regressions */
    dp_observe(s.rows, "f",
               dp_mixture(dp_exp(x), dp_normal_v(s.scale, dp_num(1)))); /* of experts */
    assert_ok(dp_model_status(s.m), dp_model_error(s.m));
    dp_model_free(s.m);
}

/* ---- data ---- */

static double x[N][2], share[N][3];

static dp_status start_shares(dp_error *err)
{
    dp_svi *svi;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 3, dp_gamma(2, 0.5));
    dp_observe(rows, "share", dp_dirichlet_v(a));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "share", 3, share[0]);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    dp_status status = dp_svi_new(m, NULL, data, &o, &svi, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return status;
}

static void rows_that_do_not_sum_to_one_are_refused_by_number(void **state)
{
    (void)state;
    dp_error err = {0};
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 3; k++)
            share[i][k] = (double)(k + 1) / 6;
    assert_ok(start_shares(&err), err.text);
    share[5][1] += 1e-5;
    assert_int_equal(start_shares(&err), DP_EDATA);
    assert_contains(err.text, "column 'share', record 5 (from 0): the numbers do not sum to 1");
    share[5][1] = 1.5;
    err = (dp_error){0};
    assert_int_equal(start_shares(&err), DP_EDATA);
    assert_contains(err.text, "record 5 (from 0): the value is not numbers above 0");
}

/* ---- draws ---- */

/* Seeds are fixed; the limits are 6.2 standard errors, 6e-10 for one comparison. */
static void records_are_drawn_from_the_latents_that_were_drawn(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_simulator *sim;
    dp_rng *rng;
    double w[K], mean[K][2], scale[K], sum[2] = {0}, square[2] = {0};
    scene s = begin();
    dp_observe(s.rows, "x", dp_mixture(s.weights, dp_normal_v(s.mean, s.scale)));
    dp_dataset *data = dp_dataset_new(N);
    assert_ok(dp_simulator_new(s.m, data, &sim, &err), err.text);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
    assert_ok(dp_simulated(sim, "weights", K, w, &err), err.text);
    assert_ok(dp_simulated(sim, "mean", 2 * K, mean[0], &err), err.text);
    assert_ok(dp_simulated(sim, "scale", K, scale, &err), err.text);
    assert_close(w[0] + w[1] + w[2], 1, 0, 1e-15);
    assert_ok(dp_simulate_records(sim, "x", rng, 2 * N, x[0], &err), err.text);
    for (size_t j = 0; j < 2; j++) {
        double expected = 0, variance = 0;
        for (size_t k = 0; k < K; k++)
            expected += w[k] * mean[k][j];
        for (size_t k = 0; k < K; k++)
            variance += w[k] * (scale[k] * scale[k] + pow(mean[k][j] - expected, 2));
        for (size_t i = 0; i < N; i++) {
            sum[j] += x[i][j] / N;
            square[j] += pow(x[i][j] - expected, 2) / N;
        }
        assert_close(sum[j], expected, 0, 6.2 * sqrt(variance / N));
        assert_close(square[j], variance, 0.3, 0);
    }
    dp_rng_free(rng);
    dp_simulator_free(sim);
    dp_dataset_free(data);
    dp_model_free(s.m);
}

/* ---- fits ---- */

/* Three groups, 1/2, 1/3 and 1/6 of the records; from starts near by, every form finds them. */
static void a_fit_finds_weights_means_and_scales(void **state)
{
    (void)state;
    static const double truth[K][2] = {{-2, 0}, {2, 1}, {0, -3}},
                        start[K * 2] = {-1, 0, 1, 1, 0, -1};
    static const double wide[K] = {0.5, 0.7, 0.3}, part[K] = {1 / 2.0, 1 / 3.0, 1 / 6.0};
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(17, &rng, &err), err.text);
    dp_rng_normal(rng, 2 * N, x[0]);
    for (size_t i = 0; i < N; i++) {
        size_t k = i % 6 < 3 ? 0 : i % 6 < 5 ? 1 : 2;
        for (size_t j = 0; j < 2; j++)
            x[i][j] = truth[k][j] + wide[k] * x[i][j];
    }
    dp_rng_free(rng);
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_svi *svi;
        dp_fit *fit;
        dp_summary w[K], mean[2 * K], scale[K];
        scene s = begin();
        dp_observe(s.rows, "x", dp_mixture(s.weights, dp_normal_v(s.mean, s.scale)));
        dp_dataset *data = dp_dataset_new(N);
        dp_dataset_real(data, "x", 2, x[0]);
        const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                               .form = (dp_form)form,
                               .steps = 300,
                               .step_size = 0.05,
                               .sampling = DP_SAMPLING_POISSON,
                               .rate = 0.1,
                               .average = 0.3,
                               .seed = 1};
        assert_ok(dp_svi_new(s.m, NULL, data, &o, &svi, &err), err.text);
        assert_ok(dp_svi_set(svi, "mean.loc", 2 * K, start, &err), err.text);
        assert_int_equal(dp_svi_set(svi, "weights.loc", K, start, NULL), DP_ESHAPE);
        assert_ok(dp_svi_run(svi, NULL, &err), err.text);
        assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
        assert_int_equal(dp_fit_size(fit, "weights"), K);
        assert_ok(dp_fit_summary(fit, "weights", K, w, &err), err.text);
        assert_ok(dp_fit_summary(fit, "mean", 2 * K, mean, &err), err.text);
        assert_ok(dp_fit_summary(fit, "scale", K, scale, &err), err.text);
        for (size_t k = 0; k < K; k++) {
            assert_close(w[k].mean, part[k], 0, 0.04);
            assert_close(scale[k].mean, wide[k], 0.1, 0);
            for (size_t j = 0; j < 2; j++)
                assert_close(mean[2 * k + j].mean, truth[k][j], 0, 0.12);
        }
        assert_close(w[0].mean + w[1].mean + w[2].mean, 1, 0, 1e-12);
        dp_fit_free(fit);
        dp_svi_free(svi);
        dp_dataset_free(data);
        dp_model_free(s.m);
    }
}

/* A simplex for each group: category 0 is rare in group 0 and common in group 1. */
static void a_simplex_for_each_group_is_fitted(void **state)
{
    (void)state;
    enum { GROUPS = 2, ROWS = 1200 };
    int32_t group[ROWS], seen[ROWS];
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_summary shares[GROUPS * K];
    for (int32_t i = 0; i < ROWS; i++) {
        group[i] = i % 2;
        seen[i] = i / 2 % 6 < (group[i] == 0 ? 1 : 4) ? 0 : 1 + i / 2 % 2;
    }
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr p = dp_sample_in(groups, "p", K, dp_dirichlet(1));
    dp_observe(rows, "seen",
               dp_categorical_logit(dp_log(dp_pick(p, dp_index(rows, "group", groups)))));
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_dataset_index(data, "group", group);
    dp_dataset_index(data, "seen", seen);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 400, .step_size = 0.05, .seed = 2};
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "p", GROUPS * K, shares, &err), err.text);
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t k = 0; k < K; k++) {
            double count = 0;
            for (size_t i = 0; i < ROWS; i++)
                count += group[i] == (int32_t)g && seen[i] == (int32_t)k;
            /* The posterior is Dirichlet(1 + count). */
            double mean = (1 + count) / (K + ROWS / 2),
                   sd = sqrt(mean * (1 - mean) / (K + 1 + ROWS / 2));
            assert_close(shares[g * K + k].mean, mean, 0, 0.3 * sd);
            assert_close(shares[g * K + k].sd, sd, 0.35, 0); /* mean field: a little narrow */
        }
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_that_cannot_be_mixed_are_refused),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(misplaced_mixtures_and_simplexes_are_refused),
        cmocka_unit_test(misplaced_orders_are_refused),
        cmocka_unit_test(a_guide_cannot_sample_a_simplex),
        cmocka_unit_test(what_shapes_allow_is_taken),
        cmocka_unit_test(rows_that_do_not_sum_to_one_are_refused_by_number),
        cmocka_unit_test(records_are_drawn_from_the_latents_that_were_drawn),
        cmocka_unit_test(a_fit_finds_weights_means_and_scales),
        cmocka_unit_test(a_simplex_for_each_group_is_fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
