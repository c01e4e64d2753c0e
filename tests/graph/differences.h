/* Adjoints, and the adjoints of adjoints, compared with differences of the naive evaluator. */
#ifndef TESTS_GRAPH_DIFFERENCES_H
#define TESTS_GRAPH_DIFFERENCES_H

#include "tests/graph/points.h"

/* The library's values of a node (to be freed), after they have been compared with the naive ones
 * to `relative` of each and a tenth of that of the largest. */
double *checked_value(world *w, dpi_id id, double relative, const char *what);

/* adjoint[k] = d root / d in[k] for the n_real first inputs, compared element for element. */
void check_gradient(world *w, dpi_id root, const char *what, dpi_id *adjoint);

/* The number sum_k sum(v_k * adjoint_k) with unequal constants v_k, on which second derivatives are
 * tried; summed over records unless `root_records`.  DPI_NONE when no adjoint exists. */
dpi_id adjoints_in_one(world *w, bool root_records, const dpi_id *adjoint);

/* All of this for the root p, first and second derivatives; for a p per record also for
 * t = sum_i u_i p_i, whose gradient must be sum_i u_i (gradient of p_i). */
void check_root(world *w, dpi_id root);

#endif
