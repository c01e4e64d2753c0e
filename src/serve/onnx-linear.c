/* What waits to be done to a value, and how it becomes stages.
 *
 * Scales and shifts go into the layer before them or into the one after; a dense layer after a
 * dense layer becomes one where that has no more weights than the two. */
#include <string.h>

#include "serve/onnx.h"

/* Weights of all stages that only scale, and products that merging two layers may cost. */
#define MOST_DIAGONALS ((size_t)1 << 24)
#define MOST_PRODUCTS ((size_t)1 << 32)

/* ---- shapes ---- */

static void set_shape(size_t shape[3], size_t rows, size_t columns, size_t channels)
{
    shape[0] = rows;
    shape[1] = columns;
    shape[2] = channels;
}

static size_t stops(const dp_window *w, int axis)
{
    return (w->image[axis] + 2 * w->padding[axis] - w->size[axis]) / w->stride[axis] + 1;
}

void dpi_onnx_shape(const dpi_onnx *x, const dpi_onnx_value *v, size_t shape[3])
{
    if (v->form == DPI_ONNX_DENSE)
        set_shape(shape, 1, 1, v->layer.n_out);
    else if (v->form == DPI_ONNX_CONVOLUTION)
        set_shape(shape, stops(&v->layer.window, 0), stops(&v->layer.window, 1), v->layer.n_out);
    else if (v->stage == 0)
        memcpy(shape, x->input_shape, sizeof x->input_shape);
    else
        memcpy(shape, dp_program_stage(x->program, (size_t)v->stage)->shape, sizeof x->input_shape);
}

bool dpi_onnx_is_image(const dpi_onnx *x, const dpi_onnx_value *v)
{
    size_t shape[3];
    dpi_onnx_shape(x, v, shape);
    return v->rank == 3 && v->dims[0] == shape[2] && v->dims[1] == shape[0] &&
           v->dims[2] == shape[1];
}

size_t dpi_onnx_place(const size_t shape[3], size_t n)
{
    size_t pixels = shape[0] * shape[1];
    return n % pixels * shape[2] + n / pixels;
}

/* ---- stages ---- */

/* The program's own error, of a call that gave -1. */
static bool program_error(dpi_onnx_node *n)
{
    dp_error err = {0};
    dp_status status = dp_program_fix(n->x->program, NULL, &err);
    return dpi_onnx_fail(n, status, "%s", err.text);
}

/* Numbers of an image are the column's in the file's order. */
static void declare_image(dpi_onnx *x, const char *column)
{
    const size_t *shape = x->input_shape, size = shape[0] * shape[1] * shape[2];
    for (size_t i = 0; i < size; i++) {
        const dp_program_number number = {
            .low = x->opts->low,
            .high = x->opts->high,
            .n_factors = 1,
            .factor = {{.column = column, .element = i, .level = -1}}};
        dp_program_declare(x->program, dpi_onnx_place(shape, i), &number);
    }
}

static bool place_input(dpi_onnx_node *n)
{
    dpi_onnx *x = n->x;
    const size_t *shape = x->input_shape;
    const char *column = x->opts->column != NULL ? x->opts->column : x->input->name;
    if (x->placed)
        return true;
    x->placed = true;
    if (dp_program_image(x->program, shape[0], shape[1], shape[2], column, x->opts->low,
                         x->opts->high) < 0)
        return program_error(n);
    if (shape[0] * shape[1] > 1 && shape[2] > 1)
        declare_image(x, column);
    return true;
}

bool dpi_onnx_give(dpi_onnx_node *n, int k, const dpi_onnx_value *like)
{
    if (k < 0)
        return program_error(n);
    n->out->rank = like->rank;
    memcpy(n->out->dims, like->dims, sizeof like->dims);
    n->out->stage = k;
    return true;
}

void dpi_onnx_pass(dpi_onnx_node *n, const dpi_onnx_value *in)
{
    dpi_onnx_value *out = n->out, named = *out;
    *out = *in;
    out->name = named.name;
    out->uses = named.uses;
}

/* A stage that scales and shifts channel by channel: a convolution with a window of one pixel. */
static int scale_channels(dpi_onnx_node *n, const dpi_onnx_value *v, const size_t shape[3])
{
    const dpi_onnx_scaling *s = &v->scaling;
    const dp_window pixel = {.size = {1, 1}};
    size_t c = shape[2];
    double *weights = dpi_onnx_alloc(n->x, c * c, sizeof *weights);
    double *bias = dpi_onnx_alloc(n->x, c, sizeof *bias);
    for (size_t i = 0; weights != NULL && bias != NULL && i < c; i++) {
        weights[i * c + i] = s->scale[i % s->period];
        bias[i] = s->shift[i % s->period];
    }
    if (weights == NULL || bias == NULL)
        return -1;
    return shape[0] * shape[1] > 1
               ? dp_program_convolution(n->x->program, v->stage, c, &pixel, weights, bias)
               : dp_program_dense(n->x->program, v->stage, c, weights, bias);
}

