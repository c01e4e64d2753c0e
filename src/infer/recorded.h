/* What records tell of standard normal numbers that the model reads times a computed scale, such as
 * the weights of a Gaussian process: for coordinates in which these do not depend on the scale. */
#ifndef DPI_INFER_RECORDED_H
#define DPI_INFER_RECORDED_H

#include "infer/posterior.h"

/* Steps of differences along z: those of weights of small scales are longer, as far as the scale is
 * above a millionth of the largest.  Other entries of spread[d] stay. */
void dpi_recorded_spread(dpi_evaluator *e, const double *z, double *spread);

/* Sets told[sites of the model] of the latents that have a scale, from curvature[d][d], minus the
 * second derivatives of the log density at z[d], where none is told.  DP_ENOMEM. */
dp_status dpi_recorded_find(dpi_evaluator *e, const dp_model *model, const double *z,
                            const double *curvature, dpi_arena *arena, dpi_recorded *told,
                            dp_error *err) DP_MUST_CHECK;

/* Moves z[d], where none is told, to the coordinates in which told[sites] are.  DP_ENOMEM. */
dp_status dpi_recorded_place(dpi_evaluator *e, const dp_model *model, const dpi_recorded *told,
                             double *z, dp_error *err) DP_MUST_CHECK;

#endif
