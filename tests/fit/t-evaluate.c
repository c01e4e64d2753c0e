/* Values of a fit's model for records and draws, against sums by hand and closed forms.
 *
 * Statistical limits are 6.2 standard errors, 6e-10 each, with fixed seeds. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "tests/fit/records.h"
#include "tests/lib/check.h"

/* y ~ Normal(a[g] + w x + b, s): a, w, s latent, b a plain parameter. */
static dp_model *regression(void)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", K);
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1)), s = dp_sample(m, "s", 1, dp_half_normal(1)),
            a = dp_sample_in(groups, "a", 1, dp_normal(0, 1)), b = dp_param(m, "b", 1, 0);
    dp_expr at = dp_add(dp_pick(a, dp_index(rows, "g", groups)), dp_mul(w, dp_data(rows, "x", 1)));
    dp_observe(rows, "y", dp_normal_v(dp_add(at, b), s));
    return m;
}

static const given_block reached[] = {
    {"w.loc", {0.7}},      {"w.log_scale", {-2}},       {"s.loc", {-0.5}},
    {"s.log_scale", {-3}}, {"a.loc", {0.1, -0.4, 1.3}}, {"a.log_scale", {-2, -1, -3}},
    {"b", {0.25}},
};

static dp_fit *fit_of(dp_form form)
{
    dp_fit *fit;
    dp_error err = {0};
    assert_ok(
        make_fit(regression(), NULL, form, reached, sizeof reached / sizeof *reached, &fit, &err),
        err.text);
    return fit;
}

/* The mean of record i for the draw at d. */
static double by_hand(const dp_draws *draws, size_t d, size_t i)
{
    size_t n;
    const double *row = dp_draws_values(draws) + d * dp_draws_size(draws);
    double a = row[dp_draws_find(draws, "a", &n) + (size_t)group[i]];
    return a + row[dp_draws_find(draws, "w", &n)] * x[i] + 0.25;
}

/* ---- expected values ---- */

static void expressions_have_their_values_for_every_draw_and_record(void **state)
{
    (void)state;
    enum { DRAWS = 4 };
    static double found[DRAWS][N], predicted[N];
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_error err = {0};
        dp_fit *fit = fit_of((dp_form)form);
        dp_draws *draws = test_draws(fit, DRAWS, 3);
        dp_dataset *data = test_records();
        const dp_given given = {.data = data, .draws = draws};
        dp_expr mean = dp_fit_mean(fit, "y");
        assert_int_equal(dp_expr_size(mean), 1);
        assert_ok(dp_fit_evaluate(fit, mean, &given, DRAWS * N, *found, &err), err.text);
        assert_ok(dp_fit_predict(fit, "y", &given, N, predicted, &err), err.text);
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t d = 0; d < DRAWS; d++) {
                assert_close(found[d][i], by_hand(draws, d, i), 1e-14, 1e-15);
                sum += found[d][i] / DRAWS;
            }
            assert_close(predicted[i], sum, 1e-14, 1e-15);
        }
        dp_dataset_free(data);
        dp_draws_free(draws);
        dp_fit_free(fit);
    }
}

static void functions_of_latents_need_no_records(void **state)
{
    (void)state;
    enum { DRAWS = 50 };
    double found[DRAWS][K];
    dp_error err = {0};
    size_t n;
    dp_fit *fit = fit_of(DP_FORM_LATENTS);
    dp_draws *draws = test_draws(fit, DRAWS, 7);
    const dp_given given = {.draws = draws};
    dp_expr sum = dp_exp(dp_add(dp_fit_expr(fit, "a"), dp_fit_expr(fit, "b")));
    assert_int_equal(dp_expr_size(sum), K);
    assert_ok(dp_fit_evaluate(fit, sum, &given, DRAWS * K, *found, &err), err.text);
    for (size_t d = 0; d < DRAWS; d++)
        for (size_t k = 0; k < K; k++) {
            const double *row = dp_draws_values(draws) + d * dp_draws_size(draws);
            assert_close(found[d][k], exp(row[dp_draws_find(draws, "a", &n) + k] + 0.25), 1e-14, 0);
        }
    /* Without draws: the guide's centre, its medians. */
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "s"), NULL, 1, *found, &err), err.text);
    assert_close(found[0][0], exp(-0.5), 1e-14, 0);
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "a"), NULL, K, *found, &err), err.text);
    assert_true(found[0][0] == 0.1 && found[0][1] == -0.4 && found[0][2] == 1.3);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

