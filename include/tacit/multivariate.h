/* Distributions of several numbers together, as values that are handed to sites.
 *
 * A value is a row of K >= 2 numbers with one density between them: a latent of n = K numbers, each
 * member of a plate a row of its own (a correlated intercept and slope of every group), or the K
 * numbers of an observed column.  Arguments are expressions (dp_num for numbers); what does not
 * fit is DP_ESHAPE on the model, reported where the distribution meets a site.  A matrix that is
 * not positive definite, a factor with a number on its diagonal that is not above 0: the density is
 * NaN, and so are draws.  The rules of tacit/dist.h hold. */
#ifndef TACIT_MULTIVARIATE_H
#define TACIT_MULTIVARIATE_H

#include <tacit/dist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Normal with mean loc, a number, [K] or [members][K], and covariance L L' where L = factor is
 * lower triangular [K][K] with a diagonal above 0; L's lower triangle alone is read.
 *
 * Where data tell little of each group, give the groups standard normal numbers and move them:
 *   dp_expr z = dp_sample_in(groups, "z", K, dp_normal(0, 1));
 *   dp_expr effect = dp_add(loc, dp_matmul(z, dp_transpose(factor)));
 * has the same distribution of effects, without the funnel between effects and factor. */
DP_API dp_dist dp_multivariate_normal_cholesky(dp_expr loc, dp_expr factor);

/* The same by its covariance or its precision, the covariance's inverse: symmetric [K][K], of which
 * the lower triangle is read; factored by dp_cholesky, so expressions of a model. */
DP_API dp_dist dp_multivariate_normal_covariance(dp_expr loc, dp_expr covariance);
DP_API dp_dist dp_multivariate_normal_precision(dp_expr loc, dp_expr precision);

/* The same with covariance W W' + diag(variance), W = factor being [K][r] and variance > 0 a number
 * or [K]: r hidden causes and noise.  Costs K r^2 and not K^3 (Woodbury's identity). */
DP_API dp_dist dp_multivariate_normal_low_rank(dp_expr loc, dp_expr factor, dp_expr variance);

/* Student's t with df > 0 degrees of freedom, one number: loc + L z / sqrt(w) with z standard
 * normal numbers and one w, chi-squared over df, for all of a row. */
DP_API dp_dist dp_multivariate_student_t(dp_expr df, dp_expr loc, dp_expr factor);

/* Correlation matrices [K][K] with density proportional to det^(eta - 1), eta > 0 one number
 * (Lewandowski, Kurowicka and Joe 2009), as their lower Cholesky factors: even for eta = 1, nearer
 * to the identity for larger eta.  A latent of n = K is the matrix [K][K]:
 *   dp_expr l = dp_sample(m, "l", K, dp_lkj_cholesky(2));
 *   dp_expr factor = dp_matmul(dp_diagonal_matrix(scale), l);
 * makes the factor of a covariance with standard deviations scale [K], and dp_matmul(l,
 * dp_transpose(l)) are the correlations.  K >= 2; not for members of a plate (DP_EUNSUPPORTED).
 * The free parameters are K (K - 1) / 2 numbers z with partial correlations tanh z, row after row
 * below the diagonal, and records are cut at them. */
DP_API dp_dist dp_lkj_cholesky(double eta);
DP_API dp_dist dp_lkj_cholesky_v(dp_expr eta);

#ifdef __cplusplus
}
#endif
#endif
