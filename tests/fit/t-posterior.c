/* Summaries of known guides against closed forms, and their sizes, names, repeats and failures. */
#include <math.h>
#include <string.h>

#include "fit/posterior.h"
#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 6, GROUPS = 3 };

static const double z95 = 1.6448536269514722;
static const double y[N] = {0, 1, 1, 0, 1, 0};
static const int32_t group[N] = {0, 1, 2, 0, 1, 2};

/* A run of no step over a model with latents of every support and in plates. */
typedef struct scene {
    dp_model *m, *guide;
    dp_dataset *data;
    dp_svi *svi;
    dp_posterior *p;
} scene;

static void end(scene *s)
{
    dp_posterior_free(s->p);
    dp_svi_free(s->svi);
    dp_dataset_free(s->data);
    dp_model_free(s->guide);
    dp_model_free(s->m);
}

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

static dp_dataset *records(void)
{
    dp_dataset *data = dp_dataset_new(N);
    if (data == NULL)
        return NULL;
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "g", group);
    return data;
}

static void set(const scene *s, const char *name, size_t n, const double *values)
{
    dp_error err = {0};
    assert_ok(dp_svi_set(s->svi, name, n, values, &err), err.text);
}

/* With the posterior of w, s, p and u at loc 0.385, -0.5, 0.25, -1 and scale 1.7, 0.6, 0.9,
 * 1.25. */
static scene begin(dp_form form)
{
    dp_error err = {0};
    scene s = {.m = every_support(), .data = records()};
    dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .form = form, .steps = 4, .seed = 1};
    assert_ok(dp_svi_new(s.m, NULL, s.data, &opts, &s.svi, &err), err.text);
    const char *const names[] = {"w", "s", "p", "u"};
    const double loc[] = {0.385, -0.5, 0.25, -1}, scale[] = {1.7, 0.6, 0.9, 1.25};
    for (int k = 0; k < 4; k++) {
        char full[32];
        double log_scale = log(scale[k]);
        (void)snprintf(full, sizeof full, "%s.loc", names[k]);
        set(&s, full, 1, &loc[k]);
        (void)snprintf(full, sizeof full, "%s.log_scale", names[k]);
        set(&s, full, 1, &log_scale);
    }
    const double a[GROUPS] = {-1, 0.5, 2}, b[GROUPS * 2] = {0, 1, -1, 0.5, -0.5, 0.25},
                 a_scale[GROUPS] = {-1, -2, 0}, b_scale[GROUPS * 2] = {-1, -2, -3, -1.5, -2.5, 0};
    set(&s, "a.loc", GROUPS, a);
    set(&s, "a.log_scale", GROUPS, a_scale);
    set(&s, "b.loc", GROUPS * 2, b);
    set(&s, "b.log_scale", GROUPS * 2, b_scale);
    assert_int_equal(dp_posterior_new(s.svi, &s.p, NULL), DP_ESTATE);
    s.svi->optimizer.done = 1; /* as if these had been found */
    assert_ok(dp_posterior_new(s.svi, &s.p, &err), err.text);
    return s;
}

static dp_summary summary_of(const scene *s, const char *name)
{
    dp_error err = {0};
    dp_summary summary;
    assert_ok(dp_posterior_summary(s->p, name, 1, &summary, &err), err.text);
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
        scene s = begin((dp_form)form);
        assert_summary(summary_of(&s, "w"), normal(0.385, 1.7));
        assert_summary_but(0.003, summary_of(&s, "s"), log_normal(-0.5, 0.6));
        assert_summary(summary_of(&s, "p"), logit_normal(0.25, 0.9, 0, 1));
        assert_summary(summary_of(&s, "u"), logit_normal(-1, 1.25, -2, 7));
        end(&s);
    }
}

static void members_of_plates_are_summarised_one_by_one(void **state)
{
    (void)state;
    scene s = begin(DP_FORM_LATENTS);
    dp_error err = {0};
    dp_summary a[GROUPS], b[GROUPS * 2];
    const double a_loc[] = {-1, 0.5, 2}, a_scale[] = {-1, -2, 0};
    const double b_loc[] = {0, 1, -1, 0.5, -0.5, 0.25}, b_scale[] = {-1, -2, -3, -1.5, -2.5, 0};
    assert_ok(dp_posterior_summary(s.p, "a", GROUPS, a, &err), err.text);
    assert_ok(dp_posterior_summary(s.p, "b", GROUPS * 2, b, &err), err.text);
    for (int k = 0; k < GROUPS; k++)
        assert_summary(a[k], normal(a_loc[k], exp(a_scale[k])));
    for (int k = 0; k < GROUPS * 2; k++)
        assert_summary_but(k == 5 ? 0.02 : 1e-3, b[k], log_normal(b_loc[k], exp(b_scale[k])));
    end(&s);
}

