/* Numbers that are moved: a value in another shape, and the patches of an image.
 *
 *   reshape   any dimensions -> attr.shape, row after row
 *   patches   [h w][c] -> [oh ow][kh kw c]     fold   [oh ow][kh kw c] -> [h w][c]
 *
 * An image is a matrix with a row for each of its h w pixels, row after row of the image, and a
 * column for each channel; a vector of h w c numbers in that order serves too.  A window of kh kw
 * pixels stops at oh ow positions, and row i of `patches` holds what it sees at the i-th, pixel
 * after pixel with all channels, zeros where it reaches beyond the image.  So a convolution is a
 * product of patches and a matrix of weights [kh kw c][channels out], and needs no operation of its
 * own.  `fold` is the transpose of `patches`: it adds what the windows hold where they overlap.
 */
#include "base/alloc.h"
#include "graph/op.h"

size_t dpi_window_stops(const dpi_window *w, int axis)
{
    return (w->image[axis] + 2 * w->padding[axis] - w->size[axis]) / w->stride[axis] + 1;
}

const char *dpi_window_misfit(const dpi_window *w)
{
    for (int k = 0; k < 2; k++) {
        size_t image = w->image[k], size = w->size[k], most = SIZE_MAX / 4;
        if (image == 0 || size == 0 || w->stride[k] == 0)
            return "the sizes and strides of a window are at least 1";
        if (image > most || size > most || w->padding[k] >= size ||
            size > image + 2 * w->padding[k])
            return "a window must fit in its image with the padding, which is less than the window";
    }
    return NULL;
}

size_t dpi_window_channels(const dpi_window *w, const dpi_shape *image)
{
    size_t pixels, size = dpi_shape_size(image);
    if (image->n_dims > 2 || size == SIZE_MAX || !dpi_mul(w->image[0], w->image[1], &pixels) ||
        (image->n_dims == 2 && image->dim[0] != pixels) || size % pixels != 0)
        return 0;
    return size / pixels;
}

/* The shape of the patches; false when there are too many numbers. */
static bool patches_of(const dpi_window *w, size_t channels, dpi_shape *shape)
{
    size_t *dim = shape->dim;
    shape->n_dims = 2;
    return dpi_mul(dpi_window_stops(w, 0), dpi_window_stops(w, 1), &dim[0]) &&
           dpi_mul(w->size[0], w->size[1], &dim[1]) && dpi_mul(dim[1], channels, &dim[1]);
}

static const char *patches_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                 dpi_shape *shape)
{
    (void)b;
    const char *misfit = dpi_window_misfit(&attr->window);
    size_t channels = misfit == NULL ? dpi_window_channels(&attr->window, a) : 0;
    *shape = dpi_scalar(a->per_record);
    if (misfit != NULL)
        return misfit;
    if (channels == 0)
        return "an image is [pixels][channels], or a vector of as many numbers, with height times "
               "width pixels";
    attr->inner = channels;
    return patches_of(&attr->window, channels, shape) ? NULL : "the patches are too large";
}

static void patches_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.window = node.attr.window, .shape = dpi_get(g, node.in[0])->shape};
    result[0] = dpi_apply(g, &dpi_op_fold, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

/* The image has the dimensions attr.shape. */
static const char *fold_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                              dpi_shape *shape)
{
    (void)b;
    const char *misfit = dpi_window_misfit(&attr->window);
    size_t channels = misfit == NULL ? dpi_window_channels(&attr->window, &attr->shape) : 0;
    dpi_shape patches = dpi_scalar(false);
    attr->shape.per_record = a->per_record;
    attr->inner = channels;
    *shape = attr->shape;
    if (misfit != NULL)
        return misfit;
    if (channels == 0 || !patches_of(&attr->window, channels, &patches) ||
        !dpi_shape_same(a, &patches))
        return "what is folded must be the patches of an image of that size";
    return NULL;
}

static void fold_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.window = dpi_get(g, y)->attr.window};
    result[0] = dpi_apply(g, &dpi_op_patches, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

/* y = a in the dimensions attr.shape, which hold as many numbers. */
static const char *reshape_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                 dpi_shape *shape)
{
    (void)b;
    attr->shape.per_record = a->per_record;
    *shape = attr->shape;
    return dpi_shape_size(a) == dpi_shape_size(shape) ? NULL
                                                      : "another shape holds as many numbers";
}

static void reshape_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.shape = dpi_get(g, dpi_get(g, y)->in[0])->shape};
    result[0] = dpi_apply(g, &dpi_op_reshape, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static double fold_flops(const dpi_node *node)
{
    const dpi_window *w = &node->attr.window;
    return (double)dpi_window_stops(w, 0) * (double)dpi_window_stops(w, 1) * (double)w->size[0] *
           (double)w->size[1] * (double)node->attr.inner;
}

const dpi_op dpi_op_reshape = {.id = DPI_OP_reshape,
                               .name = "reshape",
                               .formula = "a in other dimensions",
                               .class = DPI_LAYOUT,
                               .given = DPI_ATTR_SHAPE,
                               .n_inputs = 1,
                               .shape = reshape_shape,
                               .backward = reshape_backward,
                               .flops = dpi_flops_none};
const dpi_op dpi_op_patches = {.id = DPI_OP_patches,
                               .name = "patches",
                               .call = "dp_conv2d",
                               .formula = "what a window sees of a",
                               .class = DPI_LAYOUT,
                               .given = DPI_ATTR_WINDOW,
                               .n_inputs = 1,
                               .shape = patches_shape,
                               .backward = patches_backward,
                               .flops = dpi_flops_none};
const dpi_op dpi_op_fold = {.id = DPI_OP_fold,
                            .name = "fold",
                            .formula = "sum of windows where they stood",
                            .class = DPI_LINEAR,
                            .given = DPI_ATTR_WINDOW | DPI_ATTR_SHAPE,
                            .n_inputs = 1,
                            .shape = fold_shape,
                            .backward = fold_backward,
                            .flops = fold_flops};
