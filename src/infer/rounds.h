/* From phase to phase: what is known so far, and the rounds of releases that end in a posterior. */
#ifndef DPI_INFER_ROUNDS_H
#define DPI_INFER_ROUNDS_H

#include "infer/arrow.h"
#include "infer/budget.h"
#include "infer/clip.h"
#include "infer/looks.h"
#include "infer/shared.h"
#include "infer/surrogate.h"

/* Transitions of each chain before the draws. */
enum { DPI_FINAL_WARM = 200 };

typedef struct dpi_rounds {
    const dp_model *model;
    const dpi_model_view *view;
    const dpi_budget *budget;
    const dp_fit_opts *opts;
    dpi_scan *scan;
    dp_rng *rng;
    dpi_progress *progress; /* nullable */
    dpi_arena arena;
    dpi_metric metric;
    dpi_shared known; /* at z */
    double *unit;     /* [p] known.unit where the metric was last made to follow it */
    dpi_surrogate posterior;
    double n;                  /* records, as released */
    double *place;             /* [d] where the posterior's next draws begin */
    double *z, *spread;        /* [d] where the next round is made; of the prior */
    double *slope, *variance;  /* [d][d] of the sum of scores, for clip norm `clip` */
    double *information;       /* [d][d] of all records */
    double *informed;          /* [d] where it is that, once something was told */
    bool told_once;            /* it was released */
    size_t intercept;          /* the latent that is 1 for all in a linear predictor; d: none */
    double moved;              /* of its logarithms, by moves since rounds last began anew */
    dpi_told told;             /* of members, since the last whitening began */
    double *pattern;           /* [2][pattern] */
    dpi_looks looks;           /* at the curvature, [2][pattern] */
    double noise_of_look[2];   /* standard deviations, of either half */
    double *sum;               /* [n_release] of a round */
    double *scores, *centres;  /* [rounds][d] of a phase: scores as released, and where */
    double *units;             /* [rounds][p] `unit` of each round */
    double *score, *centre;    /* [d] their means */
    double *noise;             /* [d] variance of that of the mean, in the metric's coordinates */
    double *square, *back;     /* [d][d] dpi_metric_back of the metric as it is */
    bool changed;              /* the metric, in the last follow, by more than a fifth */
    double doubt, *lengths;    /* of the curvature (doubt.h); 0 before the last look at it; [d][d] */
    double *aside;             /* [3][d] of a pair of rounds (bending.h), and scratch */
    double *walk;              /* [draws of a round][d] */
    double clip[DPI_N_STAGES]; /* norm that a record's part was clipped to in each phase */
    dpi_norms norms;           /* of scores, as far as they were heard of */
    double excess;             /* of the count, in standard deviations of noise and chance */
    double norm;               /* that matrices are clipped to, in units of that which is usual */
    double seen;               /* norm of which next to no record is above, in units of their mean */
    double left;               /* noise of the last whitening, in parts of a record's information */
    double signal;             /* dpi_arrow_signal of the last matrix */
    double kept;               /* slope of clipped scores, in units of the information */
    double ratio;              /* of the variance of outcomes' errors to what it looks to be */
    bool main;                 /* the main phase has begun */
    size_t first;              /* of the main rounds that count */
    double drift;              /* distance of the main phase's halves, in standard deviations */
    dpi_hmc_report report;     /* of the last draws */
} dpi_rounds;

/* Borrows what is set in *r: model, view, budget, opts, scan, rng, progress.  DP_ENOMEM. */
dp_status dpi_rounds_init(dpi_rounds *r, dp_error *err) DP_MUST_CHECK;
void dpi_rounds_free(dpi_rounds *r);

/* All phases.  DP_EPRIVACY a hopeless budget; errors of passes, samplers and matrices. */
dp_status dpi_rounds_run(dpi_rounds *r, dp_error *err) DP_MUST_CHECK;

/* Draws of theta from the posterior, draws[chains][n][d]. */
dp_status dpi_rounds_draw(dpi_rounds *r, size_t chains, size_t n, double *draws,
                          dp_error *err) DP_MUST_CHECK;

#endif
