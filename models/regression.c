/* What all regressions have in common: the linear predictor.
 *
 *   eta_i = intercept + x_i . w + sum over groupings g of effect_g[group_g(i)]
 *   intercept ~ N(0, intercept_scale),  w_j ~ N(0, scale_j)
 *   effect_gk ~ N(0, sd_g),  sd_g ~ HalfNormal(group_scale)
 *
 * A group's effect is drawn towards 0 by as much as the groups are alike (partial pooling): Gelman
 * and Hill 2007, chapter 12.  Scales are for predictors of unit size, which clipping suits too. */
#include "models/regression.h"

#include <math.h>
#include <stdio.h>

static bool is_scale(double scale)
{
    return scale > 0 && isfinite(scale);
}

static bool scales_are_good(const dp_regression_opts *o)
{
    for (size_t j = 0; o->scales != NULL && j < o->predictors; j++)
        if (!is_scale(o->scales[j]))
            return false;
    return is_scale(dpi_or_default(o->scale, 1)) && is_scale(dpi_or_default(o->noise_scale, 1)) &&
           is_scale(dpi_or_default(o->intercept_scale, 1)) &&
           is_scale(dpi_or_default(o->group_scale, 1));
}

/* x . w */
static dp_expr slopes(dp_plate rows, const dp_regression_opts *o)
{
    const size_t d = o->predictors;
    dp_expr scale = o->scales != NULL ? dp_constant(rows.model, d, o->scales)
                                      : dp_num(dpi_or_default(o->scale, 2.5));
    dp_expr x = dp_data(rows, "x", d);
    dp_expr w = dp_sample(rows.model, "w", d, dp_normal_v(dp_num(0), scale));
    return d > 1 ? dp_dot(x, w) : dp_mul(x, w);
}

/* The effect of each record's group. */
static dp_expr effect(dp_plate rows, const dp_grouping *grouping, double scale)
{
    char sd_name[MODEL_NAME], effect_name[MODEL_NAME], plate_name[MODEL_NAME];
    (void)snprintf(sd_name, sizeof sd_name, "%s_sd", grouping->column);
    (void)snprintf(effect_name, sizeof effect_name, "%s_effect", grouping->column);
    (void)snprintf(plate_name, sizeof plate_name, "%s_groups", grouping->column);
    dp_plate groups = dp_plate_new(rows.model, plate_name, grouping->size);
    dp_expr sd = dp_sample(rows.model, sd_name, 1, dp_half_normal(scale));
    dp_expr effects = dp_sample_in(groups, effect_name, 1, dp_normal_v(dp_num(0), sd));
    return dp_pick(effects, dp_index(rows, grouping->column, groups));
}

dp_status dpi_regression(const dp_regression_opts *o, dpi_outcome *outcome, dp_model **m,
                         dp_error *err)
{
    *m = NULL;
    if (!scales_are_good(o))
        return dpi_model_refuse(err,
                                "a scale of the regression's priors is not above 0 and finite");
    for (size_t g = 0; g < o->n_groupings; g++)
        if (o->groupings[g].column == NULL)
            return dpi_model_refuse(err, "a grouping has no column; give the name of one");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    dp_plate rows = dp_unit_plate(made, "rows");
    const double wide = dpi_or_default(o->intercept_scale, 5);
    dp_expr eta = dp_sample(made, "intercept", 1, dp_normal(0, wide));
    if (o->predictors > 0)
        eta = dp_add(eta, slopes(rows, o));
    for (size_t g = 0; g < o->n_groupings; g++)
        eta = dp_add(eta, effect(rows, &o->groupings[g], dpi_or_default(o->group_scale, 1)));
    outcome(rows, dp_deterministic(made, "eta", eta), o);
    return dpi_model_finish(made, m, err);
}