/* A written guide: v = 1 + 2 u + 0.3 e, u = -0.5 + 0.4 d; the coordinates of the noise are in
 * random order, so that v's variance is the sum of both.  With one order for all it would be 1.1^2,
 * not .73. */
static void coordinates_of_the_noise_are_independent(void **state)
{
    (void)state;
    dp_error err = {0};
    scene s = {.m = dp_model_new(), .data = records()};
    dp_plate rows = dp_unit_plate(s.m, "rows");
    dp_expr u = dp_sample(s.m, "u", 1, dp_normal(0, 1)),
            v = dp_sample(s.m, "v", 1, dp_normal(0, 1)),
            z = dp_sample_in(rows, "z", 1, dp_normal_v(u, dp_num(1)));
    dp_observe(rows, "y", dp_normal_v(dp_add(z, v), dp_num(1)));
    s.guide = dp_guide_new(s.m);
    dp_expr loc = dp_param(s.guide, "loc", 1, -0.5), slope = dp_param(s.guide, "slope", 1, 2),
            own = dp_param(s.guide, "own", 1, 0);
    u = dp_sample(s.guide, "u", 1, dp_normal_v(loc, dp_num(0.4)));
    (void)dp_sample(s.guide, "v", 1, dp_normal_v(dp_add(dp_num(1), dp_mul(slope, u)), dp_num(0.3)));
    rows = dp_unit_plate(s.guide, "rows");
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(own, dp_num(1)));
    dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .seed = 1};
    assert_ok(dp_svi_new(s.m, s.guide, s.data, &opts, &s.svi, &err), err.text);
    s.svi->optimizer.done = 1;
    assert_ok(dp_posterior_new(s.svi, &s.p, &err), err.text);
    assert_summary(summary_of(&s, "u"), normal(-0.5, 0.4));
    dp_summary found = summary_of(&s, "v");
    /* 6.2 standard errors of the correlation of 4000 pairs: 6.2 (0.8)(0.3) / (0.73 sqrt(4000)) */
    assert_close(found.mean, 0, 0, 1e-3);
    assert_close(found.sd, sqrt(0.8 * 0.8 + 0.3 * 0.3), 0.033, 0);
    assert_int_equal(dp_posterior_size(s.p, "z"),
                     0); /* one for each record: not of the posterior */
    assert_int_equal(dp_posterior_summary(s.p, "z", 1, &found, NULL), DP_ENAME);
    end(&s);
}

/* ---- names, sizes, repeats ---- */

static void sizes_count_members_and_numbers(void **state)
{
    (void)state;
    scene s = begin(DP_FORM_LATENTS);
    assert_int_equal(dp_posterior_size(s.p, "w"), 1);
    assert_int_equal(dp_posterior_size(s.p, "a"), GROUPS);
    assert_int_equal(dp_posterior_size(s.p, "b"), GROUPS * 2);
    const char *const unknown[] = {"y", "g", "w.loc", "W", "", "groups"};
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(dp_posterior_size(s.p, unknown[k]), 0);
    assert_null(dpi_posterior_value(s.p, "w.loc", 1));
    assert_null(dpi_posterior_value(s.p, "a", 1));
    assert_non_null(dpi_posterior_value(s.p, "a", GROUPS));
    end(&s);
}

static void refused(dp_posterior *p, const char *name, size_t n, dp_status status, const char *says)
{
    dp_error err = {0};
    dp_summary summary[3] = {{0}};
    assert_int_equal(dp_posterior_summary(p, name, n, summary, &err), status);
    assert_contains(err.text, says);
    for (size_t e = 0; e < n; e++)
        assert_true(isnan(summary[e].mean) && isnan(summary[e].sd) && isnan(summary[e].q05) &&
                    isnan(summary[e].q50) && isnan(summary[e].q95));
    assert_int_equal(dp_posterior_summary(p, name, n, summary, NULL), status);
}

static void unknown_names_and_sizes_are_errors_without_numbers(void **state)
{
    (void)state;
    scene s = begin(DP_FORM_LATENTS);
    refused(s.p, "q", 3, DP_ENAME, "no global latent 'q'");
    refused(s.p, "y", 1, DP_ENAME, "no global latent 'y'");
    refused(s.p, "a", 2, DP_ESHAPE, "'a' has 3 numbers, not 2");
    refused(s.p, "a", 0, DP_ESHAPE, "'a' has 3 numbers, not 0");
    end(&s);
}

static void summaries_repeat_to_the_bit(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_rng *rng;
    scene s = begin(DP_FORM_LATENTS), t = begin(DP_FORM_PARAMETERS);
    dp_summary first[GROUPS], again[GROUPS];
    assert_ok(dp_posterior_summary(s.p, "a", GROUPS, first, &err), err.text);
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    dpi_posterior_draw(s.p, rng);
    (void)summary_of(&s, "w");
    assert_ok(dp_posterior_summary(s.p, "a", GROUPS, again, &err), err.text);
    assert_memory_equal(again, first, sizeof first);
    assert_ok(dp_posterior_summary(t.p, "a", GROUPS, again, &err), err.text);
    assert_memory_equal(again, first, sizeof first);
    dp_rng_free(rng);
    end(&s);
    end(&t);
}

