/* Certified bounds for lists of checked mechanisms. */
#ifndef DPI_ACCOUNTANT_ANSWERS_BOUND_H
#define DPI_ACCOUNTANT_ANSWERS_BOUND_H

#include <tacit/accountant.h>

#include "accountant/grid/grid.h"

/* Upper bound over both directions, within the accuracy that dp_epsilon promises; +INFINITY or 1 on
 * errors. */
dp_status dpi_bound_upper(const dp_mechanism *list, size_t n, dpi_question query, double *answer,
                          dp_error *err);

/* Interval over both directions, compared with the contour; {0, +INFINITY or 1, NaN} on errors. */
dp_status dpi_bound_interval(const dp_mechanism *list, size_t n, dpi_question query, double width,
                             dp_interval *answer, dp_error *err);

/* The contour's figure over both directions. */
dp_status dpi_bound_contour(const dp_mechanism *list, size_t n, dpi_question query, double *answer,
                            dp_error *err);

#endif
