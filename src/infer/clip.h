/* What clipping keeps and what it costs, under a public model of norms.
 *
 * In a metric in which a record's information is the unit matrix of d dimensions, its score is r x
 * for a standardised residual r and a leverage x, |x|^2 ~ chi^2_d.  With r normal, h = clip_C(r x):
 *
 *   slope m(C) = E r x . h / d            of the expected release at the truth
 *   variance j(C) = E |h|^2 / d
 *
 * and a posterior mean made from n such with noise of standard deviation s C has, in units of the
 * posterior's variance, the noise (s C / m)^2 / n and the loss j / m^2 - 1.
 *
 * Where outcomes are levels, r is none of a normal law: |r| is 1 if two are as likely.  There the
 * records tell how long scores are, of which log |h| is taken to be normal by |h|^2, so that
 *
 *   m(C) = E min(1, C / |h|),   j(C) = E min(1, C / |h|)^2   by |h|^2.
 *
 * Where k more records than the model expects have norms beyond B, their sum misses n^-1/2 times
 *
 *   sum over them of (|h| - C)+ = k B^5/2 C^-3/2 / (3/2),   should (|h| / B)^-5/2 be beyond |h|
 *
 * of the posterior's standard deviation in one direction, and noise moves each of d by
 * (2 / pi)^1/2 s C n^-1/2 on average.  The two have the least sum at C of dpi_wide_clip. */
#ifndef DPI_INFER_CLIP_H
#define DPI_INFER_CLIP_H

#include <stdbool.h>

typedef struct dpi_clipped {
    double slope, variance;
} dpi_clipped;

/* What was heard of norms in d dimensions: log(|h| / sqrt d) has that mean and variance, by |h|^2.
 * All 0: nothing. */
typedef struct dpi_norms {
    bool heard;
    double mean, variance;
} dpi_norms;

/* d > 0; clip > 0, +INFINITY allowed. */
dpi_clipped dpi_clipped_at(const dpi_norms *of, double d, double clip);

/* The clip norm with the least of noise and loss for n records and a release of noise sigma per
 * norm 1; between .8 and 6 times sqrt d. */
double dpi_best_clip(const dpi_norms *of, double d, double n, double sigma);

/* Mean and variance of logarithms, from what records tell in all and the sums of what they tell
 * times the logarithm and its square, which have noise of standard deviations sd[3]. */
dpi_norms dpi_hear_norms(double d, const double told[3], const double sd[3]);

/* P(|r x| > bound). */
double dpi_clipped_beyond(double d, double bound);

/* Distant records: how many more of n than expected have norms beyond `bound`, as released with
 * noise of standard deviation `noise`; varied: where their mean gives outcomes' variance, so that
 * outcomes as they are vary more as a rule. */
typedef struct dpi_distant {
    double d, n, bound, more, noise;
    bool varied;
} dpi_distant;

/* dpi_distant's `more` in standard deviations of noise and chance. */
double dpi_distant_signal(const dpi_distant *of);

/* Mean, given what was released, of how many more there are, >= 0: none in half of all data sets,
 * in the others half normal, with a scale of .02 n in half of them and of .1 n in half.  Varied: none
 * in a fifth of all, a scale of .02 n in a fifth and of .1 n in the rest. */
double dpi_distant_mean(const dpi_distant *of);

/* The clip norm at which noise of standard deviation `sigma` per norm 1 and what is lost of so many
 * records add up to least, and some more, as tails may be longer; 0 where none are. */
double dpi_wide_clip(const dpi_distant *of, double sigma);

#endif
