/* Line charts as SVG: panels side by side, each with series of bands. */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A band between two lines; give the same array twice for one line. */
typedef struct plot_series {
    const char *name, *colour;
    const double *x, *low, *high; /* [n] */
    size_t n;
} plot_series;

typedef struct plot_axis {
    const char *label;
    double from, to;
    bool log; /* from > 0 */
} plot_axis;

typedef struct plot_panel {
    const char *title;
    plot_axis x, y;
    const plot_series *series; /* [n] */
    size_t n;
    bool legend_right, legend_low; /* where the names of the series stand */
} plot_panel;

/* Writes one SVG document.  Points outside an axis are drawn on its end; values that are not finite
 * are left out. */
void plot_write(FILE *out, const plot_panel *panels, size_t n);

#endif
