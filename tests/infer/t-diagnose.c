/* What a fit says of itself is wrong where it is, and right where nothing is.
 *
 * Fits are seeded, and what is wrong is gross: limits are passed by half their value at least,
 * or kept by a factor of 2, so that nothing here is left to chance. */
#include <math.h>
#include <string.h>

#include <tacit/infer.h>

#include "tests/lib/check.h"

enum { N = 3000, P = 3, GROUPS = 20 };

typedef struct scene {
    double x[N * P], y[N], u[N];
    int32_t group[N];
    dp_fit *fit;
} scene;

/* Three columns, of which the first is 1. */
static void draw(scene *s)
{
    dp_rng *rng;
    dp_error err = {0};
    assert_ok(dp_rng_new(29, &rng, &err), err.text);
    dp_rng_normal(rng, N * P, s->x);
    dp_rng_uniform(rng, N, s->u);
    for (size_t i = 0; i < N; i++) {
        s->x[i * P] = 1;
        s->group[i] = (int32_t)(i % GROUPS);
    }
    dp_rng_free(rng);
}

static double eta_of(const scene *s, size_t i)
{
    return 0.3 * s->x[i * P] - 0.8 * s->x[i * P + 1] + 0.5 * s->x[i * P + 2];
}

static void coins(scene *s, double level)
{
    for (size_t i = 0; i < N; i++)
        s->y[i] = s->u[i] < 1 / (1 + exp(-level - eta_of(s, i)));
}

/* A logistic regression, with groups or without, by so many main rounds, 0 for the usual ones. */
static void fit_by(scene *s, bool grouped, double epsilon, double delta, uint64_t rounds)
{
    dp_error err = {0};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", P, s->x);
    dp_dataset_real(data, "y", 1, s->y);
    dp_dataset_index(data, "group", s->group);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", P, dp_normal(0, 2.5)), eta = dp_dot(dp_data(rows, "x", P), w);
    if (grouped) {
        dp_plate groups = dp_plate_new(m, "groups", GROUPS);
        dp_expr b = dp_sample_in(groups, "b", 1, dp_normal(0, 0.5));
        eta = dp_add(eta, dp_pick(b, dp_index(rows, "group", groups)));
    }
    dp_observe(rows, "y", dp_bernoulli_logit(eta));
    dp_fit_opts o = {
        .epsilon = epsilon, .delta = delta, .seed = 5, .rounds = rounds, .hopeless_allowed = true};
    assert_ok(dp_fit_private(m, data, &o, &s->fit, &err), err.text);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void fit_at(scene *s, bool grouped, double epsilon, double delta)
{
    fit_by(s, grouped, epsilon, delta, 0);
}

static void fit(scene *s, bool grouped, double delta)
{
    fit_at(s, grouped, 8, delta);
}

static const dp_diagnostic *find(const dp_fit *fit, const char *name)
{
    size_t n;
    const dp_diagnostic *all = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(all[k].name, name) == 0)
            return &all[k];
    return NULL;
}

static void nothing_is_bad_where_all_is_well(void **state)
{
    static scene s;
    size_t n;
    (void)state;
    draw(&s);
    coins(&s, 0);
    fit(&s, false, 1e-6);
    const dp_diagnostic *all = dp_fit_diagnostics(s.fit, &n);
    assert_int_equal(n, 7);
    for (size_t k = 0; k < n; k++)
        assert_false(all[k].bad);
    assert_true(find(s.fit, "directions")->value > 6 && find(s.fit, "reach")->value < 1);
    assert_null(find(s.fit, "delta"));
    dp_fit_free(s.fit);
}

static void a_column_that_is_there_twice_is_told(void **state)
{
    static scene s;
    (void)state;
    draw(&s);
    for (size_t i = 0; i < N; i++)
        s.x[i * P + 2] = s.x[i * P + 1];
    coins(&s, 0);
    fit(&s, false, 1e-6);
    const dp_diagnostic *d = find(s.fit, "directions");
    assert_true(d->bad);
    assert_contains(d->words, "1 of 3");
    dp_fit_free(s.fit);
}

/* By its making the intercept moves against all groups. */
static void an_intercept_beside_groups_is_not(void **state)
{
    static scene s;
    (void)state;
    draw(&s);
    coins(&s, 0);
    fit(&s, true, 1e-6);
    assert_false(find(s.fit, "directions")->bad);
    dp_fit_free(s.fit);
}

