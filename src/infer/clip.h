/* What clipping keeps and what it costs, under a public model of norms.
 *
 * In a metric in which a record's information is the unit matrix of d dimensions, its score is r x
 * for a standardised residual r and a leverage x, |x|^2 ~ chi^2_d.  With r normal, h = clip_C(r x):
 *
 *   slope m(C) = E r x . h / d            of the expected release at the truth
 *   variance j(C) = E |h|^2 / d
 *
 * and a posterior mean made from n such with noise of standard deviation s C has, in units of the
 * posterior's variance, the noise (s C / m)^2 / n and the loss j / m^2 - 1. */
#ifndef DPI_INFER_CLIP_H
#define DPI_INFER_CLIP_H

typedef struct dpi_clipped {
    double slope, variance;
} dpi_clipped;

/* d > 0; clip > 0, +INFINITY allowed. */
dpi_clipped dpi_clipped_at(double d, double clip);

/* The clip norm with the least of noise and loss for n records and a release of noise sigma per
 * norm 1; between .8 and 6 times sqrt d. */
double dpi_best_clip(double d, double n, double sigma);

#endif
