/* Operators with a window that moves over an image.
 *
 * The padding of a program is the same on both sides, and its windows stop only where they lie
 * within the image and its padding; what differs from that is refused. */
#include <string.h>

#include "serve/onnx.h"

enum { MOST_SIDE = 4096 };

/* ---- the window ---- */

static bool read_sides(dpi_onnx_node *n, const char *name, size_t to[2])
{
    int64_t values[2];
    if (!dpi_onnx_ints(n, name, 2, 1, values))
        return false;
    for (int axis = 0; axis < 2; axis++) {
        if (values[axis] < 1 || values[axis] > MOST_SIDE)
            return dpi_onnx_fail(n, DP_EUNSUPPORTED, "its %s are not from 1 to %d", name,
                                 MOST_SIDE);
        to[axis] = (size_t)values[axis];
    }
    return true;
}

/* Padding so that a window stops ceil(image / stride) times. */
static bool pad_to_same(dpi_onnx_node *n, dp_window *w)
{
    for (int axis = 0; axis < 2; axis++) {
        size_t stops = (w->image[axis] + w->stride[axis] - 1) / w->stride[axis];
        size_t seen = (stops - 1) * w->stride[axis] + w->size[axis];
        size_t both = seen > w->image[axis] ? seen - w->image[axis] : 0;
        if (both % 2 != 0)
            return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                                 "its auto_pad pads one side more than the other, which is not "
                                 "served; choose a window of an odd side");
        w->padding[axis] = both / 2;
    }
    return true;
}

static bool read_padding(dpi_onnx_node *n, dp_window *w)
{
    char way[16];
    int64_t pads[4];
    if (!dpi_onnx_text(n, "auto_pad", "NOTSET", way))
        return false;
    if (strcmp(way, "SAME_UPPER") == 0 || strcmp(way, "SAME_LOWER") == 0)
        return pad_to_same(n, w);
    if (strcmp(way, "VALID") == 0)
        return true;
    if (strcmp(way, "NOTSET") != 0)
        return dpi_onnx_fail(n, DP_EDATA,
                             "its auto_pad is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER");
    if (!dpi_onnx_ints(n, "pads", 4, 0, pads))
        return false;
    for (int axis = 0; axis < 2; axis++) {
        if (pads[axis] < 0 || pads[axis] >= MOST_SIDE || pads[axis] != pads[axis + 2])
            return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                                 "its pads are not the same on both sides, which is not served");
        w->padding[axis] = (size_t)pads[axis];
    }
    return true;
}

/* Places the window over the image; the last of a dimension's stops may be cut (ceil_mode) only
 * where there is none that is. */
static bool place(dpi_onnx_node *n, dp_window *w)
{
    int64_t ceil_mode, dilations[2];
    if (!read_padding(n, w) || !dpi_onnx_int(n, "ceil_mode", 0, &ceil_mode) ||
        !dpi_onnx_ints(n, "dilations", 2, 1, dilations))
        return false;
    if (dilations[0] != 1 || dilations[1] != 1)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "dilations are not served, only 1");
    for (int axis = 0; axis < 2; axis++) {
        size_t padded = w->image[axis] + 2 * w->padding[axis];
        if (w->size[axis] > padded || w->padding[axis] >= w->size[axis])
            return dpi_onnx_fail(n, DP_ESHAPE,
                                 "its window is larger than the image, or less than the padding");
        if (ceil_mode != 0 && (padded - w->size[axis]) % w->stride[axis] != 0)
            return dpi_onnx_fail(
                n, DP_EUNSUPPORTED,
                "ceil_mode with windows that reach out of the image is not served");
    }
    return true;
}

/* The image that is operand 1, with the window's image set to its. */
static dpi_onnx_value *image_of(dpi_onnx_node *n, dp_window *w)
{
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v != NULL && !dpi_onnx_is_image(n->x, v)) {
        (void)dpi_onnx_fail(n, DP_EUNSUPPORTED,
                            v->rank == 3 ? "its input is no image: it was flat when it was computed"
                                         : "its input is no image of channels, rows and columns");
        return NULL;
    }
    for (int axis = 0; v != NULL && axis < 2; axis++)
        w->image[axis] = v->dims[1 + axis];
    return v;
}

/* ---- convolutions ---- */

/* Weights [out][channels][rows][columns] as [out][rows][columns][channels]. */
static void permute(const dpi_onnx_tensor *t, double *to)
{
    size_t channels = t->dims[1], pixels = t->dims[2] * t->dims[3];
    for (size_t o = 0; o < t->dims[0]; o++)
        for (size_t c = 0; c < channels; c++)
            for (size_t p = 0; p < pixels; p++)
                to[(o * pixels + p) * channels + c] = t->x[(o * channels + c) * pixels + p];
}

