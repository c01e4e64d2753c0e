/* Bins of a sampled Gaussian without a call of libm at every node. */
#ifndef DPI_ACCOUNTANT_GRID_QUICK_H
#define DPI_ACCOUNTANT_GRID_QUICK_H

#include "accountant/grid/quadrature.h"

/* Place of a knot on a piece: its x, where the excess is the knot's, and e^excess - 1 there. */
typedef struct dpi_edge {
    double x, odds;
} dpi_edge;

/* The edge at `excess`; -INFINITY and 0 where that is not positive.  odds is 0 where quick nodes do
 * not apply. */
dpi_edge dpi_edge_at(const dpi_piece *piece, double excess);

/* Nodes of a stretch that begins at an edge: P-mass, e^tilt times, and `offset`, here 1 - e^-d, d
 * the excess above the edge's.  Returns their number; 0 where the stretch is too wide or the piece
 * is another. */
int dpi_quick_nodes(const dpi_piece *piece, dpi_edge edge, double end, double tilt,
                    dpi_abscissa nodes[DPI_MAX_NODES]);

/* How many times the piece's own bound on the error of its excess the nodes' one is. */
#define DPI_QUICK_ERROR 3

#endif
