/* What the operations mean: one row each, in a table indexed by id.
 *
 * A row has a name, its formula, the class, the attributes that it reads, the number of inputs, a
 * shape rule, the rule of reverse mode and the cost.  What an interpreter does with an operation
 * stands in that interpreter's own table, by id: kernels in kernel.h, the executor's tables in
 * src/exec.  Which operations there are stands in op-list.h; tests walk all tables.
 *
 * Nobody outside an operation's own file asks which operation a node is: what must be known of it
 * is its class, a rule of its row, a row of a table, or a question of those below
 * (tools/check-operations). */
#ifndef DPI_GRAPH_OP_H
#define DPI_GRAPH_OP_H

#include "graph/graph.h"
#include "graph/op-list.h"
#include "num/tail.h"

typedef enum dpi_op_class {
    DPI_SOURCE,      /* no inputs: the value comes from outside the operations */
    DPI_LINEAR,      /* a linear map of all inputs together: f(s a, s b) = s f(a, b), and sums */
    DPI_BILINEAR,    /* linear in each of two inputs */
    DPI_ELEMENTWISE, /* number by number, and not linear */
    DPI_LAYOUT,      /* numbers are moved, repeated, left out or padded; none is computed */
    DPI_REDUCTION,   /* one number of many */
    DPI_DENSE,       /* each number of many of both inputs' numbers, and not linear */
    DPI_SELECTION,   /* the values of one input say which numbers of the other are meant */
    DPI_N_CLASSES,
} dpi_op_class;

typedef struct dpi_op {
    dpi_op_id id;
    const char *name, *formula;
    dpi_op_class class;
    /* Members of attr (graph/attr.h) that make the operation; `shape` finds the others from
     * them. */
    unsigned given;
    int n_inputs;
    bool broadcasts; /* smaller inputs are repeated to the result's dimensions */
    /* Sets *shape, and fields of *attr that depend on the inputs' shapes.  On a misfit returns a
     * sentence fragment saying what would fit; NULL when all is well. */
    const char *(*shape)(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr, dpi_shape *shape);
    /* adjoint[k] = the adjoint of y times dy/d(input k), as nodes of g, of the input's shape or one
     * that broadcasting or summing over broadcast axes turns into it.  NULL: no gradient. */
    void (*backward)(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2]);
    double (*flops)(const dpi_node *node); /* for one record */
    bool over_records;                     /* the result is one sum over all records */
    bool by_groups;                        /* input 1 says which rows: a column of group numbers */
    bool transposes;                       /* attr.transpose[k] is of input k, a matrix */

    const char *call; /* the public call that makes it, for messages; NULL: it has the same name */

    /* Rules that few operations have, else NULL. */
    /* A node with the values and the shape that `node`, which is not in the graph, would have:
     * there already, or cheaper.  DPI_NONE where there is nothing to gain. */
    dpi_id (*simplify)(dpi_graph *g, const dpi_node *node);
    /* What is wrong with the inputs that their shapes do not tell, in words like those of `shape`;
     * NULL when all is well. */
    const char *(*misfit)(const dpi_graph *g, const dpi_node *node);
    /* What is written behind the name, with a blank in front: " 2 ... 4". */
    void (*detail)(const dpi_node *node, char *text, size_t size);
} dpi_op;

/* attr.number of an input that the caller sets only after all records have run. */
enum { DPI_LATE = 1 };

extern const dpi_op *const dpi_ops[DPI_N_OPS];

#define DPI_DECLARE_OP(name) extern const dpi_op dpi_op_##name;
DPI_OPS(DPI_DECLARE_OP)
#undef DPI_DECLARE_OP

/* Of nodes without inputs. */
bool dpi_is_source(const dpi_node *node); /* any of them */
bool dpi_is_const(const dpi_node *node);  /* a number, or an array of numbers */
bool dpi_is_number(const dpi_node *node); /* attr.value */
bool dpi_is_ones(const dpi_node *node);
bool dpi_is_input(const dpi_node *node);  /* set by who runs the graph */
bool dpi_is_late(const dpi_node *node);   /* an input that is set after all records have run */
bool dpi_is_column(const dpi_node *node); /* read from a column of its name */
bool dpi_is_groups(const dpi_node *node); /* a column of group numbers below attr.number */

