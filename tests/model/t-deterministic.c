/* Computed values that have a name: what takes one, what refuses it, and that a fit is the same to
 * the bit with and without them. */
#include <tacit/simulate.h>
#include <tacit/svi.h>

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

enum { N = 40, STEPS = 20 };

typedef struct scene {
    dp_model *m;
    dp_plate rows;
    dp_expr x, w, eta;
} scene;

static scene set_up(void)
{
    scene s = {.m = dp_model_new()};
    assert_non_null(s.m);
    s.rows = dp_unit_plate(s.m, "rows");
    s.x = dp_data(s.rows, "x", 2);
    s.w = dp_sample(s.m, "w", 2, dp_normal(0, 1));
    s.eta = dp_dot(s.x, s.w);
    return s;
}

static void observe(const scene *s)
{
    dp_observe(s->rows, "y", dp_bernoulli_logit(s->eta));
}

static void fill(double x[2 * N], double y[N])
{
    for (int i = 0; i < 2 * N; i++)
        x[i] = (i * 37 % 19) / 9.5 - 1;
    for (int i = 0; i < N; i++)
        y[i] = i * 7 % 3 == 0;
}

/* What a seeded private run of the model releases. */
static void fit(const dp_model *m, double loc[2], double log_scale[2])
{
    double x[2 * N], y[N];
    dp_error err = {0};
    dp_svi *svi = NULL;
    dp_dataset *data = dp_dataset_new(N);
    fill(x, y);
    dp_dataset_real(data, "x", 2, x);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts opts = {
        .sigma = 2, .delta = 1e-3, .clip = 1, .steps = STEPS, .seed = 5, .step_size = 0.1};
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_get(svi, "w.loc", 2, loc, &err), err.text);
    assert_ok(dp_svi_get(svi, "w.log_scale", 2, log_scale, &err), err.text);
    dp_svi_free(svi);
    dp_dataset_free(data);
}

/* Of every kind of value: a column's, a latent's, one that no observation needs and that is not
 * finite for some records, and a number. */
static void name_many(const scene *s)
{
    (void)dp_deterministic(s->m, "logit", s->eta);
    (void)dp_deterministic(s->m, "again", s->eta);
    (void)dp_deterministic(s->m, "copy of w", s->w);
    (void)dp_deterministic(s->m, "copy of x", s->x);
    (void)dp_deterministic(s->m, "unused", dp_log(s->x));
    (void)dp_deterministic(s->m, "three", dp_num(3));
}

static void names_change_no_fit(void **state)
{
    (void)state;
    double loc[2][2], log_scale[2][2];
    for (int named = 0; named < 2; named++) {
        scene s = set_up();
        if (named)
            name_many(&s);
        observe(&s);
        assert_int_equal(dp_model_status(s.m), DP_OK);
        fit(s.m, loc[named], log_scale[named]);
        dp_model_free(s.m);
    }
    assert_memory_equal(loc[0], loc[1], sizeof loc[0]);
    assert_memory_equal(log_scale[0], log_scale[1], sizeof log_scale[0]);
}

static void a_name_gives_its_value_back(void **state)
{
    (void)state;
    scene s = set_up();
    const dp_expr same = dp_deterministic(s.m, "logit", s.eta);
    assert_ptr_equal(same.model, s.m);
    assert_int_equal(same.id, s.eta.id);
    dp_model_free(s.m);
}

/* The model has this error, which names this line. */
static void assert_error(dp_model *m, dp_status status, int line, const char *says)
{
    char place[64];
    (void)snprintf(place, sizeof place, "t-deterministic.c:%d", line);
    assert_string_equal(dp_status_name(dp_model_status(m)), dp_status_name(status));
    assert_contains(dp_model_error(m), place);
    assert_contains(dp_model_error(m), says);
    dp_model_free(m);
}

