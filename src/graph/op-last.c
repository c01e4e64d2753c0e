/* The last dimension: summed away, summed away in logarithms, put there again, and shortened by
 * one.
 *
 *   sum_last     [..][d] -> [..]     log_sum_exp  [..][d] -> [..]     spread  [..] -> [..][d]
 *   contrast     [..][d] -> [..][d + 1], and transposed [..][d + 1] -> [..][d]
 *
 * Broadcasting repeats over leading dimensions (op-reduce.c); these are for values that have a
 * number for each row: the components of a mixture, each with a density of d numbers. */
#include <math.h>

#include "graph/op-numbers.h"
#include "num/map.h"

static const char *drop_last(const dpi_shape *a, dpi_attr *attr, dpi_shape *shape)
{
    *shape = *a;
    shape->n_dims--;
    attr->inner = a->dim[shape->n_dims];
    shape->dim[shape->n_dims] = 0;
    shape->plate[shape->n_dims] = 0;
    return NULL;
}

dpi_id dpi_spread_over(dpi_graph *g, dpi_id y, dpi_id a)
{
    if (y == DPI_NONE || a == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, a)->shape;
    if (shape.n_dims <= 1)
        return y; /* a number is repeated by broadcasting */
    dpi_attr attr = {.number = shape.dim[shape.n_dims - 1],
                     .shape.plate[0] = shape.plate[shape.n_dims - 1]};
    return dpi_apply(g, &dpi_op_spread, y, DPI_NONE, &attr);
}

/* y = sum_j a_j over the last dimension, of attr.inner numbers. */
static const char *sum_last_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    return a->n_dims > 0 ? drop_last(a, attr, shape) : "a sum over the last dimension needs one";
}

/* The length of a row that becomes one number. */
static size_t row_length(size_t in_size, size_t out_size)
{
    return out_size == 0 ? 0 : in_size / out_size;
}

DPI_INLINE void sum_last(const dpi_any_call *c)
{
    size_t d = row_length(c->in_size[0], c->out_size);
    for (size_t i = 0; i < c->n * c->out_size; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += c->type.get(c->in[0], i * d + j);
        c->type.put(c->out, i, sum);
    }
}
DPI_BOTH(sum_last, )

static void sum_last_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    bool is_number = dpi_get(g, adjoint)->shape.n_dims == 0;
    result[0] = is_number
                    ? adjoint
                    : dpi_spread_over(g, dpi_full_adjoint(g, y, adjoint), dpi_get(g, y)->in[0]);
}

/* y = log sum_j e^(a_j) over the last dimension, of attr.inner numbers. */
static const char *log_sum_exp_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                     dpi_shape *shape)
{
    (void)b;
    return a->n_dims > 0 ? drop_last(a, attr, shape) : "log_sum_exp takes a vector or rows";
}

static double log_sum_exp(size_t n, const double *a)
{
    double top = -INFINITY, sum = 0;
    for (size_t e = 0; e < n; e++)
        top = a[e] > top || isnan(a[e]) ? a[e] : top;
    for (size_t e = 0; e < n; e++)
        sum += exp(a[e] - top);
    return isinf(top) ? top : top + log(sum);
}

static void log_sum_exp_forward(const dpi_call *c)
{
    size_t d = row_length(c->in_size[0], c->out_size);
    for (size_t i = 0; i < c->n * c->out_size; i++)
        c->out[i] = log_sum_exp(d, c->in[0] + i * d);
}

enum { PIECE = 256 }; /* numbers whose exponentials are taken at once */

static float largest(size_t n, const float *a)
{
    float top = -INFINITY;
    for (size_t e = 0; e < n; e++)
        top = a[e] > top || isnan(a[e]) ? a[e] : top;
    return top;
}

/* The largest numbers of all rows are put into out[], then exponentials are taken piece by piece,
 * across rows, and added up in double. */
