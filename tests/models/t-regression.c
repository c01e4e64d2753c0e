/* The regressions: the density is that of their formulas at the fit's latents, computed here by
 * hand; data drawn from a known truth give it back, without privacy; predictions follow. */
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 2000, D = 2, GROUPS = 6, SHOPS = 4 };

static const double truth_w[D] = {0.8, -0.5}, truth_intercept = 0.3, pi = 3.14159265358979323846;
static double x[N][D], y[N], eta[N], noise[N];
static int32_t group[N], shop[N];

static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 1500, .average = 0.25, .seed = 2};

/* Predictors and their part of eta. */
static void draw_predictors(uint64_t seed)
{
    world_normal(seed, N * D, &x[0][0]);
    for (int i = 0; i < N; i++)
        eta[i] = truth_intercept + truth_w[0] * x[i][0] + truth_w[1] * x[i][1];
}

static dp_dataset *records(void)
{
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

static void poisson_counts(uint64_t seed)
{
    world_uniform(seed, N, noise);
    for (int i = 0; i < N; i++) {
        double rate = exp(eta[i]), p = exp(-rate), sum = p;
        for (y[i] = 0; sum < noise[i] && y[i] < 1000; y[i]++)
            sum += p *= rate / (y[i] + 1);
    }
}

/* What the fit says of the predictor is what its latents say. */
static void assert_predictor(dp_fit *fit, const dp_dataset *data, double found[N])
{
    double w[D], intercept;
    world_value(fit, NULL, "w", D, w);
    world_value(fit, NULL, "intercept", 1, &intercept);
    world_value(fit, data, "eta", N, found);
    for (int i = 0; i < N; i++)
        assert_close(found[i], intercept + w[0] * x[i][0] + w[1] * x[i][1], 1e-12, 1e-12);
    world_recovers(fit, "intercept", 1, 0, truth_intercept, 6.2);
    for (size_t j = 0; j < D; j++)
        world_recovers(fit, "w", D, j, truth_w[j], 6.2);
}

static void log_densities(const dp_fit *fit, const dp_dataset *data, double found[N])
{
    dp_error err = {0};
    const dp_given given = {.data = data};
    assert_ok(dp_fit_log_density(fit, &given, N, found, &err), err.text);
}

static void linear_regression_finds_slopes_and_noise(void **state)
{
    (void)state;
    double found[N], density[N], mean[N], sd;
    dp_error err = {0};
    dp_model *m;
    const dp_regression_opts o = {.predictors = D};
    draw_predictors(1);
    world_normal(2, N, noise);
    for (int i = 0; i < N; i++)
        y[i] = eta[i] + 0.7 * noise[i];
    dp_dataset *data = records();
    assert_ok(dp_linear_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    assert_predictor(fit, data, found);
    world_recovers(fit, "noise_sd", 1, 0, 0.7, 6.2);
    world_value(fit, NULL, "noise_sd", 1, &sd);
    world_value(fit, data, "mean", N, mean);
    assert_memory_equal(mean, found, sizeof mean);
    log_densities(fit, data, density);
    for (int i = 0; i < N; i++) {
        const double z = (y[i] - found[i]) / sd;
        assert_close(density[i], -0.5 * z * z - log(sd) - 0.5 * log(2 * pi), 1e-10, 1e-10);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void logistic_regression_finds_slopes(void **state)
{
    (void)state;
    double found[N], density[N], chance[N];
    dp_error err = {0};
    dp_model *m;
    const double scales[D] = {2, 3};
    const dp_regression_opts o = {.predictors = D, .scales = scales};
    draw_predictors(3);
    world_uniform(4, N, noise);
    for (int i = 0; i < N; i++)
        y[i] = 1 / (1 + exp(-eta[i])) > noise[i];
    dp_dataset *data = records();
    assert_ok(dp_logistic_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    assert_predictor(fit, data, found);
    world_value(fit, data, "probability", N, chance);
    log_densities(fit, data, density);
    for (int i = 0; i < N; i++) {
        const double p = 1 / (1 + exp(-found[i]));
        assert_close(chance[i], p, 1e-12, 0);
        assert_close(density[i], y[i] > 0 ? log(p) : log1p(-p), 1e-9, 1e-12);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void poisson_regression_finds_rates(void **state)
{
    (void)state;
    double found[N], density[N], rate[N];
    dp_error err = {0};
    dp_model *m;
    const dp_regression_opts o = {.predictors = D};
    draw_predictors(5);
    poisson_counts(6);
    dp_dataset *data = records();
    assert_ok(dp_poisson_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    assert_predictor(fit, data, found);
    world_value(fit, data, "rate", N, rate);
    log_densities(fit, data, density);
    for (int i = 0; i < N; i++) {
        assert_close(rate[i], exp(found[i]), 1e-12, 0);
        assert_close(density[i], y[i] * found[i] - rate[i] - lgamma(y[i] + 1), 1e-10, 1e-10);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* Two groupings at once, under each likelihood; effects are compared with each other, since their
 * level is the intercept's too. */
static void groups_have_their_effects(void **state)
{
    (void)state;
    static const double at_group[GROUPS] = {-0.9, -0.5, -0.1, 0.1, 0.5, 0.9};
    static const double at_shop[SHOPS] = {0.6, -0.6, 0.3, -0.3};
    const dp_grouping groupings[] = {{"group", GROUPS}, {"shop", SHOPS}};
    for (int k = 0; k < 3; k++) {
        double found[GROUPS], shops[SHOPS], w[D], level, all[N];
        dp_error err = {0};
        dp_model *m;
        const dp_regression_opts o = {.predictors = D,
                                      .groupings = groupings,
                                      .n_groupings = 2,
                                      .likelihood = (dp_likelihood)k};
        draw_predictors(7);
        for (int i = 0; i < N; i++) {
            group[i] = i % GROUPS;
            shop[i] = i / GROUPS % SHOPS;
            eta[i] += at_group[group[i]] + at_shop[shop[i]];
        }
        if (k == DP_LIKELIHOOD_POISSON)
            poisson_counts(8);
        else
            k == DP_LIKELIHOOD_NORMAL ? world_normal(8, N, noise) : world_uniform(8, N, noise);
        for (int i = 0; i < N && k != DP_LIKELIHOOD_POISSON; i++)
            y[i] = k == DP_LIKELIHOOD_NORMAL ? eta[i] + 0.5 * noise[i]
                                             : 1 / (1 + exp(-eta[i])) > noise[i];
        dp_dataset *data = records();
        dp_dataset_index(data, "group", group);
        dp_dataset_index(data, "shop", shop);
        assert_ok(dp_hierarchical_regression(&o, &m, &err), err.text);
        dp_fit *fit = world_fit(m, NULL, data, &plain);
        world_value(fit, NULL, "group_effect", GROUPS, found);
        world_value(fit, NULL, "shop_effect", SHOPS, shops);
        world_value(fit, NULL, "w", D, w);
        world_value(fit, NULL, "intercept", 1, &level);
        world_value(fit, data, "eta", N, all);
        for (int i = 0; i < N; i++)
            assert_close(all[i],
                         level + w[0] * x[i][0] + w[1] * x[i][1] + found[group[i]] + shops[shop[i]],
                         1e-12, 1e-12);
        /* 333 records a group: a difference of log odds is known to 0.18 or better. */
        for (int g = 1; g < GROUPS; g++)
            assert_close(found[g] - found[0], at_group[g] - at_group[0], 0, 0.65);
        for (int s = 1; s < SHOPS; s++)
            assert_close(shops[s] - shops[0], at_shop[s] - at_shop[0], 0, 0.65);
        dp_fit_free(fit);
        dp_dataset_free(data);
    }
}

/* Without predictors there is no column x. */
static void an_intercept_alone_is_a_regression(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const dp_regression_opts o = {.intercept_scale = 10, .noise_scale = 3};
    world_normal(9, N, noise);
    for (int i = 0; i < N; i++)
        y[i] = 2 + noise[i];
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_linear_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_recovers(fit, "intercept", 1, 0, 2, 6.2);
    assert_int_equal(dp_fit_size(fit, "x"), 0);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void one_predictor_is_a_regression(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const dp_regression_opts o = {.predictors = 1};
    draw_predictors(10);
    world_normal(11, N, noise);
    for (int i = 0; i < N; i++)
        y[i] = 1.5 * eta[i] + noise[i];
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 1, eta);
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_linear_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_recovers(fit, "w", 1, 0, 1.5, 6.2);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void what_is_no_regression_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m = (dp_model *)&err;
    const dp_grouping none = {NULL, 3}, empty = {"g", 0}, twice[] = {{"g", 2}, {"g", 2}};
    const double scales[] = {1, -1};
    dp_regression_opts o = {.predictors = D, .scale = -1};
    assert_fails(dp_linear_regression(&o, &m, &err), DP_EINVAL, &err, "a scale");
    assert_null(m);
    o = (dp_regression_opts){.predictors = D, .group_scale = NAN};
    assert_fails(dp_poisson_regression(&o, &m, &err), DP_EINVAL, &err, "a scale");
    o = (dp_regression_opts){.predictors = D, .scales = scales};
    assert_fails(dp_logistic_regression(&o, &m, &err), DP_EINVAL, &err, "a scale");
    o = (dp_regression_opts){.predictors = D};
    assert_fails(dp_hierarchical_regression(&o, &m, &err), DP_EINVAL, &err, "no grouping");
    o = (dp_regression_opts){.groupings = &none, .n_groupings = 1};
    assert_fails(dp_hierarchical_regression(&o, &m, &err), DP_EINVAL, &err, "no column");
    o = (dp_regression_opts){.groupings = twice, .n_groupings = 1, .likelihood = (dp_likelihood)9};
    assert_fails(dp_hierarchical_regression(&o, &m, &err), DP_EINVAL, &err, "likelihood");
    o = (dp_regression_opts){.groupings = &empty, .n_groupings = 1};
    assert_fails(dp_hierarchical_regression(&o, &m, &err), DP_EINVAL, &err, "no members");
    assert_null(m);
    o = (dp_regression_opts){.groupings = twice, .n_groupings = 2};
    assert_fails(dp_linear_regression(&o, &m, &err), DP_ENAME, &err, "regression.c:");
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_regression_finds_slopes_and_noise),
        cmocka_unit_test(logistic_regression_finds_slopes),
        cmocka_unit_test(poisson_regression_finds_rates),
        cmocka_unit_test(groups_have_their_effects),
        cmocka_unit_test(an_intercept_alone_is_a_regression),
        cmocka_unit_test(one_predictor_is_a_regression),
        cmocka_unit_test(what_is_no_regression_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