/* The observed column and, where only the group's effect is asked for, the covariate hold anything
 * and are of any size; not so where they are read. */
static void columns_that_are_not_read_may_hold_anything(void **state)
{
    (void)state;
    enum { FEW = 2 };
    const double good[FEW] = {0.5, -1}, bad[FEW * 2] = {0.3, NAN, INFINITY, 2};
    const int32_t of[FEW] = {2, 0}, wrong[FEW] = {1, K};
    double values[FEW];
    dp_error err = {0};
    dp_fit *fit = fit_of(DP_FORM_LATENTS);
    dp_expr effect = dp_pick(dp_fit_expr(fit, "a"), dp_fit_expr(fit, "g"));
    for (int k = 0; k < 4; k++) {
        dp_dataset *data = dp_dataset_new(FEW);
        dp_dataset_index(data, "g", k == 2 ? wrong : of);
        dp_dataset_real(data, "x", 1, k == 0 ? good : bad);
        dp_dataset_real(data, "y", k == 3 ? 2 : 1, bad);
        const dp_given given = {.data = data};
        dp_status status = dp_fit_evaluate(fit, effect, &given, FEW, values, &err);
        if (k == 2)
            assert_fails(status, DP_EDATA, &err, "column 'g', record 1");
        else {
            assert_ok(status, err.text);
            assert_true(values[0] == 1.3 && values[1] == 0.1);
        }
        status = dp_fit_predict(fit, "y", &given, FEW, values, &err);
        if (k == 0)
            assert_ok(status, err.text);
        else
            assert_fails(status, DP_EDATA, &err, "column '");
        if (k < 2) /* which reads what is observed */
            assert_fails(dp_fit_log_density(fit, &given, FEW, values, &err), DP_EDATA, &err,
                         "column 'y', record 1");
        dp_dataset_free(data);
    }
    dp_fit_free(fit);
}

/* ---- conjugate: the posterior predictive mean and spread are known ---- */

static void predictions_have_the_mean_and_spread_of_the_posterior_predictive(void **state)
{
    (void)state;
    enum { DRAWS = 4000, FEW = 3 };
    static double drawn[DRAWS][FEW];
    double mean[FEW];
    const double at[FEW] = {-1, 0.5, 2};
    const given_block known[] = {{"w.loc", {0.8}}, {"w.log_scale", {-1}}};
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_mul(w, dp_data(rows, "x", 1)), dp_num(0.3)));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, known, 2, &fit, &err), err.text);
    dp_draws *draws = test_draws(fit, DRAWS, 11);
    dp_dataset *data = dp_dataset_new(FEW);
    dp_dataset_real(data, "x", 1, at);
    dp_rng *rng = test_source(12);
    const dp_given given = {.data = data, .draws = draws, .rng = rng};
    assert_ok(dp_fit_predict(fit, "y", &given, FEW, mean, &err), err.text);
    assert_ok(dp_fit_simulate(fit, "y", &given, DRAWS * FEW, *drawn, &err), err.text);
    for (size_t i = 0; i < FEW; i++) {
        double sd_w = exp(-1.0) * fabs(at[i]), variance = sd_w * sd_w + 0.09, m1 = 0, m2 = 0;
        for (size_t d = 0; d < DRAWS; d++) {
            m1 += drawn[d][i] / DRAWS;
            m2 += (drawn[d][i] - 0.8 * at[i]) * (drawn[d][i] - 0.8 * at[i]) / DRAWS;
        }
        assert_close(mean[i], 0.8 * at[i], 0, 6.2 * sd_w / sqrt(DRAWS));
        assert_close(m1, 0.8 * at[i], 0, 6.2 * sqrt(variance / DRAWS));
        assert_close(m2, variance, 6.2 * sqrt(2.0 / DRAWS), 0);
    }
    dp_rng_free(rng);
    dp_dataset_free(data);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

