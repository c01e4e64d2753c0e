/* A convolutional network that classifies images.
 *
 *   h_0 = x,  h_l = pool(f(W_l * h_(l-1) + b_l)),  * a convolution
 *   y ~ Categorical(softmax(f(h_L W_(L+1) + b_(L+1)) W_(L+2) + b_(L+2)))
 *
 * Parameters are plain ones, as in mlp.c.  Weights start at variance 1 / inputs, which keeps the
 * variance of what passes a layer (LeCun et al. 1998, "Efficient BackProp", sect. 4.6): with noise
 * in every step, larger first layers than Glorot's learn sooner. */
#include "models/build.h"

#include <math.h>

/* An image on its way through the network. */
typedef struct image {
    dp_expr pixels; /* [rows columns][channels] */
    size_t rows, columns, channels;
} image;

static dp_init start(size_t inputs)
{
    return dp_init_normal(1 / sqrt((double)inputs));
}

static size_t at_least_1(size_t stride)
{
    return stride > 0 ? stride : 1;
}

/* Stops of a window along an axis, 0 where it does not fit. */
static size_t stops(size_t along, size_t size, size_t stride, size_t padding)
{
    const size_t all = along + 2 * padding;
    return size == 0 || all < size ? 0 : (all - size) / at_least_1(stride) + 1;
}

static dp_window square(const image *h, size_t size, size_t stride, size_t padding)
{
    return (dp_window){.image = {h->rows, h->columns},
                       .size = {size, size},
                       .stride = {stride, stride},
                       .padding = {padding, padding}};
}

static void convolve(image *h, const dp_cnn_layer *l, size_t number, dp_activation activation)
{
    dp_model *m = h->pixels.model;
    char weight[MODEL_NAME], bias[MODEL_NAME];
    const size_t inputs = l->size * l->size * h->channels;
    const dp_window window = square(h, l->size, l->stride, l->padding);
    dp_expr w = dp_weights(m, dpi_layer_name(weight, "W", number), inputs, l->filters,
                           start(inputs > 0 ? inputs : 1));
    dp_expr b = dp_param(m, dpi_layer_name(bias, "b", number), l->filters, 0);
    h->pixels = dpi_activate(activation, dp_add(dp_conv2d(h->pixels, w, &window), b));
    h->rows = stops(h->rows, l->size, l->stride, l->padding);
    h->columns = stops(h->columns, l->size, l->stride, l->padding);
    h->channels = l->filters;
    if (l->pool == 0)
        return;
    const dp_window pool = square(h, l->pool, l->pool_stride, 0);
    h->pixels = dp_max_pool2d(h->pixels, &pool);
    h->rows = stops(h->rows, l->pool, l->pool_stride, 0);
    h->columns = stops(h->columns, l->pool, l->pool_stride, 0);
}

dp_status dp_cnn(const dp_cnn_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    if (o->layers == NULL || o->n_layers == 0 || o->n_layers > MODEL_LAYERS)
        return dpi_model_refuse(err, "a convolutional network has 1 to 64 layers of convolution");
    if (o->classes < 2 || o->hidden == 0)
        return dpi_model_refuse(err, "a classifier has at least 2 classes and 1 hidden unit");
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    dp_model_seed(made, o->seed);
    dp_plate rows = dp_unit_plate(made, "images");
    image h = {.rows = o->rows, .columns = o->columns, .channels = at_least_1(o->channels)};
    h.pixels = dp_data(rows, "x", h.rows * h.columns * h.channels);
    for (size_t l = 0; l < o->n_layers; l++)
        convolve(&h, &o->layers[l], l + 1, o->activation);
    char w[2][MODEL_NAME], b[2][MODEL_NAME];
    const size_t features = h.rows * h.columns * h.channels, dense = o->n_layers + 1;
    dp_expr hidden = dpi_dense_layer(
        dp_flatten(h.pixels), dpi_layer_name(w[0], "W", dense), dpi_layer_name(b[0], "b", dense),
        dp_extent_of(features, o->hidden), start(features > 0 ? features : 1));
    dpi_classify(rows, dpi_dense_layer(dpi_activate(o->activation, hidden),
                                       dpi_layer_name(w[1], "W", dense + 1),
                                       dpi_layer_name(b[1], "b", dense + 1),
                                       dp_extent_of(o->hidden, o->classes), start(o->hidden)));
    return dpi_model_finish(made, m, err);
}
