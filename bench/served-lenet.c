/* LeNet-5 (LeCun et al. 1998, "Gradient-based learning applied to document recognition", sect. II
 * B), as it is mostly served: relu in place of its sigmoids, averages without weights of their
 * own, and a softmax at the end.
 *
 *   28 x 28, convolution 6 of 5 x 5 with 2 rows of padding, relu, average of 2 x 2,
 *   convolution 16 of 5 x 5, relu, average of 2 x 2, 400 - 120 - 84 - 10 with relu between
 *
 * Weights start at variance 1 / inputs, as those of models/cnn.c. */
#include <math.h>
#include <stdio.h>

#include "served.h"

enum { NAME = 8 };

static dp_expr weights_of(dp_model *m, size_t layer, size_t inputs, size_t outputs)
{
    char name[NAME];
    (void)snprintf(name, sizeof name, "W%zu", layer);
    return dp_weights(m, name, inputs, outputs, dp_init_normal(1 / sqrt((double)inputs)));
}

static dp_expr bias_of(dp_model *m, size_t layer, size_t outputs)
{
    char name[NAME];
    (void)snprintf(name, sizeof name, "b%zu", layer);
    return dp_param(m, name, outputs, 0);
}

/* A convolution of 5 x 5, relu, and averages of 2 x 2: side + 2 padding - 4 pixels halved. */
static dp_expr convolve(dp_expr image, size_t layer, size_t channels, size_t filters,
                        const dp_window *window)
{
    dp_model *m = image.model;
    dp_window pool = {.size = {2, 2}, .stride = {2, 2}};
    for (int k = 0; k < 2; k++)
        pool.image[k] = window->image[k] + 2 * window->padding[k] - window->size[k] + 1;
    const size_t inputs = window->size[0] * window->size[1] * channels;
    const dp_expr w = weights_of(m, layer, inputs, filters), b = bias_of(m, layer, filters);
    return dp_avg_pool2d(dp_relu(dp_add(dp_conv2d(image, w, window), b)), &pool);
}

static dp_expr connect(dp_expr x, size_t layer, size_t inputs, size_t outputs)
{
    return dp_dense(x, weights_of(x.model, layer, inputs, outputs),
                    bias_of(x.model, layer, outputs));
}

dp_model *served_lenet(uint64_t seed)
{
    static const dp_window first = {.image = {28, 28}, .size = {5, 5}, .padding = {2, 2}};
    static const dp_window second = {.image = {14, 14}, .size = {5, 5}};
    dp_error err = {0};
    dp_model *m = dp_model_new();
    if (m == NULL)
        served_must(DP_ENOMEM, "LeNet-5", &err);
    dp_model_seed(m, seed);
    dp_plate rows = dp_unit_plate(m, "images");
    dp_expr h = convolve(dp_data(rows, "x", 28 * 28), 1, 1, 6, &first);
    h = dp_flatten(convolve(h, 2, 6, 16, &second));
    h = dp_relu(connect(h, 3, 5 * 5 * 16, 120));
    h = connect(dp_relu(connect(h, 4, 120, 84)), 5, 84, 10);
    (void)dp_deterministic(m, "logits", h);
    dp_observe(rows, "y", dp_categorical_logit(h));
    (void)snprintf(err.text, sizeof err.text, "%s", dp_model_error(m));
    served_must(dp_model_status(m), "LeNet-5", &err);
    return m;
}
