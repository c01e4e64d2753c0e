/* Hierarchical regression: records in groups of any number of kinds, each group with an intercept
 * of its own, under any of the likelihoods.
 *
 *   y_i ~ likelihood(eta_i),  eta_i with the effects of record i's groups as in regression.c */
#include "models/regression.h"

dp_status dp_hierarchical_regression(const dp_regression_opts *o, dp_model **m, dp_error *err)
{
    static dpi_outcome *const outcomes[] = {
        [DP_LIKELIHOOD_NORMAL] = dpi_normal_outcome,
        [DP_LIKELIHOOD_LOGISTIC] = dpi_logistic_outcome,
        [DP_LIKELIHOOD_POISSON] = dpi_poisson_outcome,
        [DP_LIKELIHOOD_NEGATIVE_BINOMIAL] = dpi_negative_binomial_outcome,
    };
    *m = NULL;
    if (o->n_groupings == 0 || o->groupings == NULL)
        return dpi_model_refuse(err, "a hierarchical regression has no grouping; give it one, or "
                                     "write a regression without groups");
    if ((size_t)o->likelihood >= sizeof outcomes / sizeof outcomes[0])
        return dpi_model_refuse(err, "the regression's likelihood is none of dp_likelihood");
    return dpi_regression(o, outcomes[o->likelihood], m, err);
}
