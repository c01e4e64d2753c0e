/* What scores have of second order, where latents are hardly known: above all members. */
#ifndef DPI_INFER_BENDING_H
#define DPI_INFER_BENDING_H

#include "infer/rounds.h"

/* Moves at[d], the mean of what is known, to where round t is made; mean[d] and draw[d] are of the
 * last walk.  Nothing where it would not help. */
void dpi_bend_round(dpi_rounds *r, size_t t, const double *mean, const double *draw, double *at);

/* Moves at[d] by draw - mean likewise, for a release that stands alone. */
void dpi_bend_once(const dpi_rounds *r, const double *mean, const double *draw, double *at);

#endif
