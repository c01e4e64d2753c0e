/* Reading a composed loss beside which an unsampled Gaussian release stands. */
#ifndef DPI_ACCOUNTANT_GRID_BLEND_H
#define DPI_ACCOUNTANT_GRID_BLEND_H

#include "accountant/grid/curve.h"

/* Least mu that is read in this way. */
#define DPI_LEAST_BLENDED 1e-4

/* Distance x with delta(x) <= e^log_delta, log_delta < 0. */
double dpi_blend_reach(double mu, double log_delta);

/* As dpi_read, for curve->normal_mu > 0. */
dpi_reading dpi_blend_read(const dpi_curve *curve, dpi_question query);

#endif
