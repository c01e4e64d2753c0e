/* Logarithms of probabilities that keep their digits in both tails. */
#ifndef DPI_NUM_TAIL_H
#define DPI_NUM_TAIL_H

#include <stdbool.h>
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

/* Which probability of two arguments, and which derivative of its logarithm: of order `first` in
 * the first argument and `second` in the second one, 2 at most in all. */
typedef enum dpi_tail_side { DPI_LOWER, DPI_UPPER, DPI_WITHIN } dpi_tail_side;
typedef struct dpi_tail_of {
    dpi_tail_side side;
    size_t first, second;
} dpi_tail_of;

/* log P(a, x) or log Q(a, x), the regularised incomplete gamma functions, lower and upper, or a
 * derivative.  NaN for derivatives of higher order, for any at x = 0 or infinity, for a >= 1e10 and
 * for DPI_WITHIN. */
double dpi_log_gamma_tail(dpi_tail_of of, double a, double x);

/* log P(T <= z), P(T > z) or, within, P(|T| <= z) for z > 0, for Student's t with df degrees of
 * freedom, or a derivative.  NaN for derivatives of higher order, |z| >= 1e150 and df >= 1e7. */
double dpi_log_student_tail(dpi_tail_of of, double df, double z);

#endif