/* Whether a node is a b, elementwise. */
bool dpi_is_product(const dpi_node *node);

/* How many numbers a node adds up in logarithms, log sum_j e^(a_j); 0 for any other node. */
size_t dpi_log_summed(const dpi_node *node);

/* The values of a source that has the same in every run, put into out[n]; else nothing is done. */
void dpi_put_fixed(const dpi_node *node, size_t n, double *out);

/* Shape rules that rows share: the larger operand's dimensions, and a's. */
const char *dpi_binary_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                             dpi_shape *shape);
const char *dpi_unary_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                            dpi_shape *shape);

/* Shorthands used by rules and distributions; same conventions as dpi_apply. */
dpi_id dpi_add(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_sub(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_times(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_div(dpi_graph *g, dpi_id a, dpi_id b);
dpi_id dpi_unary(dpi_graph *g, const dpi_op *op, dpi_id a);
dpi_id dpi_scale(dpi_graph *g, double factor, dpi_id a);
/* log a, or b where a is e^b and not closed. */
dpi_id dpi_log_of(dpi_graph *g, dpi_id a);
/* (x - loc) / scale, or e where x was made as loc + scale e. */
dpi_id dpi_standardized(dpi_graph *g, dpi_id x, dpi_id loc, dpi_id scale);
dpi_id dpi_polygamma_node(dpi_graph *g, size_t order, dpi_id a);
dpi_id dpi_log_normal_cdf_node(dpi_graph *g, size_t order, dpi_id a);
dpi_id dpi_log_bessel_node(dpi_graph *g, size_t order, dpi_id a);
dpi_id dpi_rising_node(dpi_graph *g, size_t order, dpi_id a, dpi_id b);
dpi_id dpi_tail_node(dpi_graph *g, const dpi_op *op, dpi_tail_side side, dpi_id a, dpi_id b);
/* Student's log density at z, scale 1; log Gamma((df + 1) / 2) - log Gamma(df / 2) - log(df) / 2
 * with all digits (student-density.c). */
dpi_id dpi_log_student_density(dpi_graph *g, dpi_id df, dpi_id z);
dpi_id dpi_log_gamma_ratio(dpi_graph *g, dpi_id df);
dpi_id dpi_beta_tail_node(dpi_graph *g, dpi_id a, dpi_id b, dpi_id t);
dpi_id dpi_sum(dpi_graph *g, dpi_id a); /* over all dimensions, not over records */
dpi_id dpi_sum_to(dpi_graph *g, dpi_id a, dpi_shape shape);
dpi_id dpi_expand(dpi_graph *g, dpi_id a, dpi_shape shape);

/* What is repeated to make the value, or the value; and a where it is a - b with one number b for
 * all numbers of a, or the value: numbers of either differ by the same. */
dpi_id dpi_expanded(const dpi_graph *g, dpi_id value);
dpi_id dpi_unshifted(const dpi_graph *g, dpi_id value);

/* y, of one dimension less, repeated over the last dimension of a so that it fits a. */
dpi_id dpi_spread_over(dpi_graph *g, dpi_id y, dpi_id a);

/* Whether a value is zeros but for one row, *row, whose number is *group (a scatter by one group
 * number); else both are DPI_NONE. */
bool dpi_one_row(const dpi_graph *g, dpi_id value, dpi_id *row, dpi_id *group);

/* Values that are kept where a condition is not 0, or where it is 0, and are 0 elsewhere. */
typedef struct dpi_mask {
    dpi_id condition;
    bool where_zero;
} dpi_mask;

dpi_id dpi_keep(dpi_graph *g, dpi_id a, dpi_mask mask);

/* Whether a value was kept so: *a of what and *mask where; else *a is the value. */
bool dpi_kept(const dpi_graph *g, dpi_id value, dpi_id *a, dpi_mask *mask);

/* a where `chosen` is not 0, else b; what is not chosen may be infinite or not a number. */
dpi_id dpi_choose(dpi_graph *g, dpi_id chosen, dpi_id a, dpi_id b);

/* Whether a number of the result, and of an adjoint, depends on no other number of an input than
 * that in its place. */
bool dpi_is_numberwise(const dpi_op *op);

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