static void draws_are_those_of_the_guide(void **state)
{
    (void)state;
    enum { DRAWS = 5000 };
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_error err = {0};
        dp_rng *rng;
        double mean = 0, square = 0, cross = 0;
        scene s = begin((dp_form)form);
        assert_ok(dp_rng_new(5, &rng, &err), err.text);
        for (int i = 0; i < DRAWS; i++) {
            dpi_posterior_draw(s.p, rng);
            double w = (*dpi_posterior_value(s.p, "w", 1) - 0.385) / 1.7,
                   v = (log(*dpi_posterior_value(s.p, "s", 1)) + 0.5) / 0.6;
            mean += w / DRAWS;
            square += w * w / DRAWS;
            cross += w * v / DRAWS;
        }
        assert_close(mean, 0, 0, 6.2 / sqrt(DRAWS)); /* 6.2 standard errors: 6e-10 each */
        assert_close(square, 1, 0, 6.2 * sqrt(2.0 / DRAWS));
        assert_close(cross, 0, 0, 6.2 / sqrt(DRAWS));
        dp_rng_free(rng);
        end(&s);
    }
}

/* ---- when it is made ---- */

static void it_is_the_guide_where_the_run_stands(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int averaging = 0; averaging < 2; averaging++) {
        scene s = {.m = every_support(), .data = records()};
        dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 10, .average = averaging, .seed = 1};
        assert_ok(dp_svi_new(s.m, NULL, s.data, &opts, &s.svi, &err), err.text);
        for (int t = 0; t < 10; t++) {
            double loc, log_scale;
            assert_ok(dp_svi_step(s.svi, &err), err.text);
            assert_ok(dp_posterior_new(s.svi, &s.p, &err), err.text);
            assert_ok(dp_svi_get(s.svi, "w.loc", 1, &loc, &err), err.text);
            assert_ok(dp_svi_get(s.svi, "w.log_scale", 1, &log_scale, &err), err.text);
            assert_true(loc != 0);
            assert_summary(summary_of(&s, "w"), normal(loc, exp(log_scale)));
            dp_posterior_free(s.p);
        }
        s.p = NULL;
        end(&s);
    }
}

/* Parameters without a prior are read by dp_svi_get; there is nothing to summarise. */
static void a_model_without_latents_has_an_empty_posterior(void **state)
{
    (void)state;
    dp_error err = {0};
    scene s = {.m = dp_model_new(), .data = records()};
    dp_expr b = dp_param(s.m, "b", 1, 0);
    dp_observe(dp_unit_plate(s.m, "rows"), "y", dp_bernoulli_logit(b));
    dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 3, .seed = 1};
    assert_ok(dp_svi_new(s.m, NULL, s.data, &opts, &s.svi, &err), err.text);
    assert_ok(dp_svi_run(s.svi, NULL, &err), err.text);
    assert_ok(dp_posterior_new(s.svi, &s.p, &err), err.text);
    assert_int_equal(dp_posterior_size(s.p, "b"), 0);
    refused(s.p, "b", 1, DP_ENAME, "no global latent 'b'");
    end(&s);
    dp_posterior_free(NULL);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    scene s = begin(DP_FORM_LATENTS);
    size_t before = faulty_live(), k = 1;
    for (;; k++) {
        dp_posterior *p;
        dp_error err = {0};
        dp_summary a[GROUPS] = {{0}};
        faulty_fail(k);
        dp_status status = dp_posterior_new(s.svi, &p, &err);
        assert_int_equal(p == NULL, status != DP_OK);
        if (status == DP_OK)
            status = dp_posterior_summary(p, "a", GROUPS, a, &err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(err.status, status);
        for (int e = 0; e < GROUPS; e++)
            assert_int_equal(isnan(a[e].sd), p != NULL && failed);
        dp_posterior_free(p);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    assert_true(k > 5);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins_have_their_closed_forms),
        cmocka_unit_test(members_of_plates_are_summarised_one_by_one),
        cmocka_unit_test(coordinates_of_the_noise_are_independent),
        cmocka_unit_test(sizes_count_members_and_numbers),
        cmocka_unit_test(unknown_names_and_sizes_are_errors_without_numbers),
        cmocka_unit_test(summaries_repeat_to_the_bit),
        cmocka_unit_test(draws_are_those_of_the_guide),
        cmocka_unit_test(it_is_the_guide_where_the_run_stands),
        cmocka_unit_test(a_model_without_latents_has_an_empty_posterior),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
