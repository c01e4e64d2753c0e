/* What records add in each pass: all are functions of one record and of public numbers, of norm at
 * most 1 (scan.h).
 *
 * clip is C in metric coordinates.  A matrix of a record, A' B A in its own local coordinates, is
 * released as its pattern: the dense block, and of each plate what joins the record's member to
 * the dense ones, and its own block, the latter two weighted; entries off the diagonal count once,
 * times sqrt 2, so that the norm of the pattern is the weighted matrix' Frobenius norm, but for
 * what joins two plates, which is left out. */
#ifndef DPI_INFER_INQUIRIES_H
#define DPI_INFER_INQUIRIES_H

#include "infer/metric.h"
#include "infer/scan.h"

/* Exponents of two that a dense coordinate's information is told by. */
enum { DPI_SCALES = 121, DPI_LEAST_SCALE = -60 };

typedef struct dpi_inquiry {
    const dpi_model_view *view;
    const dpi_metric *metric;
    double clip;         /* C */
    double most;         /* norm that matrices are clipped to */
    double beyond;       /* of the count: norm that a record is far from */
    double share, steps; /* dpi_scan_share and dpi_scan_steps of the pass; set by dpi_inquiry_run */
} dpi_inquiry;

/* What records tell of the lengths of their scores h in the metric, t = min(1, E |h|^2 / (2 dims))
 * being what one tells in all: sums of t, of t l and of t l^2, where DPI_LONGEST l is
 * log(|h| / sqrt(dims)), cut to -DPI_LONGEST ... DPI_LONGEST, on average over the record's outcomes
 * by what they tell. */
enum { DPI_TOLD_IN_ALL = 1, DPI_TOLD_FIRST, DPI_TOLD_SECOND, DPI_TOLD_LENGTHS };
enum { DPI_LONGEST = 2 };

typedef enum dpi_inquiry_kind {
    DPI_INQUIRY_SCALES,    /* [1 + p][DPI_SCALES]: in [0][0] the number of records; else how many
                          * have square root of information in this coordinate of that exponent */
    DPI_INQUIRY_NORMS,     /* [DPI_SCALES]: how many matrices A' F_i A, F_i being a record's
                             * information, have a norm of that exponent */
    DPI_INQUIRY_WHITENING, /* [pattern]: sum of A' F_i A */
    DPI_INQUIRY_SCORE,     /* [n_release]: sum of the clipped, centred scores */
    DPI_INQUIRY_COUNT,     /* [1]: records beyond, less what the model expects; where outcomes are
                            * levels [4]: then of their lengths, as above */
    DPI_INQUIRY_CURVATURE, /* [2][pattern]: sums of A' H_i A and A' J_i A */
    DPI_N_INQUIRIES
} dpi_inquiry_kind;

/* Numbers of a query's release, and room that each thread needs for it. */
size_t dpi_inquiry_size(const dpi_model_view *r, dpi_inquiry_kind kind);
size_t dpi_inquiry_room(const dpi_model_view *r);

/* By which what joins members to the dense ones, and their own blocks, are multiplied in a pattern
 * before it is clipped; in what is released they are divided by it again, and so is their noise. */
extern const double dpi_joint_weight, dpi_own_weight;

/* Numbers of a pattern. */
size_t dpi_pattern_size(const dpi_model_view *r);

/* Standard deviation of the noise in the number of records that DPI_INQUIRY_SCALES releases, but
 * for the share. */
double dpi_inquiry_number_sd(double sigma);

/* The release, in the units of what is summed, and *sd [nullable], the standard deviation of the
 * noise in each number of it, of what is not members'; of curvature sd[2], of scales sd[2]: of the
 * count, of the others. */
dp_status dpi_inquiry_run(const dpi_inquiry *q, dpi_inquiry_kind kind, dpi_scan *scan,
                          const double *theta, double sigma, double *out, double *sd,
                          dp_error *err) DP_MUST_CHECK;

#endif
