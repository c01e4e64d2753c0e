/* Linear algebra on expressions: matrices, their Cholesky factors and triangular systems.
 *
 * A matrix [n][m] is dp_constant_matrix, dp_reshape, dp_outer, dp_matmul or a value in a plate; all
 * calls take global values and values of each record, and a mixture of both.  Derivatives are exact
 * (Murray 2016, arXiv:1602.07527).  What does not fit is DP_ESHAPE on the model (tacit/model.h),
 * which the expressions tell; plain numbers alone are misuse.  Thread-safe for different models. */
#ifndef TACIT_ALGEBRA_H
#define TACIT_ALGEBRA_H

#include <tacit/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The identity matrix [n][n], n >= 1; DP_ESHAPE on the model for n = 0. */
DP_API dp_expr dp_identity_matrix(dp_model *m, size_t n);

/* [n][m] as [m][n]. */
DP_API dp_expr dp_transpose(dp_expr a);

/* a_i b_j of two vectors [n] and [m]: [n][m]. */
DP_API dp_expr dp_outer(dp_expr a, dp_expr b);

/* The diagonal of a square matrix: [n][n] to [n]; and the matrix that has a vector as its diagonal
 * and zeros beside: [n] to [n][n]. */
DP_API dp_expr dp_diagonal(dp_expr a);
DP_API dp_expr dp_diagonal_matrix(dp_expr a);

/* The lower triangular L [n][n] of positive diagonal with L L' = a, a symmetric [n][n].  Of a the
 * lower triangle alone is read.  Where a is not positive definite all of L is NaN: add a small
 * multiple of dp_identity_matrix to a covariance that is nearly singular. */
DP_API dp_expr dp_cholesky(dp_expr a);

/* L^-1 b and L'^-1 b for a lower triangular L [n][n], of which the lower triangle alone is read,
 * and b [n] or [n][m]: in the dimensions of b.  With a number 0 on the diagonal the result is not
 * finite. */
DP_API dp_expr dp_solve_lower(dp_expr l, dp_expr b);
DP_API dp_expr dp_solve_lower_transposed(dp_expr l, dp_expr b);

/* a^-1 b for a = L L': L'^-1 (L^-1 b). */
DP_API dp_expr dp_cholesky_solve(dp_expr l, dp_expr b);

/* log det(L L') = 2 sum_i log L_ii; a number. */
DP_API dp_expr dp_cholesky_log_det(dp_expr l);

#ifdef __cplusplus
}
#endif
#endif
