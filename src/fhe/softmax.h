/* The softmax of encrypted numbers: y_i = exp(r x_i) / sum_j exp(r x_j), -1 <= x_i <= 1.
 *
 * exp(r (x - 1)) is a polynomial, the sum is by rotations, and its inverse is a polynomial on the
 * range that follows, d exp(-2 r) to d.  r x is what networks call logits: they are given divided
 * by r, which the matrix before can do; a shift of all of them is none of the result. */
#ifndef DPI_FHE_SOFTMAX_H
#define DPI_FHE_SOFTMAX_H

#include "fhe/linear.h"
#include "fhe/polynomial.h"

typedef struct dpi_ckks_softmax {
    size_t places, degree, inverse; /* d, a power of two; degrees of both polynomials */
    double a[DPI_CKKS_DEGREE + 1];  /* alpha exp(r (x - 1)), alpha times sums being b's range */
    double b[DPI_CKKS_DEGREE + 1];  /* 1 / (u + beta) */
    double beta;
    double most; /* of alpha exp */
    double off;  /* of results, at the most, without what encryption adds */
} dpi_ckks_softmax;

/* Of the least degrees 2^k - 1 by which results are off by less than 2^-bits.  DP_EDOMAIN places
 * are not 2^k, r is not above 0 and up to 8, or bits are not 4 ... 20; DP_EACCURACY no degree up to
 * DPI_CKKS_DEGREE is enough: that of the inverse grows with exp(r). */
DP_MUST_CHECK dp_status dpi_ckks_softmax_make(size_t places, double r, int bits,
                                              dpi_ckks_softmax *s, dp_error *err);

size_t dpi_ckks_softmax_levels(const dpi_ckks_softmax *s);

/* Steps of the rotations that it needs: steps [n], NULL to count them. */
size_t dpi_ckks_softmax_turns(const dpi_ckks_softmax *s, int *steps);

/* Without encryption; x and y [places], y may alias x. */
void dpi_ckks_softmax_at(const dpi_ckks_softmax *s, const double *x, double *y);

/* to = the softmax of x, which is repeated with a period of `places`, so many levels below x; `to`
 * has room for x's level, and may be x.  Places are taken to be between -1 and 1.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_softmax_apply(const dpi_ckks *c, const dpi_ckks_softmax *s,
                                               const dpi_ckks_cipher *x,
                                               const dpi_ckks_turns *turns,
                                               const dpi_ckks_switch *square, dpi_ckks_room *room,
                                               dpi_ckks_cipher *to, dp_error *err);

#endif
