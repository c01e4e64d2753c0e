/* Partitioned variational inference: a normal factor for each of several owners, who take steps by
 * themselves (dp_owners.damping).  doc/design/silo-pvi.md. */
#ifndef DPI_SVI_FACTOR_H
#define DPI_SVI_FACTOR_H

#include <tacit/svi.h>

#include "model/objective.h"
#include "svi/local.h"

/* Where a latent's parameters are. */
typedef struct dpi_factor_latent {
    size_t location, scale;
} dpi_factor_latent;

/* Vectors are [n_theta], but for `begun` of natural parameters where those of the guide are: at a
 * latent's location mean / variance, at its scale 1 / variance. */
typedef struct dpi_factor {
    size_t n; /* latents' numbers; 0: there are no factors */
    dpi_factor_latent *latents;
    double *all;    /* of all owners' factors together; the same at all */
    double *own;    /* of this owner's */
    double *from;   /* of the guide, where it comes to without records */
    double *begun;  /* the guide's parameters where the round began */
    double *beside; /* of the factors that stand beside the prior in the steps at hand */
    double *push;   /* their gradient by the guide's parameters */
    double *mean;   /* of the guide's parameters on a walk without records */
} dpi_factor;

/* Whether each parameter of a guide is a latent's.  DP_EUNSUPPORTED one has no prior. */
dp_status dpi_factor_check(const dpi_objective *o, dp_error *err) DP_MUST_CHECK;

/* Makes them; of owners without damping none.  DP_EUNSUPPORTED a parameter has no prior;
 * DP_ENOMEM. */
dp_status dpi_factor_init(dp_svi *s, dp_error *err) DP_MUST_CHECK;

/* Before the first step of a round: finds the question of what will be opened; then the others'
 * factors stand beside the prior, and moves remember nothing.
 *   *finite  [in, out] whether the parameters are */
void dpi_factor_begin(dp_svi *s, const dpi_local_walk *w, bool *finite);

/* Sets push, for the parameters and draws of now; nothing where there are no factors. */
void dpi_factor_push(const dp_svi *s);

/* After the last step of a round: opens what all owners' steps have changed, and moves guide and
 * factors by it.
 *   *finite  [in, out] whether the parameters are
 * DP_EPEER not all owners were there; errors of owners->open. */
dp_status dpi_factor_open(dp_svi *s, const dpi_local_walk *w, bool *finite,
                          dp_error *err) DP_MUST_CHECK;

/* The latter's move by opened[n_theta], of which own[n_theta] was this owner's. */
void dpi_factor_move(const dp_svi *s, const double *opened, const double *own);

#endif
