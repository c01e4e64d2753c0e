/* Draws from a posterior, for simulation. */
#ifndef DPI_FIT_POSTERIOR_H
#define DPI_FIT_POSTERIOR_H

#include <tacit/random.h>
#include <tacit/svi.h>

/* One joint draw of the guide's global latents. */
void dpi_posterior_draw(dp_posterior *p, dp_rng *rng);

/* The n numbers of a latent as drawn last; NULL when there is no such latent of that size. */
const double *dpi_posterior_value(dp_posterior *p, const char *name, size_t n);

/* The n numbers of a parameter as fitted; NULL when there is no such parameter of that size. */
const double *dpi_posterior_parameter(dp_posterior *p, const char *name, size_t n);

#endif
