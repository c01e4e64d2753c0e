/* Times to an event: the density by hand, and what is found in censored times. */
#include <math.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 1000, D = 2 };
static const double truth_w[D] = {0.5, -0.7}, truth_intercept = 0.4, truth_shape = 1.6;
static double x[N][D], t[N], event[N], censored[N], u[N][2];

/* Watched until a time that is uniform from 0 to 4: about a third of the events are not seen.  With
 * `looked` every tenth is looked at then for the first time. */
static dp_dataset *times(bool looked)
{
    world_normal(1, N * D, &x[0][0]);
    world_uniform(2, N * 2, &u[0][0]);
    for (int i = 0; i < N; i++) {
        const double eta = truth_intercept + truth_w[0] * x[i][0] + truth_w[1] * x[i][1];
        const double came = exp(eta) * pow(-log(1 - u[i][0]), 1 / truth_shape), end = 4 * u[i][1];
        event[i] = came <= end;
        const bool late = looked && i % 10 == 0;
        t[i] = event[i] > 0 && !late ? came : end;
        censored[i] = event[i] > 0 ? (late ? -1 : 0) : 1;
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_real(data, "time", 1, t);
    dp_dataset_real(data, "censored", 1, censored);
    return data;
}

static void censored_times_give_slopes_and_shape(void **state)
{
    (void)state;
    static double density[N], median[N];
    double w[D], intercept, k;
    dp_error err = {0};
    dp_model *m;
    const dp_survival_opts o = {.predictors = D};
    const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 1500, .average = 0.25, .seed = 2};
    dp_dataset *data = times(true);
    const dp_given given = {.data = data};
    assert_ok(dp_survival(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "w", D, w);
    world_value(fit, NULL, "intercept", 1, &intercept);
    world_value(fit, NULL, "shape", 1, &k);
    world_value(fit, data, "median", N, median);
    assert_ok(dp_fit_log_density(fit, &given, N, density, &err), err.text);
    for (int i = 0; i < N; i++) {
        const double scale = exp(intercept + w[0] * x[i][0] + w[1] * x[i][1]), z = t[i] / scale;
        const double log_hazard = log(k / scale * pow(z, k - 1));
        const double wanted =
            censored[i] < 0 ? log(-expm1(-pow(z, k))) : (1 - censored[i]) * log_hazard - pow(z, k);
        assert_close(density[i], wanted, 1e-10, 1e-10);
        assert_close(median[i], scale * pow(log(2), 1 / k), 1e-12, 0);
    }
    world_recovers(fit, "shape", 1, 0, truth_shape, 6.2);
    world_recovers(fit, "intercept", 1, 0, truth_intercept, 6.2);
    for (size_t j = 0; j < D; j++)
        world_recovers(fit, "w", D, j, truth_w[j], 6.2);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* Without predictors the scale is the sum of t^k over the number of events, to the 1 / k. */
static void times_without_predictors_are_fitted(void **state)
{
    (void)state;
    double intercept, k, sum = 0, events = 0;
    dp_error err = {0};
    dp_model *m;
    const dp_survival_opts o = {.intercept_scale = 100, .shape_scale = 100};
    const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 2000, .average = 0.25, .seed = 2};
    dp_dataset *data = times(false);
    assert_ok(dp_survival(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "intercept", 1, &intercept);
    world_value(fit, NULL, "shape", 1, &k);
    for (int i = 0; i < N; i++) {
        sum += pow(t[i], k);
        events += event[i];
    }
    assert_close(intercept, log(sum / events) / k, 0, 0.01);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void scales_that_are_none_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const dp_survival_opts bad[] = {{.scale = -1}, {.shape_scale = NAN}, {.intercept_scale = -2}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_fails(dp_survival(&bad[k], &m, &err), DP_EINVAL, &err, "a scale of the priors");
        assert_null(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(censored_times_give_slopes_and_shape),
        cmocka_unit_test(times_without_predictors_are_fitted),
        cmocka_unit_test(scales_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
