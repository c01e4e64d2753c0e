/* Logarithms of probabilities that keep their digits in both tails. */
#ifndef DPI_NUM_TAIL_H
#define DPI_NUM_TAIL_H

#include <stddef.h>

/* log(1 - e^x) for x < 0, to full relative accuracy near 0 and far below it; NaN for x > 0. */
double dpi_log1mexp(double x);

/* log(1 - e^-w) where w = e^x need not be a double. */
double dpi_cloglog(double x);

/* Derivative `order` of log Phi(x), Phi being the standard normal distribution function: 0 for the
 * value, 1 for the inverse Mills ratio, 2 for the slope of that; to 1e-14 relative for all x where
 * the result is a normal double.  NaN for higher orders. */
double dpi_log_normal_cdf(size_t order, double x);

/* log(1/2 + atan(x) / pi), the logarithm of the standard Cauchy distribution function. */
double dpi_log_cauchy_cdf(double x);

#endif
