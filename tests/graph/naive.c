#include "tests/graph/naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/naive-matrix.h"

typedef long double real;

naive *naive_new(const dpi_graph *g, size_t n)
{
    naive *e = calloc(1, sizeof *e);
    *e = (naive){.g = g, .n = n};
    return e;
}

void naive_free(naive *e)
{
    for (size_t i = 0; i < e->n_nodes; i++)
        free(e->value[i]);
    free(e->value);
    free(e);
}

bool naive_is_sharp(void)
{
    volatile real sum = 1, small = 1e-18L;
    sum += small;
    return sum != 1;
}

size_t naive_count(const naive *e, dpi_id id)
{
    const dpi_shape *shape = &dpi_get(e->g, id)->shape;
    return dpi_shape_size(shape) * (shape->per_record ? e->n : 1);
}

real *naive_value(naive *e, dpi_id id)
{
    if (e->n_nodes < e->g->n_nodes) {
        e->value = realloc(e->value, e->g->n_nodes * sizeof *e->value);
        for (; e->n_nodes < e->g->n_nodes; e->n_nodes++)
            e->value[e->n_nodes] = NULL;
    }
    if (e->value[id] == NULL)
        e->value[id] = calloc(naive_count(e, id) + 1, sizeof **e->value);
    return e->value[id];
}

static real unary(const dpi_node *node, real a)
{
    const dpi_op *op = node->op;
    if (op == &dpi_op_neg)
        return -a;
    if (op == &dpi_op_exp)
        return expl(a);
    if (op == &dpi_op_expm1)
        return expm1l(a);
    if (op == &dpi_op_log)
        return logl(a);
    if (op == &dpi_op_log1p)
        return log1pl(a);
    if (op == &dpi_op_sqrt)
        return sqrtl(a);
    if (op == &dpi_op_square)
        return a * a;
    if (op == &dpi_op_logistic)
        return 1 / (1 + expl(-a));
    if (op == &dpi_op_softplus)
        return a > 40 ? a + expl(-a) : log1pl(expl(a));
    if (op == &dpi_op_sin)
        return sinl(a);
    if (op == &dpi_op_cos)
        return cosl(a);
    if (op == &dpi_op_tanh)
        return tanhl(a);
    if (op == &dpi_op_abs)
        return fabsl(a);
    if (op == &dpi_op_sign)
        return a > 0 ? 1 : a < 0 ? -1 : a;
    if (op == &dpi_op_relu)
        return a > 0 ? a : a * node->attr.value;
    if (op == &dpi_op_normal_cdf)
        return erfcl(-a / sqrtl(2)) / 2;
    if (op == &dpi_op_lgamma)
        return lgammal(a);
    if (op == &dpi_op_polygamma)
        return naive_polygamma(node->attr.number, a);
    if (op == &dpi_op_log_bessel)
        return naive_log_bessel(node->attr.number, a);
    return naive_tail(node, a);
}

static real binary(const dpi_node *node, real a, real b)
{
    const dpi_op *op = node->op;
    if (op == &dpi_op_add)
        return a + b;
    if (op == &dpi_op_sub)
        return a - b;
    if (op == &dpi_op_mul)
        return a * b;
    if (op == &dpi_op_div)
        return a / b;
    if (op == &dpi_op_max)
        return fmaxl(a, b);
    if (op == &dpi_op_keep)
        return (b == 0) == (node->attr.number == 1) ? a : 0;
    if (op == &dpi_op_rising)
        return naive_rising(node->attr.number, a, b);
    if (op == &dpi_op_step)
        return a > b ? 1 : node->attr.value;
    return naive_tail_of_two(node, a, b);
}

/* Position in a value of `shape` of the element whose last subscripts are those of `index`, which
 * has n_dims of them. */
static size_t position(const dpi_shape *shape, const size_t *index, int n_dims)
{
    size_t at = 0;
    for (int i = 0; i < shape->n_dims; i++)
        at = at * shape->dim[i] + index[n_dims - shape->n_dims + i];
    return at;
}

