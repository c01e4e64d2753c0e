/* What scores have of second order, where latents are hardly known: above all members. */
#ifndef DPI_INFER_BENDING_H
#define DPI_INFER_BENDING_H

#include "infer/rounds.h"

/* Moves at[d], the mean of what is known, to where round t is made; mean[d] and draw[d] are of the
 * last walk.  Nothing where it would not help. */
void dpi_bend_round(dpi_rounds *r, size_t t, const double *mean, const double *draw, double *at);

/* Moves at[d] by draw - mean likewise, for a release that stands alone. */
void dpi_bend_once(const dpi_rounds *r, const double *mean, const double *draw, double *at);

/* Moves the logarithms of scales of outcomes in at[d], where a round was made and around which its
 * scores are taken to be linear, by the degrees of freedom that locations have used up; draws[n][d]
 * are of the posterior as it is. */
void dpi_bend_scales(const dpi_rounds *r, size_t n, const double *draws, double *at);

/* By how many of its posterior standard deviations the logarithm of a scale of the outcomes is too
 * large, as what is not known of their locations looks like scale; the largest, 0 where there is no
 * such scale.  draws[n][d] are of the posterior. */
double dpi_bent_scale(const dpi_rounds *r, size_t n, const double *draws);

#endif
