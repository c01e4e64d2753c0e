/* Parts of models that several of them use. */
#include "models/build.h"

#include <stdio.h>

dp_status dpi_model_refuse(dp_error *err, const char *why)
{
    if (err == NULL || err->status != DP_OK)
        return err == NULL ? DP_EINVAL : err->status;
    err->status = DP_EINVAL;
    (void)snprintf(err->text, sizeof err->text, "%s", why);
    return DP_EINVAL;
}

dp_status dpi_model_finish(dp_model *made, dp_model **m, dp_error *err)
{
    const dp_status status = made != NULL ? dp_model_status(made) : DP_ENOMEM;
    *m = status == DP_OK ? made : NULL;
    if (status == DP_OK)
        return DP_OK;
    if (err != NULL && err->status == DP_OK) {
        err->status = status;
        (void)snprintf(err->text, sizeof err->text, "%s",
                       made != NULL ? dp_model_error(made) : dp_status_text(status));
    }
    dp_model_free(made);
    return status;
}

double dpi_or_default(double given, double usual)
{
    return given == 0 ? usual : given;
}

const char *dpi_layer_name(char name[MODEL_NAME], const char *stem, size_t layer)
{
    (void)snprintf(name, MODEL_NAME, "%s%zu", stem, layer);
    return name;
}

dp_expr dpi_dense_layer(dp_expr x, const char *weight, const char *bias, dp_extent extent,
                        dp_init init)
{
    dp_expr w = dp_weights(x.model, weight, extent.rows, extent.columns, init);
    return dp_dense(x, w, dp_param(x.model, bias, extent.columns, 0));
}

dp_expr dpi_activate(dp_activation activation, dp_expr a)
{
    return activation == DP_ACTIVATION_RELU ? dp_relu(a) : dp_tanh(a);
}

void dpi_classify(dp_plate rows, dp_expr logits)
{
    (void)dp_deterministic(rows.model, "logits", logits);
    (void)dp_deterministic(rows.model, "class_probability", dp_softmax(logits));
    dp_observe(rows, "y", dp_categorical_logit(logits));
}
