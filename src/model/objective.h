/* The objective of variational inference as one graph, and where it is cut for privacy.
 *
 * From a model and a guide (or none: mean-field normal on the unconstrained space) this makes
 *
 *   ELBO = prior + sum over records i of record_i,
 *   prior    = log p(latents) - log q(latents), entropy and Jacobians of the mean-field guide
 *            exact,
 *   record_i = log p(observed_i | latents) + the same for the record's own latents,
 *
 * with latents written as functions of parameters theta and standard normal noise.  Where a
 * latent's log p - log q has a mean in closed form over its own noise (divergence.c), that stands
 * in its place, but not with DP_FORM_PARAMETERS.  Then
 *
 *   DP_FORM_LATENTS     c = the latents and parameters that records read.  Parts are d record_i /
 *                       dc. (Of a row, such as a simplex, its free numbers under the mean-field
 *                       guide.)
 *                       The released, noisy sum is fed back as `feed`, and the gradient of
 *                       prior + <feed, c> with respect to theta is exact post-processing.
 *   DP_FORM_PARAMETERS  parts are d (record_i + prior / N) / dtheta, each record with noise of its
 *                       own (the form of d3p, Prediger et al. 2022).  Where a unit of privacy has
 *                       several records, each has its share of the unit's prior / N.
 *
 * Instead of a guide there may be points: theta is then the unconstrained latents z themselves, in
 * the order of the model, prior = log p(z) with Jacobians, and record_i = log p(observed_i | z);
 * there are no parts, and a block's gradient is that of the prior.
 *
 * Built once, then const.  Nothing here has seen data. */
#ifndef DPI_MODEL_OBJECTIVE_H
#define DPI_MODEL_OBJECTIVE_H

#include "model/loose.h"
#include "model/model.h"

/* A block of theta. */
typedef struct dpi_block {
    const char *name;
    dpi_id node;
    size_t size, offset;
    dpi_start start;
    dpi_id gradient; /* node of d ELBO / d block after the release, or of points d prior / d block
                      * (DPI_NONE where that is flat); not with DP_FORM_PARAMETERS */
} dpi_block;

/* A latent of the model as the guide gives it. */
typedef struct dpi_latent {
    const char *name;
    dpi_id value;
    dpi_id cut; /* where DP_FORM_LATENTS cuts: value, or what it is made of where that is shorter */
    size_t size;
    bool per_record;
    dpi_id scale; /* of points, its dpi_scale_of; else DPI_NONE */
} dpi_latent;

/* An observed column, for checking the data against the distribution's support. */
typedef struct dpi_observation {
    const char *name;
    const dpi_family *family;
    dpi_id value, arg[DPI_MAX_ARGS];
} dpi_observation;

typedef struct dpi_objective {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dp_form cut;
    dpi_block *blocks;
    size_t n_blocks, block_capacity, n_theta;
    dpi_latent *latents;
    size_t n_latents, latent_capacity;
    dpi_id *noise; /* standard normal inputs, global or per-record */
    size_t n_noise, noise_capacity;
    dpi_observation *observations;
    size_t n_observations, observation_capacity;
    dpi_id prior, record;
    dpi_id marked; /* the value of spec.marked; DPI_NONE: there is none of that name */
    dpi_id share; /* input, of each record: 1 / (N rows of its unit); DPI_NONE unless asked for */
    dpi_id *part; /* [n_parts] per-record gradients, side by side the release */
    dpi_id *crossing;          /* [n_parts] the value that part k is the gradient with respect to */
    dpi_id *feed;              /* [n_parts] inputs for the released sums; DP_FORM_LATENTS only */
    size_t n_parts, n_release; /* n_release: numbers of all parts, and spec.n_extra behind them */
} dpi_objective;

typedef struct dpi_objective_spec {
    const dp_model *model, *guide; /* guide nullable */
    dp_form cut;
    bool points; /* theta is the latents; DP_FORM_LATENTS without a guide */
    /* Nullable; of points: of each site of the model NULL, or, for which dpi_may_loosen, a 1 for
     * each number of theta that is (x - location) / scale, and a 0 for each that is x. */
    const double *const *loose;
    /* Nullable; of points: of each site what records tell of it times its scale, if that is taken;
     * its numbers of theta are then those that dpi_steady makes it of. */
    const dpi_recorded *told;
    const char *marked; /* a value that the model names (dp_deterministic); nullable */
    double population; /* N, the public number of units; for DP_FORM_PARAMETERS */
    bool shared;       /* units may have several records; for DP_FORM_PARAMETERS */
    size_t n_extra;    /* numbers that are released beside the parts, of the caller's making */
    double init_scale; /* of the mean-field guide, on the unconstrained space; > 0 */
} dpi_objective_spec;

/* Builds the objective in place; on failure it is empty and the message in err. */
dp_status dpi_objective_init(dpi_objective *o, const dpi_objective_spec *spec,
                             dp_error *err) DP_MUST_CHECK;

/* The latent or parameter that a part belongs to. */
const char *dpi_objective_name(const dpi_objective *o, size_t part);

/* Whether a block is the location of a latent's guide, and the next one the logarithm of its scale;
 * the block is not the last one. */
bool dpi_is_location(const dpi_block *block);

void dpi_objective_free(dpi_objective *o);

#endif
