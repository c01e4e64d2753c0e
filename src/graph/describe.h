/* A graph as text for people and for Graphviz, with its cost.
 *
 * Nodes are global (one value for all records) or per-record.  A crossing is an operation on one
 * value of each kind whose global side can vary, that is, depends on an input and not on constants
 * alone: there, and only there, records act on parameters.
 *
 * The text depends on nothing but the graph: the same on every machine and in every locale. */
#ifndef DPI_GRAPH_DESCRIBE_H
#define DPI_GRAPH_DESCRIBE_H

#include "graph/graph.h"

/* In what follows `chosen` says which nodes are meant: [n_nodes] as filled by dpi_mark, or NULL for
 * all.  Fails with DP_ENOMEM. */

/* One line a node: id ('*' at a crossing), name, operation on its inputs, shape, flops, source line
 * and formula; then the totals.  *text is the caller's, to be freed with dpi_free; NULL on
 * error. */
dp_status dpi_graph_text(const dpi_graph *g, const bool *chosen, char **text,
                         dp_error *err) DP_MUST_CHECK;

/* The same graph for Graphviz: global nodes blue, per-record nodes yellow, crossings with a red
 * frame; the source line is in the tooltip.  *text as above. */
dp_status dpi_graph_dot(const dpi_graph *g, const bool *chosen, char **text,
                        dp_error *err) DP_MUST_CHECK;

#endif
