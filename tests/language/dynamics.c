/* Steps of time and densities written out: a loop in C is the scan. */
#include "tests/language/guide.h"

/* Stan, time series: a local level with its Kalman filter, a record the series */
static void local_level(dp_model *m)
{
    dp_plate series = dp_unit_plate(m, "series");
    dp_expr q = dp_sample(m, "q", 1, dp_half_normal(1)),
            r = dp_sample(m, "r", 1, dp_half_normal(1));
    dp_expr y = dp_data(series, "y", T), mean = dp_num(0), variance = dp_num(10), sum = dp_num(0);
    for (size_t t = 0; t < T; t++) {
        dp_expr one = dp_slice(y, t, 1), seen = dp_add(variance, dp_square(r));
        sum = dp_add(sum, dp_log_density(dp_normal_v(mean, dp_sqrt(seen)), one));
        dp_expr gain = dp_div(variance, seen);
        mean = dp_add(mean, dp_mul(gain, dp_sub(one, mean)));
        variance = dp_add(dp_mul(dp_sub(dp_num(1), gain), variance), dp_square(q));
    }
    dp_factor(series, "series", sum);
}

/* Stan, differential equations: logistic growth by Runge and Kutta's rule, a record the series */
static void logistic_growth(dp_model *m)
{
    static const double h = 0.25, at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    dp_plate series = dp_unit_plate(m, "series");
    dp_expr rate = dp_sample(m, "rate", 1, dp_log_normal(0, 1)), data = dp_data(series, "y", T);
    dp_expr most = dp_sample(m, "most", 1, dp_log_normal(0, 1)), sum = dp_num(0);
    dp_expr y = dp_data(series, "start", 1), s = dp_sample(m, "s", 1, dp_half_normal(1));
    for (size_t t = 0; t < T; t++) {
        dp_expr slope = dp_num(0), step = dp_num(0);
        for (int k = 0; k < 4; k++) {
            dp_expr z = dp_add(y, dp_scale(h * at[k], slope));
            slope = dp_mul(dp_mul(rate, z), dp_sub(dp_num(1), dp_div(z, most)));
            step = dp_add(step, dp_scale(h / 6 * weight[k], slope));
        }
        y = dp_add(y, step);
        sum = dp_add(sum, dp_log_density(dp_normal_v(y, s), dp_slice(data, t, 1)));
    }
    dp_factor(series, "series", sum);
}

/* Stan, missing data: a missing predictor, integrated out */
static void missing_predictor(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 5)), b = dp_sample(m, "b", 1, dp_normal(0, 2));
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5)),
            s = dp_sample(m, "s", 1, dp_half_normal(1));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1)), known = dp_data(rows, "known", 1);
    dp_expr x = dp_data(rows, "x", 1), y = dp_data(rows, "y", 1);
    dp_expr both = dp_add(dp_log_density(dp_normal_v(mu, tau), x),
                          dp_log_density(dp_normal_v(dp_add(a, dp_mul(b, x)), s), y));
    dp_expr wide = dp_sqrt(dp_add(dp_square(s), dp_square(dp_mul(b, tau))));
    dp_expr alone = dp_log_density(dp_normal_v(dp_add(a, dp_mul(b, mu)), wide), y);
    dp_factor(rows, "record", dp_add(alone, dp_mul(known, dp_sub(both, alone))));
}

/* Stan, missing data: a missing predictor, a latent of its record */
static void drawn_predictor(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 5)), b = dp_sample(m, "b", 1, dp_normal(0, 2));
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5)),
            s = dp_sample(m, "s", 1, dp_half_normal(1));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1)), known = dp_data(rows, "known", 1);
    dp_expr drawn = dp_sample_in(rows, "drawn", 1, dp_normal_v(mu, tau));
    dp_expr x = dp_where(known, dp_data(rows, "x", 1), drawn);
    dp_observe(rows, "x", dp_present(dp_normal_v(mu, tau), known));
    dp_observe(rows, "y", dp_normal_v(dp_add(a, dp_mul(b, x)), s));
}

#define MODEL(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }

const guide_model guide_dynamics[] = {
    MODEL(local_level),
    MODEL(logistic_growth),
    MODEL(missing_predictor),
};
const size_t n_guide_dynamics = sizeof guide_dynamics / sizeof guide_dynamics[0];

/* Latents of records have no objective without a guide: t-drawn fits these by the call that writes
 * one. */
const guide_model guide_drawn[] = {
    MODEL(drawn_predictor),
};
const size_t n_guide_drawn = sizeof guide_drawn / sizeof guide_drawn[0];
