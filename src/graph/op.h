/* What the operations mean: one row each, in a table indexed by id.
 *
 * A row has a name, its formula, the class, the attributes that it reads, the number of inputs, a
 * shape rule, the rule of reverse mode and the cost.  Which operations there are stands in
 * op-list.h; tests walk the table, so a row without test points fails. */
#ifndef DPI_GRAPH_OP_H
#define DPI_GRAPH_OP_H

#include "graph/graph.h"
#include "graph/op-list.h"

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

typedef enum dpi_op_class {
    DPI_SOURCE,      /* no inputs: the value comes from outside the operations */
    DPI_LINEAR,      /* a linear map of all inputs together: f(s a, s b) = s f(a, b), and sums */
    DPI_BILINEAR,    /* linear in each of two inputs */
    DPI_ELEMENTWISE, /* number by number, and not linear */
    DPI_LAYOUT,      /* numbers are moved, repeated, left out or padded; none is computed */
    DPI_REDUCTION,   /* one number of many */
    DPI_SELECTION,   /* the values of one input say which numbers of the other are meant */
    DPI_N_CLASSES,
} dpi_op_class;

/* The fields of dpi_attr. */
enum {
    DPI_ATTR_NONE = 0,
    DPI_ATTR_SHAPE = 1 << 0,
    DPI_ATTR_VALUE = 1 << 1,
    DPI_ATTR_ARRAY = 1 << 2,
    DPI_ATTR_NUMBER = 1 << 3,
    DPI_ATTR_ROWS = 1 << 4,
    DPI_ATTR_INNER = 1 << 5,
    DPI_ATTR_COLUMNS = 1 << 6,
    DPI_ATTR_TRANSPOSE = 1 << 7,
    DPI_ATTR_WINDOW = 1 << 8,
};

typedef struct dpi_op {
    dpi_op_id id;
    const char *name, *formula;
    dpi_op_class class;
    unsigned given; /* fields of attr that make the operation; `shape` finds the others from them */
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

extern const dpi_op *const dpi_ops[DPI_N_OPS];

#define DPI_DECLARE_OP(name) extern const dpi_op dpi_op_##name;
DPI_OPS(DPI_DECLARE_OP)
#undef DPI_DECLARE_OP

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