/* ---- log densities ---- */

static double log_normal_density(double v, double loc, double scale)
{
    double z = (v - loc) / scale;
    return -0.5 * z * z - log(scale) - 0.5 * log(2 * acos(-1));
}

static void log_densities_are_those_of_each_record_and_draw(void **state)
{
    (void)state;
    enum { DRAWS = 3 };
    static double found[DRAWS][N];
    dp_error err = {0};
    size_t n;
    dp_fit *fit = fit_of(DP_FORM_LATENTS);
    dp_draws *draws = test_draws(fit, DRAWS, 5);
    dp_dataset *data = test_records();
    const dp_given given = {.data = data, .draws = draws};
    assert_ok(dp_fit_log_density(fit, &given, DRAWS * N, *found, &err), err.text);
    for (size_t d = 0; d < DRAWS; d++)
        for (size_t i = 0; i < N; i++) {
            double s =
                dp_draws_values(draws)[d * dp_draws_size(draws) + dp_draws_find(draws, "s", &n)];
            assert_close(found[d][i], log_normal_density(y[i], by_hand(draws, d, i), s), 1e-12,
                         1e-12);
        }
    dp_dataset_free(data);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

/* ---- kinds of columns ---- */

static void categories_are_predicted_by_their_probabilities(void **state)
{
    (void)state;
    static double p[N][3], drawn[N];
    double count[3] = {0};
    const given_block known[] = {{"logits", {0, 1, -1}}};
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "k", dp_categorical_logit(dp_param(m, "logits", 3, 0)));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, known, 1, &fit, &err), err.text);
    dp_dataset *data = dp_dataset_new(N);
    dp_rng *rng = test_source(9);
    const dp_given given = {.data = data, .rng = rng};
    assert_ok(dp_fit_predict(fit, "k", &given, 3 * N, *p, &err), err.text);
    assert_ok(dp_fit_simulate(fit, "k", &given, N, drawn, &err), err.text);
    double whole = 1 + exp(1) + exp(-1);
    for (size_t i = 0; i < N; i++) {
        assert_close(p[i][0], 1 / whole, 1e-14, 0);
        assert_close(p[i][1], exp(1) / whole, 1e-14, 0);
        count[(int)drawn[i]]++;
    }
    assert_close(count[1] / N, exp(1) / whole, 0, 6.2 * 0.5 / sqrt(N));
    dp_dataset_index(data, "k", label);
    assert_ok(dp_fit_log_density(fit, &given, N, drawn, &err), err.text);
    assert_close(drawn[2], -1 - log(whole), 1e-14, 0);
    dp_rng_free(rng);
    dp_dataset_free(data);
    dp_fit_free(fit);
}

/* Two numbers a record, from two components: the mean of each number. */
static void mixtures_of_several_numbers_are_predicted(void **state)
{
    (void)state;
    double found[4][2];
    const given_block known[] = {{"at", {1, 2, -3, 7}}};
    const double weights[2] = {0.3, 0.7};
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), parts = dp_plate_new(m, "parts", 2);
    dp_expr at = dp_param_in(parts, "at", 2, 0);
    dp_observe(rows, "pair", dp_mixture(dp_constant(m, 2, weights), dp_normal_v(at, dp_num(0.5))));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, known, 1, &fit, &err), err.text);
    dp_dataset *data = dp_dataset_new(4);
    const dp_given given = {.data = data};
    assert_ok(dp_fit_predict(fit, "pair", &given, 8, *found, &err), err.text);
    for (size_t i = 0; i < 4; i++) {
        assert_close(found[i][0], 0.3 * 1 + 0.7 * -3, 1e-14, 0);
        assert_close(found[i][1], 0.3 * 2 + 0.7 * 7, 1e-14, 0);
    }
    dp_dataset_free(data);
    dp_fit_free(fit);
}