/* The subscripts of element e. */
static void subscripts(const dpi_shape *shape, size_t e, size_t *index)
{
    for (int i = shape->n_dims - 1; i >= 0; i--) {
        index[i] = e % shape->dim[i];
        e /= shape->dim[i];
    }
}

/* Element of a factor of a product; vectors are rows on the left, columns on the right. */
static real factor(const dpi_shape *shape, bool transposed, const real *a, size_t row,
                   size_t column, bool left)
{
    if (shape->n_dims == 1)
        return a[left ? column : row];
    return transposed ? a[column * shape->dim[1] + row] : a[row * shape->dim[1] + column];
}

static real product(const dpi_node *node, const dpi_shape *s[2], const real *in[2], size_t i,
                    size_t j)
{
    size_t inner = s[0]->n_dims == 1 ? s[0]->dim[0] : s[0]->dim[node->attr.transpose[0] ? 0 : 1];
    real sum = 0;
    for (size_t k = 0; k < inner; k++)
        sum += factor(s[0], node->attr.transpose[0], in[0], i, k, true) *
               factor(s[1], node->attr.transpose[1], in[1], k, j, false);
    return sum;
}

/* Element (i, j) of the contrasts: column j compares number j + 1 with those before it. */
static real contrast(size_t i, size_t j)
{
    real m = (real)(j + 1);
    return i <= j ? 1 / sqrtl(m * (m + 1)) : i == j + 1 ? -sqrtl(m / (m + 1)) : 0;
}

static real contrasts(const dpi_node *node, const dpi_shape *s, const real *in, const size_t *index)
{
    int last = s->n_dims - 1;
    size_t inner[DPI_MAX_DIMS];
    real sum = 0;
    memcpy(inner, index, sizeof inner);
    for (inner[last] = 0; inner[last] < s->dim[last]; inner[last]++)
        sum += in[position(s, inner, s->n_dims)] * (node->attr.transpose[0]
                                                        ? contrast(inner[last], index[last])
                                                        : contrast(index[last], inner[last]));
    return sum;
}

/* The sum of the numbers of a row up to the one with subscripts `index`, or from it on. */
static real accumulated(const dpi_node *node, const dpi_shape *s, const real *in,
                        const size_t *index)
{
    int last = s->n_dims - 1;
    bool behind = node->attr.transpose[0];
    size_t at[DPI_MAX_DIMS];
    real sum = 0;
    memcpy(at, index, sizeof at);
    if (s->n_dims == 0)
        return in[0];
    for (at[last] = 0; at[last] < s->dim[last]; at[last]++)
        if (behind ? at[last] >= index[last] : at[last] <= index[last])
            sum += in[position(s, at, s->n_dims)];
    return sum;
}

/* What the window sees: the number at `index` of the patches, whose second subscript counts rows,
 * columns and channels of the window.  *at, where not NULL, is its place in the image; the return
 * value says whether it has one. */
static bool place_of(const dpi_node *node, const dpi_shape *image, const size_t *index, size_t *at)
{
    const dpi_window *w = &node->attr.window;
    size_t channels = dpi_shape_size(image) / (w->image[0] * w->image[1]);
    size_t columns = (w->image[1] + 2 * w->padding[1] - w->size[1]) / w->stride[1] + 1;
    size_t in_window = index[1] / channels;
    size_t y = index[0] / columns * w->stride[0] + in_window / w->size[1];
    size_t x = index[0] % columns * w->stride[1] + in_window % w->size[1];
    *at = ((y - w->padding[0]) * w->image[1] + x - w->padding[1]) * channels + index[1] % channels;
    return y >= w->padding[0] && y < w->padding[0] + w->image[0] && x >= w->padding[1] &&
           x < w->padding[1] + w->image[1];
}

static real seen(const dpi_node *node, const dpi_shape *s, const real *in, const size_t *index)
{
    size_t at;
    return place_of(node, s, index, &at) ? in[at] : 0;
}

