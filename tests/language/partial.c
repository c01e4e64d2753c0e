/* What is measured in part: missing and censored values, measurement error, time series. */
#include "tests/language/guide.h"

/* Stan, measurement error: meta-analysis, eight schools */
static void meta_analysis(dp_model *m)
{
    dp_plate schools = dp_unit_plate(m, "schools");
    dp_plate effects = dp_plate_new(m, "effects", GROUPS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_cauchy(5));
    dp_expr theta = dp_sample_in(effects, "theta", 1, dp_normal_v(mu, tau));
    dp_expr mine = dp_pick(theta, dp_index(schools, "school", effects));
    dp_observe(schools, "y", dp_normal_v(mine, dp_data(schools, "sigma", 1)));
}

/* Stan, missing data: partially known parameters, a residual's own known part */
static void known_part(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(1));
    dp_expr known = dp_data(rows, "known_variance", 1);
    dp_observe(rows, "y", dp_normal_v(mu, dp_sqrt(dp_add(known, dp_square(s)))));
}

/* Stan, measurement error: a predictor with normal error, in closed form */
static void error_in_x(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5)), b = dp_sample(m, "b", 1, dp_normal(0, 2));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(1)), error = dp_data(rows, "error", 1);
    dp_expr seen = dp_add(dp_square(tau), dp_square(error));
    dp_expr share = dp_div(dp_square(tau), seen), x = dp_data(rows, "x", 1);
    dp_expr truth = dp_add(mu, dp_mul(share, dp_sub(x, mu)));
    dp_expr left = dp_mul(dp_square(b), dp_mul(share, dp_square(error)));
    dp_observe(rows, "x", dp_normal_v(mu, dp_sqrt(seen)));
    dp_observe(rows, "y", dp_normal_v(dp_mul(b, truth), dp_sqrt(dp_add(dp_square(s), left))));
}

/* Stan, time series: autoregression of order 2, a record the series */
static void autoregression(dp_model *m)
{
    dp_plate series = dp_unit_plate(m, "series");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 5)), b = dp_sample(m, "b", 2, dp_normal(0, 1));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(1)), y = dp_data(series, "past", T + 1);
    dp_expr one = dp_mul(dp_slice(b, 0, 1), dp_slice(y, 1, T));
    dp_expr two = dp_mul(dp_slice(b, 1, 1), dp_slice(y, 0, T));
    dp_observe(series, "y", dp_normal_v(dp_add(a, dp_add(one, two)), s));
}

/* Stan, truncated or censored data: numbers that are reported between two limits alone */
static void truncated_numbers(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(2));
    dp_observe(rows, "y", dp_truncated(dp_normal_v(mu, s), -3, 3));
}

/* Stan, truncated or censored data: times that were watched to an end */
static void watched_times(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr rate = dp_sample(m, "rate", 1, dp_gamma(1, 1));
    dp_observe(rows, "time", dp_censored(dp_exponential_v(rate), dp_data(rows, "censored", 1)));
}

/* Stan, missing data: outcomes of which any may be missing */
static void missing_outcomes(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", D, dp_normal(0, 5));
    dp_expr s = dp_sample(m, "s", D, dp_half_normal(2));
    dp_observe(rows, "y", dp_present(dp_normal_v(mu, s), dp_data(rows, "present", D)));
}

#define MODEL(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }

const guide_model guide_partial[] = {
    MODEL(meta_analysis),     MODEL(known_part),    MODEL(error_in_x),       MODEL(autoregression),
    MODEL(truncated_numbers), MODEL(watched_times), MODEL(missing_outcomes),
};
const size_t n_guide_partial = sizeof guide_partial / sizeof guide_partial[0];
