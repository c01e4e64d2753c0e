/* Regression of ordered categories, as ratings are.
 *
 *   P(y_i <= k) = F(cut_k - eta_i),  eta_i = x_i . w
 *   w_j ~ N(0, scale),  cut ~ N(0, cutpoint_scale) in increasing order
 *
 * with F logistic (proportional odds: McCullagh 1980) or normal (probit).  The cutpoints are what
 * an intercept would be: eta has none. */
#include <math.h>

#include "models/build.h"

static bool is_scale(double scale)
{
    return scale > 0 && isfinite(scale);
}

dp_status dp_ordered_regression(const dp_ordered_opts *o, dp_model **m, dp_error *err)
{
    const double scale = dpi_or_default(o->scale, 2.5), wide = dpi_or_default(o->cutpoint_scale, 5);
    *m = NULL;
    if (!is_scale(scale) || !is_scale(wide))
        return dpi_model_refuse(err, "a scale of the priors is not above 0 and finite");
    if (o->categories < 3 || o->predictors == 0)
        return dpi_model_refuse(err, "ordered categories are at least 3, with at least 1 "
                                     "predictor; take dp_logistic_regression for two");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr x = dp_data(rows, "x", o->predictors);
    dp_expr w = dp_sample(made, "w", o->predictors, dp_normal(0, scale));
    dp_expr eta = dp_deterministic(made, "eta", o->predictors > 1 ? dp_dot(x, w) : dp_mul(x, w));
    dp_expr cut = dp_sample(made, "cutpoints", o->categories - 1, dp_ordered(dp_normal(0, wide)));
    dp_observe(rows, "y", o->probit ? dp_ordered_probit(eta, cut) : dp_ordered_logistic(eta, cut));
    return dpi_model_finish(made, m, err);
}
