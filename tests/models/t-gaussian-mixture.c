/* The mixture: its density by hand, and the groups it finds in simulated points. */
#include <math.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 1500, K = 3, D = 2 };

static const double centre[K][D] = {{0, 1.5}, {1.5, -1}, {-1.5, -1}};
static const double share[K] = {0.5, 0.3, 0.2}, sd = 0.4, pi = 3.14159265358979323846;
static double x[N][D];
static const dp_mixture_opts asked = {.components = K, .dimensions = D};

static dp_dataset *points(void)
{
    double u[N];
    world_normal(1, N * D, &x[0][0]);
    world_uniform(2, N, u);
    for (int i = 0; i < N; i++) {
        const int k = u[i] < share[0] ? 0 : u[i] < share[0] + share[1] ? 1 : 2;
        for (int j = 0; j < D; j++)
            x[i][j] = centre[k][j] + sd * x[i][j];
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    return data;
}

static dp_fit *fit_points(const dp_dataset *data)
{
    dp_error err = {0};
    dp_model *m;
    dp_svi *svi;
    dp_fit *fit;
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1500, .average = 0.25, .seed = 2};
    assert_ok(dp_gaussian_mixture(&asked, &m, &err), err.text);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    dp_model_free(m);
    assert_ok(dp_gaussian_mixture_start(svi, &asked, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    return fit;
}

static void components_are_found(void **state)
{
    (void)state;
    static double chance[N][K];
    double w[K], mean[K][D], scale[K], density[N];
    dp_error err = {0};
    dp_dataset *data = points();
    dp_fit *fit = fit_points(data);
    world_value(fit, NULL, "w", K, w);
    world_value(fit, NULL, "mean", K * D, &mean[0][0]);
    world_value(fit, NULL, "sd", K, scale);
    for (int k = 0; k < K; k++) {
        int found = 0;
        for (int l = 0; l < K; l++)
            if (hypot(mean[l][0] - centre[k][0], mean[l][1] - centre[k][1]) < 0.2) {
                found++;
                /* 300 points of a component at least: 0.02 of its weight and of its scale. */
                assert_close(w[l], share[k], 0, 6.2 * 0.02);
                assert_close(scale[l], sd, 0, 6.2 * 0.02);
            }
        assert_int_equal(found, 1);
    }

    const dp_given given = {.data = data};
    assert_ok(dp_fit_log_density(fit, &given, N, density, &err), err.text);
    world_value(fit, data, "component_probability", N * K, &chance[0][0]);
    for (int i = 0; i < N; i++) {
        double part[K], sum = 0;
        for (int k = 0; k < K; k++) {
            const double a = (x[i][0] - mean[k][0]) / scale[k],
                         b = (x[i][1] - mean[k][1]) / scale[k];
            part[k] = w[k] * exp(-0.5 * (a * a + b * b)) / (2 * pi * scale[k] * scale[k]);
            sum += part[k];
        }
        for (int k = 0; k < K; k++)
            assert_close(chance[i][k], part[k] / sum, 1e-9, 1e-12);
        assert_close(density[i], log(sum), 1e-9, 1e-9);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* Of many components in three dimensions no two start at one place. */
static void starts_lie_apart(void **state)
{
    (void)state;
    enum { MANY = 12, DEEP = 3 };
    double start[MANY][DEEP];
    dp_error err = {0};
    dp_model *m;
    dp_svi *svi;
    const dp_mixture_opts o = {.components = MANY, .dimensions = DEEP, .mean_scale = 2};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .seed = 2};
    dp_dataset_free(points()); /* fills x */
    dp_dataset *data = dp_dataset_new(N / DEEP);
    dp_dataset_real(data, "x", DEEP, &x[0][0]);
    assert_ok(dp_gaussian_mixture(&o, &m, &err), err.text);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_gaussian_mixture_start(svi, &o, &err), err.text);
    assert_ok(dp_svi_get(svi, "mean.loc", MANY * DEEP, &start[0][0], &err), err.text);
    for (int k = 0; k < MANY; k++) {
        assert_true(hypot(start[k][0], start[k][1]) <= 4);
        for (int l = 0; l < k; l++)
            assert_true(hypot(start[k][0] - start[l][0], start[k][1] - start[l][1]) > 0.5);
    }
    dp_svi_free(svi);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void what_is_no_mixture_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    dp_mixture_opts o = {.components = 1, .dimensions = 1};
    assert_fails(dp_gaussian_mixture(&o, &m, &err), DP_EINVAL, &err, "at least 2 components");
    assert_null(m);
    o = (dp_mixture_opts){.components = 2};
    assert_fails(dp_gaussian_mixture(&o, &m, &err), DP_EINVAL, &err, "1 dimension");
    o = (dp_mixture_opts){.components = 2, .dimensions = 1, .mean_scale = -1};
    assert_fails(dp_gaussian_mixture(&o, &m, &err), DP_EDOMAIN, &err, "gaussian_mixture.c:");
    assert_null(m);
    o = (dp_mixture_opts){.components = 5000, .dimensions = SIZE_MAX};
    assert_fails(dp_gaussian_mixture_start(NULL, &o, &err), DP_EINVAL, &err, "4096");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_found),
        cmocka_unit_test(starts_lie_apart),
        cmocka_unit_test(what_is_no_mixture_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