static real folded(const dpi_node *node, const dpi_shape *s, const real *in, size_t wanted)
{
    size_t index[DPI_MAX_DIMS], at;
    real sum = 0;
    for (size_t e = 0; e < dpi_shape_size(s); e++) {
        subscripts(s, e, index);
        if (place_of(node, &node->shape, index, &at) && at == wanted)
            sum += in[e];
    }
    return sum;
}

static size_t channels_of(const dpi_node *node, const dpi_shape *image)
{
    return dpi_shape_size(image) / (node->attr.window.image[0] * node->attr.window.image[1]);
}

/* The sum of what the window sees of channel c at a stop; *top, where it is largest. */
static real pooled(const dpi_node *node, const dpi_shape *image, const real *a, size_t stop,
                   size_t c, size_t *top)
{
    const dpi_window *w = &node->attr.window;
    real sum = 0, most = -INFINITY;
    for (size_t q = 0; q < w->size[0] * w->size[1]; q++) {
        size_t at, index[2] = {stop, q * channels_of(node, image) + c};
        if (!place_of(node, image, index, &at))
            continue;
        sum += a[at];
        if (a[at] > most) {
            most = a[at];
            *top = at;
        }
    }
    return sum;
}

/* What comes to a place from the stops that see it, or see it as the largest. */
static real unpooled(const dpi_node *node, const dpi_shape *stops, const real *of_stops,
                     const real *image, size_t wanted)
{
    const dpi_window *w = &node->attr.window;
    size_t channels = channels_of(node, &node->shape), c = wanted % channels, at, top = 0;
    real sum = 0;
    for (size_t stop = 0; stop < stops->dim[0]; stop++) {
        if (image != NULL)
            (void)pooled(node, &node->shape, image, stop, c, &top);
        for (size_t q = 0; q < w->size[0] * w->size[1]; q++)
            if (place_of(node, &node->shape, (size_t[]){stop, q * channels + c}, &at) &&
                at == wanted && (image == NULL || top == wanted))
                sum += of_stops[stop * channels + c];
    }
    return sum;
}

/* The mean over all elements that have the same row and group as element `at`. */
static real group_mean(const dpi_node *node, const dpi_shape *s, const real *in, size_t at)
{
    size_t size = dpi_shape_size(s), last = s->dim[s->n_dims - 1], each = size / node->attr.rows,
           channels = last / node->attr.number, count = 0;
    real sum = 0;
    for (size_t i = 0; i < size; i++)
        if (i / each == at / each && i % last / channels == at % last / channels) {
            sum += in[i];
            count++;
        }
    return sum / (real)count;
}

/* The sum of the numbers' rows that belong in row index[0]. */
static real scattered(const dpi_shape *s[2], const real *in[2], const size_t *index)
{
    size_t from[DPI_MAX_DIMS];
    real sum = 0;
    memcpy(from, index, sizeof from);
    for (from[0] = 0; from[0] < s[1]->dim[0]; from[0]++)
        if ((size_t)in[1][from[0]] == index[0])
            sum += in[0][position(s[0], from, s[0]->n_dims)];
    return sum;
}

/* The number that a pick or a slice takes. */
static real picked(const dpi_node *node, const dpi_shape *s[2], const real *in[2],
                   const size_t *index)
{
    size_t moved[DPI_MAX_DIMS + 1];
    bool picks = node->op == &dpi_op_pick, many = picks && s[1]->n_dims == 1;
    bool dropped = !many && node->shape.n_dims < s[0]->n_dims;
    size_t first = picks ? (size_t)in[1][many ? index[0] : 0] : node->attr.number;
    memcpy(moved + dropped, index, (size_t)node->shape.n_dims * sizeof *index);
    moved[0] = first + (dropped || many ? 0 : index[0]);
    return in[0][position(s[0], moved, s[0]->n_dims)];
}

