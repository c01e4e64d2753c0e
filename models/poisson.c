/* Poisson regression of counts.
 *
 *   y_i ~ Poisson(e^eta_i)
 *
 * eta_i is the predictor of regression.c: the logarithm of the rate.  A record's gradient grows
 * with y_i - e^eta_i, so that large counts are clipped. */
#include "models/regression.h"

void dpi_poisson_outcome(dp_plate rows, dp_expr eta, const dp_regression_opts *o)
{
    (void)o;
    (void)dp_deterministic(rows.model, "rate", dp_exp(eta));
    dp_observe(rows, "y", dp_poisson_log(eta));
}

dp_status dp_poisson_regression(const dp_regression_opts *o, dp_model **m, dp_error *err)
{
    return dpi_regression(o, dpi_poisson_outcome, m, err);
}
