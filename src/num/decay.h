/* Integrals of what falls off exponentially or faster, with moments. */
#ifndef DPI_NUM_DECAY_H
#define DPI_NUM_DECAY_H

/* A height's logarithm, and numbers whose means are asked for. */
typedef struct dpi_height {
    double log_height, score, bend;
} dpi_height;

/* The integral; under the normalised heights the score's mean and variance, and the bend's mean.
 * Where they are a parameter's first and second derivatives of the logarithm of the height, those
 * of the integral's are the mean, and the variance and the bend. */
typedef struct dpi_decay {
    double mass, mean, variance, bend;
} dpi_decay;

/* Over u from 0 to infinity of e^h(u) with h(0) = 0, h concave and h(scale) about -1; to 1e-14
 * relative where h is smooth on scales above u, as the logarithm of a density from its start is.
 * 60 calls of `height`. */
dpi_decay dpi_decay_integral(double scale, dpi_height (*height)(double u, const void *of),
                             const void *of);

/* Where h of slope -fall and second derivative -bend at 0 is about -1. */
double dpi_decay_scale(double fall, double bend);

/* Positive nodes and weights of Gauss's 20 point rule on (-1, 1) (Abramowitz and Stegun 25.4.30).
 */
enum { DPI_GAUSS_PAIRS = 10 };
extern const double dpi_gauss_rule[DPI_GAUSS_PAIRS][2];

/* The same over u from 0 to end, by this rule. */
dpi_decay dpi_gauss_integral(double end, dpi_height (*height)(double u, const void *of),
                             const void *of);

#endif
