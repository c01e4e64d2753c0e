/* Draws, summaries and covariances of known guides against closed forms, and their sizes, names,
 * repeats and failures. */
#include <math.h>
#include <string.h>

#include "tests/fit/scene.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { GROUPS = 3 };

static const double z95 = 1.6448536269514722;

static dp_model *every_support(void)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1)), s = dp_sample(m, "s", 1, dp_gamma(2, 1)),
            p = dp_sample(m, "p", 1, dp_beta(2, 2)), u = dp_sample(m, "u", 1, dp_uniform(-2, 5)),
            a = dp_sample_in(groups, "a", 1, dp_normal(0, 1)),
            b = dp_sample_in(groups, "b", 2, dp_half_normal(1));
    dp_expr g = dp_index(rows, "g", groups), sum = dp_add(dp_add(w, s), dp_add(p, u));
    sum = dp_add(sum, dp_add(dp_pick(a, g), dp_sum(dp_pick(b, g))));
    dp_observe(rows, "y", dp_bernoulli_logit(sum));
    return m;
}

/* With the posterior of w, s, p and u at loc 0.385, -0.5, 0.25, -1 and scale 1.7, 0.6, 0.9,
 * 1.25. */
static dp_fit *begin(dp_form form)
{
    dp_error err = {0};
    dp_fit *fit;
    const given_block reached[] = {
        {"w.loc", {0.385}},
        {"s.loc", {-0.5}},
        {"p.loc", {0.25}},
        {"u.loc", {-1}},
        {"w.log_scale", {log(1.7)}},
        {"s.log_scale", {log(0.6)}},
        {"p.log_scale", {log(0.9)}},
        {"u.log_scale", {log(1.25)}},
        {"a.loc", {-1, 0.5, 2}},
        {"a.log_scale", {-1, -2, 0}},
        {"b.loc", {0, 1, -1, 0.5, -0.5, 0.25}},
        {"b.log_scale", {-1, -2, -3, -1.5, -2.5, 0}},
    };
    assert_ok(make_fit(every_support(), NULL, form, reached, sizeof reached / sizeof *reached, &fit,
                       &err),
              err.text);
    return fit;
}

static dp_summary summary_of(const dp_fit *fit, const char *name)
{
    dp_error err = {0};
    dp_summary summary;
    assert_ok(dp_fit_summary(fit, name, 1, &summary, &err), err.text);
    return summary;
}

/* ---- closed forms; the promise is 1e-3 standard deviations, but for the sd of a heavy tail
 * ---- */

static void assert_summary_but(double sd_relative, dp_summary found, dp_summary wanted)
{
    assert_close(found.mean, wanted.mean, 0, 1e-3 * wanted.sd);
    assert_close(found.sd, wanted.sd, sd_relative, 0);
    assert_close(found.q05, wanted.q05, 0, 1e-3 * wanted.sd);
    assert_close(found.q50, wanted.q50, 0, 1e-3 * wanted.sd);
    assert_close(found.q95, wanted.q95, 0, 1e-3 * wanted.sd);
}

static void assert_summary(dp_summary found, dp_summary wanted)
{
    assert_summary_but(1e-3, found, wanted);
}

static dp_summary normal(double loc, double scale)
{
    return (dp_summary){loc, scale, loc - z95 * scale, loc, loc + z95 * scale};
}

static dp_summary log_normal(double loc, double scale)
{
    double mean = exp(loc + scale * scale / 2), sd = mean * sqrt(expm1(scale * scale));
    return (dp_summary){mean, sd, exp(loc - z95 * scale), exp(loc), exp(loc + z95 * scale)};
}

static double logistic(double z)
{
    return 1 / (1 + exp(-z));
}

/* Moments of low + width * logistic(normal) by the trapezoidal rule, exact to rounding at this step
 * for an integrand that is analytic and vanishes on both sides. */
static dp_summary logit_normal(double loc, double scale, double low, double width)
{
    double mean = 0, square = 0;
    for (int i = -400; i <= 400; i++) {
        double z = i / 40.0, density = exp(-z * z / 2) / sqrt(2 * acos(-1)) / 40;
        double x = logistic(loc + scale * z);
        mean += density * x;
        square += density * x * x;
    }
    return (dp_summary){low + width * mean, width * sqrt(square - mean * mean),
                        low + width * logistic(loc - z95 * scale), low + width * logistic(loc),
                        low + width * logistic(loc + z95 * scale)};
}

