/* Information that is itself not quite known.
 *
 * What is known of the dense coordinates' information, in those of the metric, is M + E: E a
 * symmetric matrix of p rows whose numbers have the variance t^2 on the diagonal and t^2 / 2 beside
 * it, but for its trace, which is known, and is 0.  A score at c has the mean H (theta - c), and H
 * is made of M; where M is taken for M + E, directions of which noise has made more than there is
 * have answers that are too narrow.  With u the move theta - c in the metric's coordinates, E u has
 * the variance
 *
 *   t^2 / 2 (|u|^2 I + (1 - 2 / p) u u')
 *
 * so that with E integrated out scores stay normal, with a variance that grows with the distance
 * from where they were asked: in theta's coordinates, with |u|^2 = delta'W delta,
 *
 *   N(delta) = N + t^2 / 2 (delta'W delta W + (1 - 2 / p) W delta delta'W)
 *
 * Where records tell much |u| is small and nothing changes.  Where they tell no more than noise
 * does, the likelihood falls off as a power of the distance, and the prior says the rest. */
#ifndef DPI_INFER_DOUBT_H
#define DPI_INFER_DOUBT_H

#include <stdbool.h>

#include <tacit/status.h>

#include "infer/rows.h"

typedef struct dpi_doubt {
    size_t d, rank;
    double half;          /* t^2 / 2; 0: nothing is doubted */
    double along;         /* 1 - 2 / p */
    double *part;         /* [d] eigenvalues of W where N is the unit matrix; 0 from rank on */
    double *score;        /* [d] P'S, P the vectors by columns */
    double *into;         /* [d][d] P^-1, of which the first `rank` rows are read */
    dpi_rows ahead, back; /* P'H and its transpose */
    double *u, *x;        /* [d] scratch */
} dpi_doubt;

/* For d coordinates, with none; false when memory is out. */
bool dpi_doubt_init(dpi_doubt *o, size_t d, dpi_arena *arena);

/* What it is made of, in theta's coordinates. */
typedef struct dpi_doubt_of {
    double sd;             /* t; 0: nothing is doubted and the rest is not read */
    size_t dense;          /* p; of 1 nothing is doubted, either */
    const double *lengths; /* [d][d] W, positive semidefinite */
    const double *inverse; /* [d][d] N^-1 */
    const double *slope;   /* [d][d] H */
    const double *score;   /* [d] S */
} dpi_doubt_of;

/* DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_doubt_set(dpi_doubt *o, const dpi_doubt_of *of, dp_error *err) DP_MUST_CHECK;
void dpi_doubt_copy(dpi_doubt *to, const dpi_doubt *from);

/* The log likelihood at delta[d], up to a constant, and its gradient[d]. */
double dpi_doubt_at(dpi_doubt *o, const double *delta, double *gradient);

#endif
