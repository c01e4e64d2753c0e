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

/* Names, and room for n draws of all global latents of the fit, not yet filled.  *draws is NULL on
 * error: DP_ENOMEM. */
dp_status dpi_draws_new(const dp_fit *fit, size_t n, dp_draws **draws, dp_error *err) DP_MUST_CHECK;

/* Name of number e of a value of that shape: the value's name with "[3][1]" behind it, or alone for
 * a number.  What does not fit into the room is cut off. */
size_t dpi_number_name_room(const char *name);
void dpi_number_name(const char *name, const dpi_shape *shape, size_t e, size_t room, char *text);

/* The latent's numbers, or NULL. */
const dpi_drawn *dpi_draws_find(const dp_draws *draws, const char *latent);

#endif