static void log_sum_exp_single(const dpi_call_single *c)
{
    size_t d = row_length(c->in_size[0], c->out_size), total = c->n * c->in_size[0], left;
    for (size_t i = 0; i < c->n * c->out_size; i++)
        c->out[i] = largest(d, c->in[0] + i * d);
    float below[PIECE], power[PIECE], *out = c->out;
    double sum = 0;
    for (size_t from = 0, j = 0; from < total; from += left) {
        left = total - from < PIECE ? total - from : PIECE;
        const float *top = out;
        for (size_t i = 0, k = j; i < left; i++, k = k + 1 == d ? 0 : k + 1) {
            below[i] = c->in[0][from + i] - *top;
            top += k + 1 == d;
        }
        dpi_map_single(DPI_MAP_EXP, left, below, power);
        for (size_t i = 0; i < left; i++) {
            sum += power[i];
            if (++j < d)
                continue;
            *out = isinf(*out) ? *out : (float)(*out + log(sum));
            out++, sum = 0, j = 0;
        }
    }
}

/* dy/da_j = e^(a_j - y) */
static void log_sum_exp_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id a = dpi_get(g, y)->in[0];
    bool is_number = dpi_get(g, adjoint)->shape.n_dims == 0;
    dpi_id share = dpi_unary(g, &dpi_op_exp, dpi_sub(g, a, dpi_spread_over(g, y, a)));
    dpi_id each = is_number ? adjoint : dpi_spread_over(g, dpi_full_adjoint(g, y, adjoint), a);
    result[0] = dpi_times(g, each, share);
}

/* y_j = a for j < attr.number, along a new last dimension of the plate attr.shape.plate[0]. */
static const char *spread_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)b;
    if (a->n_dims == DPI_MAX_DIMS || attr->number == 0)
        return "it cannot have one more dimension";
    *shape = *a;
    shape->plate[shape->n_dims] = attr->shape.plate[0];
    shape->dim[shape->n_dims++] = attr->number;
    return NULL;
}

DPI_INLINE void spread(const dpi_any_call *c)
{
    size_t d = c->attr->number;
    for (size_t i = 0; i < c->n * c->in_size[0]; i++) {
        double a = c->type.get(c->in[0], i);
        for (size_t j = 0; j < d; j++)
            c->type.put(c->out, i * d + j, a);
    }
}
DPI_BOTH(spread, )

static void spread_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_unary(g, &dpi_op_sum_last, dpi_full_adjoint(g, y, adjoint));
}

/* |y|^2 = d |a|^2 */
static void spread_norm2(const dpi_call *c, double *norm2)
{
    for (size_t r = 0; r < c->n; r++) {
        double sum = 0;
        for (size_t i = 0; i < c->in_size[0]; i++) {
            double a = c->in[0][r * c->in_step[0] + i];
            sum += a * a;
        }
        norm2[r] += (double)c->attr->number * sum;
    }
}

static void spread_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    size_t d = c->attr->number;
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; weight[r] != 0 && i < c->in_size[0]; i++)
            for (size_t j = 0; j < d; j++)
                total[i * d + j] += weight[r] * c->in[0][r * c->in_step[0] + i];
}

/* y = V a, where V is [d + 1][d] with orthonormal columns that sum to 0 (Helmert's):
 *
 *   V_ij = s_j for i <= j,  -(j + 1) s_j for i = j + 1,  else 0,   s_j = 1 / sqrt((j + 1) (j + 2)).
 *
 * Lengths stay as they are.  With attr.transpose[0], y = V^T a, which undoes it. */
static const char *contrast_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    bool back = attr->transpose[0];
    size_t d = a->n_dims > 0 ? a->dim[a->n_dims - 1] : 0;
    if (d < (back ? 2 : 1))
        return "contrasts are of two numbers or more";
    *shape = *a;
    shape->dim[a->n_dims - 1] = attr->inner = back ? d - 1 : d + 1;
    return NULL;
}