/* Element of the result with subscripts `index`, for one record. */
static real element(const dpi_node *node, const dpi_shape *s[2], const real *in[2],
                    const size_t *index)
{
    const dpi_op *op = node->op;
    const dpi_shape *shape = &node->shape;
    size_t moved[DPI_MAX_DIMS + 1];
    if (naive_is_matrix(op))
        return naive_matrix(node, s, in, index);
    if (op->broadcasts)
        return binary(node, in[0][position(s[0], index, shape->n_dims)],
                      in[1][position(s[1], index, shape->n_dims)]);
    if (op == &dpi_op_expand || op == &dpi_op_spread)
        return in[0][position(s[0], index, (op == &dpi_op_expand ? shape : s[0])->n_dims)];
    if (op == &dpi_op_cumulative_sum)
        return accumulated(node, s[0], in[0], index);
    if (op == &dpi_op_contrast)
        return contrasts(node, s[0], in[0], index);
    if (op == &dpi_op_pool_sum || op == &dpi_op_pool_max) {
        size_t top = 0;
        real sum = pooled(node, s[0], in[0], index[0], index[1], &top);
        return op == &dpi_op_pool_sum ? sum : in[1][top];
    }
    if (op == &dpi_op_unpool_sum)
        return unpooled(node, s[0], in[0], NULL, position(shape, index, shape->n_dims));
    if (op == &dpi_op_unpool_max)
        return unpooled(node, s[1], in[1], in[0], position(shape, index, shape->n_dims));
    if (op == &dpi_op_group_mean)
        return group_mean(node, s[0], in[0], position(s[0], index, shape->n_dims));
    if (op == &dpi_op_matmul)
        return product(node, s, in, s[0]->n_dims == 2 ? index[0] : 0,
                       s[1]->n_dims == 2 ? index[shape->n_dims - 1] : 0);
    if (op == &dpi_op_outer)
        return in[0][index[0]] * in[1][index[1]];
    if (op == &dpi_op_scatter && s[1]->n_dims == 1)
        return scattered(s, in, index);
    if (op == &dpi_op_scatter)
        return index[0] == (size_t)in[1][0] ? in[0][position(s[0], index, shape->n_dims)] : 0;
    if (op == &dpi_op_pick || op == &dpi_op_slice)
        return picked(node, s, in, index);
    if (op == &dpi_op_reshape)
        return in[0][position(shape, index, shape->n_dims)];
    if (op == &dpi_op_patches)
        return seen(node, s[0], in[0], index);
    if (op == &dpi_op_fold)
        return folded(node, s[0], in[0], position(shape, index, shape->n_dims));
    if (op == &dpi_op_pad) {
        memcpy(moved, index, (size_t)shape->n_dims * sizeof *index);
        moved[0] -= node->attr.number; /* far beyond where the index is below */
        return moved[0] < node->attr.inner ? in[0][position(s[0], moved, shape->n_dims)] : 0;
    }
    return unary(node, in[0][position(s[0], index, shape->n_dims)]);
}

/* Sums, plain or in logarithms, go over the input's elements; the result's subscripts are the
 * input's last, or its first where the last dimension is summed over. */
static void reduce(naive *e, dpi_id id, real *out)
{
    const dpi_node *node = &e->g->nodes[id];
    const dpi_shape *s = &e->g->nodes[node->in[0]].shape;
    const real *a = naive_value(e, node->in[0]);
    size_t in_size = dpi_shape_size(s), out_size = dpi_shape_size(&node->shape),
           index[DPI_MAX_DIMS];
    bool last = node->op == &dpi_op_log_sum_exp || node->op == &dpi_op_sum_last;
    memset(out, 0, naive_count(e, id) * sizeof *out);
    for (size_t r = 0; r < (s->per_record ? e->n : 1); r++)
        for (size_t i = 0; i < in_size; i++) {
            subscripts(s, i, index);
            real x = a[r * in_size + i];
            size_t at = position(&node->shape, index, last ? node->shape.n_dims : s->n_dims);
            if (node->op == &dpi_op_sum_records)
                out[at] += x;
            else
                out[r * out_size + at] += node->op == &dpi_op_log_sum_exp ? expl(x) : x;
        }
    for (size_t i = 0; i < naive_count(e, id) && node->op == &dpi_op_log_sum_exp; i++)
        out[i] = logl(out[i]);
}

