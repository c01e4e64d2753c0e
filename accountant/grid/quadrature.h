/* Integrals over a piece of a pair: Gauss's rule on short stretches, with a bound on its error. */
#ifndef DPI_ACCOUNTANT_GRID_QUADRATURE_H
#define DPI_ACCOUNTANT_GRID_QUADRATURE_H

#include <stdint.h>

#include "accountant/grid/mass.h"

/* Error of the integral over a stretch of P times either weight of a bin (mass.c), relative to the
 * stretch's P-mass. */
#define DPI_QUADRATURE 1e-13

enum { DPI_MAX_NODES = 6 };

/* P-mass, e^tilt times, and the offset of its loss. */
typedef struct dpi_abscissa {
    double mass, offset;
} dpi_abscissa;

/* Gauss's rule on [0, 1] for a stretch with width * roughness = h. */
typedef struct dpi_gauss_rule {
    int n;
    const double *node, *weight;
} dpi_gauss_rule;
dpi_gauss_rule dpi_gauss_rule_for(double h);

/* Nodes of the stretch [x0, x1]; returns their number. */
int dpi_stretch_nodes(const dpi_piece *piece, double x0, double x1, double tilt,
                      dpi_abscissa nodes[DPI_MAX_NODES]);

/* Where a stretch that starts at x < end may end. */
double dpi_stretch_end(const dpi_piece *piece, double x, double end);

/* Range of x that leaves P-mass e^log_cut at either end, and its bins of excess. */
typedef struct dpi_range {
    double x_low, x_high;
    int64_t first, last;
} dpi_range;

/* Where the tilt falls with x, the range ends where nothing is left of e^(tilt). */
dpi_range dpi_range_of(const dpi_piece *piece, const dpi_knots *grid, double log_cut);

/* x at which the piece's offset from the base is `offset`, within the range. */
double dpi_range_at(const dpi_piece *piece, const dpi_range *range, double offset);

#endif
