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

/* What records tell of b = s z, as if they were normal: exp(pull' b - b' precision b / 2). */
typedef struct dpi_recorded {
    const double *precision; /* [n][n] not negative; NULL: nothing is taken for told */
    const double *pull;      /* [n] */
} dpi_recorded;

/* The computed scale s[n] of standard normal numbers z[n], n <= 200, that the model reads as s z
 * alone; DPI_NONE where they are none.  The scale must stand before z in the model. */
dpi_id dpi_scale_of(const dp_model *model, const dpi_site *site);

/* z of x that is standard normal, whatever s is, where records tell that and z is standard normal
 * without them; *volume is log |dz / dx|.
 *
 *   A = 1 + diag(s) precision diag(s) = L L',   z = L'^-1 (x + L^-1 (s pull))
 *
 * Where s is small z is x and where it is large b is as records have it: what neither z nor b has
 * when some lengths of a Gaussian process leave a wave to its prior and others do not. */
dpi_id dpi_steady(dpi_graph *g, dpi_id x, dpi_id scale, const dpi_recorded *told, dpi_id *volume);

/* The value of a latent. */
dpi_id dpi_stretch(dpi_graph *g, const dpi_family *family, dpi_loose *l, const dpi_id arg[]);

/* The log density of what is drawn, a number. */
dpi_id dpi_loose_density(dpi_graph *g, const dpi_family *family, const dpi_loose *l, dpi_id value,
                         const dpi_id arg[]);

#endif
