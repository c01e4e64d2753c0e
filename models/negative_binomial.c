/* Negative binomial regression: counts that vary more than Poisson's.
 *
 *   y_i ~ NegativeBinomial(mean e^eta_i, variance mean + mean^2 / dispersion)
 *   dispersion ~ LogNormal(1, 1.5)
 *
 * eta_i is the predictor of regression.c: the logarithm of the mean.  A count far above its mean
 * moves the slopes less than under Poisson, by the factor 1 / (1 + mean / dispersion). */
#include "models/regression.h"

void dpi_negative_binomial_outcome(dp_plate rows, dp_expr eta, const dp_regression_opts *o)
{
    (void)o;
    dp_expr dispersion = dp_sample(rows.model, "dispersion", 1, dp_log_normal(1, 1.5));
    (void)dp_deterministic(rows.model, "rate", dp_exp(eta));
    dp_observe(rows, "y", dp_negative_binomial_log(eta, dispersion));
}

dp_status dp_negative_binomial_regression(const dp_regression_opts *o, dp_model **m, dp_error *err)
{
    return dpi_regression(o, dpi_negative_binomial_outcome, m, err);
}
