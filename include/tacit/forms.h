/* Forms: distributions made of other distributions.
 *
 * A form takes a distribution of <tacit/dist.h>, or another form, and gives one that is used like
 * any other, at most four deep.  Forms are values, copied freely; these calls are pure: any thread
 * may make them.  A form that a distribution has not is an error of the model, DP_EUNSUPPORTED,
 * reported where the distribution meets a site. */
#ifndef TACIT_FORMS_H
#define TACIT_FORMS_H

#include <stddef.h>

#include <tacit/dist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The base's law given that low < X <= high, as the prior of a latent or for dp_observe.  -INFINITY
 * or INFINITY leave a side open; bounds outside the base's support cut nothing off.  For families
 * with a distribution function.  A latent of it is mapped onto the interval, or from the bound on.
 *   dp_sample(m, "share", 1, dp_truncated(dp_normal(0.5, 1), 0, 1)); */
DP_API dp_dist dp_truncated(dp_dist base, double low, double high);

/* Observations of which only a side may be known, for dp_observe.  `censoring`, a column as a rule,
 * says of each: 0 it is the value itself; 1 it is above the value; -1 it is the value or below. */
DP_API dp_dist dp_censored(dp_dist base, dp_expr censoring);

/* As dp_censored, and 2: it is above the value and at most `upper`, which is above the value.
 * Where censoring is not 2 upper may be any number. */
DP_API dp_dist dp_interval_censored(dp_dist base, dp_expr censoring, dp_expr upper);

/* Counts with more or other zeros than the base's, for dp_observe: with log odds `logit` 0, else as
 * the base gives it, 0 included (zero-inflated), or as it gives it above 0 (hurdle).  The base is a
 * family of counts, such as dp_poisson_log; that of a hurdle may also be of numbers above 0. */
DP_API dp_dist dp_zero_inflated(dp_dist base, dp_expr logit);
DP_API dp_dist dp_hurdle(dp_dist base, dp_expr logit);

/* A value from component k = 0 ... n - 1, of any families whose values are of one kind, with
 * probability proportional to weights[k] > 0, the component summed out; for dp_observe.  weights is
 * [n], n from 2 to 4, and the components' arguments are numbers, at most eleven together.  For many
 * components of one family there is dp_mixture.
 *   const dp_dist parts[] = {dp_normal_v(a, s), dp_student_t_v(dp_num(2), a, t)};
 *   dp_observe(rows, "x", dp_mixture_of(w, 2, parts)); */
DP_API dp_dist dp_mixture_of(dp_expr weights, size_t n, const dp_dist components[]);

/* For dp_observe: the log density times `weight`, a column as a rule, from 0 to `bound`, which is
 * public.  A greater weight is one of the data's errors, and counts as the bound where no data are
 * checked.  A record's weighted score is clipped like any other: weights change nothing about what
 * is released of it.  Draws and means are the base's. */
DP_API dp_dist dp_weighted(dp_dist base, dp_expr weight, double bound);

/* For dp_observe: outcomes that may be missing.  `present`, a column as a rule, is 1 where there is
 * one and 0 where there is none; there the record adds nothing, whatever finite number (of
 * categories: whatever category) stands in its place.  Draws and means are the base's. */
DP_API dp_dist dp_present(dp_dist base, dp_expr present);

#ifdef __cplusplus
}
#endif
#endif
