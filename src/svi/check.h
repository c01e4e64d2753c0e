/* Observed data against the support of their distribution. */
#ifndef DPI_SVI_CHECK_H
#define DPI_SVI_CHECK_H

#include "data/dataset.h"
#include "model/objective.h"

/* DP_EDATA, naming column and record but not the value, when an observation is impossible under the
 * model whatever the parameters, or a column that serves as an argument is outside its domain. */
dp_status dpi_check_observations(const dpi_objective *o, const dp_dataset *data,
                                 dp_error *err) DP_MUST_CHECK;

/* DP_EDATA, naming column and record but not the value, when a number that the model reads is so
 * large that the gradient's squares overflow, of which a run says nothing. */
dp_status dpi_check_sizes(const dpi_objective *o, const dp_dataset *data,
                          dp_error *err) DP_MUST_CHECK;

#endif
