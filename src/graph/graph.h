/* The graph: nodes in the order in which they were added, so that ids are a topological order.
 *
 * A node is an operation applied to at most two earlier nodes, with attributes and a shape.  The
 * graph knows nothing of training, privacy or distributions.  Adding a node computes its shape by
 * the operation's rule, folds constants, and returns an equal earlier node where there is one
 * (sources that stand for different things are never merged).  The first error sticks to the
 * dp_error given at the start; from then on every call returns DPI_NONE.
 *
 * Not thread-safe while it grows; const and shareable afterwards. */
#ifndef DPI_GRAPH_GRAPH_H
#define DPI_GRAPH_GRAPH_H

#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "graph/attr.h"

enum { DPI_NONE = -1 };

typedef int32_t dpi_id;

/* The caller's file and line; the file's text outlives the graph. */
typedef struct dpi_where {
    const char *file;
    int line;
} dpi_where;

typedef struct dpi_node {
    const struct dpi_op *op;
    dpi_id in[2];
    dpi_shape shape;
    dpi_attr attr;
    const char *name; /* of a source or a site; NULL for plain expressions */
    dpi_where where;  /* of the site declared last before this node */
    bool closed;      /* dpi_log_of does not look into it */
} dpi_node;

typedef struct dpi_graph {
    dpi_arena *arena;
    dp_error *err;
    dpi_node *nodes;
    size_t n_nodes, capacity;
    dpi_id *table; /* open-addressing hash of nodes for reuse; size is a power of two */
    size_t table_size;
    dpi_where where; /* given to the nodes that are added */
} dpi_graph;

/* An empty graph whose nodes live in `arena`, whose errors go to `err`; both outlive it. */
void dpi_graph_init(dpi_graph *g, dpi_arena *arena, dp_error *err);

/* Adds op(a, b); a or b is DPI_NONE where the operation takes fewer inputs; attr is nullable.
 * Returns DPI_NONE after an error, or when an input is DPI_NONE that should not be. */
dpi_id dpi_apply(dpi_graph *g, const struct dpi_op *op, dpi_id a, dpi_id b, const dpi_attr *attr);

/* Adds a node of a stored graph as it was: nothing is folded or simplified, so that ids stay what
 * they were.  Its op, inputs and attributes are given, from anywhere: they are checked, and the
 * shape is computed; a name it has is not taken.  DP_EDATA where a rule of dpi_apply would refuse
 * them, give other attributes or simplify them, where there is an equal node, and where groups are
 * not told by an index column. */
dpi_id dpi_put_back(dpi_graph *g, const dpi_node *node);

/* A source node: a value that comes from outside the graph.  The name is copied. */
dpi_id dpi_source(dpi_graph *g, const struct dpi_op *op, const char *name, dpi_attr attr);

/* A constant number. */
dpi_id dpi_constant(dpi_graph *g, double value);

/* A constant array, copied. */
dpi_id dpi_constant_array(dpi_graph *g, dpi_shape shape, const double *values);

/* Makes a value of each record a column of that name, which is not copied and lives as long as the
 * graph: it is read, no longer computed.  For who has computed it for all records, and adds nothing
 * to the graph any more. */
void dpi_read_instead(dpi_graph *g, dpi_id id, const char *name);

/* Makes a value of each record an input, which whoever runs the graph sets. */
void dpi_set_instead(dpi_graph *g, dpi_id id);

/* The node, for reading; aborts for an id that is none. */
const dpi_node *dpi_get(const dpi_graph *g, dpi_id id);

/* True when the node is a constant number, and equal to `value`. */
bool dpi_is_constant(const dpi_graph *g, dpi_id id, double value);

/* Marks, in needed[n_nodes], every node that `id` depends on, itself included. */
void dpi_mark(const dpi_graph *g, dpi_id id, bool *needed);

/* The expression as text a reader recognises, "district_effect" or "mul(...)"; returns buffer. */
const char *dpi_node_text(const dpi_graph *g, dpi_id id, char *buffer, size_t size);

#endif
