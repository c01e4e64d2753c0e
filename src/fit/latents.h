/* Global latents as the guide gives them: the objective's graph, from noise; or as they were
 * kept. */
#ifndef DPI_FIT_LATENTS_H
#define DPI_FIT_LATENTS_H

#include "exec/run.h"
#include "fit/fit.h"

/* What runs the guide's global side. */
typedef struct dpi_latents {
    const dp_fit *fit;
    const dpi_latent **latent; /* [n] those asked for */
    size_t n, size;            /* size: numbers of them all */
    bool *needed;              /* [nodes of the objective's graph] */
    double *noise;             /* [largest noise] scratch */
    dpi_run *run;
} dpi_latents;

/* The global latent of that name, or NULL. */
const dpi_latent *dpi_fit_latent(const dp_fit *fit, const char *name);

/* Of latents names[0 ... n - 1], or of all global ones, in the model's order, for NULL.  Its blocks
 * live in `arena`; free it with dpi_latents_free also after an error.  DP_ENAME, DP_ENOMEM. */
dp_status dpi_latents_init(dpi_latents *l, const dp_fit *fit, dpi_arena *arena,
                           const char *const *names, size_t n, dp_error *err) DP_MUST_CHECK;
void dpi_latents_free(dpi_latents *l);

/* The latents' values, out[size], for noise from rng; for noise 0 where it is NULL. */
void dpi_latents_draw(dpi_latents *l, dp_rng *rng, double *out);

/* Values of all kept draws, or for every point of a Latin hypercube in the noise:
 * out[size][dpi_latents_count]. */
enum { DPI_HYPERCUBE = 4000 };
size_t dpi_latents_count(const dp_fit *fit);
dp_status dpi_latents_spread(dpi_latents *l, double *out, dp_error *err) DP_MUST_CHECK;

/* One draw at the centre of the guide, all global latents. */
dp_status dpi_fit_centre(const dp_fit *fit, dp_draws **draws, dp_error *err) DP_MUST_CHECK;

#endif
