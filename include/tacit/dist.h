/* Distributions, as values that are handed to sites.
 *
 * A distribution is copied freely and owns nothing.  The plain constructors take numbers, those
 * that end in _v take expressions (dp_num makes one of a number).  Arguments broadcast over the
 * site's shape.  A number outside an argument's domain is an error of the model, DP_EDOMAIN,
 * reported when the distribution meets a site.  The constructors are pure: any thread may call
 * them. */
#ifndef TACIT_DIST_H
#define TACIT_DIST_H

#include <tacit/expr.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_dist {
    const struct dpi_family *family;
    dp_expr arg[12];
    unsigned char form[4];             /* what <tacit/forms.h> makes of it, from the inside out */
    const struct dpi_family *other[3]; /* further components of dp_mixture_of */
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

/* |Student's t| with df > 0 degrees of freedom and location 0, scaled by scale > 0. */
DP_API dp_dist dp_half_student_t(double df, double scale);
DP_API dp_dist dp_half_student_t_v(dp_expr df, dp_expr scale);

/* Logistic with mean loc and scale > 0: loc + scale log(u / (1 - u)), u uniform; its distribution
 * function is dp_logistic of (x - loc) / scale, its standard deviation pi / sqrt(3) scale. */
DP_API dp_dist dp_logistic_distribution(double loc, double scale);
DP_API dp_dist dp_logistic_distribution_v(dp_expr loc, dp_expr scale);

/* Laplace (double exponential) with mean loc and scale > 0: density e^(-|x - loc| / scale) / (2
 * scale). */
DP_API dp_dist dp_laplace(double loc, double scale);
DP_API dp_dist dp_laplace_v(dp_expr loc, dp_expr scale);

/* Asymmetric Laplace whose quantile of level `quantile`, in (0, 1), is loc, with scale > 0: density
 * q (1 - q) / scale e^(-q z) above loc and e^((1 - q) z) in its place below, z = (x - loc) / scale,
 * q the quantile.  For quantile regression, with a number for the quantile; at 1/2 it is
 * dp_laplace(loc, 2 scale). */
DP_API dp_dist dp_asymmetric_laplace(double loc, double scale, double quantile);
DP_API dp_dist dp_asymmetric_laplace_v(dp_expr loc, dp_expr scale, dp_expr quantile);

/* Gumbel (type I extreme values, of maxima) with mode loc and scale > 0: density e^(-z - e^-z) /
 * scale, z = (x - loc) / scale; mean loc + 0.5772 scale. */
DP_API dp_dist dp_gumbel(double loc, double scale);
DP_API dp_dist dp_gumbel_v(dp_expr loc, dp_expr scale);

/* Exponential with rate > 0, mean 1 / rate. */
DP_API dp_dist dp_exponential(double rate);
DP_API dp_dist dp_exponential_v(dp_expr rate);

/* Gamma with shape > 0 and rate > 0, mean shape / rate. */
DP_API dp_dist dp_gamma(double shape, double rate);
DP_API dp_dist dp_gamma_v(dp_expr shape, dp_expr rate);

/* Chi-squared with df > 0 degrees of freedom: Gamma(df / 2, 1 / 2), mean df. */
DP_API dp_dist dp_chi_squared(double df);
DP_API dp_dist dp_chi_squared_v(dp_expr df);

/* Weibull with shape > 0 and scale > 0: P(X > x) = e^-(x / scale)^shape. */
DP_API dp_dist dp_weibull(double shape, double scale);
DP_API dp_dist dp_weibull_v(dp_expr shape, dp_expr scale);

/* Pareto from the minimum > 0 up, a known number, with shape > 0: P(X > x) = (minimum / x)^shape.
 * The mean is infinite for shapes up to 1. */
DP_API dp_dist dp_pareto(double minimum, double shape);
DP_API dp_dist dp_pareto_v(double minimum, dp_expr shape);

/* 1 / Gamma(shape, rate = scale), shape > 0, scale > 0. */
DP_API dp_dist dp_inverse_gamma(double shape, double scale);
DP_API dp_dist dp_inverse_gamma_v(dp_expr shape, dp_expr scale);

/* Beta with a > 0 and b > 0 on (0, 1). */
DP_API dp_dist dp_beta(double a, double b);
DP_API dp_dist dp_beta_v(dp_expr a, dp_expr b);

/* Beta on (0, 1) by its mean, in (0, 1), and its precision > 0: a = mean precision and
 * b = (1 - mean) precision; the variance is mean (1 - mean) / (1 + precision). */
DP_API dp_dist dp_beta_mean(double mean, double precision);
DP_API dp_dist dp_beta_mean_v(dp_expr mean, dp_expr precision);

/* Kumaraswamy with a > 0 and b > 0 on (0, 1): P(X > x) = (1 - x^a)^b. */
DP_API dp_dist dp_kumaraswamy(double a, double b);
DP_API dp_dist dp_kumaraswamy_v(dp_expr a, dp_expr b);

/* Skew normal with scale > 0 and any shape: density 2 phi(z) Phi(shape z) / scale, z = (x - loc) /
 * scale; shape 0 is normal.  Mean loc + scale d sqrt(2 / pi), d = shape / sqrt(1 + shape^2). */
