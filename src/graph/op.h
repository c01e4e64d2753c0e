/* The operation table: all that is known of an operation stands in its row.
 *
 * A row has a name, its formula, the number of inputs, a shape rule, the kernel, the rule of
 * reverse mode and the cost.  A new operation is one row (and a line in the table of op.c); the
 * gradient test walks the table, so a row without test points fails. */
#ifndef DPI_GRAPH_OP_H
#define DPI_GRAPH_OP_H

#include "graph/graph.h"

/* One evaluation of one node: n records, or n = 1 for a global node.  Buffers are row-major,
 * in[k][n or 1][in_size[k]] and out[n][out_size].  They do not overlap. */
typedef struct dpi_call {
    void (*forward)(const struct dpi_call *call);
    size_t n;
    const double *in[2];
    double *out;
    size_t in_size[2], out_size;
    size_t in_step[2]; /* in_size[k] when the input is per-record, 0 when it is global */
    const dpi_attr *attr;
} dpi_call;

/* The same in single precision. */
typedef struct dpi_call_single {
    size_t n;
    const float *in[2];
    float *out;
    size_t in_size[2], out_size, in_step[2];
    const dpi_attr *attr;
} dpi_call_single;

typedef struct dpi_op {
    const char *name, *formula;
    int n_inputs;
    bool broadcasts; /* smaller inputs are repeated to the result's dimensions */
    /* Sets *shape, and fields of *attr that depend on the inputs' shapes.  On a misfit returns a
     * sentence fragment saying what would fit; NULL when all is well. */
    const char *(*shape)(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr, dpi_shape *shape);
    void (*forward)(const dpi_call *call); /* NULL: the value is put there from outside */
    /* Forward on floats; NULL where forward is, and for sums over records, which are doubles. */
    void (*single)(const dpi_call_single *call);
    /* adjoint[k] = the adjoint of y times dy/d(input k), as nodes of g, of the input's shape or one
     * that broadcasting or summing over broadcast axes turns into it.  NULL: no gradient. */
    void (*backward)(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2]);
    double (*flops)(const dpi_node *node); /* for one record */
    /* Factored forms of a per-record result, from the inputs and without making it: squared norms,
     * added to norm2[n], and the weighted sum over records, added to sum[out_size]; records with
     * weight zero are skipped whatever they hold.  NULL: the result itself is used. */
    void (*norm2)(const dpi_call *call, double *norm2);
    void (*weighted_sum)(const dpi_call *call, const double *weight, double *sum);
} dpi_op;

/* attr.number of an input that the caller sets only after all records have run. */
enum { DPI_LATE = 1 };

extern const dpi_op *const dpi_ops[];
extern const size_t dpi_n_ops;

/* sources */
extern const dpi_op dpi_op_const; /* attr.value, or attr.array */
extern const dpi_op dpi_op_input; /* set by the executor's caller: parameters, draws, sites */
extern const dpi_op dpi_op_data;  /* a real column block of the records */
extern const dpi_op dpi_op_index; /* a 0-based group number of each record, below attr.number */
extern const dpi_op dpi_op_ones;  /* 1 for each record */
/* elementwise */
extern const dpi_op dpi_op_add, dpi_op_sub, dpi_op_mul, dpi_op_div;
extern const dpi_op dpi_op_neg, dpi_op_exp, dpi_op_expm1, dpi_op_log, dpi_op_log1p, dpi_op_sqrt;
extern const dpi_op dpi_op_square, dpi_op_logistic, dpi_op_softplus, dpi_op_tanh, dpi_op_abs;
extern const dpi_op dpi_op_sign, dpi_op_lgamma, dpi_op_polygamma;
/* between layers */
extern const dpi_op dpi_op_relu, dpi_op_step, dpi_op_max, dpi_op_normal_cdf, dpi_op_group_mean;
extern const dpi_op dpi_op_pool_sum, dpi_op_unpool_sum, dpi_op_pool_max, dpi_op_unpool_max;
/* reductions and their inverses */
extern const dpi_op dpi_op_sum_to, dpi_op_expand, dpi_op_sum_records;
extern const dpi_op dpi_op_sum_last, dpi_op_log_sum_exp, dpi_op_spread, dpi_op_contrast;
/* products */
extern const dpi_op dpi_op_matmul, dpi_op_outer;
/* selection */
extern const dpi_op dpi_op_pick, dpi_op_scatter, dpi_op_slice, dpi_op_pad;
/* numbers in other places */
extern const dpi_op dpi_op_reshape, dpi_op_patches, dpi_op_fold;

/* Shorthands used by rules and distributions; same conventions as dpi_apply. */
dpi_id dpi_add(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_sub(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_times(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_div(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_unary(dpi_graph *g, const dpi_op *op, dpi_id a);
dpi_id dpi_scale(dpi_graph *g, double factor, dpi_id a);
dpi_id dpi_polygamma_node(dpi_graph *g, size_t order, dpi_id a);
dpi_id dpi_sum(dpi_graph *g, dpi_id a); /* over all dimensions, not over records */
dpi_id dpi_sum_to(dpi_graph *g, dpi_id a, dpi_shape shape);
dpi_id dpi_expand(dpi_graph *g, dpi_id a, dpi_shape shape);

/* y, of one dimension less, repeated over the last dimension of a so that it fits a. */
dpi_id dpi_spread_over(dpi_graph *g, dpi_id y, dpi_id a);

/* Number of positions of a window along an axis: 0 from row to row, 1 from column to column. */
size_t dpi_window_stops(const dpi_window *window, int axis);

/* NULL when the window fits its image, else what would fit. */
const char *dpi_window_misfit(const dpi_window *window);

/* Channels of an image of these dimensions, of a window that fits; 0 when it is none. */
size_t dpi_window_channels(const dpi_window *window, const dpi_shape *image);

/* Value of a node's adjoint in the node's own full shape. */
dpi_id dpi_full_adjoint(dpi_graph *g, dpi_id y, dpi_id adjoint);

/* Cost helpers of the rows: flops for each element of the result. */
double dpi_flops_none(const dpi_node *node);
double dpi_flops_cheap(const dpi_node *node);          /* 1 */
double dpi_flops_transcendental(const dpi_node *node); /* 20 */

#endif
