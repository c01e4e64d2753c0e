/* A multilayer perceptron that classifies.
 *
 *   h_0 = x,  h_l = f(h_(l-1) W_l + b_l),  y ~ Categorical(softmax(h_L W_(L+1) + b_(L+1)))
 *
 * Its parameters are plain ones, without a prior: what is maximised is the likelihood, and with
 * clipping and noise this is DP-SGD (Abadi et al. 2016, arXiv:1607.00133).  f is tanh, which suits
 * clipped gradients (Papernot et al. 2021, arXiv:2007.14191), or max(., 0). */
#include "models/build.h"

dp_status dp_mlp(const dp_mlp_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    if (o->n_hidden > MODEL_LAYERS || (o->n_hidden > 0 && o->hidden == NULL))
        return dpi_model_refuse(err,
                                "hidden layers: give the units of each, for at most 64 layers");
    if (o->classes < 2)
        return dpi_model_refuse(err, "a classifier has at least 2 classes");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    char weight[MODEL_NAME], bias[MODEL_NAME];
    dp_init init = o->activation == DP_ACTIVATION_RELU ? dp_init_he() : dp_init_glorot(1);
    dp_model_seed(made, o->seed);
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr h = dp_data(rows, "x", o->inputs);
    if (o->inputs == 1)
        h = dp_reshape(h, 1, 1); /* a number is no vector yet */
    size_t from = o->inputs;
    for (size_t l = 0; l <= o->n_hidden; l++) {
        const size_t to = l < o->n_hidden ? o->hidden[l] : o->classes;
        h = dpi_dense_layer(h, dpi_layer_name(weight, "W", l + 1), dpi_layer_name(bias, "b", l + 1),
                            dp_extent_of(from, to), init);
        h = l == 0 && o->inputs == 1 ? dp_flatten(h) : h;
        h = l < o->n_hidden ? dpi_activate(o->activation, h) : h;
        from = to;
    }
    dpi_classify(rows, h);
    return dpi_model_finish(made, m, err);
}
