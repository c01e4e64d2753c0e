/* From where the prior has numbers, rounds come to where they are: cutpoints of levels whose prior
 * is beyond all outcomes, and a shape of which next to nothing tells where it is large. */
#include <math.h>

#include <tacit/dist-counts.h>
#include <tacit/infer.h>

#include "tests/lib/check.h"

enum { N = 2000, X = 5, CUTS = 3, SHOWN = 4 };

typedef struct scene {
    double x[N * X], y[N];
    int32_t grade[N];
} scene;

/* Every predictor has the weight .3. */
static dp_dataset *draw(scene *s, uint64_t seed)
{
    static const double cut[CUTS] = {-0.6, 0, 0.7};
    static double e[N], u[N];
    dp_rng *rng;
    dp_error err = {0};
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    dp_rng_normal(rng, N * X, s->x);
    dp_rng_normal(rng, N, e);
    dp_rng_uniform(rng, N, u);
    dp_rng_free(rng);
    for (size_t i = 0; i < N; i++) {
        double eta = 0;
        for (size_t j = 0; j < X; j++)
            eta += 0.3 * s->x[i * X + j];
        double mean = exp(eta - 1);
        s->grade[i] = (eta + e[i] > cut[0]) + (eta + e[i] > cut[1]) + (eta + e[i] > cut[2]);
        s->y[i] = floor(log(u[i]) / log(mean / (1 + mean))); /* geometric: of dispersion 1 */
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", X, s->x);
    dp_dataset_real(data, "y", 1, s->y);
    dp_dataset_index(data, "grade", s->grade);
    return data;
}

/* w . x */
static dp_expr predictor(dp_model *m, dp_plate rows)
{
    return dp_dot(dp_data(rows, "x", X), dp_sample(m, "w", X, dp_normal(0, 2.5)));
}

/* Means of a latent, from which the model is freed. */
static void fit(dp_model *m, dp_dataset *data, double epsilon, uint64_t seed, const char *name,
                size_t n, dp_summary found[SHOWN])
{
    dp_error err = {0};
    dp_fit *fit;
    dp_fit_opts o = {.epsilon = epsilon, .delta = 1e-4, .seed = seed, .draws = 1000};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, name, n, found, &err), err.text);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

/* What is known without privacy has a standard deviation of .031, to which noise adds a hundredth
 * or two: .2 is 6 of it. */
static void cutpoints_are_found_from_beyond_all_outcomes(void **state)
{
    static scene s;
    static const double truth[CUTS] = {-0.6, 0, 0.7};
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        dp_summary told[SHOWN];
        dp_dataset *data = draw(&s, seed);
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr cut = dp_sample(m, "cut", CUTS, dp_ordered(dp_normal(0, 10)));
        dp_observe(rows, "grade", dp_ordered_probit(predictor(m, rows), cut));
        fit(m, data, 4, seed, "cut", CUTS, told);
        for (size_t k = 0; k < CUTS; k++)
            if (!(fabs(told[k].mean - truth[k]) < 0.2))
                fail_msg("cut %zu of set %u: %g", k, (unsigned)seed, told[k].mean);
    }
}

/* The logarithm is .2 off the truth, root mean square of 16 sets: 1.5 is 7 of that.  Were rounds let
 * go as far as they seem to have to, the fourth would end at a shape of 53. */
static void a_shape_does_not_run_off(void **state)
{
    static scene s;
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        dp_summary told[SHOWN];
        dp_dataset *data = draw(&s, seed);
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr intercept = dp_sample(m, "intercept", 1, dp_normal(0, 2.5));
        dp_expr shape = dp_sample(m, "shape", 1, dp_log_normal(1, 1.5));
        dp_expr mean = dp_add(intercept, predictor(m, rows));
        dp_observe(rows, "y", dp_negative_binomial_log(mean, shape));
        fit(m, data, 1, seed, "shape", 1, told);
        if (!(fabs(log(told[0].mean)) < 1.5))
            fail_msg("shape of set %u: %g", (unsigned)seed, told[0].mean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutpoints_are_found_from_beyond_all_outcomes),
        cmocka_unit_test(a_shape_does_not_run_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
