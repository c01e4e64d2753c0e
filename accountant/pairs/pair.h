/* The two output distributions that an observer of one step has to tell apart, as a distribution of
 * the privacy loss L = log dP/dQ under P.
 *
 * A pair is a sum of pieces and atoms.  On a piece, an interval of x, loss and density are analytic
 * and the loss runs away from `base` monotonically:
 *     L(x) = base + sign * s(x),   s >= 0 increasing in x;
 * an atom is a point mass.  Composition, tilting and Fourier transforms know a mechanism by these
 * alone.  Knots of grids are counted from `base`: it is the loss at which most mass lies closest
 * (log(1 - q) for a sampled Gaussian), or 0.  Masses are masses of P; those of all pieces and atoms
 * and `infinite` add up to 1 within rounding. */
#ifndef DPI_ACCOUNTANT_PAIRS_PAIR_H
#define DPI_ACCOUNTANT_PAIRS_PAIR_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/accountant.h>

typedef enum dpi_direction {
    DPI_REMOVE, /* P saw the record, Q did not */
    DPI_ADD     /* P did not see the record, Q did */
} dpi_direction;

typedef struct dpi_piece dpi_piece;

typedef struct dpi_piece_ops {
    /* The excess s(x) >= 0 and its inverse x(s), clipped to the piece. */
    double (*excess)(const dpi_piece *piece, double x);
    double (*inverse)(const dpi_piece *piece, double excess);
    /* log of the density of P at x (weights included); s = excess(x). */
    double (*log_density)(const dpi_piece *piece, double x, double s);
    /* Rate of change of everything at x: log density and loss continue analytically and change by
     * at most O(1) within 1 / roughness(x); see mass.c for the exact use. */
    double (*roughness)(const dpi_piece *piece, double x);
    /* About the x in the piece with P(piece, X < x) = p (side < 0) or P(piece, X > x) = p (side >
     * 0); the piece's end where that is finite. */
    double (*quantile)(const dpi_piece *piece, double log_p, int side);
    /* Upper bound on P(piece, X < x) (side < 0) or P(piece, X > x) (side > 0); 0 at a finite
     * end. */
    double (*tail)(const dpi_piece *piece, double x, int side);
    /* Bound on the rounding error of excess(x), and relative one of exp(log_density), over a
     * range. */
    double (*excess_error)(const dpi_piece *piece, double x_low, double x_high);
    double (*density_error)(const dpi_piece *piece, double x_low, double x_high);
    /* Step of a trapezoidal rule over the whole line that integrates P e^(zL) to about 1e-13 when
     * |Im z| <= u; 0 when the piece is not a whole line and needs panels of Gauss's rule
     * instead. */
    double (*step)(const dpi_piece *piece, double u);
    /* e^excess = 1 + odds e^((2x - 1) / (2 sigma^2)) on the whole line, and P is rest N(0, sigma^2),
     * times e^excess where sign > 0. */
    bool sampled;
} dpi_piece_ops;

typedef struct dpi_mixture dpi_mixture; /* mixture.c */

struct dpi_piece {
    const dpi_piece_ops *ops;
    int sign;        /* +1: loss above base; -1: below */
    double from, to; /* x, from < to; infinite ends allowed */
    double shift;    /* least excess of the piece, added by its ops */
    double weight;   /* factor of the density, included by its ops */
    /* What the ops need besides; each maker's file says which.  P is, up to the weight, the normal
     * mixture (1 - share) N(mean, sigma^2) + share N(moved, sigma^2) where it has only two
     * parts. */
    double sigma, q;
    double mean, moved, share;
    double odds;                /* q / (1 - q) */
    double log_odds;            /* its log */
    double log_rest;            /* log(1 - q) */
    double log_scale;           /* log of the density's constant factors */
    int mirror;                 /* -1: x is turned around */
    const dpi_mixture *mixture; /* owned by the pair */
};

typedef struct dpi_atom {
    double offset; /* loss - base, exact within offset_error of the pair */
    double mass;   /* of P, exact within relative mass_error of the pair */
} dpi_atom;

enum { DPI_MAX_PIECES = 4 };

typedef struct dpi_pair {
    double base;
    size_t n_pieces;
    dpi_piece piece[DPI_MAX_PIECES];
    size_t n_atoms;
    dpi_atom *atom;      /* [n_atoms], owned; sorted by offset, none twice */
    double offset_error; /* of atoms, absolute */
    double mass_error;   /* of atoms, relative */
    double infinite;     /* P-mass with loss +INFINITY, rounded up */
    double lost; /* P-mass that an upper bound must add at +INFINITY: numerical loss of atoms */
    double
        normal_mu; /* > 0: L is N(mu^2/2, mu^2), a Gaussian without sampling; pieces say so too */
    void *owned;   /* freed with the pair */
} dpi_pair;

/* Releases of the composition: pair, independent of the others, `times` times. */
typedef struct dpi_pair_times {
    const dpi_pair *pair;
    double times;
} dpi_pair_times;

void dpi_pair_free(dpi_pair *pair);

/* Least upper bound of the finite losses, rounded up; +INFINITY when there is none. */
double dpi_pair_top(const dpi_pair *pair);

/* Which of the two bounds a pair serves.  They differ where the worst case is not known exactly
 * (fixed-size and truncated batches: a realisable pair below, a dominating one above) and where
 * mass is left out (atoms: none of it below, at +INFINITY above). */
typedef enum dpi_side { DPI_LOWER, DPI_UPPER } dpi_side;

/* The pair of one release of `m` (checked before, check.h).  For DP_SAMPLING_ALLOCATION one
 * "release" is a whole epoch; *times [out] is how many such releases m has.  Owned by the caller,
 * free with dpi_pair_free; all zero on errors.  DP_ENOMEM, DP_EACCURACY, DP_EMISMATCH. */
dp_status dpi_pair_of(const dp_mechanism *m, dpi_direction direction, dpi_side side, dpi_pair *pair,
                      double *times, dp_error *err);

/* Poisson-subsampled Gaussian with noise sigma > 0 and rate 0 < q < 1, sensitivity 1:
 * remove is ((1-q) N(0, sigma^2) + q N(1, sigma^2), N(0, sigma^2)), add is the reverse (Zhu, Dong
 * and Wang, AISTATS 2022). */
dpi_pair dpi_pair_gaussian(double sigma, double q, dpi_direction direction);

#endif
