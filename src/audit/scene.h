/* The stage of an audit: a small model, its data with and without canaries, and runs of the
 * program. */
#ifndef DPI_AUDIT_SCENE_H
#define DPI_AUDIT_SCENE_H

#include <tacit/audit.h>
#include <tacit/random.h>
#include <tacit/svi.h>

#include "base/alloc.h"

typedef struct dpi_scene {
    dpi_arena arena;
    dp_model *model;
    dp_dataset *data[2]; /* without and with canaries; of a crowd, both are the chosen ones */
    size_t m;            /* scores of a run */
    size_t width;        /* numbers released */
    double *release;     /* [width] scratch */
    double *total;       /* [m] scratch */
    double *epoch;       /* [m] scratch: of random allocation */
    double centre, jump; /* a step's sum along the canary in clipping norms: `centre` or, with the
                          * canary in the batch, `centre` + `jump` */
    double *values;      /* borrowed by data */
    int32_t *groups;
    unsigned char *present; /* [m] of a crowd: who is there */
} dpi_scene;

/* One ordinary record, whose gradient is zero, and one canary, whose gradient of norm `clip` lies
 * across two parameters with alternating signs.  On failure the scene is empty.  DP_ENOMEM. */
dp_status dpi_scene_pair(dpi_scene *scene, dp_error *err) DP_MUST_CHECK;

/* n >= 2 records whose gradients of norm `clip` all point away from where the canary's points, of
 * which `batch` are in a step; the canary is one of them, or has been replaced by another of
 * these. */
dp_status dpi_scene_replaced(dpi_scene *scene, size_t n, size_t batch, dp_error *err) DP_MUST_CHECK;

/* One ordinary record, and m canaries with a coordinate each, of which those named by `coins` are
 * there. */
dp_status dpi_scene_crowd(dpi_scene *scene, size_t m, dp_rng *coins, dp_error *err) DP_MUST_CHECK;

void dpi_scene_free(dpi_scene *scene);

/* Trials of `opts.steps` steps each, one after the other in one run of the program. */
typedef struct dpi_trials {
    dp_svi_opts opts; /* of one trial, for dp_svi_new */
    double rate;      /* probability that a canary is in the batch of a step */
    dp_audit_target target;
    int world;
    size_t trials;
} dpi_trials;

/* Runs the program and scores each canary in each trial: the more, the likelier it was there.
 *   privacy  nullable: what the run says of itself at its end
 *   scores   [trials][m] */
dp_status dpi_scene_run(const dpi_scene *scene, const dpi_trials *what, dp_privacy *privacy,
                        double *scores, dp_error *err) DP_MUST_CHECK;

#endif
