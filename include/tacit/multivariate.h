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
 * As a prior of groups' effects with a factor that is learnt it makes a funnel where data tell
 * little of each group.  dp_fit_private without privacy goes around it by itself; elsewhere move
 * standard normal numbers, which is the same distribution:
 *   dp_expr z = dp_sample_in(groups, "z", K, dp_normal(0, 1));
 *   dp_expr effect = dp_add(loc, dp_matmul(z, dp_transpose(factor))); */
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

/* Covariances W = L L' of Wishart's distribution with df > K - 1 degrees of freedom, one number,
 * and scale S S', so with mean df S S'; and W of which the inverse is so with scale (S S')^-1, with
 * mean S S' / (df - K - 1).  Values are lower Cholesky factors L [K][K] with a diagonal above 0;
 * S = scale_factor is one too, [K][K], of which the lower triangle is read.  A latent of n = K is
 * the matrix, K >= 2; not for members of a plate (DP_EUNSUPPORTED).  The free parameters are the
 * K (K + 1) / 2 numbers of the lower triangle, row after row, with logarithms on the diagonal:
 *   dp_expr s = dp_constant_matrix(m, K, K, scale);
 *   dp_expr l = dp_sample(m, "l", K, dp_inverse_wishart_cholesky(dp_num(K + 2), s));
 *   dp_observe(rows, "y", dp_multivariate_normal_cholesky(dp_num(0), l));
 * Where df <= K - 1 the density is NaN or 0, and draws are NaN. */
DP_API dp_dist dp_wishart_cholesky(dp_expr df, dp_expr scale_factor);
DP_API dp_dist dp_inverse_wishart_cholesky(dp_expr df, dp_expr scale_factor);

/* Unit vectors, evenly on the sphere: n = K numbers whose squares sum to 1, such as a direction.
 *   dp_expr u = dp_sample(m, "u", K, dp_unit_vector());
 *   dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", K), u), sd));
 * The density is that on the sphere, 1 over its area.  The free parameters are K - 1 numbers z,
 * records being cut at them: u = (1 - s, 2 z) / (1 + s) with s = |z|^2, the stereographic map,
 * which keeps angles.  Of two pieces of a posterior, as where u and -u do alike, a fit finds
 * one.  A written guide cannot sample it: sample normal numbers and divide them by their length. */
DP_API dp_dist dp_unit_vector(void);

/* Series of T numbers x, of e = x - loc with loc a number, [T] or [members][T]: the first numbers
 * of e are independent and normal with standard deviation first_scale, and every later one is
 * normal with standard deviation scale around the one before it, in a random walk, or around
 * sum_k coefficients[k] e_(t - 1 - k), with a number or [p] and then p first numbers.  Scales are
 * above 0, one number each.  A latent of n = T numbers, or the T numbers of an observed column, of
 * which loc [T] tells how many:
 *   dp_expr level = dp_sample(m, "level", T, dp_gaussian_random_walk(dp_num(0), dp_num(1), sd));
 *   dp_observe(rows, "y", dp_autoregressive(level, dp_num(1), noise, c));
 * Nothing is asked of the coefficients: the series need not be stationary. */
DP_API dp_dist dp_gaussian_random_walk(dp_expr loc, dp_expr first_scale, dp_expr scale);
DP_API dp_dist dp_autoregressive(dp_expr loc, dp_expr first_scale, dp_expr scale,
                                 dp_expr coefficients);

#ifdef __cplusplus
}
#endif
#endif
