/* Where logarithms round to infinity or differences to 0: values stay right, derivatives finite. */
#include <float.h>
#include <math.h>
#include <tacit/dist-counts.h>

#include "infer/posterior.h"
#include "random/gsl.h"
#include "tests/dist/formed.h"

typedef struct edge {
    const char *what;
    dp_dist dist;
    double x, value;
} edge;

static void check(const edge *e)
{
    formed f;
    formed_open(&f, e->dist);
    double slope[1 + DPI_MAX_ARGS], value = formed_at(&f, e->x, slope);
    bool finite = isfinite(value);
    for (int k = 0; k <= f.c.family->n_args; k++)
        finite = finite && isfinite(slope[k]);
    if (!finite || !(fabs(value - e->value) <= 1e-8 * fmax(1, fabs(e->value))))
        fail_msg("%s: %.17g with slopes %g, %g, %g, %g; expected %.17g", e->what, value, slope[0],
                 slope[1], slope[2], slope[3], e->value);
    formed_close(&f);
}

static void check_all(size_t n, const edge edges[])
{
    for (size_t i = 0; i < n; i++)
        check(&edges[i]);
}

/* What a record does not need is multiplied by 0, and 0 times infinity is no number. */
static void parts_that_are_left_out_do_no_harm(void **state)
{
    const dp_expr seen = dp_num(0), above = dp_num(1), below = dp_num(-1);
    const dp_dist pareto = dp_pareto(1, 2), gumbel = dp_gumbel(0, 0.001),
                  kumaraswamy = dp_kumaraswamy(200, 3);
    const edge edges[] = {
        {"Pareto at its minimum", dp_censored(pareto, seen), 1, log(2)},
        {"Pareto above its minimum", dp_censored(pareto, above), 1, 0},
        {"uniform at its end", dp_censored(dp_uniform(0, 4), seen), 4, -log(4)},
        {"uniform above its start", dp_censored(dp_uniform(0, 4), above), 0, 0},
        {"Gumbel far below, above it", dp_censored(gumbel, above), -1, 0},
        {"Weibull far above, below it", dp_censored(dp_weibull(100, 1), below), 1e5, 0},
        {"Kumaraswamy near 0, above it", dp_censored(kumaraswamy, above), 0.01, 0},
    };
    (void)state;
    check_all(sizeof edges / sizeof edges[0], edges);
}

/* dp_logistic is 1 from log odds of 37 up, and 0 below -745. */
static void shares_that_round_to_an_end_have_a_density(void **state)
{
    const dp_expr n = dp_num(10), one = dp_num(1), none = dp_num(0), k = dp_num(5);
    const edge edges[] = {
        {"all of them", dp_beta_binomial(n, one, k), 10, 0},
        {"none of them", dp_beta_binomial(n, none, k), 0, 0},
        /* log C(10, 3) + log Gamma(3) + log Gamma(12) / Gamma(5) - log Gamma(15) / Gamma(5), and
         * the logarithm of the shape that is left */
        {"some of them", dp_beta_binomial(n, none, k), 3,
         log(120) + log(2) + lgamma(12) - lgamma(15) + log(0x1p-1022)},
        {"beta", dp_beta_mean_v(one, dp_num(2)), 0.5, log(0x1p-1022)},
    };
    (void)state;
    check_all(sizeof edges / sizeof edges[0], edges);
}

/* Of a law that is flat between the bounds: minus the logarithm of the width. */
static void narrow_bounds_leave_a_flat_law(void **state)
{
    const edge edges[] = {
        {"normal 1e16", dp_truncated(dp_normal(0, 1e16), -1, 1), 0.3, -log(2)},
        {"normal 1e20", dp_truncated(dp_normal(0, 1e20), -1, 1), 0.3, -log(2)},
        {"Cauchy 1e20", dp_truncated(dp_cauchy(0, 1e20), 1, 4), 2, -log(3)},
        {"t 1e20", dp_truncated(dp_student_t(3, 0, 1e20), -1, 1), 0.3, -log(2)},
        {"gamma 1e-20", dp_truncated(dp_gamma(1, 1e-20), 1, 2), 1.5, 0},
        {"normal 1", dp_truncated(dp_normal(0, 1), 1, 1 + 0x1p-50), 1, 50 * log(2)},
    };
    (void)state;
    check_all(sizeof edges / sizeof edges[0], edges);
}

/* log phi(30) + log width, and with bounds that are neighbours. */
static void narrow_intervals_keep_their_mass(void **state)
{
    const dp_expr both = dp_num(2);
    const double one = -0.5 - 0.5 * log(2 * acos(-1)), far = one - 449.5;
    const edge edges[] = {
        {"neighbours", dp_interval_censored(dp_normal(0, 1), both, dp_num(1 + 0x1p-52)), 1,
         one - 52 * log(2)},
        {"far out", dp_interval_censored(dp_normal(0, 1), both, dp_num(30 + 0x1p-45)), 30,
         far - 45 * log(2)},
        {"counts", dp_interval_censored(dp_poisson_log(dp_num(0)), both, dp_num(3)), 2,
         -1 - log(6)},
        {"counts, likely", dp_interval_censored(dp_poisson_log(dp_num(-700)), both, dp_num(1)), 0,
         -700},
    };
    (void)state;
    check_all(sizeof edges / sizeof edges[0], edges);
}

