/* What few records tell of: a predictor that is rarely there, whose slopes differ by group. */
#include <math.h>

#include <tacit/infer.h>

#include "tests/lib/check.h"

enum { N = 2000, GROUPS = 60, SETS = 12 };

typedef struct scene {
    double y[N], rare[N], effect[GROUPS], slope[GROUPS];
    int32_t group[N];
} scene;

static dp_rng *begin(scene *s, uint64_t seed)
{
    dp_rng *rng;
    dp_error err = {0};
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    dp_rng_normal(rng, N, s->y);
    dp_rng_normal(rng, GROUPS, s->effect);
    dp_rng_normal(rng, GROUPS, s->slope);
    return rng;
}

static dp_fit *end(dp_model *m, dp_dataset *data, double epsilon, uint64_t seed)
{
    dp_fit *fit;
    dp_error err = {0};
    dp_fit_opts o = {.epsilon = epsilon, .delta = 1e-4, .seed = seed, .draws = 1000};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    dp_dataset_free(data);
    dp_model_free(m);
    return fit;
}

/* The square of how far a latent's mean is from the truth, in its standard deviations. */
static double away(dp_fit *fit, const char *name, double truth)
{
    dp_summary found;
    dp_error err = {0};
    assert_ok(dp_fit_summary(fit, name, 1, &found, &err), err.text);
    return pow((found.mean - truth) / found.sd, 2);
}

/* One record in six has the predictor, five or six of each group. */
static dp_fit *fit_slopes(scene *s, double epsilon, uint64_t seed)
{
    dp_rng *rng = begin(s, seed);
    for (size_t i = 0; i < N; i++) {
        size_t g = i / 6 % GROUPS;
        s->group[i] = (int32_t)g;
        s->rare[i] = i % 6 == 0;
        s->y[i] = 1 + 0.3 * s->effect[g] + s->rare[i] * (0.5 * s->slope[g] - 0.7) + 0.8 * s->y[i];
    }
    dp_rng_free(rng);
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "rare", 1, s->rare);
    dp_dataset_real(data, "y", 1, s->y);
    dp_dataset_index(data, "group", s->group);
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_half_normal(2));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(2));
    dp_expr omega = dp_sample(m, "omega", 1, dp_half_normal(2));
    dp_expr level = dp_sample(m, "level", 1, dp_normal(0, 2));
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 2));
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal_v(level, tau));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal_v(w, omega));
    dp_expr group = dp_index(rows, "group", groups);
    dp_expr slope = dp_mul(dp_data(rows, "rare", 1), dp_pick(b, group));
    dp_observe(rows, "y", dp_normal_v(dp_add(dp_pick(a, group), slope), sigma));
    return end(m, data, epsilon, seed);
}

/* Distances are chi-square with 12 degrees of freedom, were answers normal and right: above 70 in 1
 * of 3 * 10^9 cases.  Where matrices are clipped to twice the commonest norm whatever the others
 * are, the slopes' scale is at 98. */
static void a_rare_predictors_slopes_are_not_taken_to_differ_more(void **state)
{
    static scene s;
    double square = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        dp_fit *fit = fit_slopes(&s, 20, seed);
        square += away(fit, "omega", 0.5);
        dp_fit_free(fit);
    }
    if (square > 70)
        fail_msg("scale of slopes: %g", square);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rare_predictors_slopes_are_not_taken_to_differ_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
