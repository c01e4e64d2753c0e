/* Numbers that a step releases beside the clipped gradients: a loss, and how many gradients were
 * clipped.
 *
 * They are further entries of the vector that is released, behind the n_release of the gradient's
 * parts, in units in which they need the same noise: a number with sensitivity d and noise s d is
 * entered times sigma C / (s d).  So there is one sum, one place where noise is added, and one
 * release. */
#ifndef DPI_SVI_EXTRAS_H
#define DPI_SVI_EXTRAS_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/svi.h>

typedef struct dpi_extras {
    size_t n;            /* how many there are, 0 ... 2 */
    bool loss, count;    /* which */
    bool loss_now;       /* this step has a loss */
    double loss_clip;    /* least and greatest loss of a unit; INFINITY without privacy */
    double quantile;     /* share of gradients that are to be below the clip norm */
    double loss_unit;    /* what a loss of 1, and */
    double count_unit;   /* a gradient that is counted, are in the release */
    double steps;        /* of the release's grid in 1, in whole numbers of which is added; or 0 */
    double speed, units; /* of the clip norm; public number of units */
    double fraction_below; /* noisy, of the last step */
    dp_loss last;          /* step 0: none yet */
} dpi_extras;

/* Takes resolved options. */
void dpi_extras_init(dpi_extras *e, const dp_svi_opts *opts, size_t n);

/* Before step `step`, from 1, whose clip norm is in opts; `margin` is the share of each bound that
 * is used, `steps` as above. */
void dpi_extras_prepare(dpi_extras *e, const dp_svi_opts *opts, uint64_t step, double margin,
                        double steps);

/* Adds what one unit adds to extra[n]: the sum of its records' log likelihoods, and whether its
 * gradient was left as it is.  NaN is a loss of loss_clip. */
void dpi_extras_add(const dpi_extras *e, double score, bool below, double *extra);

/* Takes extra[n] of a release that has its noise and is divided by the rate, and moves
 * opts->clip. */
void dpi_extras_take(dpi_extras *e, const double *extra, dp_svi_opts *opts, uint64_t step);

/* What a run that goes on from a checkpoint has released last; the clip norm is in its options. */
void dpi_extras_restore(dpi_extras *e, const dp_svi_opts *opts, uint64_t loss_step, double loss,
                        double fraction_below);

#endif
