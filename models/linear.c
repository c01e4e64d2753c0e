/* Linear regression with noise of an unknown scale.
 *
 *   y_i ~ N(eta_i, noise_sd),  noise_sd ~ HalfNormal(noise_scale)
 *
 * eta_i is the predictor of regression.c.  A record's gradient grows with its residual over
 * noise_sd^2: outcomes are best brought to unit size by public bounds. */
#include "models/regression.h"

void dpi_normal_outcome(dp_plate rows, dp_expr eta, const dp_regression_opts *o)
{
    const double scale = dpi_or_default(o->noise_scale, 1);
    dp_expr sd = dp_sample(rows.model, "noise_sd", 1, dp_half_normal(scale));
    (void)dp_deterministic(rows.model, "mean", eta);
    dp_observe(rows, "y", dp_normal_v(eta, sd));
}

dp_status dp_linear_regression(const dp_regression_opts *o, dp_model **m, dp_error *err)
{
    return dpi_regression(o, dpi_normal_outcome, m, err);
}