static void names_are_used_once(void **state)
{
    (void)state;
    scene s = set_up();
    int line = __LINE__ + 1;
    (void)dp_deterministic(s.m, "w", s.eta);
    assert_error(s.m, DP_ENAME, line, "'w' was used at");

    s = set_up();
    (void)dp_deterministic(s.m, "logit", s.eta);
    line = __LINE__ + 1;
    (void)dp_deterministic(s.m, "logit", s.w);
    assert_error(s.m, DP_ENAME, line, "'logit' was used at");

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_deterministic(s.m, "y", s.eta);
    observe(&s);
    assert_error(s.m, DP_ENAME, line, "'y' was used at");

    s = set_up();
    line = __LINE__ + 1;
    (void)dp_deterministic(s.m, "", s.eta);
    assert_error(s.m, DP_ENAME, line, "must not be empty");
}

static void values_of_other_models_are_refused(void **state)
{
    (void)state;
    scene s = set_up(), other = set_up();
    const int line = __LINE__ + 1;
    (void)dp_deterministic(s.m, "logit", other.eta);
    dp_model_free(other.m);
    assert_error(s.m, DP_EINVAL, line, "another model");
}

static void guides_name_none(void **state)
{
    (void)state;
    scene s = set_up();
    observe(&s);
    dp_model *guide = dp_guide_new(s.m);
    const dp_expr loc = dp_param(guide, "loc", 2, 0);
    const int line = __LINE__ + 1;
    (void)dp_deterministic(guide, "twice", dp_scale(2, loc));
    assert_error(guide, DP_EINVAL, line, "name it in the model");
    dp_model_free(s.m);
}

/* A name of a guide's latent that the model computes is not a latent of the model. */
static void a_guide_does_not_sample_computed_values(void **state)
{
    (void)state;
    scene s = set_up();
    (void)dp_deterministic(s.m, "logit", s.eta);
    observe(&s);
    dp_model *guide = dp_guide_new(s.m);
    const int line = __LINE__ + 1;
    (void)dp_sample(guide, "logit", 1, dp_normal(0, 1));
    assert_error(guide, DP_ENAME, line, "no latent of the model");
    dp_model_free(s.m);
}

static void prior_draws_ignore_them(void **state)
{
    (void)state;
    double x[2 * N], y[N], w[2][2];
    dp_error err = {0};
    fill(x, y);
    for (int named = 0; named < 2; named++) {
        dp_simulator *sim = NULL;
        dp_rng *rng = NULL;
        scene s = set_up();
        if (named)
            name_many(&s);
        observe(&s);
        dp_dataset *data = dp_dataset_new(N);
        dp_dataset_real(data, "x", 2, x);
        assert_ok(dp_simulator_new(s.m, data, &sim, &err), err.text);
        assert_ok(dp_rng_new(3, &rng, &err), err.text);
        assert_ok(dp_simulate_prior(sim, rng, &err), err.text);
        assert_ok(dp_simulated(sim, "w", 2, w[named], &err), err.text);
        if (named)
            assert_fails(dp_simulated(sim, "logit", 1, y, &err), DP_ENAME, &err, "no latent");
        dp_simulator_free(sim);
        dp_rng_free(rng);
        dp_dataset_free(data);
        dp_model_free(s.m);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
}

static void they_are_described(void **state)
{
    (void)state;
    char text[8192];
    scene s = set_up();
    name_many(&s);
    observe(&s);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(dp_model_describe(s.m, out), DP_OK);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = 0;
    (void)fclose(out);
    assert_contains(text, "computed   logit            a number, one per record    #");
    assert_contains(text, "computed   copy of w        [2]                         w  t-det");
    assert_contains(text, "computed   three            a number                    3  t-det");
    dp_model_free(s.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_change_no_fit),
        cmocka_unit_test(a_name_gives_its_value_back),
        cmocka_unit_test(names_are_used_once),
        cmocka_unit_test(values_of_other_models_are_refused),
        cmocka_unit_test(guides_name_none),
        cmocka_unit_test(a_guide_does_not_sample_computed_values),
        cmocka_unit_test(prior_draws_ignore_them),
        cmocka_unit_test(they_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
