/* Logistic regression.
 *
 *   P(y_i = 1) = 1 / (1 + e^-eta_i)
 *
 * eta_i is the predictor of regression.c: the log odds.  With predictors in [-1, 1] the prior scale
 * 2.5 says that few of them change the odds by more than e^5 = 150 times (Gelman et al. 2008). */
#include "models/regression.h"

void dpi_logistic_outcome(dp_plate rows, dp_expr eta, const dp_regression_opts *o)
{
    (void)o;
    (void)dp_deterministic(rows.model, "probability", dp_logistic(eta));
    dp_observe(rows, "y", dp_bernoulli_logit(eta));
}

dp_status dp_logistic_regression(const dp_regression_opts *o, dp_model **m, dp_error *err)
{
    return dpi_regression(o, dpi_logistic_outcome, m, err);
}
