/* Latents drawn in units of their prior's scale, from its location, where that is asked for. */
#ifndef DPI_MODEL_LOOSE_H
#define DPI_MODEL_LOOSE_H

#include "model/model.h"

typedef struct dpi_loose {
    dpi_id free, mask; /* what is drawn, and a 1 for each of its numbers that is loose */
    dpi_id volume;     /* of rows, after dpi_stretch: log |d value / d free| of each */
} dpi_loose;

/* Whether a latent is on the real line, moved by a location and stretched by a scale of which one
 * at least is computed. */
bool dpi_may_loosen(const dp_model *model, const dpi_site *site);

/* The value of a latent. */
dpi_id dpi_stretch(dpi_graph *g, const dpi_family *family, dpi_loose *l, const dpi_id arg[]);

/* The log density of what is drawn, a number. */
dpi_id dpi_loose_density(dpi_graph *g, const dpi_family *family, const dpi_loose *l, dpi_id value,
                         const dpi_id arg[]);

#endif
