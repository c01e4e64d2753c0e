/* Splines on distinct knots t_0 < t_1 < ... < t_(n-1): B-splines, and the functions of a penalised
 * spline that are orthogonal in their values and in their bending.
 *
 * All are combinations of truncated powers (x - t_i)_+^degree, which a graph makes of a difference,
 * a rectifier and products.  Terms cancel: with functions of width h on (0, 1) the error is about
 * 2^-53 / h^degree, 1e-10 for a hundred cubic ones. */
#ifndef DPI_NUM_SPLINE_H
#define DPI_NUM_SPLINE_H

#include <stddef.h>

#include <tacit/status.h>

/* B_j(x) = sum_i powers[i][j] (x - t_i)_+^degree for x <= t_(n-1), j < m = n - degree - 1: not
 * negative, 0 outside (t_j, t_(j+degree+1)), of sum 1 between t_degree and t_m.  De Boor 1978, A
 * Practical Guide to Splines, ch. IX: divided differences. */
void dpi_spline_powers(size_t degree, size_t n, const double *knots,
                       double *powers /* [n][n - degree - 1] */);

/* Equally spaced knots, n = functions + 4, for cubic splines on (0, 1). */
void dpi_spline_knots(size_t functions, double *knots /* [functions + 4] */);

/* The wiggly part of a cubic spline on (0, 1): psi_j(x) = sum_i powers[i][j] (x - t_i)_+^3, j <
 * functions - 2, with the knots above.  They span, with 1 and x, all its splines; over (0, 1) they
 * are orthogonal to 1 and x and to each other, as are their second derivatives, which all have the
 * same norm; their squares have the sum of means 1.  So sum_j z_j psi_j with z_j ~ N(0, sd) is a
 * random function of mean square sd^2, with the log density -(integral of f''^2) times a constant:
 * the spline that is penalised for bending (Demmler and Reinsch 1975, Numer. Math. 24, 375; Wood
 * 2017, Generalized Additive Models, sect. 5.4).  Smooth functions come last.  functions >= 4.
 * DP_ENOMEM. */
dp_status dpi_spline_wiggles(size_t functions, double *powers /* [functions + 4][functions - 2] */,
                             dp_error *err) DP_MUST_CHECK;

#endif
