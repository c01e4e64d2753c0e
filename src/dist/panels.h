/* What laws of counts share whose nodes are listed counts and panels of Gauss's rule. */
#ifndef DPI_DIST_PANELS_H
#define DPI_DIST_PANELS_H

#include <stddef.h>

#include "base/compiler.h"

enum { DPI_PANEL_NODES = 16 }; /* that one panel makes */

typedef struct dpi_panels {
    const void *law;
    /* The number at w, and the mass of a unit of w there. */
    void (*at)(const void *law, double w, double *y, double *mass);
    double from, to; /* of w */
    size_t n;
} dpi_panels;

/* Puts n DPI_PANEL_NODES nodes, whole numbers: the mass of each of Gauss's goes to the two counts
 * about it, in shares that keep its mean.  Gives how many. */
size_t dpi_put_panels(const dpi_panels *p, double y[], double mass[]);

/* Divides masses by their sum. */
void dpi_normalise_masses(size_t n, double mass[]);

/* (1 + e) log(1 + e) - e; by its series where it cancels, and 1 at the end, e = -1. */
double dpi_saddle_phi(double e);

/* log Gamma(x + 1) less Stirling's main terms, for x > 10 to 1e-8. */
DPI_INLINE double dpi_stirling_rest(double x)
{
    return (1 - 1 / (30 * x * x)) / (12 * x);
}

#endif
