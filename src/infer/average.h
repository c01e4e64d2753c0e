/* Means over the rounds of a phase. */
#ifndef DPI_INFER_AVERAGE_H
#define DPI_INFER_AVERAGE_H

#include "infer/rounds.h"

/* In the main phase the latent that the outcomes' scale is made of, of which excess.h knows what
 * locations make of it; d where there is none. */
size_t dpi_outcome_scale(const dpi_rounds *r);

/* Keeps what round t released, r->sum, as the score at the metric's units; sets r->square and
 * r->back.  DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_take_round(dpi_rounds *r, size_t t, dp_error *err) DP_MUST_CHECK;

/* Means of rounds first ... end - 1 as if all had been made for the metric's units as they are now:
 * r->score, r->centre, and the variance r->noise of the former in units of that of one round.  Each
 * counts by how little noise it has; scales have the mean of their squares. */
void dpi_average(dpi_rounds *r, size_t first, size_t end);

/* Mean of delta'F delta over those rounds, delta being the distance of their places from r->centre
 * and F the information of locations; 0 where there is no scale. */
double dpi_spread_of_places(const dpi_rounds *r, size_t first, size_t end);

/* Ends the phase: the metric becomes that of the mean place. */
dp_status dpi_settle(dpi_rounds *r, size_t first, size_t end, dp_error *err) DP_MUST_CHECK;

/* scores[end - first][d] and centres[end - first][d] of those rounds as they would have been for the
 * metric's units as they are now; returns the mean variance of the noise, in units of a round's. */
double dpi_bring_together(const dpi_rounds *r, size_t first, size_t end, double *scores,
                          double *centres);

#endif
