/* The contour engine: the inversion integral by the trapezoidal rule through its saddle. */
#ifndef DPI_ACCOUNTANT_CONTOUR_CONTOUR_H
#define DPI_ACCOUNTANT_CONTOUR_CONTOUR_H

#include <stddef.h>

#include <tacit/status.h>

#include "accountant/pairs/pair.h"

/* About ten digits, not certified, of the composition of n >= 1 terms.  DP_ENOMEM; DP_EACCURACY
 * with the reason where the integrand does not fall far enough: losses on a lattice, few sampled
 * steps.  A single term with times = 1 is integrated directly and never refused for that. */

/* Least epsilon >= 0 with delta(epsilon) <= e^log_delta, log_delta < 0; +INFINITY when infinite
 * losses alone have that mass, which is DP_OK, and on errors. */
dp_status dpi_contour_epsilon(const dpi_pair_times *terms, size_t n, double log_delta,
                              double *epsilon, dp_error *err);

/* log delta at any finite epsilon; -INFINITY above every loss; NaN on errors, DP_EDOMAIN for an
 * epsilon that is not finite. */
dp_status dpi_contour_log_delta(const dpi_pair_times *terms, size_t n, double epsilon,
                                double *log_delta, dp_error *err);

#endif
