/* What factors forbid. */
#ifndef DPI_MODEL_FACTOR_H
#define DPI_MODEL_FACTOR_H

#include "model/model.h"

/* DP_EUNSUPPORTED where the observed `column` (NULL: all of them) cannot be drawn because of a
 * factor among the first n_sites sites: where it is one, is read by one, or all are wanted.
 * DP_ENOMEM. */
dp_status dpi_check_drawn(const dp_model *m, size_t n_sites, const char *column,
                          dp_error *err) DP_MUST_CHECK;

#endif
