/* What of the ELBO needs no draw, E_q log p(x) - E_q log q(x) = -KL(q | p) for one latent; and
 * log q(x) of a draw. */
#ifndef DPI_MODEL_DIVERGENCE_H
#define DPI_MODEL_DIVERGENCE_H

#include "dist/family.h"

/* A latent under the guide: loc + scale noise (DPI_REAL), or e to that (DPI_ABOVE_ZERO). */
typedef struct dpi_gaussian {
    dpi_support_kind support;
    dpi_id loc, scale, log_scale, noise;
} dpi_gaussian;

/* -KL(q | prior(arg)) in closed form, given what the arguments have been drawn to be, summed over
 * the numbers of a latent of that shape.  DPI_NONE where there is no such form: a prior without
 * `expected`, another support, or arguments that depend on q's own noise, as where the guide draws
 * a parent given its child. */
dpi_id dpi_minus_divergence(dpi_graph *g, const dpi_family *prior, const dpi_id arg[],
                            const dpi_gaussian *q, dpi_shape shape);

/* -log q of a draw, summed over its numbers. */
dpi_id dpi_drawn_entropy(dpi_graph *g, const dpi_gaussian *q);

#endif
