/* Distributions of counts and of ordered categories; tacit/dist.h, which includes this, says what
 * distributions are.  All can be observed; none is a prior, as no count can be inferred. */
#ifndef TACIT_DIST_COUNTS_H
#define TACIT_DIST_COUNTS_H

#include <tacit/dist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts that vary more than Poisson's: negative binomial with mean e^log_mean and variance mean +
 * mean^2 / dispersion, dispersion > 0.  For large dispersions it tends to dp_poisson_log.  (Known
 * as the type 2 negative binomial: Cameron and Trivedi 1986, J. Appl. Econometrics 1, 29.) */
DP_API dp_dist dp_negative_binomial_log(dp_expr log_mean, dp_expr dispersion);

/* The same by its mean > 0. */
DP_API dp_dist dp_negative_binomial(dp_expr mean, dp_expr dispersion);

/* Successes in `trials` (a whole number >= 0) whose chance varies, as Beta with this mean, in (0,
 * 1), and precision > 0: variance trials mean (1 - mean) (trials + precision) / (1 +
 * precision).  Give it dp_logistic of log odds as the mean; for large precisions it tends to
 * dp_binomial_logit. */
DP_API dp_dist dp_beta_binomial(dp_expr trials, dp_expr mean, dp_expr precision);

/* Counts of K categories that sum to `trials` (one whole number >= 0, of the model or of each
 * record), with chances proportional to e^(logits[k]), logits [K]: a row of K numbers with one
 * density between them, in a column of K numbers. */
DP_API dp_dist dp_multinomial_logit(dp_expr trials, dp_expr logits);

/* The same where chances vary from row to row as Dirichlet with this concentration [K], each > 0.
 * */
DP_API dp_dist dp_dirichlet_multinomial(dp_expr trials, dp_expr concentration);

/* Failures before the first success, 0, 1, 2, ..., with log odds `logit` of success each; mean
 * e^-logit. */
DP_API dp_dist dp_geometric_logit(dp_expr logit);

/* Ordered categories 0 ... K - 1, as of ratings: category k where a hidden number, logistic or
 * standard normal about the predictor, lies between cutpoints k - 1 and k.  The predictor is a
 * number (of each record); cutpoints is a vector [K - 1], K >= 3, in increasing order, such as a
 * latent with the prior dp_ordered:
 *   dp_expr cut = dp_sample(m, "cut", K - 1, dp_ordered(dp_normal(0, 5)));
 *   dp_observe(rows, "rating", dp_ordered_logistic(dp_dot(x, w), cut));
 * The predictor has no intercept: the cutpoints have it.  For two categories use
 * dp_bernoulli_logit.  At least one of the two is an expression of a model; cutpoints that decrease
 * have no density (NaN), and between equal ones a category has no chance.  The column is one of
 * dp_dataset_index with K categories. */
DP_API dp_dist dp_ordered_logistic(dp_expr predictor, dp_expr cutpoints);
DP_API dp_dist dp_ordered_probit(dp_expr predictor, dp_expr cutpoints);

#ifdef __cplusplus
}
#endif
#endif