/* One that does so number by number; it leaves a vector in the file's order. */
static int scale_numbers(dpi_onnx_node *n, const dpi_onnx_value *v, const size_t shape[3])
{
    const dpi_onnx_scaling *s = &v->scaling;
    size_t size = s->period;
    double *weights = dpi_onnx_alloc(n->x, size * size, sizeof *weights);
    double *bias = dpi_onnx_alloc(n->x, size, sizeof *bias);
    for (size_t i = 0; weights != NULL && bias != NULL && i < size; i++) {
        size_t at = dpi_onnx_place(shape, i);
        weights[i * size + at] = s->scale[at];
        bias[i] = s->shift[at];
    }
    return weights != NULL && bias != NULL
               ? dp_program_dense(n->x->program, v->stage, size, weights, bias)
               : -1;
}

static int force_scaling(dpi_onnx_node *n, const dpi_onnx_value *v)
{
    size_t shape[3], side, weights;
    dpi_onnx_shape(n->x, v, shape);
    side = v->scaling.period > shape[2] ? v->scaling.period : shape[2];
    if (!dpi_mul(side, side, &weights) || weights > MOST_DIAGONALS - n->x->diagonals) {
        (void)dpi_onnx_fail(n, DP_EUNSUPPORTED,
                            "%zu numbers that are scaled or shifted one by one need a stage of "
                            "their own, which would be too large; let a Conv or Gemm be next to it",
                            side);
        return -1;
    }
    n->x->diagonals += weights;
    return v->scaling.period > shape[2] ? scale_numbers(n, v, shape) : scale_channels(n, v, shape);
}

int dpi_onnx_force(dpi_onnx_node *n, dpi_onnx_value *v)
{
    const dpi_onnx_layer *l = &v->layer;
    int k = v->stage;
    if (!place_input(n))
        return -1;
    if (v->form == DPI_ONNX_DENSE)
        k = dp_program_dense(n->x->program, v->stage, l->n_out, l->weights, l->bias);
    else if (v->form == DPI_ONNX_CONVOLUTION)
        k = dp_program_convolution(n->x->program, v->stage, l->n_out, &l->window, l->weights,
                                   l->bias);
    else if (v->scaling.period > 0)
        k = force_scaling(n, v);
    if (k < 0) {
        if (n->x->err.status == DP_OK)
            (void)program_error(n);
        return -1;
    }
    v->stage = k;
    v->form = DPI_ONNX_STAGE;
    v->scaling.period = 0;
    return k;
}

/* ---- scales and shifts ---- */

/* Into the layer before. */
static void scale_layer(dpi_onnx_layer *l, const dpi_onnx_scaling *s)
{
    for (size_t o = 0; o < l->n_out; o++) {
        double scale = s->scale[o % s->period];
        for (size_t i = 0; i < l->n_in; i++)
            l->weights[o * l->n_in + i] *= scale;
        l->bias[o] = l->bias[o] * scale + s->shift[o % s->period];
    }
}

/* s after what is there already.  Both arrays are new, for others may read the old ones. */
static bool scale_again(dpi_onnx_node *n, const dpi_onnx_scaling *first, const dpi_onnx_scaling *s,
                        dpi_onnx_scaling *to)
{
    size_t period = first->period > s->period ? first->period : s->period;
    to->scale = dpi_onnx_alloc(n->x, period, sizeof *to->scale);
    to->shift = dpi_onnx_alloc(n->x, period, sizeof *to->shift);
    if (to->scale == NULL || to->shift == NULL)
        return false;
    to->period = period;
    for (size_t i = 0; i < period; i++) {
        double scale = s->scale[i % s->period];
        bool again = first->period > 0;
        to->scale[i] = again ? scale * first->scale[i % first->period] : scale;
        to->shift[i] =
            s->shift[i % s->period] + (again ? scale * first->shift[i % first->period] : 0);
    }
    return true;
}

bool dpi_onnx_scale(dpi_onnx_node *n, dpi_onnx_value *in, const dpi_onnx_scaling *s)
{
    size_t shape[3];
    dpi_onnx_shape(n->x, in, shape);
    if (s->period > 1 && !place_input(n)) /* from now on its shape may not change */
        return false;
    if (in->form != DPI_ONNX_STAGE && s->period <= shape[2]) {
        dpi_onnx_pass(n, in);
        scale_layer(&n->out->layer, s);
        return true;
    }
    if (in->form != DPI_ONNX_STAGE && dpi_onnx_force(n, in) < 0)
        return false;
    dpi_onnx_pass(n, in);
    return scale_again(n, &in->scaling, s, &n->out->scaling);
}

/* Whether all scales are positive, or none is asked to be, and the same of shifts that are 0. */
static bool harmless(const dpi_onnx_scaling *s, bool increasing, bool without_shift)
{
    for (size_t i = 0; i < s->period; i++)
        if ((increasing && !(s->scale[i] > 0)) || (without_shift && s->shift[i] != 0))
            return false;
    return true;
}

