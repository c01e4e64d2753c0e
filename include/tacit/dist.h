/* Distributions, as values that are handed to sites.
 *
 * A distribution is copied freely and owns nothing.  The plain constructors take numbers, those that
 * end in _v take expressions (dp_num makes one of a number).  Arguments broadcast over the site's
 * shape.  A number outside an argument's domain is an error of the model, DP_EDOMAIN, reported when
 * the distribution meets a site.  The constructors are pure: any thread may call them. */
#ifndef TACIT_DIST_H
#define TACIT_DIST_H

#include <tacit/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_dist {
    const struct dpi_family *family;
    dp_expr arg[3];
} dp_dist;

/* Normal with mean loc and standard deviation scale > 0. */
DP_API dp_dist dp_normal(double loc, double scale);
DP_API dp_dist dp_normal_v(dp_expr loc, dp_expr scale);

/* |Normal(0, scale)|, scale > 0. */
DP_API dp_dist dp_half_normal(double scale);
DP_API dp_dist dp_half_normal_v(dp_expr scale);

/* e^Normal(loc, scale), scale > 0. */
DP_API dp_dist dp_log_normal(double loc, double scale);
DP_API dp_dist dp_log_normal_v(dp_expr loc, dp_expr scale);

/* Student's t with df > 0 degrees of freedom, shifted by loc, scaled by scale > 0. */
DP_API dp_dist dp_student_t(double df, double loc, double scale);
DP_API dp_dist dp_student_t_v(dp_expr df, dp_expr loc, dp_expr scale);

/* Cauchy with median loc and scale > 0. */
DP_API dp_dist dp_cauchy(double loc, double scale);
DP_API dp_dist dp_cauchy_v(dp_expr loc, dp_expr scale);

/* |Cauchy(0, scale)|, scale > 0. */
DP_API dp_dist dp_half_cauchy(double scale);
DP_API dp_dist dp_half_cauchy_v(dp_expr scale);

/* Laplace (double exponential) with mean loc and scale > 0: density e^(-|x - loc| / scale) / (2 scale). */
DP_API dp_dist dp_laplace(double loc, double scale);
DP_API dp_dist dp_laplace_v(dp_expr loc, dp_expr scale);

/* Exponential with rate > 0, mean 1 / rate. */
DP_API dp_dist dp_exponential(double rate);
DP_API dp_dist dp_exponential_v(dp_expr rate);

/* Gamma with shape > 0 and rate > 0, mean shape / rate. */
DP_API dp_dist dp_gamma(double shape, double rate);
DP_API dp_dist dp_gamma_v(dp_expr shape, dp_expr rate);

/* 1 / Gamma(shape, rate = scale), shape > 0, scale > 0. */
DP_API dp_dist dp_inverse_gamma(double shape, double scale);
DP_API dp_dist dp_inverse_gamma_v(dp_expr shape, dp_expr scale);

/* Beta with a > 0 and b > 0 on (0, 1). */
DP_API dp_dist dp_beta(double a, double b);
DP_API dp_dist dp_beta_v(dp_expr a, dp_expr b);

/* Uniform on (low, high), low < high. */
DP_API dp_dist dp_uniform(double low, double high);

/* 0 or 1, with log odds `logit`. */
DP_API dp_dist dp_bernoulli_logit(dp_expr logit);

/* Successes in `trials` (a whole number >= 0) with log odds `logit` each. */
DP_API dp_dist dp_binomial_logit(dp_expr trials, dp_expr logit);

/* Poisson with mean e^log_rate. */
DP_API dp_dist dp_poisson_log(dp_expr log_rate);

/* Category k = 0 ... K - 1 with probability proportional to e^(logits[k]); logits is a vector [K]. */
DP_API dp_dist dp_categorical_logit(dp_expr logits);

#ifdef __cplusplus
}
#endif
#endif
