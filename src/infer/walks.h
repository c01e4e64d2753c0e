/* Where rounds are made: draws of the posterior, given what has been released. */
#ifndef DPI_INFER_WALKS_H
#define DPI_INFER_WALKS_H

#include "infer/rounds.h"

/* Draws of a walk, which r->walk keeps. */
enum { DPI_WALK = 24 };

/* Where latents are before records are heard: medians of the prior to r->z, and distances of its
 * quartiles from them as r->spread, which heavy tails do not move.  DP_ENOMEM. */
dp_status dpi_walks_start(dpi_rounds *r, dp_error *err) DP_MUST_CHECK;

/* A short walk from where the last one ended; mean[d] is that of its draws, with scales of outcomes
 * where they look to be.  DP_ENOMEM; errors of the sampler. */
dp_status dpi_walk(dpi_rounds *r, double *mean, dp_error *err) DP_MUST_CHECK;

/* The mean[d] of the last walk's draws. */
void dpi_walk_mean(const dpi_rounds *r, double *mean);

#endif
