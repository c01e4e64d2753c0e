/* Weibull times to an event, of which only a side may be known.
 *
 *   P(T_i > t) = e^-(t / e^eta_i)^k,  eta_i = intercept + x_i . w
 *
 * A record adds the log density of its time, or the log chance that the event came after it, or
 * before it (Kalbfleisch and Prentice 2002, sect. 3.2). */
#include <tacit/forms.h>

#include <math.h>

#include "models/build.h"

static bool is_scale(double scale)
{
    return scale > 0 && isfinite(scale);
}

/* intercept + x . w */
static dp_expr predictor(dp_plate rows, const dp_survival_opts *o)
{
    const size_t d = o->predictors;
    const double wide = dpi_or_default(o->intercept_scale, 5);
    dp_expr intercept = dp_sample(rows.model, "intercept", 1, dp_normal(0, wide));
    if (d == 0)
        return intercept;
    dp_expr x = dp_data(rows, "x", d);
    dp_expr w = dp_sample(rows.model, "w", d, dp_normal(0, dpi_or_default(o->scale, 2.5)));
    return dp_add(intercept, d > 1 ? dp_dot(x, w) : dp_mul(x, w));
}

dp_status dp_survival(const dp_survival_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    const double shape_scale = dpi_or_default(o->shape_scale, 1);
    if (!is_scale(dpi_or_default(o->scale, 1)) || !is_scale(shape_scale) ||
        !is_scale(dpi_or_default(o->intercept_scale, 1)))
        return dpi_model_refuse(err, "a scale of the priors is not above 0 and finite");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr eta = dp_deterministic(made, "eta", predictor(rows, o));
    dp_expr k = dp_sample(made, "shape", 1, dp_log_normal(0, shape_scale));
    dp_dist time = dp_weibull_v(k, dp_exp(eta));
    dp_observe(rows, "time", dp_censored(time, dp_data(rows, "censored", 1)));
    (void)dp_deterministic(made, "median", dp_exp(dp_add(eta, dp_div(dp_num(log(log(2))), k))));
    return dpi_model_finish(made, m, err);
}