static void margins_have_their_closed_forms(void **state)
{
    (void)state;
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_fit *fit = begin((dp_form)form);
        assert_summary(summary_of(fit, "w"), normal(0.385, 1.7));
        assert_summary_but(0.003, summary_of(fit, "s"), log_normal(-0.5, 0.6));
        assert_summary(summary_of(fit, "p"), logit_normal(0.25, 0.9, 0, 1));
        assert_summary(summary_of(fit, "u"), logit_normal(-1, 1.25, -2, 7));
        dp_fit_free(fit);
    }
}

static void members_of_plates_are_summarised_one_by_one(void **state)
{
    (void)state;
    dp_fit *fit = begin(DP_FORM_LATENTS);
    dp_error err = {0};
    dp_summary a[GROUPS], b[GROUPS * 2];
    const double a_loc[] = {-1, 0.5, 2}, a_scale[] = {-1, -2, 0};
    const double b_loc[] = {0, 1, -1, 0.5, -0.5, 0.25}, b_scale[] = {-1, -2, -3, -1.5, -2.5, 0};
    assert_ok(dp_fit_summary(fit, "a", GROUPS, a, &err), err.text);
    assert_ok(dp_fit_summary(fit, "b", GROUPS * 2, b, &err), err.text);
    for (int k = 0; k < GROUPS; k++)
        assert_summary(a[k], normal(a_loc[k], exp(a_scale[k])));
    for (int k = 0; k < GROUPS * 2; k++)
        assert_summary_but(k == 5 ? 0.02 : 1e-3, b[k], log_normal(b_loc[k], exp(b_scale[k])));
    dp_fit_free(fit);
}

/* A written guide: v = 1 + 2 u + 0.3 e, u = -0.5 + 0.4 d; the coordinates of the noise are in
 * random order, so that v's variance is the sum of both.  With one order for all it would be 1.1^2,
 * not .73. */
static void coordinates_of_the_noise_are_independent(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr u = dp_sample(m, "u", 1, dp_normal(0, 1)), v = dp_sample(m, "v", 1, dp_normal(0, 1)),
            z = dp_sample_in(rows, "z", 1, dp_normal_v(u, dp_num(1)));
    dp_observe(rows, "y", dp_normal_v(dp_add(z, v), dp_num(1)));
    dp_model *guide = dp_guide_new(m);
    dp_expr loc = dp_param(guide, "loc", 1, 0), slope = dp_param(guide, "slope", 1, 0),
            own = dp_param(guide, "own", 1, 0);
    u = dp_sample(guide, "u", 1, dp_normal_v(loc, dp_num(0.4)));
    (void)dp_sample(guide, "v", 1, dp_normal_v(dp_add(dp_num(1), dp_mul(slope, u)), dp_num(0.3)));
    rows = dp_unit_plate(guide, "rows");
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(own, dp_num(1)));
    const given_block reached[] = {{"loc", {-0.5}}, {"slope", {2}}};
    assert_ok(make_fit(m, guide, DP_FORM_LATENTS, reached, 2, &fit, &err), err.text);
    assert_summary(summary_of(fit, "u"), normal(-0.5, 0.4));
    dp_summary found = summary_of(fit, "v"), none;
    /* 6.2 standard errors of the correlation of 4000 pairs: 6.2 (0.8)(0.3) / (0.73 sqrt(4000)) */
    assert_close(found.mean, 0, 0, 1e-3);
    assert_close(found.sd, sqrt(0.8 * 0.8 + 0.3 * 0.3), 0.033, 0);
    assert_int_equal(dp_fit_summary(fit, "z", 1, &none, NULL), DP_ENAME); /* of each record */
    double c[4];
    const char *const both[] = {"v", "u"};
    assert_ok(dp_fit_covariance(fit, 2, both, 2, c, &err), err.text);
    assert_close(c[0], found.sd * found.sd, 1e-12, 0);
    assert_close(c[1], 2 * 0.4 * 0.4, 0, 1e-3 + 6.2 * 0.3 * 0.4 / sqrt(4000));
    assert_true(c[1] == c[2]);
    assert_close(c[3], 0.4 * 0.4, 2e-3, 0);
    dp_fit_free(fit);
}