DP_API dp_dist dp_skew_normal(double loc, double scale, double shape);
DP_API dp_dist dp_skew_normal_v(dp_expr loc, dp_expr scale, dp_expr shape);

/* Von Mises of angles from -pi to pi, in radians, with any loc, which stands for its angle, and
 * concentration > 0: density e^(concentration cos(x - loc)) / (2 pi I_0(concentration)); for large
 * ones nearly normal with variance 1 / concentration, for small ones uniform.  Observed angles lie
 * from -pi to pi: atan2 gives such.  A latent's free number runs from one end to the other and not
 * around: turn the angles so that little of its posterior lies at the ends. */
DP_API dp_dist dp_von_mises(double loc, double concentration);
DP_API dp_dist dp_von_mises_v(dp_expr loc, dp_expr concentration);

/* Uniform on (low, high), low < high. */
DP_API dp_dist dp_uniform(double low, double high);

/* Improper priors: density 1 on the real line, and on the numbers above 0 in x, not in log x.  They
 * are no distributions and serve as priors of global latents and members of plates alone, where
 * there is no privacy: dp_fit_private with DP_NO_PRIVACY by Markov chains in the posterior, or
 * dp_svi_new with it.  What draws from the prior or adds noise to a release refuses them by name,
 * as do observations, forms and mixtures.  Where records leave such a latent open there is no
 * posterior; chains wander then, and the check "sampling" says so. */
DP_API dp_dist dp_flat(void);
DP_API dp_dist dp_flat_positive(void);

/* 0 or 1, with log odds `logit`. */
DP_API dp_dist dp_bernoulli_logit(dp_expr logit);

/* What is observed is itself a chance x in [0, 1], both ends included: a pixel's grey, a share of a
 * crowd.  Its log density is the mean of dp_bernoulli_logit's over draws that are 1 with chance x,
 * and so less the cross entropy: x logit - log(1 + e^logit).  That is Bernoulli's at 0 and 1 and
 * not normalised in x between them: compare losses only with losses of the same kind.  Draws from
 * it are 0 or 1.  It can be observed, also in columns of dp_dataset_bytes; it is no prior of a
 * latent and no component of a mixture. */
DP_API dp_dist dp_chance_logit(dp_expr logit);

/* Successes in `trials` (a whole number >= 0) with log odds `logit` each. */
DP_API dp_dist dp_binomial_logit(dp_expr trials, dp_expr logit);

/* Poisson with mean e^log_rate. */
DP_API dp_dist dp_poisson_log(dp_expr log_rate);

/* Category k = 0 ... K - 1 with probability proportional to e^(logits[k]); logits is a vector
 * [K]. */
DP_API dp_dist dp_categorical_logit(dp_expr logits);

/* K numbers above 0 that sum to 1, K >= 2, with density proportional to prod_k x_k^(c_k - 1); the
 * concentration c > 0 is a number for all, or an expression [K].  A latent of n = K numbers:
 * dp_sample(m, "weights", 5, dp_dirichlet(1)).  Its free parameters are K - 1 numbers z with
 * x = softmax(V z), V an isometry onto the vectors that sum to 0; z = 0 is 1 / K for each.  By
 * default records are cut at z, not at x: K - 1 numbers are released, and an x near 0 makes no
 * gradient large. */
DP_API dp_dist dp_dirichlet(double concentration);
DP_API dp_dist dp_dirichlet_v(dp_expr concentration);

/* n >= 2 independent numbers, each with the distribution `each`, given that they are in increasing
 * order: n! times the product of their densities.  For cutpoints and for components that must keep
 * their places: dp_sample(m, "cut", 4, dp_ordered(dp_normal(0, 5))).  `each` is a family of
 * single real numbers such as dp_normal, dp_student_t or dp_gumbel, without a form around it
 * (another is DP_EUNSUPPORTED on the model), and its arguments are single numbers or expressions of
 * one (DP_ESHAPE).  The free parameters are x_1 and log(x_k - x_(k - 1)), and records are cut at
 * them. */
DP_API dp_dist dp_ordered(dp_dist each);

/* A value from component k = 0 ... K - 1 with probability proportional to weights[k] > 0, the
 * component summed out; for dp_observe.  weights is [K], K >= 2.  The component's arguments are
 * numbers, [K], or [K][d], as values of a plate of K components are; with a [K][d] among them an
 * observation has d numbers, independent given the component (a diagonal covariance).
 *   dp_expr w = dp_sample(m, "w", 3, dp_dirichlet(1));
 *   dp_expr mean = dp_sample_in(components, "mean", 2, dp_normal(0, 1));
 *   dp_observe(rows, "x", dp_mixture(w, dp_normal_v(mean, dp_num(1))));
 * Components are of any family of single numbers on a support that no argument moves (not uniform,
 * Pareto or binomial), or its zero-inflated or hurdle form (<tacit/forms.h>); another is an error
 * of the model, DP_EUNSUPPORTED, as is a mixture as the prior of a latent. */
DP_API dp_dist dp_mixture(dp_expr weights, dp_dist component);

#ifdef __cplusplus
}
#endif

#include <tacit/dist-counts.h>
#include <tacit/forms.h>

#endif
