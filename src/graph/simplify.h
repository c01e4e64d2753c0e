/* Nodes that are not needed, because there is one with the same values or a cheaper one. */
#ifndef DPI_GRAPH_SIMPLIFY_H
#define DPI_GRAPH_SIMPLIFY_H

#include "graph/graph.h"

/* A node with the values and the shape that `node`, which is not in the graph, would have; DPI_NONE
 * where there is nothing to gain. */
dpi_id dpi_simplify(dpi_graph *g, const dpi_node *node);

#endif
