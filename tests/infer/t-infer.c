/* A posterior from epsilon and delta alone: what is spent, repeated, refused, and near the
 * truth. */
#include <math.h>
#include <string.h>

#include <tacit/infer.h>

#include "tests/lib/check.h"

enum { N = 3000, P = 3 };

typedef struct scene {
    double x[N * P], y[N];
    dp_dataset *data;
    dp_model *model;
} scene;

static const double truth[P] = {0.5, -1, 0.3};

/* Logistic regression; predictors and outcomes are those of a fixed seed. */
static void set_up(scene *s, size_t n)
{
    dp_rng *rng;
    dp_error err = {0};
    assert_ok(dp_rng_new(71, &rng, &err), err.text);
    dp_rng_normal(rng, N * P, s->x);
    for (size_t i = 0; i < N; i++) {
        double u, eta = 0;
        s->x[i * P] = 1;
        for (size_t j = 0; j < P; j++)
            eta += s->x[i * P + j] * truth[j];
        dp_rng_uniform(rng, 1, &u);
        s->y[i] = u < 1 / (1 + exp(-eta));
    }
    dp_rng_free(rng);
    s->data = dp_dataset_new(n);
    dp_dataset_real(s->data, "x", P, s->x);
    dp_dataset_real(s->data, "y", 1, s->y);
    s->model = dp_model_new();
    dp_plate rows = dp_unit_plate(s->model, "rows");
    dp_expr w = dp_sample(s->model, "w", P, dp_normal(0, 5));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", P), w)));
}

static void tear_down(scene *s)
{
    dp_model_free(s->model);
    dp_dataset_free(s->data);
}

static void summarise(const scene *s, const dp_fit_opts *o, dp_summary *w)
{
    dp_fit *fit;
    dp_error err = {0};
    assert_ok(dp_fit_private(s->model, s->data, o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", P, w, &err), err.text);
    dp_fit_free(fit);
}

static void is_near_the_truth_and_says_how_near(void **state)
{
    scene s;
    dp_summary exact[P], w[P];
    (void)state;
    set_up(&s, N);
    summarise(&s, &(dp_fit_opts){.mode = DP_NO_PRIVACY, .seed = 1, .draws = 40000}, exact);
    summarise(&s, &(dp_fit_opts){.epsilon = 1, .delta = 1e-4, .seed = 2}, w);
    for (size_t j = 0; j < P; j++) {
        assert_close(exact[j].mean, truth[j], 0, 5 * exact[j].sd);
        /* Seeds are fixed: 2 sds is what this one gives, with room for other processors. */
        assert_close(w[j].mean, exact[j].mean, 0, 2 * exact[j].sd);
        assert_true(w[j].sd > 0.9 * exact[j].sd); /* what is known of it has noise, too */
        assert_true(w[j].sd < 1.5 * exact[j].sd);
    }
    tear_down(&s);
}

static void spends_what_was_asked_in_phases(void **state)
{
    scene s;
    dp_fit *fit;
    dp_privacy p;
    dp_error err = {0};
    double mu2 = 0;
    size_t n;
    (void)state;
    set_up(&s, N);
    dp_fit_opts o = {.epsilon = 1.5, .delta = 1e-5};
    assert_ok(dp_fit_private(s.model, s.data, &o, &fit, &err), err.text);
    dp_fit_privacy(fit, &p);
    assert_true(p.is_private);
    assert_true(p.epsilon <= 1.5 && p.epsilon > 1.49);
    assert_true(p.delta <= 1e-5);
    assert_true(p.eta > 0x1p-18 && p.eta < 1e-4);
    const dp_fit_phase *phases = dp_fit_phases(fit, &n);
    for (size_t k = 0; k < n; k++)
        mu2 += (double)phases[k].releases / (phases[k].sigma * phases[k].sigma);
    assert_close(mu2, 1 / (p.sigma * p.sigma), 1e-6, 0);
    dp_fit_free(fit);
    tear_down(&s);
}

static void any_number_of_threads_gives_the_same(void **state)
{
    scene s;
    dp_summary one[P], three[P];
    (void)state;
    set_up(&s, N);
    summarise(&s, &(dp_fit_opts){.epsilon = 2, .delta = 1e-4, .seed = 5}, one);
    summarise(&s, &(dp_fit_opts){.epsilon = 2, .delta = 1e-4, .seed = 5, .threads = 3}, three);
    assert_memory_equal(one, three, sizeof one);
    tear_down(&s);
}

static void hopeless_budgets_are_refused_or_give_the_prior(void **state)
{
    scene s;
    dp_fit *fit;
    dp_error err = {0};
    dp_summary w[P];
    (void)state;
    set_up(&s, 10);
    dp_fit_opts o = {.epsilon = .1, .delta = 1e-3, .seed = 3};
    assert_fails(dp_fit_private(s.model, s.data, &o, &fit, &err), DP_EPRIVACY, &err, "epsilon");
    assert_null(fit);
    o.hopeless_allowed = true;
    summarise(&s, &o, w);
    for (size_t j = 0; j < P; j++) {
        assert_close(w[j].mean, 0, 0, 1);
        assert_close(w[j].sd, 5, 0.1, 0);
    }
    tear_down(&s);
}

/* Whatever else is then missing, and however the posterior is found. */
static void tells_of_the_data_sets_own_error_first(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, 40);
    const dp_fit_opts ways[] = {{.epsilon = 1, .delta = 1e-6, .seed = 1},
                                {.mode = DP_NO_PRIVACY},
                                {.mode = DP_NO_PRIVACY, .method = DP_METHOD_EXACT}};
    dp_dataset *none = dp_dataset_new(0);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        dp_error err = {0};
        dp_fit *fit;
        assert_fails(dp_fit_private(s.model, none, &ways[k], &fit, &err), DP_EDATA, &err,
                     "no records");
        assert_null(fit);
    }
    dp_dataset_free(none);
    tear_down(&s);
}

static void refuses_options_that_are_none(void **state)
{
    scene s;
    dp_fit *fit;
    dp_error err = {0};
    (void)state;
    set_up(&s, N);
    dp_fit_opts o = {.delta = 1e-4};
    assert_int_not_equal(dp_fit_private(s.model, s.data, &o, &fit, &err), DP_OK);
    err = (dp_error){0};
    o = (dp_fit_opts){.epsilon = 1, .delta = 1e-4, .draws = 7};
    assert_fails(dp_fit_private(s.model, s.data, &o, &fit, &err), DP_EDOMAIN, &err, "draws");
    o = (dp_fit_opts){.mode = DP_NO_PRIVACY, .epsilon = 1};
    assert_fails(dp_fit_private(s.model, s.data, &o, &fit, &err), DP_EINVAL, &err, "epsilon");
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_near_the_truth_and_says_how_near),
        cmocka_unit_test(spends_what_was_asked_in_phases),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(hopeless_budgets_are_refused_or_give_the_prior),
        cmocka_unit_test(tells_of_the_data_sets_own_error_first),
        cmocka_unit_test(refuses_options_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
