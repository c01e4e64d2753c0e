/* Draws of global latents, by themselves. */
#ifndef DPI_FIT_DRAWS_H
#define DPI_FIT_DRAWS_H

#include "fit/latents.h"

/* The numbers of one latent in each draw. */
typedef struct dpi_drawn {
    const char *latent;
    size_t first, size;
} dpi_drawn;

struct dp_draws {
    dpi_arena arena;
    size_t n, size;
    dpi_drawn *drawn;
    size_t n_drawn;
    const char **names; /* [size] */
    double *values;     /* [n][size] */
};

/* The latent's numbers, or NULL. */
const dpi_drawn *dpi_draws_find(const dp_draws *draws, const char *latent);

#endif
