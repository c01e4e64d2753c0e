/* Polynomials of encrypted numbers, in the Chebyshev basis: p(x) = sum_k a_k T_k(x), -1 <= x <= 1.
 *
 * As Paterson and Stockmeyer (1973) evaluate them: of degree below 2^b there are T_1 ... T_(2^h)
 * and T_(2^h), T_(2^(h+1)) ...; p = q T_m + r is split until degrees are below 2^h. */
#ifndef DPI_FHE_POLYNOMIAL_H
#define DPI_FHE_POLYNOMIAL_H

#include "fhe/ckks.h"

enum { DPI_CKKS_DEGREE = 127 };

/* Levels that a polynomial of that degree takes, 1 at least. */
size_t dpi_ckks_polynomial_levels(size_t degree);

/* a[degree + 1] of f on [low, high], x being (2 t - low - high) / (high - low): by interpolation at
 * the points of degree + 1, which is near the best one. */
void dpi_ckks_chebyshev(double (*f)(double t), double low, double high, size_t degree, double *a);

/* p(x), without encryption. */
double dpi_ckks_polynomial_at(size_t degree, const double *a, double x);

/* to = p(x), some levels below x, and with room for x's.  Of x only places between -1 and 1 come to what is meant; whether
 * they are is not known here.  degree 1 ... DPI_CKKS_DEGREE, and x has the levels; else misuse.
 * DP_EDOMAIN a coefficient is no number or too large; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_polynomial(const dpi_ckks *c, size_t degree, const double *a,
                                            const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                                            dpi_ckks_room *room, dpi_ckks_cipher *to,
                                            dp_error *err);

#endif