/* ---- names, sizes, repeats ---- */

static void sizes_count_members_and_numbers(void **state)
{
    (void)state;
    dp_fit *fit = begin(DP_FORM_LATENTS);
    assert_int_equal(dp_fit_kept(fit), 0);
    assert_int_equal(dp_fit_size(fit, "w"), 1);
    assert_int_equal(dp_fit_size(fit, "a"), GROUPS);
    assert_int_equal(dp_fit_size(fit, "b"), GROUPS * 2);
    assert_int_equal(dp_fit_size(fit, "b.loc"), GROUPS * 2);
    assert_int_equal(dp_fit_size(fit, "y"), 1);
    const char *const unknown[] = {"w.scale", "W", "", "groups"};
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(dp_fit_size(fit, unknown[k]), 0);
    dp_fit_free(fit);
}

static void refused(const dp_fit *p, const char *name, size_t n, dp_status status, const char *says)
{
    dp_error err = {0};
    dp_summary summary[3] = {{0}};
    assert_int_equal(dp_fit_summary(p, name, n, summary, &err), status);
    assert_contains(err.text, says);
    for (size_t e = 0; e < n; e++)
        assert_true(isnan(summary[e].mean) && isnan(summary[e].sd) && isnan(summary[e].q05) &&
                    isnan(summary[e].q50) && isnan(summary[e].q95));
    assert_int_equal(dp_fit_summary(p, name, n, summary, NULL), status);
}

/* A value is of the same draws as the latents that it is computed from: of one scaled, a summary to
 * the last digits; of two that are independent, variances are added. */
static void computed_values_are_summarised_like_latents(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_expr u = dp_sample(m, "u", 2, dp_normal(0, 1)), v = dp_sample(m, "v", 1, dp_normal(0, 1));
    dp_plate rows = dp_unit_plate(m, "rows");
    (void)dp_deterministic(m, "u twice", dp_scale(2, u));
    (void)dp_deterministic(m, "both", dp_add(v, dp_slice(u, 0, 1)));
    (void)dp_deterministic(m, "of records", dp_add(v, dp_data(rows, "x", 1)));
    dp_observe(rows, "y", dp_normal_v(dp_add(v, dp_sum(u)), dp_num(1)));
    const given_block at[] = {{"u.loc", {0.5, -3}},
                              {"u.log_scale", {log(0.3), log(2)}},
                              {"v.loc", {1}},
                              {"v.log_scale", {log(0.4)}}};
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, at, 4, &fit, &err), err.text);
    dp_summary once[2], twice[2], both;
    assert_ok(dp_fit_summary(fit, "u", 2, once, &err), err.text);
    assert_ok(dp_fit_summary(fit, "u twice", 2, twice, &err), err.text);
    for (size_t e = 0; e < 2; e++) {
        assert_close(twice[e].mean, 2 * once[e].mean, 1e-12, 1e-12);
        assert_close(twice[e].sd, 2 * once[e].sd, 1e-12, 0);
        assert_close(twice[e].q05, 2 * once[e].q05, 1e-12, 0);
        assert_close(twice[e].q95, 2 * once[e].q95, 1e-12, 0);
    }
    /* Margins are stratified; the correlation's standard error is 1 / sqrt 4000, and 6.2 of it. */
    assert_ok(dp_fit_summary(fit, "both", 1, &both, &err), err.text);
    assert_close(both.mean, 1.5, 0, 1e-3);
    assert_close(both.sd * both.sd, 0.25, 0, 2 * 0.3 * 0.4 * 6.2 / sqrt(4000) + 1e-3);
    refused(fit, "of records", 1, DP_ENAME, "no global latent 'of records'");
    refused(fit, "u twice", 3, DP_ESHAPE, "'u twice' has 2 numbers, not 3");
    size_t before = faulty_live();
    for (size_t k = 1, failed = 1; failed; k++) {
        faulty_fail(k);
        dp_status status = dp_fit_summary(fit, "both", 1, &both, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(isnan(both.sd), failed);
        assert_int_equal(faulty_live(), before);
    }
    dp_fit_free(fit);
}

