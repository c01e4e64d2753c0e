/* Regression of rows of counts of categories: votes, cells, species.
 *
 *   y_i ~ Multinomial(trials_i, softmax(0, eta_i)),  eta_ik = intercept_k + x_i . W_k
 *   intercept_k ~ N(0, intercept_scale),  W_jk ~ N(0, scale)
 *
 * The first category is what the others are compared with. */
#include <math.h>

#include "models/build.h"

static bool is_scale(double scale)
{
    return scale > 0 && isfinite(scale);
}

/* intercept + x W, one number for each category but the first */
static dp_expr predictors(dp_plate rows, const dp_multinomial_opts *o)
{
    const size_t others = o->categories - 1;
    dp_expr eta = dp_sample(rows.model, "intercept", others,
                            dp_normal(0, dpi_or_default(o->intercept_scale, 5)));
    if (o->predictors == 0)
        return eta;
    const dp_dist slopes = dp_normal(0, dpi_or_default(o->scale, 2.5));
    dp_expr x = dp_data(rows, "x", o->predictors);
    if (o->predictors == 1)
        return dp_add(eta, dp_mul(x, dp_sample(rows.model, "w", others, slopes)));
    dp_plate inputs = dp_plate_new(rows.model, "inputs", o->predictors);
    return dp_add(eta, dp_matmul(x, dp_sample_in(inputs, "w", others, slopes)));
}

dp_status dp_multinomial_regression(const dp_multinomial_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    if (!is_scale(dpi_or_default(o->scale, 1)) || !is_scale(dpi_or_default(o->intercept_scale, 1)))
        return dpi_model_refuse(err, "a scale of the priors is not above 0 and finite");
    if (o->categories < 3)
        return dpi_model_refuse(err, "counts are of at least 3 categories; of two observe "
                                     "dp_binomial_logit");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr eta = dp_deterministic(made, "eta", predictors(rows, o));
    dp_expr trials = dp_data(rows, "trials", 1);
    dp_observe(rows, "y", dp_multinomial_logit(trials, dp_concat(dp_num(0), eta)));
    return dpi_model_finish(made, m, err);
}