static bool read_weights(dpi_onnx_node *n, const dpi_onnx_value *v, dpi_onnx_layer *l)
{
    const dpi_onnx_tensor *t = dpi_onnx_reals(n, 1);
    const dpi_onnx_tensor *bias = t != NULL && dpi_onnx_has(n, 2) ? dpi_onnx_reals(n, 2) : NULL;
    if (t == NULL || (dpi_onnx_has(n, 2) && bias == NULL))
        return false;
    if (t->rank != 4 || t->dims[1] != v->dims[0] || t->dims[2] > MOST_SIDE ||
        t->dims[3] > MOST_SIDE)
        return dpi_onnx_fail(n, DP_ESHAPE, "its weights do not fit the image's channels");
    if (bias != NULL && (bias->rank != 1 || bias->n != t->dims[0]))
        return dpi_onnx_fail(n, DP_ESHAPE, "its bias does not have one number of each output");
    l->n_out = t->dims[0];
    l->n_in = t->n / l->n_out;
    l->weights = dpi_onnx_alloc(n->x, t->n, sizeof *l->weights);
    l->bias = dpi_onnx_alloc(n->x, l->n_out, sizeof *l->bias);
    if (l->weights == NULL || l->bias == NULL)
        return false;
    permute(t, l->weights);
    if (bias != NULL)
        memcpy(l->bias, bias->x, l->n_out * sizeof *l->bias);
    l->window.size[0] = t->dims[2];
    l->window.size[1] = t->dims[3];
    return true;
}

bool dpi_onnx_convolution(dpi_onnx_node *n)
{
    dpi_onnx_layer l = {0};
    size_t side[2];
    dpi_onnx_value *v = image_of(n, &l.window);
    if (v == NULL || !dpi_onnx_only(n, "group", 1) || !read_weights(n, v, &l) ||
        !read_sides(n, "strides", l.window.stride))
        return false;
    if (dpi_onnx_attribute(n, "kernel_shape") != NULL &&
        (!read_sides(n, "kernel_shape", side) || memcmp(side, l.window.size, sizeof side) != 0))
        return dpi_onnx_fail(n, DP_ESHAPE, "its kernel_shape is not that of its weights");
    return place(n, &l.window) && dpi_onnx_convolve(n, v, &l);
}

/* ---- pools ---- */

/* The stage of a pool; the value's scaling waits on. */
static bool pool(dpi_onnx_node *n, dpi_onnx_value *v, const dp_window *w, bool largest)
{
    bool padded = w->padding[0] > 0 || w->padding[1] > 0;
    dp_program *p = n->x->program;
    size_t shape[3];
    if (!dpi_onnx_defer(n, v, largest, padded && !largest))
        return false;
    if (!dpi_onnx_is_image(n->x, v))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "the image that it needs was scaled pixel by pixel");
    int k = largest ? dp_program_max_pool(p, v->stage, w) : dp_program_average_pool(p, v->stage, w);
    if (!dpi_onnx_give(n, k, v))
        return false;
    n->out->scaling = v->scaling;
    dpi_onnx_shape(n->x, n->out, shape);
    n->out->dims[1] = shape[0];
    n->out->dims[2] = shape[1];
    return true;
}

static dpi_onnx_value *read_pool(dpi_onnx_node *n, dp_window *w)
{
    dpi_onnx_value *v = image_of(n, w);
    if (v == NULL)
        return NULL;
    if (dpi_onnx_attribute(n, "kernel_shape") == NULL) {
        (void)dpi_onnx_fail(n, DP_EDATA, "it has no kernel_shape");
        return NULL;
    }
    return read_sides(n, "kernel_shape", w->size) && read_sides(n, "strides", w->stride) &&
                   place(n, w)
               ? v
               : NULL;
}

bool dpi_onnx_max_pool(dpi_onnx_node *n)
{
    dp_window w = {0};
    dpi_onnx_value *v = read_pool(n, &w);
    return v != NULL && dpi_onnx_only(n, "storage_order", 0) && pool(n, v, &w, true);
}

bool dpi_onnx_average_pool(dpi_onnx_node *n)
{
    dp_window w = {0};
    int64_t zeros_count;
    dpi_onnx_value *v = read_pool(n, &w);
    if (v == NULL || !dpi_onnx_int(n, "count_include_pad", 0, &zeros_count))
        return false;
    if (zeros_count == 0 && (w.padding[0] > 0 || w.padding[1] > 0))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "means that leave out the padding are not served; use "
                             "count_include_pad = 1 or no padding");
    return pool(n, v, &w, false);
}

bool dpi_onnx_global_average_pool(dpi_onnx_node *n)
{
    dp_window w = {.stride = {1, 1}};
    dpi_onnx_value *v = image_of(n, &w);
    memcpy(w.size, w.image, sizeof w.size);
    return v != NULL && pool(n, v, &w, false);
}