static void source(naive *e, dpi_id id, real *out)
{
    const dpi_node *node = &e->g->nodes[id];
    for (size_t i = 0; i < naive_count(e, id); i++)
        if (node->op == &dpi_op_ones)
            out[i] = 1;
        else if (node->op == &dpi_op_const)
            out[i] = node->attr.array != NULL ? node->attr.array[i] : node->attr.value;
}

static void compute(naive *e, dpi_id id)
{
    const dpi_node *node = &e->g->nodes[id];
    real *out = naive_value(e, id);
    if (node->op->n_inputs == 0) {
        source(e, id, out);
        return;
    }
    if (node->op == &dpi_op_sum_to || node->op == &dpi_op_log_sum_exp ||
        node->op == &dpi_op_sum_last || node->op == &dpi_op_sum_records) {
        reduce(e, id, out);
        return;
    }
    if (node->op == &dpi_op_log_beta_tail) {
        for (size_t i = 0; i < naive_count(e, id); i++)
            out[i] = naive_beta_tail(node->attr.number, naive_value(e, node->in[0]) + 3 * i);
        return;
    }
    const dpi_shape *s[2] = {NULL, NULL};
    for (int k = 0; k < node->op->n_inputs; k++)
        s[k] = &e->g->nodes[node->in[k]].shape;
    size_t size = dpi_shape_size(&node->shape), index[DPI_MAX_DIMS + 1];
    for (size_t r = 0; r < (node->shape.per_record ? e->n : 1); r++)
        for (size_t i = 0; i < size; i++) {
            const real *in[2] = {NULL, NULL};
            for (int k = 0; k < node->op->n_inputs; k++)
                in[k] =
                    naive_value(e, node->in[k]) + (s[k]->per_record ? r * dpi_shape_size(s[k]) : 0);
            subscripts(&node->shape, i, index);
            out[r * size + i] = element(node, s, in, index);
        }
}

void naive_run(naive *e, dpi_id id)
{
    bool *needed = calloc(e->g->n_nodes, sizeof *needed);
    dpi_mark(e->g, id, needed);
    for (dpi_id i = 0; i <= id; i++)
        if (needed[i])
            compute(e, i);
    free(needed);
}

static void shift(naive *e, size_t n_in, const dpi_id *in, const real *const *direction, real by)
{
    for (size_t k = 0; k < n_in; k++)
        for (size_t i = 0; i < naive_count(e, in[k]); i++)
            naive_value(e, in[k])[i] += by * direction[k][i];
}

void naive_slope(naive *e, dpi_id root, size_t n_in, const dpi_id *in, const real *const *direction,
                 real h, real *slope, real *error)
{
    size_t count = naive_count(e, root);
    real **kept = calloc(n_in + 1, sizeof *kept), *level[3];
    for (size_t k = 0; k < n_in; k++) {
        kept[k] = calloc(naive_count(e, in[k]) + 1, sizeof *kept[k]);
        memcpy(kept[k], naive_value(e, in[k]), naive_count(e, in[k]) * sizeof *kept[k]);
    }
    for (int j = 0; j < 3; j++, h /= 2) {
        level[j] = calloc(count, sizeof *level[j]);
        for (int side = 1; side >= -1; side -= 2) {
            shift(e, n_in, in, direction, side * h);
            naive_run(e, root);
            for (size_t i = 0; i < count; i++)
                level[j][i] += side * naive_value(e, root)[i] / (2 * h);
            for (size_t k = 0; k < n_in; k++)
                memcpy(naive_value(e, in[k]), kept[k], naive_count(e, in[k]) * sizeof *kept[k]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        real coarse = (4 * level[1][i] - level[0][i]) / 3,
             fine = (4 * level[2][i] - level[1][i]) / 3;
        slope[i] = (16 * fine - coarse) / 15;
        error[i] = fabsl(slope[i] - fine);
    }
    for (int j = 0; j < 3; j++)
        free(level[j]);
    for (size_t k = 0; k < n_in; k++)
        free(kept[k]);
    free(kept);
}
