/* From a noisy pattern (inquiries.h) to the matrix that it is of, in theta's own coordinates.
 *
 * What noise has blurred is shrunk towards what is simpler, by as much as the noise explains of the
 * distance (James and Stein): the dense block towards a multiple of the unit matrix; what each
 * member has towards an equal part of what all have; what joins it to the dense numbers towards
 * that of the average member.  Without noise nothing is shrunk. */
#ifndef DPI_INFER_ARROW_H
#define DPI_INFER_ARROW_H

#include "infer/metric.h"

/* A symmetric matrix and its pattern: the upper triangle, off the diagonal times sqrt 2. */
size_t dpi_arrow_unpack(size_t n, const double *packed, double *a);
size_t dpi_arrow_pack(size_t n, const double *a, double *packed);

/* How much of a distance is kept, `square` being the sum of squares of n numbers with noise sd: 1 -
 * noise / what is there, or 0. */
double dpi_arrow_kept(double square, double n, double sd);

/* What releases have told of members' own information, in theta's coordinates: of plates with one
 * number a member. */
typedef struct dpi_told {
    double *own;       /* [d] mean of what was released */
    double *precision; /* [d] of its noise; 0: nothing was */
} dpi_told;

/* Joins a pattern to what was told; it is of `level` times the information, and its numbers have
 * noise sd but for their weights.  sd > 0. */
void dpi_arrow_hear(const dpi_metric *m, const double *pattern, double level, double sd,
                    dpi_told *told);

/* How a release is to be read. */
typedef struct dpi_expected {
    double sd;      /* of the noise of a number; of those beside the diagonal 1 / sqrt 2 of it */
    double members; /* likewise, of members' numbers, but for their weights (inquiries.h) */
    double least;   /* eigenvalues are at least so many times their mean */
    double level;   /* the diagonal is expected to be near this; 0: it may be anywhere */
    double spread;  /* standard deviation of the dense block around it, like sd */
    const dpi_told *told; /* from which members' own numbers are made, or NULL: from the pattern */
    double factor;        /* the pattern is of so many times the information that was told of */
} dpi_expected;

/* dense[p][p]: the dense block of a pattern, shrunk. */
dp_status dpi_arrow_dense(const dpi_model_view *r, const double *pattern, const dpi_expected *as,
                          double *dense, dp_error *err) DP_MUST_CHECK;

/* whole[d][d], positive semidefinite. */
dp_status dpi_arrow_whole(const dpi_metric *m, const double *pattern, const dpi_expected *as,
                          double *whole, dp_error *err) DP_MUST_CHECK;

/* The mean of a pattern's dense diagonal in standard deviations of its noise: how much the records
 * tell at all; +INFINITY without noise. */
double dpi_arrow_signal(const dpi_model_view *r, const double *pattern, double sd);

#endif