static void unknown_names_and_sizes_are_errors_without_numbers(void **state)
{
    (void)state;
    dp_fit *fit = begin(DP_FORM_LATENTS);
    refused(fit, "q", 3, DP_ENAME, "no global latent 'q'");
    refused(fit, "y", 1, DP_ENAME, "no global latent 'y'");
    refused(fit, "a", 2, DP_ESHAPE, "'a' has 3 numbers, not 2");
    refused(fit, "a", 0, DP_ESHAPE, "'a' has 3 numbers, not 0");
    dp_fit_free(fit);
}

/* Whatever is asked for beside it. */
static void summaries_repeat_to_the_bit(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *s = begin(DP_FORM_LATENTS), *t = begin(DP_FORM_PARAMETERS);
    dp_summary first[GROUPS], again[GROUPS];
    double c[(GROUPS + 1) * (GROUPS + 1)];
    const char *const both[] = {"w", "a"};
    assert_ok(dp_fit_summary(s, "a", GROUPS, first, &err), err.text);
    assert_ok(dp_fit_summary(s, "a", GROUPS, again, &err), err.text);
    assert_memory_equal(again, first, sizeof first);
    assert_ok(dp_fit_summary(t, "a", GROUPS, again, &err), err.text);
    assert_memory_equal(again, first, sizeof first);
    assert_ok(dp_fit_covariance(s, 2, both, GROUPS + 1, c, &err), err.text);
    for (size_t k = 0; k < GROUPS; k++) {
        assert_close(sqrt(c[(k + 1) * (GROUPS + 2)]), first[k].sd, 1e-12, 0);
        assert_close(c[k + 1], 0, 0, 6.2 * 1.7 * first[k].sd / sqrt(4000)); /* independent */
    }
    /* Joint draws are the same too, whatever lies between. */
    double all[(GROUPS + 2) * (GROUPS + 2)];
    const char *const more[] = {"w", "u", "a"};
    assert_ok(dp_fit_covariance(s, 3, more, GROUPS + 2, all, &err), err.text);
    for (size_t k = 0; k < GROUPS; k++)
        assert_true(all[2 + k] == c[k + 1] && c[k + 1] != 0);
    dp_fit_free(s);
    dp_fit_free(t);
}

static void covariances_without_names_or_room_are_refused(void **state)
{
    (void)state;
    double c[4] = {0};
    const char *const names[] = {"w", "q"};
    dp_fit *fit = begin(DP_FORM_LATENTS);
    assert_int_equal(dp_fit_covariance(fit, 0, names, 0, c, NULL), DP_EINVAL);
    assert_int_equal(dp_fit_covariance(fit, 2, names, 2, c, NULL), DP_ENAME);
    assert_true(isnan(c[0]) && isnan(c[3]));
    c[0] = 0;
    assert_int_equal(dp_fit_covariance(fit, 1, names, 2, c, NULL), DP_ESHAPE);
    assert_true(isnan(c[0]) && isnan(c[3]));
    dp_fit_free(fit);
}

static void draws_are_those_of_the_guide(void **state)
{
    (void)state;
    enum { DRAWS = 5000 };
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_error err = {0};
        dp_rng *rng;
        dp_draws *draws;
        size_t n;
        double mean = 0, square = 0, cross = 0;
        dp_fit *fit = begin((dp_form)form);
        assert_ok(dp_rng_new(5, &rng, &err), err.text);
        assert_ok(dp_fit_draw(fit, DRAWS, rng, &draws, &err), err.text);
        dp_fit_free(fit); /* draws stand by themselves */
        assert_int_equal(dp_draws_count(draws), DRAWS);
        for (int i = 0; i < DRAWS; i++) {
            const double *row = dp_draws_values(draws) + (size_t)i * dp_draws_size(draws);
            double w = (row[dp_draws_find(draws, "w", &n)] - 0.385) / 1.7,
                   v = (log(row[dp_draws_find(draws, "s", &n)]) + 0.5) / 0.6;
            mean += w / DRAWS;
            square += w * w / DRAWS;
            cross += w * v / DRAWS;
        }
        assert_close(mean, 0, 0, 6.2 / sqrt(DRAWS)); /* 6.2 standard errors: 6e-10 each */
        assert_close(square, 1, 0, 6.2 * sqrt(2.0 / DRAWS));
        assert_close(cross, 0, 0, 6.2 / sqrt(DRAWS));
        dp_rng_free(rng);
        dp_draws_free(draws);
    }
}

