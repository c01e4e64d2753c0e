/* Item response: persons of an ability answer items of a difficulty.
 *
 *   y_ij ~ Bernoulli(1 / (1 + e^-(a_j (ability_i - b_j)))),  ability_i ~ N(0, 1)
 *
 * A person's ability is integrated out on a grid, as one discrete latent: equal distances h, and
 * weights h phi(theta), which for functions as smooth as these is off by less than the tails beyond
 * the grid (the trapezoidal rule; Trefethen and Weideman 2014, SIAM Review 56).  Bock and Aitkin
 * 1981 (Psychometrika 46) did so with fewer points.  A latent of each person and a guide for it
 * would be more noise and no better. */
#include <tacit/marginal.h>

#include <math.h>

#include "models/build.h"

enum { POINTS = 41 };
static const double furthest = 6; /* standard deviations: 2e-9 of persons are beyond */

/* theta [POINTS] and log weights, which sum to 1. */
static void grid(double theta[POINTS], double log_weight[POINTS])
{
    double sum = 0;
    for (int q = 0; q < POINTS; q++) {
        theta[q] = furthest * (2. * q / (POINTS - 1) - 1);
        sum += exp(-0.5 * theta[q] * theta[q]);
    }
    for (int q = 0; q < POINTS; q++)
        log_weight[q] = -0.5 * theta[q] * theta[q] - log(sum);
}

/* [POINTS] of a person: the log chance of the answers at each ability. */
static dp_expr answers(dp_plate rows, dp_expr theta, const dp_item_response_opts *o)
{
    const double wide = dpi_or_default(o->difficulty_scale, 2),
                 spread = dpi_or_default(o->discrimination_scale, 0.5);
    const size_t n = o->items;
    dp_expr b = dp_sample(rows.model, "difficulty", n, dp_normal(0, wide));
    dp_expr a = dp_sample(rows.model, "discrimination", o->each ? n : 1, dp_log_normal(0, spread));
    dp_expr logits = dp_mul(dp_sub(n > 1 ? dp_spread(theta, n) : theta, b), a);
    dp_expr each = dp_log_density(dp_bernoulli_logit(logits), dp_data(rows, "y", n));
    if (o->gaps)
        each = dp_mul(each, dp_data(rows, "seen", n));
    return n > 1 ? dp_sum_last(each) : each;
}

dp_status dp_item_response(const dp_item_response_opts *o, dp_model **m, dp_error *err)
{
    double theta_is[POINTS], weight_is[POINTS];
    *m = NULL;
    if (o->items < 1)
        return dpi_model_refuse(err, "a test has at least 1 item");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    grid(theta_is, weight_is);
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr theta = dp_constant(made, POINTS, theta_is);
    dp_expr weight = dp_constant(made, POINTS, weight_is);
    dp_expr each = answers(rows, theta, o);
    dp_marginal(rows, "answers", weight, each);
    dp_expr chance = dp_responsibilities(weight, each);
    dp_expr mean = dp_dot(chance, theta);
    dp_expr square = dp_dot(chance, dp_square(dp_sub(theta, mean)));
    (void)dp_deterministic(made, "ability", mean);
    (void)dp_deterministic(made, "ability_sd", dp_sqrt(square));
    return dpi_model_finish(made, m, err);
}