/* What noise explains is good, and is not said to stand out of it. */
static void few_standard_deviations_are_put_in_words(void **state)
{
    static scene s;
    (void)state;
    draw(&s);
    coins(&s, 0);
    fit_at(&s, true, 0.05, 1e-6);
    const dp_diagnostic *d = find(s.fit, "directions");
    assert_true(d->value < d->limit && !d->bad);
    assert_contains(d->words, "noise alone explains");
    dp_fit_free(s.fit);
}

/* Outcomes that predictor 1 settles: the steeper its slope, the less is told of it. */
static void settle(scene *s)
{
    draw(s);
    for (size_t i = 0; i < N; i++) {
        s->y[i] = s->x[i * P + 1] > 0;
        s->x[i * P + 1] *= 100;
    }
}

/* Two rounds do not come near. */
static void a_far_answer_is_told(void **state)
{
    static scene s;
    (void)state;
    settle(&s);
    fit_by(&s, false, 8, 1e-6, 2);
    assert_true(find(s.fit, "reach")->bad && find(s.fit, "reach")->value > 2.5);
    dp_fit_free(s.fit);
}

/* It was .89 with a standard deviation of .08 where information was taken for what it was on the
 * way.  No slope is too large for these outcomes. */
static void what_a_predictor_settles_is_told(void **state)
{
    static scene s;
    dp_summary found[P];
    dp_error err = {0};
    (void)state;
    settle(&s);
    fit(&s, false, 1e-6);
    assert_true(find(s.fit, "directions")->bad);
    assert_ok(dp_fit_summary(s.fit, "w", P, found, &err), err.text);
    assert_true(found[1].sd > 0.5);
    dp_fit_free(s.fit);
}

static void a_delta_that_publishes_records_is_told(void **state)
{
    static scene s;
    (void)state;
    draw(&s);
    coins(&s, 0);
    fit(&s, false, 2.0 / N);
    const dp_diagnostic *d = find(s.fit, "delta");
    assert_true(d != NULL && d->bad);
    assert_true(d->value > 1.5 && d->value < 2.1);
    dp_fit_free(s.fit);
}

/* Of normal outcomes whose errors are those given, clipped to norms of *clip. */
static void fit_normal(scene *s, const double *error, double *clip)
{
    dp_error err = {0};
    size_t n;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(N);
    for (size_t i = 0; i < N; i++)
        s->y[i] = eta_of(s, i) + error[i];
    dp_dataset_real(data, "x", P, s->x);
    dp_dataset_real(data, "y", 1, s->y);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", P, dp_normal(0, 2.5));
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_half_normal(2));
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", P), w), sigma));
    dp_fit_opts o = {.epsilon = 8, .delta = 1e-6, .seed = 5};
    assert_ok(dp_fit_private(m, data, &o, &s->fit, &err), err.text);
    const dp_fit_phase *phases = dp_fit_phases(s->fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(phases[k].name, "main") == 0)
            *clip = phases[k].clip;
    dp_dataset_free(data);
    dp_model_free(m);
}

/* Student's t with 3 degrees of freedom in a normal model: told, and heard further. */
static void heavy_tails_are_told_and_heard(void **state)
{
    static scene s;
    static double error[N], g[3 * N];
    double near = 0, far = 0;
    dp_rng *rng;
    dp_error err = {0};
    (void)state;
    draw(&s);
    assert_ok(dp_rng_new(31, &rng, &err), err.text);
    dp_rng_normal(rng, N, error);
    dp_rng_normal(rng, 3 * N, g);
    dp_rng_free(rng);
    fit_normal(&s, error, &near);
    assert_true(find(s.fit, "misfit")->value < 1.8 && !find(s.fit, "misfit")->bad);
    dp_fit_free(s.fit);
    for (size_t i = 0; i < N; i++)
        error[i] *= sqrt(3 / (pow(g[3 * i], 2) + pow(g[3 * i + 1], 2) + pow(g[3 * i + 2], 2)));
    fit_normal(&s, error, &far);
    assert_true(find(s.fit, "misfit")->value > 5 && find(s.fit, "misfit")->bad);
    assert_true(near > 0 && far > 1.5 * near);
    dp_fit_free(s.fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_bad_where_all_is_well),
        cmocka_unit_test(a_column_that_is_there_twice_is_told),
        cmocka_unit_test(an_intercept_beside_groups_is_not),
        cmocka_unit_test(few_standard_deviations_are_put_in_words),
        cmocka_unit_test(a_far_answer_is_told),
        cmocka_unit_test(what_a_predictor_settles_is_told),
        cmocka_unit_test(a_delta_that_publishes_records_is_told),
        cmocka_unit_test(heavy_tails_are_told_and_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
