/* How much records tell at the main rounds' places, as they have it: slope and variance of scores. */
#ifndef DPI_INFER_CURVATURE_H
#define DPI_INFER_CURVATURE_H

#include "infer/rounds.h"

/* Whether a look is due before main round t; the last one is dpi_measure's. */
bool dpi_looks_before(const dpi_rounds *r, size_t t);

/* A look at r->z, which r->information follows where it tells something.  Errors of passes. */
dp_status dpi_look_around(dpi_rounds *r, double clip, dp_error *err) DP_MUST_CHECK;

/* The last look, at the rounds' mean place; what all looks tell is r->slope, r->variance, r->signal
 * and r->doubt.  Errors of passes. */
dp_status dpi_measure(dpi_rounds *r, double clip, dp_error *err) DP_MUST_CHECK;

#endif