static void numbers_of_a_draw_have_names_in_the_order_of_the_model(void **state)
{
    (void)state;
    const char *const names[] = {"w",       "s",       "p",       "u",       "a[0]",
                                 "a[1]",    "a[2]",    "b[0][0]", "b[0][1]", "b[1][0]",
                                 "b[1][1]", "b[2][0]", "b[2][1]"};
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *draws, *again, *none;
    size_t n;
    dp_fit *fit = begin(DP_FORM_LATENTS);
    assert_ok(dp_rng_new(8, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, 3, rng, &draws, &err), err.text);
    assert_int_equal(dp_draws_size(draws), 13);
    for (size_t k = 0; k < 13; k++)
        assert_string_equal(dp_draws_name(draws, k), names[k]);
    assert_int_equal(dp_draws_find(draws, "b", &n), 7);
    assert_int_equal(n, 6);
    assert_int_equal(dp_draws_find(draws, "q", &n), 0);
    assert_int_equal(n, 0);
    dp_rng_free(rng);
    assert_ok(dp_rng_new(8, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, 3, rng, &again, &err), err.text);
    assert_memory_equal(dp_draws_values(again), dp_draws_values(draws), 39 * sizeof(double));
    assert_int_equal(dp_fit_draw(fit, 0, rng, &none, NULL), DP_EINVAL);
    assert_null(none);
    assert_int_equal(dp_fit_draw(fit, SIZE_MAX, rng, &none, NULL), DP_ENOMEM);
    assert_null(none);
    dp_rng_free(rng);
    dp_draws_free(draws);
    dp_draws_free(again);
    dp_draws_free(NULL);
    dp_fit_free(fit);
}

/* Parameters without a prior are read by dp_fit_parameter; there is nothing to summarise. */
static void a_model_without_latents_has_draws_of_no_numbers(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    dp_draws *draws;
    dp_rng *rng;
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_bernoulli_logit(dp_param(m, "b", 1, 0)));
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    assert_int_equal(dp_fit_size(fit, "b"), 1);
    refused(fit, "b", 1, DP_ENAME, "no global latent 'b'");
    assert_ok(dp_rng_new(8, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, 3, rng, &draws, &err), err.text);
    assert_int_equal(dp_draws_size(draws), 0);
    dp_draws_free(draws);
    dp_rng_free(rng);
    dp_fit_free(fit);
    dp_fit_free(NULL);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    dp_fit *fit = begin(DP_FORM_LATENTS);
    dp_rng *rng;
    assert_ok(dp_rng_new(8, &rng, NULL), "rng");
    size_t before = faulty_live();
    const char *const a = "a";
    for (int call = 0; call < 3; call++)
        for (size_t k = 1;; k++) {
            dp_error err = {0};
            dp_draws *draws = NULL;
            dp_summary s[GROUPS] = {{0}};
            double c[GROUPS * GROUPS] = {0};
            faulty_fail(k);
            dp_status status = call == 0   ? dp_fit_draw(fit, 4, rng, &draws, &err)
                               : call == 1 ? dp_fit_summary(fit, a, GROUPS, s, &err)
                                           : dp_fit_covariance(fit, 1, &a, GROUPS, c, &err);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(err.status, status);
            assert_int_equal(call == 0   ? draws == NULL
                             : call == 1 ? isnan(s[2].sd)
                                         : isnan(c[8]),
                             failed);
            dp_draws_free(draws);
            assert_int_equal(faulty_live(), before);
            if (!failed)
                break;
        }
    dp_rng_free(rng);
    dp_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins_have_their_closed_forms),
        cmocka_unit_test(members_of_plates_are_summarised_one_by_one),
        cmocka_unit_test(coordinates_of_the_noise_are_independent),
        cmocka_unit_test(sizes_count_members_and_numbers),
        cmocka_unit_test(computed_values_are_summarised_like_latents),
        cmocka_unit_test(unknown_names_and_sizes_are_errors_without_numbers),
        cmocka_unit_test(summaries_repeat_to_the_bit),
        cmocka_unit_test(covariances_without_names_or_room_are_refused),
        cmocka_unit_test(draws_are_those_of_the_guide),
        cmocka_unit_test(numbers_of_a_draw_have_names_in_the_order_of_the_model),
        cmocka_unit_test(a_model_without_latents_has_draws_of_no_numbers),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
