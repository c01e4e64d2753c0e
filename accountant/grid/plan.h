/* Which tilt, window and spacing a query needs. */
#ifndef DPI_ACCOUNTANT_GRID_PLAN_H
#define DPI_ACCOUNTANT_GRID_PLAN_H

#include "accountant/grid/mass.h"
#include "accountant/grid/saddle.h"

/* What the plan aims at; the grid measures what it gets. */
typedef struct dpi_aim {
    double width;  /* relative excess of epsilon that the spacing may cause */
    double alias;  /* excess that wrapping around may cause, as a fraction of that */
    double widest; /* width up to which the spacing grows to save points */
    double noise;  /* excess of log delta that rounding of the FFT may cause, as alias */
    double slack;  /* least excess of log delta asked for, whatever epsilon is */
} dpi_aim;

/* Most points of a window and most knots of a step: a query takes at most 750 MB. */
enum { DPI_MAX_POINTS = 1 << 24 };

/* False when the window needs more than DPI_MAX_POINTS.  The window starts below the saddle's
 * epsilon by bottom_margin times (1 / tilt + 3 % of its length). */
bool dpi_plan_grid(const dpi_loss_law *law, const dpi_saddle *saddle, const dpi_aim *aim,
                   double bottom_margin, double log_cut, dpi_knots *grid);

#endif
