/* A Bayesian multilayer perceptron: weights have priors, predictions the spread of a posterior.
 *
 *   h_0 = x,  h_l = f(h_(l-1) W_l + b_l),
 *   W_l ~ N(0, scale / sqrt(rows of W_l)),  b_l ~ N(0, scale),
 *   y ~ Categorical(softmax(o)) or N(o, noise_sd),  o = h_L W_(L+1) + b_(L+1)
 *
 * Weights whose variance falls with the number of units that feed them keep the prior of outputs
 * as it is when a layer is widened; in the limit it is a Gaussian process (Neal 1996, Bayesian
 * Learning for Neural Networks, ch. 2). */
#include <math.h>
#include <stdio.h>

#include "models/build.h"

/* h W + b with priors; h is [from]. */
static dp_expr layer(dp_expr h, size_t number, dp_extent extent, double scale)
{
    char weight[MODEL_NAME], bias[MODEL_NAME], units[MODEL_NAME];
    dp_model *m = h.model;
    dp_plate from = dp_plate_new(m, dpi_layer_name(units, "units_before_", number), extent.rows);
    dp_expr w = dp_sample_in(from, dpi_layer_name(weight, "W", number), extent.columns,
                             dp_normal(0, scale / sqrt((double)extent.rows)));
    dp_expr b =
        dp_sample(m, dpi_layer_name(bias, "b", number), extent.columns, dp_normal(0, scale));
    /* A number of each unit is a matrix of one column only by its shape. */
    return dp_dense(h, dp_reshape(w, extent.rows, extent.columns), b);
}

static const char *wrong(const dp_bayesian_network_opts *o)
{
    if (o->n_hidden > MODEL_LAYERS || (o->n_hidden > 0 && o->hidden == NULL))
        return "hidden layers: give the units of each, for at most 64 layers";
    for (size_t l = 0; l < o->n_hidden; l++)
        if (o->hidden[l] == 0)
            return "a hidden layer has at least one unit";
    if (o->inputs == 0 || o->classes == 1)
        return "a network has at least one input, and at least 2 classes or 0 for a number";
    return NULL;
}

dp_status dp_bayesian_network(const dp_bayesian_network_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    if (wrong(o) != NULL)
        return dpi_model_refuse(err, wrong(o));
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    const double scale = dpi_or_default(o->scale, 1);
    const size_t outputs = o->classes > 0 ? o->classes : 1;
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr h = dp_data(rows, "x", o->inputs);
    if (o->inputs == 1)
        h = dp_reshape(h, 1, 1); /* a number is no vector yet */
    size_t from = o->inputs;
    for (size_t l = 0; l <= o->n_hidden; l++) {
        const size_t to = l < o->n_hidden ? o->hidden[l] : outputs;
        h = dp_flatten(layer(h, l + 1, dp_extent_of(from, to), scale));
        h = l < o->n_hidden ? dpi_activate(o->activation, h) : h;
        from = to;
    }
    if (o->classes > 0) {
        dpi_classify(rows, h);
        return dpi_model_finish(made, m, err);
    }
    dp_expr mean = dp_sum(h); /* of one number */
    dp_expr sd = dp_sample(made, "noise_sd", 1, dp_half_normal(dpi_or_default(o->noise_scale, 1)));
    (void)dp_deterministic(made, "mean", mean);
    dp_observe(rows, "y", dp_normal_v(mean, sd));
    return dpi_model_finish(made, m, err);
}
