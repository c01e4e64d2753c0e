/* The public coordinates in which what records add is measured, clipped and noised.
 *
 * h = A' g for a gradient g with respect to theta: dense numbers by a [p][p] matrix, a member's own
 * by a [size][size] matrix of its plate.  With A A' near the inverse of a record's information all
 * coordinates are of one size, whatever the scales of predictors and outcomes are; norm 1 is one
 * unit of information. */
#ifndef DPI_INFER_METRIC_H
#define DPI_INFER_METRIC_H

#include "infer/view.h"

typedef struct dpi_metric {
    const dpi_model_view *view;
    double *dense; /* [p][p] */
    double *own;   /* [size][size] of each plate, side by side */
    size_t n_own;
    double dims; /* E |h|^2 of a record under the model: its norm's scale */
    double bulk; /* and of the norm of its pattern (inquiries.h) */
} dpi_metric;

/* Room for a metric, which is the unit matrix.  DP_ENOMEM. */
dp_status dpi_metric_init(dpi_metric *m, const dpi_model_view *r, dpi_arena *arena,
                          dp_error *err) DP_MUST_CHECK;

/* white[n][k][local] from the slopes of n records, dense[n][k][p] and own[n][k][local - p], and
 * gamma[n][k][k] = white white'.  What is of a record is a function of its slopes and the metric
 * alone, to the bit. */
void dpi_metric_apply(const dpi_metric *m, size_t n, const double *dense, const double *own,
                      double *white, double *gamma);

/* dense <- dense * turn[p][p], after which the matrices of plates follow from those of their
 * means. */
dp_status dpi_metric_turn(dpi_metric *m, const double *turn, dp_error *err) DP_MUST_CHECK;

/* dense <- turn[p][p] * dense, and so on as above. */
dp_status dpi_metric_carry(dpi_metric *m, const double *turn, dp_error *err) DP_MUST_CHECK;

/* The rows of dense are multiplied by factor[p], and so on as above. */
dp_status dpi_metric_scale(dpi_metric *m, const double *factor, dp_error *err) DP_MUST_CHECK;

/* The matrix of a plate, a place in m->own. */
double *dpi_metric_of(const dpi_metric *m, const dpi_read *plate);

/* square[d][d] = A A' for theta's d numbers: with noise of variance v in each coordinate, what is
 * known of the gradient has precision square / v. */
void dpi_metric_square(const dpi_metric *m, double *square);

/* square[d][d] Q, with 1 for numbers that no record reads, and back[d][d], its inverse.
 * DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_metric_back(const dpi_metric *m, double *square, double *back,
                          dp_error *err) DP_MUST_CHECK;

/* lengths[d][d] W: delta'W delta is the square of how far delta moves the dense coordinates, in
 * those of the metric; members do so by their mean.  DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_metric_lengths(const dpi_metric *m, double *lengths, dp_error *err) DP_MUST_CHECK;

/* lifted[d] = A y for a release y[n_release]. */
void dpi_metric_lift(const dpi_metric *m, const double *y, double *lifted);

/* y[n_release] = A' g for a gradient g[d]. */
void dpi_metric_lower(const dpi_metric *m, const double *gradient, double *y);

#endif