/* s_j */
static double contrast_scale(size_t j)
{
    return 1 / sqrt((double)(j + 1) * (double)(j + 2));
}

DPI_INLINE void contrast_row(const dpi_numbers *t, size_t d, const void *a, void *y)
{
    double sum = 0;
    for (size_t i = d; i > 0; i--) {
        double term = contrast_scale(i - 1) * t->get(a, i - 1);
        t->put(y, i, sum - (double)i * term);
        sum += term;
    }
    t->put(y, 0, sum);
}

DPI_INLINE void contrast_row_back(const dpi_numbers *t, size_t d, const void *a, void *y)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += t->get(a, j);
        t->put(y, j, contrast_scale(j) * (sum - (double)(j + 1) * t->get(a, j + 1)));
    }
}

DPI_INLINE void contrast(const dpi_any_call *c)
{
    size_t to = c->attr->inner;
    bool back = c->attr->transpose[0];
    size_t from = back ? to + 1 : to - 1;
    for (size_t i = 0; i < c->n * c->out_size / to; i++)
        if (back)
            contrast_row_back(&c->type, to, dpi_from(c, 0, i * from), dpi_to(c, i * to));
        else
            contrast_row(&c->type, from, dpi_from(c, 0, i * from), dpi_to(c, i * to));
}
DPI_BOTH(contrast, )

static void contrast_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.transpose[0] = !dpi_get(g, y)->attr.transpose[0]};
    result[0] = dpi_apply(g, &dpi_op_contrast, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static double contrast_flops(const dpi_node *node)
{
    return 4 * (double)dpi_shape_size(&node->shape);
}

static double sum_last_flops(const dpi_node *node)
{
    return (double)node->attr.inner * (double)dpi_shape_size(&node->shape);
}

static double log_sum_exp_flops(const dpi_node *node)
{
    return 21 * sum_last_flops(node);
}

const dpi_op dpi_op_sum_last = {.id = DPI_OP_sum_last,
                                .name = "sum_last",
                                .formula = "sum_j a_j over the last dimension",
                                .class = DPI_REDUCTION,
                                .n_inputs = 1,
                                .shape = sum_last_shape,
                                .forward = sum_last_forward,
                                .single = sum_last_single,
                                .backward = sum_last_backward,
                                .flops = sum_last_flops};
const dpi_op dpi_op_log_sum_exp = {.id = DPI_OP_log_sum_exp,
                                   .name = "log_sum_exp",
                                   .formula = "log sum_j e^(a_j)",
                                   .class = DPI_REDUCTION,
                                   .n_inputs = 1,
                                   .shape = log_sum_exp_shape,
                                   .forward = log_sum_exp_forward,
                                   .single = log_sum_exp_single,
                                   .backward = log_sum_exp_backward,
                                   .flops = log_sum_exp_flops};
const dpi_op dpi_op_spread = {.id = DPI_OP_spread,
                              .name = "spread",
                              .formula = "a along a new last dimension",
                              .class = DPI_LAYOUT,
                              .given = DPI_ATTR_NUMBER | DPI_ATTR_SHAPE,
                              .n_inputs = 1,
                              .shape = spread_shape,
                              .forward = spread_forward,
                              .single = spread_single,
                              .backward = spread_backward,
                              .flops = dpi_flops_none,
                              .norm2 = spread_norm2,
                              .weighted_sum = spread_weighted_sum};
const dpi_op dpi_op_contrast = {.id = DPI_OP_contrast,
                                .name = "contrast",
                                .formula = "V a, V orthonormal with columns of sum 0",
                                .class = DPI_LINEAR,
                                .given = DPI_ATTR_TRANSPOSE,
                                .n_inputs = 1,
                                .shape = contrast_shape,
                                .forward = contrast_forward,
                                .single = contrast_single,
                                .backward = contrast_backward,
                                .flops = contrast_flops};