/* ---- threads ---- */

typedef struct reader {
    const dp_fit *fit;
    dp_status status;
    double found[N];
} reader;

static void *read_fit(void *of)
{
    reader *r = of;
    dp_dataset *data = test_records();
    dp_draws *draws = test_draws(r->fit, 20, 3);
    const dp_given given = {.data = data, .draws = draws};
    r->status = dp_fit_predict(r->fit, "y", &given, N, r->found, NULL);
    dp_draws_free(draws);
    dp_dataset_free(data);
    return NULL;
}

static void threads_read_one_fit_side_by_side(void **state)
{
    (void)state;
    static reader r[4];
    pthread_t thread[4];
    dp_fit *fit = fit_of(DP_FORM_LATENTS);
    for (int k = 0; k < 4; k++) {
        r[k].fit = fit;
        assert_int_equal(pthread_create(&thread[k], NULL, read_fit, &r[k]), 0);
    }
    for (int k = 0; k < 4; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_int_equal(r[k].status, DP_OK);
        assert_memory_equal(r[k].found, r[0].found, sizeof r[0].found);
    }
    dp_fit_free(fit);
}

/* ---- errors ---- */

static void refused(const dp_fit *fit, dp_expr e, const dp_given *given, size_t n,
                    dp_status expected, const char *says)
{
    static double found[4 * N];
    dp_error err = {0};
    memset(found, 0, sizeof found);
    assert_int_equal(dp_fit_evaluate(fit, e, given, n, found, &err), expected);
    assert_contains(err.text, says);
    for (size_t i = 0; i < n; i++)
        assert_true(isnan(found[i]));
}

