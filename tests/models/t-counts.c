/* Regressions of counts, of rows of them and of ordered categories: the density by hand at the
 * fit's latents, the truth given back, by variational inference and by private rounds with a large
 * budget. */
#include <math.h>

#include <tacit/infer.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 3000, D = 2, LEVELS = 4 };
static const double truth_w[D] = {0.8, -0.5}, truth_intercept = 1.3, truth_dispersion = 2.3;
static const double truth_cut[LEVELS - 1] = {-0.9, 0.2, 1.7};
static double x[N][D], u[N], y[N];
static int32_t level[N];
static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 2000, .average = 0.25, .seed = 2};

static double slope_of(int i, const double w[D])
{
    return w[0] * x[i][0] + w[1] * x[i][1];
}

/* The chance of a count, from that of the one before. */
static dp_dataset *counts(void)
{
    world_normal(11, N * D, &x[0][0]);
    world_uniform(12, N, u);
    for (int i = 0; i < N; i++) {
        const double mean = exp(truth_intercept + slope_of(i, truth_w)), f = truth_dispersion;
        double p = pow(f / (mean + f), f), sum = p;
        for (y[i] = 0; sum < u[i] && y[i] < 1e4; y[i]++)
            sum += p *= (f + y[i]) / (y[i] + 1) * mean / (mean + f);
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

static double below(double cut, bool probit)
{
    return probit ? 0.5 * erfc(-cut / sqrt(2)) : 1 / (1 + exp(-cut));
}

static dp_dataset *ratings(bool probit)
{
    world_normal(13, N * D, &x[0][0]);
    world_uniform(14, N, u);
    for (int i = 0; i < N; i++)
        for (level[i] = 0; level[i] < LEVELS - 1; level[i]++)
            if (u[i] < below(truth_cut[level[i]] - slope_of(i, truth_w), probit))
                break;
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_index(data, "y", level);
    return data;
}

static void recovers_slopes(const dp_fit *fit)
{
    for (size_t j = 0; j < D; j++)
        world_recovers(fit, "w", D, j, truth_w[j], 6.2);
}

static void counts_give_slopes_and_dispersion(void **state)
{
    (void)state;
    static double density[N], rate[N];
    double w[D], intercept, f;
    dp_error err = {0};
    dp_model *m;
    const dp_regression_opts o = {.predictors = D};
    dp_dataset *data = counts();
    const dp_given given = {.data = data};
    assert_ok(dp_negative_binomial_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "w", D, w);
    world_value(fit, NULL, "intercept", 1, &intercept);
    world_value(fit, NULL, "dispersion", 1, &f);
    world_value(fit, data, "rate", N, rate);
    assert_ok(dp_fit_log_density(fit, &given, N, density, &err), err.text);
    for (int i = 0; i < N; i++) {
        const double mean = exp(intercept + slope_of(i, w));
        assert_close(rate[i], mean, 1e-12, 0);
        assert_close(density[i],
                     lgamma(f + y[i]) - lgamma(f) - lgamma(y[i] + 1) +
                         y[i] * log(mean / (mean + f)) + f * log(f / (mean + f)),
                     1e-9, 1e-9);
    }
    recovers_slopes(fit);
    world_recovers(fit, "intercept", 1, 0, truth_intercept, 6.2);
    world_recovers(fit, "dispersion", 1, 0, truth_dispersion, 6.2);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void check_ratings(bool probit)
{
    static double density[N];
    double w[D], cut[LEVELS - 1];
    dp_error err = {0};
    dp_model *m;
    const dp_ordered_opts o = {.predictors = D, .categories = LEVELS, .probit = probit};
    dp_dataset *data = ratings(probit);
    const dp_given given = {.data = data};
    assert_ok(dp_ordered_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "w", D, w);
    world_value(fit, NULL, "cutpoints", LEVELS - 1, cut);
    assert_ok(dp_fit_log_density(fit, &given, N, density, &err), err.text);
    for (int i = 0; i < N; i++) {
        const double eta = slope_of(i, w);
        const double high = level[i] < LEVELS - 1 ? below(cut[level[i]] - eta, probit) : 1;
        const double low = level[i] > 0 ? below(cut[level[i] - 1] - eta, probit) : 0;
        assert_close(density[i], log(high - low), 1e-9, 1e-9);
    }
    recovers_slopes(fit);
    for (size_t k = 0; k + 1 < LEVELS; k++)
        world_recovers(fit, "cutpoints", LEVELS - 1, k, truth_cut[k], 6.2);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void ratings_give_slopes_and_cutpoints(void **state)
{
    (void)state;
    check_ratings(false);
    check_ratings(true);
}

enum { VOTES = 400, PARTIES = 3 };

/* Votes are drawn one by one; the log density by hand at the fit's latents. */
static void votes_give_slopes(void **state)
{
    (void)state;
    static double vote[VOTES * 30], counts_of[VOTES][PARTIES], trials[VOTES], density[VOTES];
    const double truth[D][PARTIES - 1] = {{0.7, -0.4}, {0.2, 0.9}};
    double w[D][PARTIES - 1], intercept[PARTIES - 1];
    dp_error err = {0};
    dp_model *m;
    const dp_multinomial_opts o = {.predictors = D, .categories = PARTIES};
    world_normal(15, VOTES * D, &x[0][0]);
    world_uniform(16, VOTES * 30, vote);
    for (int i = 0; i < VOTES; i++) {
        const double a = exp(0.3 + truth[0][0] * x[i][0] + truth[1][0] * x[i][1]);
        const double b = exp(-0.2 + truth[0][1] * x[i][0] + truth[1][1] * x[i][1]);
        trials[i] = 10 + i % 20;
        counts_of[i][0] = counts_of[i][1] = counts_of[i][2] = 0;
        for (int t = 0; t < 10 + i % 20; t++) {
            const double at = vote[30 * i + t] * (1 + a + b);
            counts_of[i][at < 1 ? 0 : at < 1 + a ? 1 : 2]++;
        }
    }
    dp_dataset *data = dp_dataset_new(VOTES);
    const dp_given given = {.data = data};
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_real(data, "trials", 1, trials);
    dp_dataset_real(data, "y", PARTIES, &counts_of[0][0]);
    assert_ok(dp_multinomial_regression(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "w", D * (PARTIES - 1), &w[0][0]);
    world_value(fit, NULL, "intercept", PARTIES - 1, intercept);
    assert_ok(dp_fit_log_density(fit, &given, VOTES, density, &err), err.text);
    for (int i = 0; i < VOTES; i++) {
        double eta[PARTIES] = {0}, sum = 1, expected = lgamma(trials[i] + 1);
        for (int k = 1; k < PARTIES; k++) {
            eta[k] = intercept[k - 1] + w[0][k - 1] * x[i][0] + w[1][k - 1] * x[i][1];
            sum += exp(eta[k]);
        }
        for (int k = 0; k < PARTIES; k++)
            expected += counts_of[i][k] * (eta[k] - log(sum)) - lgamma(counts_of[i][k] + 1);
        assert_close(density[i], expected, 1e-10, 1e-10);
    }
    for (size_t k = 0; k < D * (PARTIES - 1); k++)
        world_recovers(fit, "w", D * (PARTIES - 1), k, (&truth[0][0])[k], 6.2);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* The main method, by which scores are clipped around what the model expects: the loop refuses an
 * option for rounds. */
static void private_rounds_take_both(void **state)
{
    (void)state;
    for (int ordered = 0; ordered < 2; ordered++) {
        dp_error err = {0};
        dp_model *m;
        dp_fit *fit;
        const dp_regression_opts of_counts = {.predictors = D};
        const dp_ordered_opts of_ratings = {.predictors = D, .categories = LEVELS};
        dp_dataset *data = ordered ? ratings(false) : counts();
        const dp_fit_opts o = {.epsilon = 4, .delta = 1e-6, .rounds = 16, .seed = 5};
        assert_ok(ordered ? dp_ordered_regression(&of_ratings, &m, &err)
                          : dp_negative_binomial_regression(&of_counts, &m, &err),
                  err.text);
        assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
        recovers_slopes(fit);
        dp_fit_free(fit);
        dp_model_free(m);
        dp_dataset_free(data);
    }
}

static void options_that_are_no_model_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const dp_ordered_opts bad[] = {{.predictors = 1, .categories = 3, .scale = -1},
                                   {.predictors = 1, .categories = 3, .cutpoint_scale = NAN},
                                   {.predictors = 1, .categories = 2},
                                   {.categories = 3}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_fails(dp_ordered_regression(&bad[k], &m, &err), DP_EINVAL, &err,
                     k < 2 ? "a scale of the priors" : "at least 3");
        assert_null(m);
    }
    const dp_multinomial_opts none[] = {{.categories = 2}, {.categories = 3, .scale = -1}};
    for (size_t k = 0; k < 2; k++)
        assert_fails(dp_multinomial_regression(&none[k], &m, &err), DP_EINVAL, &err,
                     k == 0 ? "at least 3 categories" : "a scale of the priors");
    const dp_regression_opts no_scale = {.scale = -1};
    assert_fails(dp_negative_binomial_regression(&no_scale, &m, &err), DP_EINVAL, &err, "a scale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_give_slopes_and_dispersion),
        cmocka_unit_test(ratings_give_slopes_and_cutpoints),
        cmocka_unit_test(votes_give_slopes),
        cmocka_unit_test(private_rounds_take_both),
        cmocka_unit_test(options_that_are_no_model_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
