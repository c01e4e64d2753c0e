/* Forms: distributions made of other distributions.
 *
 * A form takes a distribution of <tacit/dist.h>, or another form, and gives one that is used like
 * any other, at most four deep.  Forms are values, copied freely; these calls are pure: any thread
 * may make them.  A form that a distribution has not is an error of the model, DP_EUNSUPPORTED,
 * reported where the distribution meets a site. */
#ifndef TACIT_FORMS_H
#define TACIT_FORMS_H

#include <tacit/dist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The base's law given that low < X <= high, as the prior of a latent or for dp_observe.  -INFINITY
 * or INFINITY leave a side open; bounds outside the base's support cut nothing off.  For families
 * with a distribution function.  A latent of it is mapped onto the interval, or from the bound on.
 *   dp_sample(m, "share", 1, dp_truncated(dp_normal(0.5, 1), 0, 1)); */
DP_API dp_dist dp_truncated(dp_dist base, double low, double high);

#ifdef __cplusplus
}
#endif
#endif