bool dpi_onnx_defer(dpi_onnx_node *n, dpi_onnx_value *v, bool increasing, bool without_shift)
{
    size_t shape[3];
    dpi_onnx_shape(n->x, v, shape);
    if (v->form == DPI_ONNX_STAGE && v->scaling.period <= shape[2] &&
        harmless(&v->scaling, increasing, without_shift))
        return place_input(n);
    return dpi_onnx_force(n, v) >= 0;
}

/* Into the layer after, whose weights of an output are those of numbers of the stage in turn. */
static void absorb(dpi_onnx_layer *l, const dpi_onnx_scaling *s)
{
    for (size_t o = 0; s->period > 0 && o < l->n_out; o++) {
        double *row = l->weights + o * l->n_in;
        for (size_t i = 0; i < l->n_in; i++) {
            l->bias[o] += row[i] * s->shift[i % s->period];
            row[i] *= s->scale[i % s->period];
        }
    }
}

/* ---- layers ---- */

static bool worth_merging(const dpi_onnx_layer *first, const dpi_onnx_layer *second)
{
    size_t products, merged, apart_1, apart_2;
    return dpi_mul(first->n_in, second->n_out, &merged) &&
           dpi_mul(first->n_in, first->n_out, &apart_1) &&
           dpi_mul(second->n_in, second->n_out, &apart_2) && merged <= apart_1 + apart_2 &&
           dpi_mul(merged, first->n_out, &products) && products <= MOST_PRODUCTS;
}

static bool merge(dpi_onnx_node *n, const dpi_onnx_layer *first, const dpi_onnx_layer *second,
                  dpi_onnx_layer *to)
{
    *to = *second;
    to->n_in = first->n_in;
    to->weights = dpi_onnx_alloc(n->x, to->n_out * to->n_in, sizeof *to->weights);
    if (to->weights == NULL)
        return false;
    for (size_t o = 0; o < second->n_out; o++) {
        double *row = to->weights + o * to->n_in;
        for (size_t h = 0; h < first->n_out; h++) {
            double weight = second->weights[o * second->n_in + h];
            const double *from = first->weights + h * first->n_in;
            to->bias[o] += weight * first->bias[h];
            for (size_t i = 0; i < to->n_in; i++)
                row[i] += weight * from[i];
        }
    }
    return true;
}

/* The weights of numbers in the stage's order, of those in the file's. */
static bool permute(dpi_onnx_node *n, const size_t shape[3], dpi_onnx_layer *l)
{
    double *row = dpi_onnx_alloc(n->x, l->n_in, sizeof *row);
    for (size_t o = 0; row != NULL && o < l->n_out; o++) {
        double *weights = l->weights + o * l->n_in;
        for (size_t i = 0; i < l->n_in; i++)
            row[dpi_onnx_place(shape, i)] = weights[i];
        memcpy(weights, row, l->n_in * sizeof *row);
    }
    return row != NULL;
}

bool dpi_onnx_dense(dpi_onnx_node *n, dpi_onnx_value *in, const dpi_onnx_layer *layer)
{
    dpi_onnx_layer l = *layer;
    size_t shape[3];
    bool merged = in->form == DPI_ONNX_DENSE && worth_merging(&in->layer, &l);
    if (merged && !merge(n, &in->layer, layer, &l))
        return false;
    if (!merged && in->form != DPI_ONNX_STAGE && dpi_onnx_force(n, in) < 0)
        return false;
    if (!place_input(n))
        return false;
    dpi_onnx_shape(n->x, in, shape);
    if (!merged && shape[0] * shape[1] > 1 && shape[2] > 1 && !permute(n, shape, &l))
        return false;
    if (!merged)
        absorb(&l, &in->scaling);
    n->out->rank = 1;
    n->out->dims[0] = l.n_out;
    n->out->stage = in->stage;
    n->out->form = DPI_ONNX_DENSE;
    n->out->layer = l;
    return true;
}

bool dpi_onnx_convolve(dpi_onnx_node *n, dpi_onnx_value *in, const dpi_onnx_layer *layer)
{
    dpi_onnx_layer l = *layer;
    size_t shape[3];
    bool padded = l.window.padding[0] > 0 || l.window.padding[1] > 0;
    if (in->form != DPI_ONNX_STAGE && dpi_onnx_force(n, in) < 0)
        return false;
    if (!dpi_onnx_defer(n, in, false, padded)) /* zeros of the padding are not shifted */
        return false;
    if (!dpi_onnx_is_image(n->x, in))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "the image that it needs was scaled pixel by pixel; let scales and "
                             "shifts of an image be of its channels");
    absorb(&l, &in->scaling);
    n->out->stage = in->stage;
    n->out->form = DPI_ONNX_CONVOLUTION;
    n->out->layer = l;
    dpi_onnx_shape(n->x, n->out, shape);
    n->out->rank = 3;
    n->out->dims[0] = shape[2];
    n->out->dims[1] = shape[0];
    n->out->dims[2] = shape[1];
    return true;
}
