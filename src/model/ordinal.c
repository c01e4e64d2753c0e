/* The public constructors of ordered categories: one vector of cutpoints less the predictor. */
#include <tacit/dist.h>
#include <tacit/model.h>

#include "dist/family.h"

dp_dist dp_ordered_logistic(dp_expr predictor, dp_expr cutpoints)
{
    return (dp_dist){.family = &dpi_ordered_logistic, .arg = {dp_sub(cutpoints, predictor)}};
}

dp_dist dp_ordered_probit(dp_expr predictor, dp_expr cutpoints)
{
    return (dp_dist){.family = &dpi_ordered_probit, .arg = {dp_sub(cutpoints, predictor)}};
}
