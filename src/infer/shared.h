/* What is known of every record's information without asking the records.
 *
 * Where neither an argument nor its slope depends on a record, as with the scale of normal
 * outcomes, or the information of an argument does not depend on its value, as with their mean, a
 * record's information of a coordinate is a public number times what its predictors make of it.
 * Then the metric follows the latents as they move without a release, and entries of noisy matrices
 * that are known are put right. */
#ifndef DPI_INFER_SHARED_H
#define DPI_INFER_SHARED_H

#include "infer/metric.h"
#include "infer/scan.h"

typedef struct dpi_shared {
    double *unit;   /* [p] factor of the square root of a record's information that all share */
    bool *exact;    /* [p] it is all of it */
    bool *scale;    /* [p] and the argument is the exponential of the latent */
    size_t outcome; /* the coordinate that alone makes the scale of outcomes; p: there is none */
    double power;   /* the slope of that scale's logarithm by it */
    bool *apart;    /* [p][p] the information of both is 0 */
    double bend;    /* of outcomes with a scale: by how much a location that is off by x moves the
                     * logarithm of the scale, in units of x^2 / 2 times its information; else 0 */
    bool canonical; /* the one argument's score is the outcome less its mean, times a constant */
} dpi_shared;

/* Room for what is known of p coordinates, of which nothing is.  DP_ENOMEM. */
dp_status dpi_shared_init(dpi_shared *s, size_t p, dpi_arena *arena, dp_error *err) DP_MUST_CHECK;

/* What is known at theta[d]; of the records nothing is read. */
void dpi_shared_find(dpi_shared *s, dpi_scan *scan, const double *theta);

/* What a record tells of its one argument at eta, its other ones being made up where they are not
 * shared: but for a factor, as its number of trials, the same for all. */
double dpi_shared_information(const dpi_scan *scan, double eta);

/* Puts what is known of n records into the dense block of a pattern of their information. */
dp_status dpi_shared_mend(const dpi_shared *s, const dpi_metric *m, double n, double *pattern,
                          dp_error *err) DP_MUST_CHECK;

#endif
