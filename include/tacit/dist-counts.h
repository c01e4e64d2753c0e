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

/* Failures before the first success, 0, 1, 2, ..., with log odds `logit` of success each; mean
 * e^-logit. */
DP_API dp_dist dp_geometric_logit(dp_expr logit);

#ifdef __cplusplus
}
#endif
#endif