/* A Poisson mean above e^709 is no number; where a zero is one of its own none is needed. */
static void means_beyond_double_leave_own_zeros(void **state)
{
    const dp_expr far = dp_num(800), near = dp_num(709.5), own = dp_num(0.3), off = dp_num(0),
                  most = dp_num(709.782712893384);
    const double q = -log1p(exp(-0.3)), rest = -log1p(exp(0.3));
    const edge edges[] = {
        {"zero-inflated, far", dp_zero_inflated(dp_poisson_log(far), own), 0, q},
        {"zero-inflated, at the end", dp_zero_inflated(dp_poisson_log(most), own), 0, q},
        {"zero-inflated, near", dp_zero_inflated(dp_poisson_log(near), own), 0, q},
        {"zero-inflated count", dp_zero_inflated(dp_poisson_log(near), own), 3, -exp(709.5)},
        {"zero-inflated, 81", dp_zero_inflated(dp_poisson_log(dp_num(81)), own), 2,
         rest + 162 - exp(81) - log(2)},
        {"hurdle, far", dp_hurdle(dp_poisson_log(far), own), 0, q},
        {"hurdle, at the end", dp_hurdle(dp_poisson_log(most), own), 0, q},
        {"hurdle count", dp_hurdle(dp_poisson_log(near), own), 3, -exp(709.5)},
        {"hurdle, 5", dp_hurdle(dp_poisson_log(dp_num(5)), own), 2,
         rest + 10 - exp(5) - log(2) - log1p(-exp(-exp(5)))},
        {"of no weight", dp_weighted(dp_poisson_log(far), off, 2), 3, 0},
        {"of no weight, inflated", dp_weighted(dp_zero_inflated(dp_poisson_log(far), own), off, 2),
         3, 0},
        {"of no weight, far out", dp_weighted(dp_weibull(9, 1e-9), off, 2), 1e300, 0},
        {"missing", dp_present(dp_poisson_log(far), off), 3, 0},
    };
    (void)state;
    check_all(sizeof edges / sizeof edges[0], edges);
}

/* Where a density is 0 its logarithm is -infinity, and no NaN. */
static void what_has_no_chance_has_a_log_density_of_minus_infinity(void **state)
{
    const dp_expr far = dp_num(800), own = dp_num(0.3);
    const dp_dist none[] = {dp_zero_inflated(dp_poisson_log(far), own),
                            dp_hurdle(dp_poisson_log(far), own),
                            dp_weighted(dp_poisson_log(far), dp_num(0.5), 2)};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        formed f;
        formed_open(&f, none[i]);
        assert_true(formed_at(&f, 3, NULL) == -INFINITY);
        formed_close(&f);
    }
}

/* The scores, which are written by hand, are finite there, too. */
static void scores_of_own_zeros_are_finite(void **state)
{
    const dp_dist both[] = {dp_zero_inflated(dp_poisson_log(dp_num(800)), dp_num(0.3)),
                            dp_hurdle(dp_poisson_log(dp_num(800)), dp_num(0.3))};
    const double q = 1 / (1 + exp(-0.3)), y[] = {0, 3};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        formed f;
        double s[4];
        formed_open(&f, both[i]);
        const double *const arg[] = {&f.arg[0], &f.arg[1]};
        dpi_family_score(f.c.family, 2, y, arg, 1, s);
        assert_close(s[0], 1 - q, 1e-12, 0);
        assert_true(s[1] == 0);
        assert_close(s[2], -q, 1e-12, 0);
        assert_true(s[3] == -INFINITY); /* of what has no chance; no NaN */
        formed_close(&f);
    }
}

/* log P(y) of one record with the predictor eta, and its derivative in it. */
static double of_far_predictor(bool probit, const double cut[3], int32_t y, double eta,
                               double *slope)
{
    dp_dataset *data = dp_dataset_new(1);
    dp_model *m = dp_model_new();
    dpi_posterior p;
    dpi_evaluator e;
    dp_error err = {0};
    const double *loose[] = {NULL, NULL};
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_flat()), c = dp_constant(m, 3, cut);
    dp_observe(rows, "y", probit ? dp_ordered_probit(w, c) : dp_ordered_logistic(w, c));
    dp_dataset_index(data, "y", &y);
    assert_ok(dp_model_status(m), dp_model_error(m));
    assert_ok(dpi_posterior_init(&p, m, data, loose, NULL, &err), err.text);
    assert_ok(dpi_evaluator_init(&e, &p, &err), err.text);
    const double value = dpi_evaluate(&e, &eta, slope);
    dpi_evaluator_free(&e);
    dpi_posterior_free(&p);
    dp_model_free(m);
    dp_dataset_free(data);
    return value;
}

