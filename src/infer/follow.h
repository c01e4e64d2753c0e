/* The metric, and what is known of all records' information, go with the latents as far as is known
 * how: a function of what was released, for which no record is read. */
#ifndef DPI_INFER_FOLLOW_H
#define DPI_INFER_FOLLOW_H

#include "infer/rounds.h"

/* Finds out whether records read a linear predictor of which a latent is the intercept. */
dp_status dpi_follow_init(dpi_rounds *r, dp_error *err) DP_MUST_CHECK;

/* To r->z: r->known, r->unit, r->metric, r->information, r->told, r->changed.  Only with `turn` the
 * metric turns towards the information of a linear predictor there: rounds that are averaged have
 * one metric, but for its units. */
dp_status dpi_follow(dpi_rounds *r, bool turn, dp_error *err) DP_MUST_CHECK;

/* Whether it does so; without noise releases show all that there is. */
bool dpi_follows_information(const dpi_rounds *r);

/* Shortens a move away[d] from r->z so that what records tell of it stays about what it is here. */
dp_status dpi_follow_shorten(dpi_rounds *r, double *away, dp_error *err) DP_MUST_CHECK;

/* r->information was found at r->z. */
void dpi_follow_from_here(dpi_rounds *r);

#endif