static void a_wrong_size_is_told_by_what_there_are_values_of(void **state)
{
    (void)state;
    static double found[4 * N];
    dp_error err = {0};
    dp_fit *fit = fit_of(DP_FORM_LATENTS);
    dp_draws *draws = test_draws(fit, 2, 1);
    dp_dataset *data = test_records();
    const dp_given given = {.data = data, .draws = draws};
    refused(fit, dp_fit_mean(fit, "y"), &given, N, DP_ESHAPE, "2 draws of 600 records with 1 num");
    refused(fit, dp_fit_expr(fit, "w"), &given, 2 * N, DP_ESHAPE,
            "2 draws of 1 numbers, of no rec");
    assert_int_equal(dp_fit_predict(fit, "y", &given, 2 * N, found, &err), DP_ESHAPE);
    assert_contains(err.text, "600 records with 1 numbers each, averaged over the draws");
    assert_true(isnan(found[0]) && isnan(found[2 * N - 1]));
    dp_dataset_free(data);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

static void what_cannot_be_evaluated_is_refused_without_numbers(void **state)
{
    (void)state;
    static double found[4 * N];
    dp_error err = {0};
    dp_fit *fit = fit_of(DP_FORM_LATENTS), *other = fit_with_latents(false);
    dp_draws *draws = test_draws(other, 2, 1);
    dp_dataset *data = test_records(), *bare = dp_dataset_new(N), *wide = dp_dataset_new(N);
    dp_dataset_real(wide, "x", 1, x);
    dp_dataset_real(wide, "x", 1, x);
    dp_given given = {.data = data};
    dp_expr mean = dp_fit_mean(fit, "y");
    refused(fit, dp_num(1), &given, 1, DP_EINVAL, "not of this fit");
    refused(fit, dp_fit_expr(other, "mu"), &given, 1, DP_EINVAL, "not of this fit");
    refused(fit, mean, &given, N - 1, DP_ESHAPE, "1 draws of 600 records");
    refused(fit, mean, NULL, 0, DP_EINVAL, "without records");
    refused(fit, mean, NULL, N, DP_EINVAL, "without records");
    given.data = bare;
    refused(fit, mean, &given, N, DP_ENAME, "no column");
    given.data = wide;
    refused(fit, mean, &given, N, DP_ENAME, "twice");
    given = (dp_given){.data = data, .draws = draws};
    refused(fit, mean, &given, 2 * N, DP_ENAME, "the draws have no latent");
    given = (dp_given){.data = data, .latents = (dp_record_latents)9};
    refused(fit, mean, &given, N, DP_EINVAL, "no source of latents 9");
    given = (dp_given){.data = data};
    dp_expr z = dp_fit_expr(other, "z");
    refused(other, z, &given, N, DP_EINVAL, "rng is NULL");
    given.latents = DP_LATENTS_COLUMN;
    refused(other, z, &given, N, DP_ENAME, "no real column 'z'");
    given.data = NULL;
    assert_int_equal(dp_fit_predict(fit, "x", &given, 0, found, NULL), DP_ENAME);
    assert_int_equal(dp_fit_predict(fit, "y", NULL, 0, found, NULL), DP_EINVAL);
    assert_int_equal(dp_fit_simulate(fit, "y", NULL, 0, found, NULL), DP_EINVAL);
    assert_int_equal(dp_fit_simulate(fit, "x", NULL, 0, found, NULL), DP_ENAME);
    assert_int_equal(dp_fit_log_density(fit, NULL, 0, found, NULL), DP_EINVAL);
    given = (dp_given){.data = bare};
    assert_int_equal(dp_fit_log_density(fit, &given, N, found, NULL), DP_ENAME);
    assert_true(isnan(found[0]) && isnan(found[N - 1]));
    /* An unknown name sticks. */
    dp_expr none = dp_add(dp_fit_expr(fit, "q"), mean);
    assert_int_equal(dp_expr_size(none), 0);
    given = (dp_given){.data = data};
    refused(fit, none, &given, N, DP_ENAME, "'q'");
    assert_ok(dp_fit_evaluate(fit, mean, &given, N, found, &err), err.text);
    dp_dataset_free(wide);
    dp_dataset_free(bare);
    dp_dataset_free(data);
    dp_draws_free(draws);
    dp_fit_free(other);
    dp_fit_free(fit);
}

static void a_latent_that_was_added_later_has_no_value(void **state)
{
    (void)state;
    dp_fit *fit = fit_of(DP_FORM_LATENTS);
    dp_expr late = dp_sample(fit->model, "late", 1, dp_normal(0, 1));
    refused(fit, dp_add(late, dp_fit_expr(fit, "w")), NULL, 1, DP_ENAME, "'late' was added");
    dp_fit_free(fit);
}

static void a_family_without_a_mean_says_so(void **state)
{
    (void)state;
    double found[N];
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_cauchy_v(dp_param(m, "b", 1, 0), dp_num(1)));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    dp_dataset *data = test_records();
    const dp_given given = {.data = data};
    assert_int_equal(dp_fit_predict(fit, "y", &given, N, found, &err), DP_EUNSUPPORTED);
    assert_contains(err.text, "Cauchy");
    refused(fit, dp_fit_mean(fit, "y"), &given, N, DP_EUNSUPPORTED, "Cauchy");
    dp_dataset_free(data);
    dp_fit_free(fit);
}

int main(void)
{
    test_fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_their_values_for_every_draw_and_record),
        cmocka_unit_test(functions_of_latents_need_no_records),
        cmocka_unit_test(columns_that_are_not_read_may_hold_anything),
        cmocka_unit_test(predictions_have_the_mean_and_spread_of_the_posterior_predictive),
        cmocka_unit_test(log_densities_are_those_of_each_record_and_draw),
        cmocka_unit_test(mixtures_of_several_numbers_are_predicted),
        cmocka_unit_test(categories_are_predicted_by_their_probabilities),
        cmocka_unit_test(threads_read_one_fit_side_by_side),
        cmocka_unit_test(a_wrong_size_is_told_by_what_there_are_values_of),
        cmocka_unit_test(what_cannot_be_evaluated_is_refused_without_numbers),
        cmocka_unit_test(a_latent_that_was_added_later_has_no_value),
        cmocka_unit_test(a_family_without_a_mean_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
