/* Symmetric matrices [n][n] of moderate size, by GSL. */
#ifndef DPI_NUM_MATRIX_H
#define DPI_NUM_MATRIX_H

#include <stddef.h>

#include <tacit/status.h>

/* power(a) = V max(w, floor)^power V' for a = V w V'; in may be out.  Not positive eigenvalues with
 * floor 0 are DP_EDOMAIN, but for power 1; DP_ENOMEM. */
dp_status dpi_matrix_power(size_t n, const double *a, double power, double floor, double *out,
                           dp_error *err) DP_MUST_CHECK;

/* V w^-1/2 V'; eigenvalues below `least` count as 1, so that what is nothing but rounding is left
 * as it is.  DP_ENOMEM. */
dp_status dpi_matrix_root(size_t n, const double *a, double least, double *out,
                          dp_error *err) DP_MUST_CHECK;

/* Eigenvalues w[n], and vectors in the columns of v[n][n].  DP_EDOMAIN where a number is not
 * finite; DP_ENOMEM. */
dp_status dpi_matrix_eigen(size_t n, const double *a, double *w, double *v,
                           dp_error *err) DP_MUST_CHECK;

/* The inverse of a positive definite matrix; in may be out.  DP_EDOMAIN where it is not; DP_ENOMEM.
 */
dp_status dpi_matrix_invert(size_t n, const double *a, double *out, dp_error *err) DP_MUST_CHECK;

/* The inverse of any square matrix that has one, by Gauss and Jordan with pivots; no overlap.
 * DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_matrix_inverse(size_t n, const double *a, double *out, dp_error *err) DP_MUST_CHECK;

/* Lower Cholesky factor, zeros above the diagonal; in may be out.  DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_matrix_factor(size_t n, const double *a, double *out, dp_error *err) DP_MUST_CHECK;

/* out = a b, [n][n] each; no overlap. */
void dpi_matrix_product(size_t n, const double *a, const double *b, double *out);

/* out = a' x a, of any square matrices; room is [n][n]; out may be x. */
void dpi_matrix_congruence(size_t n, const double *a, const double *x, double *room, double *out);

/* out[n] = a x. */
void dpi_matrix_times(size_t n, const double *a, const double *x, double *out);

#endif
