/* The two output distributions that an observer of one step has to tell apart.
 *
 * A dominating pair (P, Q) on the real line, given by the privacy loss L(x) = log dP/dQ and the
 * density of P.  The loss is written as  L = base + sign * s(x)  with the excess s > 0 increasing in
 * x: the loss starts from its finite end, `base`, and runs away from it.  Composition, tilting and
 * Fourier transforms know a mechanism by these functions alone. */
#ifndef DPI_ACCOUNTANT_PAIR_H
#define DPI_ACCOUNTANT_PAIR_H

typedef enum dpi_direction {
    DPI_REMOVE, /* P saw the record, Q did not */
    DPI_ADD     /* P did not see the record, Q did */
} dpi_direction;

typedef struct dpi_pair dpi_pair;

typedef struct dpi_pair_ops {
    /* The excess s(x) and its inverse x(s), s > 0. */
    double (*excess)(const dpi_pair *pair, double x);
    double (*place)(const dpi_pair *pair, double excess);
    /* log of the density of P at x; s = excess(x). */
    double (*log_density)(const dpi_pair *pair, double x, double s);
    /* Rate of change of everything at x: log density and loss continue analytically and change by
     * at most O(1) within 1 / roughness(x); see mass.c for the exact use. */
    double (*roughness)(const dpi_pair *pair, double x);
    /* About the x with P(X < x) = p (side < 0) or P(X > x) = p (side > 0). */
    double (*quantile)(const dpi_pair *pair, double log_p, int side);
    /* Upper bound on P(X < x) (side < 0) or P(X > x) (side > 0). */
    double (*tail)(const dpi_pair *pair, double x, int side);
    /* Bound on the rounding error of excess(x), and relative one of exp(log_density), over a range. */
    double (*excess_error)(const dpi_pair *pair, double x_low, double x_high);
    double (*density_error)(const dpi_pair *pair, double x_low, double x_high);
    /* Step of a trapezoidal rule in x that integrates P e^(cL) to about 1e-12. */
    double (*step)(const dpi_pair *pair);
} dpi_pair_ops;

struct dpi_pair {
    const dpi_pair_ops *ops;
    double base; /* finite end of the loss */
    int sign;    /* +1: loss in (base, inf); -1: loss in (-inf, base) */
    double sigma, q;
    double odds;     /* q / (1 - q) */
    double log_odds; /* its log */
    double log_rest; /* log(1 - q) */
};

/* Poisson-subsampled Gaussian with noise sigma > 0 and rate 0 < q < 1, sensitivity 1:
 * remove is ((1-q) N(0, sigma^2) + q N(1, sigma^2), N(0, sigma^2)), add is the reverse (Zhu, Dong
 * and Wang, AISTATS 2022). */
dpi_pair dpi_pair_gaussian(double sigma, double q, dpi_direction direction);

#endif
