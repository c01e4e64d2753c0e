/* Integrals of what falls off exponentially or faster, with moments. */
#ifndef DPI_NUM_DECAY_H
#define DPI_NUM_DECAY_H

/* A height's logarithm, and a number whose mean is asked for. */
typedef struct dpi_height {
    double log_height, score;
} dpi_height;

/* The integral, and the score's mean and variance under the normalised heights. */
typedef struct dpi_decay {
    double mass, mean, variance;
} dpi_decay;

/* Over u from 0 to infinity of e^h(u) with h(0) = 0, h concave and h(scale) about -1; to 1e-14
 * relative where h is smooth on scales above u, as the logarithm of a density from its start is.
 * 60 calls of `height`. */
dpi_decay dpi_decay_integral(double scale, dpi_height (*height)(double u, const void *of),
                             const void *of);

/* Where h of slope -fall and second derivative -bend at 0 is about -1. */
double dpi_decay_scale(double fall, double bend);

#endif
