/* Reverse mode: adjoints as ordinary nodes of the same graph.
 *
 * A per-record root (a number for each record) has per-record adjoints: the derivative of record
 * i's root with respect to a global value is one value for each record, not summed.  That is the
 * per-record gradient.  A global root has global adjoints of global values; where the root reaches
 * records through a sum over records, the adjoints of global values are summed over records. */
#ifndef DPI_GRAPH_GRADIENT_H
#define DPI_GRAPH_GRADIENT_H

#include "graph/graph.h"

/* For each of n nodes wrt[k]: adjoint[k] = the node that holds d root / d wrt[k], of wrt[k]'s
 * dimensions, or DPI_NONE where root does not depend on it.  A node of wrt counts as independent:
 * nothing flows through it to another.  `root` is a number.  Errors go to the graph's dp_error:
 * DP_ENOMEM; DP_EUNSUPPORTED when a per-record root depends on a sum over records. */
dp_status dpi_gradient(dpi_graph *g, dpi_id root, size_t n, const dpi_id *wrt, dpi_id *adjoint);

/* The same of a per-record root, where what does not depend on the record is computed once: adjoints
 * on the way are global values then, not of each record, of equal numbers; adjoint[k] is of each
 * record. */
dp_status dpi_record_gradient(dpi_graph *g, dpi_id root, size_t n, const dpi_id *wrt,
                              dpi_id *adjoint);

#endif
