/* Draws from a posterior, for simulation. */
#ifndef DPI_INFER_POSTERIOR_H
#define DPI_INFER_POSTERIOR_H

#include <tacit/random.h>
#include <tacit/svi.h>

/* One joint draw of the guide's global latents. */
void dpi_posterior_draw(dp_posterior *p, dp_rng *rng);

/* The n numbers of a latent as drawn last, or of a plain parameter as fitted; NULL when there is none of
 * that name and size. */
const double *dpi_posterior_value(dp_posterior *p, const char *name, size_t n);

#endif
