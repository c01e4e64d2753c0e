/* Draws of the posterior that a fit keeps. */
#ifndef DPI_FIT_KEPT_H
#define DPI_FIT_KEPT_H

#include "fit/draws.h"

/* Checks and copies the draws of the parts; *kept is NULL where there are none.  Errors as
 * dpi_fit_new says. */
dp_status dpi_kept_new(const dp_fit *fit, const dpi_fit_parts *from, dp_draws **kept,
                       dp_error *err) DP_MUST_CHECK;

/* Fills d, of the same latents, with kept draws in random order, none a second time before all have
 * come once.  DP_ENOMEM. */
dp_status dpi_kept_draw(const dp_draws *kept, dp_rng *rng, dp_draws *d,
                        dp_error *err) DP_MUST_CHECK;

/* The numbers of those latents in all kept draws: out[l->size][kept->n]. */
void dpi_kept_spread(const dp_draws *kept, const dpi_latents *l, double *out);

#endif
