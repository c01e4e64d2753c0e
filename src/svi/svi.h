/* The state of a run, for the fit that is made from it. */
#ifndef DPI_SVI_SVI_H
#define DPI_SVI_SVI_H

#include <tacit/random.h>
#include <tacit/svi.h>

#include "base/bytes.h"
#include "svi/factor.h"
#include "svi/join.h"
#include "svi/keep.h"
#include "svi/local.h"
#include "svi/optimizer.h"
#include "svi/release.h"
#include "svi/sampling.h"
#include "svi/spend.h"
#include "svi/sum.h"

struct dp_svi {
    dpi_arena arena;   /* of what is public in size */
    dpi_arena members; /* of what grows with the number of units or records */
    dp_svi_opts opts;  /* resolved; clip: of the next step; delta: what accounts are made with */
    double delta;      /* asked for */
    bool falls_short;  /* all steps guarantee less than that */
    dpi_extras extras;
    bool seeded;
    bool grouped;     /* a column names the units */
    uint64_t dropped; /* units that added nothing in all steps done; without privacy only */
    uint64_t begun;   /* steps that were begun, failed ones too */
    dpi_spend spend;
    unsigned char print[2][DPI_PRINT]; /* of model and guide */
    dpi_bytes image[2];                /* of model and guide (model/store.h), for the fit */
    const dp_dataset *data;            /* for comparison only */
    size_t n;                          /* units */
    dpi_units units;
    dpi_batch batch;     /* the choice of units, */
    dpi_summation sum;   /* their clipped sum, */
    dpi_release release; /* what is released of it, */
    dpi_ranks ranks;     /* and who else adds to that */
    dpi_local local;     /* or, of several owners, to what it has come to after several steps */
    dpi_factor factor;   /* of owners who open factors, */
    dpi_objective objective;
    dpi_run *run;
    dpi_optimizer optimizer;
    dp_noise *noise;          /* of releases and batches */
    dp_rng *rng;              /* of the guide's draws */
    const dpi_svi_keep *keep; /* nullable, borrowed */
    bool made;                /* the release of the step was made before */
    bool met;                 /* ranks of the owner have, for the step */
    size_t *target; /* [n_parts] block whose gradient each part is, where parts are gradients; else
                          * NULL (finish.c) */
};

/* A run whose chunks are of another size than usual; otherwise as dp_svi_new. */
typedef struct dpi_svi_spec {
    const dp_model *model, *guide; /* guide nullable */
    const dp_dataset *data;
    const dp_svi_opts *opts;
    size_t chunk; /* records at a time, >= 1; what is left to rounding is derived for at most 256 */
    const dpi_checkpoint *resume; /* nullable: the run goes on from there */
    const dpi_svi_keep *keep;     /* nullable, borrowed: what was released is kept there */
    uint64_t random; /* seed of the guide's draws of what is global; 0: from the options */
} dpi_svi_spec;

dp_status dpi_svi_new(const dpi_svi_spec *spec, dp_svi **svi, dp_error *err) DP_MUST_CHECK;

/* Draws the guide's noise of what is global, for a step. */
void dpi_svi_draw(dp_svi *s);

/* Share of clip that gradients are clipped to; rounding (svi.c) and the grid of the noise
 * (release.c) take the rest. */
double dpi_svi_share_clipped(const dp_svi *s);

/* Delta at `epsilon`, which `steps` steps cost, with the failures of what draws noise and batches:
 * what was asked for, or more where epsilon is above 50 or so. */
double dpi_svi_delta(const dp_svi *s, double steps, double epsilon);

/* dp_svi_privacy without the warnings that tell something of the records: a function of options and
 * releases. */
dp_status dpi_svi_guarantee(const dp_svi *s, dp_privacy *privacy, dp_error *err) DP_MUST_CHECK;

/* Puts a checkpoint's state in the place of a new run's. */
dp_status dpi_svi_restore(dp_svi *s, const dpi_checkpoint *c, dp_error *err) DP_MUST_CHECK;

#endif