/* Between cutpoints a and b, logistic: e^-eta (e^b - e^a) far above; probit: close to the normal
 * density at the nearer one times the width, or over the distance. */
static void levels_keep_their_chance_however_far_the_predictor_is(void **state)
{
    const double wide[] = {0, 1, 3}, thin[] = {0, 1e-13, 2}, root = log(2 * acos(-1)) / 2;
    const struct {
        bool probit;
        const double *cut;
        int32_t y;
        double eta, value, slope;
    } far[] = {
        {false, wide, 1, 1e17, -1e17, -1},
        {false, wide, 2, 1e17, -1e17, -1},
        {false, wide, 1, -1e17, -1e17, 1},
        {false, wide, 0, 1e17, -1e17, -1},
        {false, thin, 1, 1000, -1000 + log(1e-13), -1},
        {true, wide, 1, 1e17, -5e33, -1e17},
        {true, wide, 2, -1e17, -5e33, 1e17},
        {true, wide, 1, 1e5, -0.5 * (1e5 - 1) * (1e5 - 1) - root - log(1e5 - 1), -(1e5 - 1)},
        {true, thin, 1, 2e4, -2e8 - root + log(1e-13), -2e4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        double slope,
            value = of_far_predictor(far[i].probit, far[i].cut, far[i].y, far[i].eta, &slope);
        assert_close(value, far[i].value, 1e-12, 0);
        assert_close(slope, far[i].slope, 1e-8, 0);
    }
    double slope;
    const double same[] = {0, 1, 1};
    assert_true(of_far_predictor(false, same, 2, 0.5, &slope) == -INFINITY);
}

typedef struct far_levels {
    double cut[3], eta;
    double bend; /* derivative in the predictor of log P(1) for probit, to 1e-3 */
} far_levels;

/* A score times what moves all cutpoints; its mean at each cutpoint is 0. */
static void check_far_levels(const dpi_family *f, const far_levels *far)
{
    double moved[3], s[12], y[4], mass[4], slope;
    const double *const arg[] = {moved};
    dp_rng *rng;
    dp_error err = {0};
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    gsl_rng source = dpi_rng_gsl(rng);
    for (size_t k = 0; k < 3; k++)
        moved[k] = far->cut[k] - far->eta;
    assert_int_equal(f->outcomes(arg, 3, y, mass), 4);
    f->score(4, y, arg, 3, s);
    for (size_t e = 0; e < 12; e++)
        if (!isfinite(s[e]))
            fail_msg("%s at %g: score %g", f->name, far->eta, s[e]);
    for (size_t k = 0; k < 3; k++) {
        double given = mass[k] * s[3 * k + k], taken = mass[k + 1] * s[3 * (k + 1) + k];
        assert_close(given, -taken, 1e-9, 0);
    }
    slope = 1 / (1 + exp(-moved[0])) + 1 / (1 + exp(-moved[1])) - 1;
    if (f == &dpi_ordered_logistic)
        assert_close(-(s[3] + s[4]), slope, 1e-3, 16 * DBL_EPSILON * s[4]);
    else
        assert_close(-(s[3] + s[4]), far->bend, 1e-3, 16 * DBL_EPSILON * s[4]);
    assert_true(f->draw(&source, arg, 3) == (far->eta > 35 ? 3 : 0));
    dp_rng_free(rng);
}

/* Cutpoints less a predictor of 1e17 are one number; less 1000 they are as near as rounding leaves
 * them. */
static void far_levels_have_finite_scores_and_draws(void **state)
{
    const far_levels far[] = {
        {{0, 1, 3}, 1e17, -1e17},       {{0, 1, 3}, -1e17, 1e17},     {{0, 0, 0}, 1e300, -1e300},
        {{-1e17, 1, 3}, 1e34, -1e34},   {{0, 1e-14, 3}, 1000, -1000}, {{0, 1e-15, 3}, -40, 40},
        {{-0.3, 1, 3}, 40, -39.025575}, {{0, 0.01, 3}, 2e4, -2e4},    {{0, 1, 3}, -1e308, 1e308},
    };
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        check_far_levels(&dpi_ordered_logistic, &far[i]);
        check_far_levels(&dpi_ordered_probit, &far[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_are_left_out_do_no_harm),
        cmocka_unit_test(shares_that_round_to_an_end_have_a_density),
        cmocka_unit_test(narrow_bounds_leave_a_flat_law),
        cmocka_unit_test(narrow_intervals_keep_their_mass),
        cmocka_unit_test(means_beyond_double_leave_own_zeros),
        cmocka_unit_test(what_has_no_chance_has_a_log_density_of_minus_infinity),
        cmocka_unit_test(scores_of_own_zeros_are_finite),
        cmocka_unit_test(levels_keep_their_chance_however_far_the_predictor_is),
        cmocka_unit_test(far_levels_have_finite_scores_and_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
