/* One transition of the no-U-turn sampler: what it needs, and what it tells of itself. */
#ifndef DPI_INFER_NUTS_H
#define DPI_INFER_NUTS_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/random.h>

#include "infer/rows.h"
#include "infer/scaling.h"

/* An unnormalised log density on R^n with its gradient. */
typedef struct dpi_target {
    size_t n;
    /* The log density at z, and its gradient.  -INFINITY or NaN: z is outside, and the gradient is
     * not looked at.  So is z where the log density is +INFINITY or the gradient is not finite. */
    double (*log_density)(void *of, const double *z /* [n] */, double *gradient /* [n] */);
    void *of;
    const dpi_scaling *scalings; /* [n_scalings]: moves that are tried beside trajectories */
    size_t n_scalings;
} dpi_target;

/* Where z lies in the coordinates in which the sampler moves: z = origin + L x. */
typedef struct dpi_whitening {
    size_t n;
    const double *origin;   /* [n] */
    bool plain;             /* L is the unit matrix */
    dpi_rows lower, across; /* L and L^T */
    const double *factor;   /* L, borrowed, unless plain */
} dpi_whitening;

/* A point of a trajectory.  Momenta have unit mass. */
typedef struct dpi_hmc_point {
    double *x, *momentum; /* [n] */
    double *slope;        /* [n]: the gradient by x */
    double log_density;   /* -INFINITY outside, and then slope has no meaning */
} dpi_hmc_point;

enum { DPI_NUTS_DEPTH = 20 };

typedef struct dpi_nuts {
    const dpi_target *target;
    dpi_whitening in;
    int depth;        /* most doublings, 1 .. DPI_NUTS_DEPTH */
    double step;      /* of the leapfrog */
    size_t gradients; /* calls of the target so far */

    /* Of the last transition. */
    double acceptance; /* mean over its points of min(1, the ratio of densities) */
    bool diverged;     /* a point was outside, or its energy had grown by more than 1000 */
    bool cut;          /* all doublings were used up before a U-turn */

    /* Inside. */
    double *z, *gradient;       /* [n] */
    dpi_hmc_point ends[2], one; /* of the trajectory, before and after; the candidate of a half */
    double *sum, *half;         /* [n]: momenta of the trajectory and of its new half, added up */
    double *joint, *first;      /* [n]: momenta on both sides of the place where these meet */
    double *starts, *before, *lasts; /* [depth + 1][n]: see nuts.c */
    double energy;                   /* at the start */
    double weight, half_weight;      /* logarithms, of all points and of those of the new half */
    size_t points;
} dpi_nuts;

/* Makes room for n numbers in the arena; false when memory is out. */
bool dpi_hmc_point_init(dpi_hmc_point *point, size_t n, dpi_arena *arena);

/* The target is borrowed, and L is the unit matrix.  Set in.origin and step before the first call.
 * False when memory is out. */
bool dpi_nuts_init(dpi_nuts *nuts, const dpi_target *target, int depth, dpi_arena *arena);

/* L = factor[n][n], borrowed, of which what lies above the diagonal is not read; call again when it
 * has changed. */
void dpi_nuts_whiten(dpi_nuts *nuts, const double *factor);

/* z[n] of x[n]. */
void dpi_nuts_place(const dpi_nuts *nuts, const double *x, double *z);

/* Finds the log density and the slope at point->x; false, with -INFINITY, where that is outside. */
bool dpi_nuts_evaluate(dpi_nuts *nuts, dpi_hmc_point *point);

/* Moves `at`, which has been evaluated and is inside, to the next point of its chain. */
void dpi_nuts_step(dpi_nuts *nuts, dpi_hmc_point *at, dp_rng *rng);

/* Tries each scaling of the target once (Liu and Sabatti 2000, Biometrika 87, 353): a Metropolis
 * move of a scale together with all that it scales.  Where these are hardly known but by their
 * scale, trajectories cannot come near to scale 0 and cannot leave it; this does both. */
void dpi_nuts_rescale(dpi_nuts *nuts, dpi_hmc_point *at, dp_rng *rng);

/* The log ratio of densities after a single leapfrog of that size with fresh momenta; -INFINITY
 * when it leads outside.  `at` stays. */
double dpi_nuts_try(dpi_nuts *nuts, const dpi_hmc_point *at, double step, dp_rng *rng);

#endif
