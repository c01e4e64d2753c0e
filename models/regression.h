/* The predictor of the regressions; each likelihood has a file of its own. */
#ifndef MODELS_REGRESSION_H
#define MODELS_REGRESSION_H

#include "models/build.h"

/* Adds what is observed given the predictor. */
typedef void dpi_outcome(dp_plate rows, dp_expr eta, const dp_regression_opts *opts);

dpi_outcome dpi_normal_outcome, dpi_logistic_outcome, dpi_poisson_outcome,
    dpi_negative_binomial_outcome;

/* The whole regression. */
dp_status dpi_regression(const dp_regression_opts *opts, dpi_outcome *outcome, dp_model **m,
                         dp_error *err);

#endif
