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
 * derivative.  NaN for derivatives of higher order, for any at x = 0 or infinity, for a >= 1e150
 * and for DPI_WITHIN. */
double dpi_log_gamma_tail(dpi_tail_of of, double a, double x);

/* log P(T <= z), P(T > z) or, within, P(|T| <= z) for z > 0, for Student's t with df degrees of
 * freedom, or a derivative.  NaN for derivatives of higher order, |z| >= 1e150 and df >= 1e150. */
double dpi_log_student_tail(dpi_tail_of of, double df, double z);

/* log P(Z <= z) or P(Z > z) for the skew normal of the density 2 phi(z) Phi(a z), or a
 * derivative in a or z.  NaN for derivatives of higher order, for numbers of 1e150 and
 * for DPI_WITHIN. */
double dpi_log_skew_tail(dpi_tail_of of, double a, double z);

/* log I_x(a, b), the regularised incomplete beta function at x = 1 / (1 + e^-t), or a derivative of
 * these orders, 2 at most in all.  log(1 - I) is that of b, a and -t.  NaN for derivatives of
 * higher order, for any at infinite t, and for shapes of 1e150. */
typedef struct dpi_beta_of {
    size_t a, b, t;
} dpi_beta_of;
double dpi_log_beta_tail(dpi_beta_of of, double a, double b, double t);

/* u - log(1 + u), which near 0 is about u^2 / 2. */
double dpi_log1p_deficit(double u);

/* e^v - 1 - v, which near 0 is about v^2 / 2. */
double dpi_expm1_excess(double v);

/* log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2, for a >= 20. */
double dpi_stirling_rest(double a);

#endif
