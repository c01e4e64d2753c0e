/* The sign of encrypted numbers, and what networks make of it: sign(x) is nearly p_3(p_2(p_1(x))),
 * odd polynomials of degrees 15, 15 and 27, each nearest to 1 where the one before it comes to
 * (Lee, Lee, No and Kim, IEEE TDSC 2022). */
#ifndef DPI_FHE_SIGN_H
#define DPI_FHE_SIGN_H

#include "fhe/ckks.h"

enum { DPI_CKKS_SIGNS = 3, DPI_CKKS_SIGN_DEGREE = 27 };

typedef struct dpi_ckks_sign {
    size_t degree[DPI_CKKS_SIGNS];
    double a[DPI_CKKS_SIGNS][DPI_CKKS_SIGN_DEGREE + 1]; /* in the Chebyshev basis */
    double off; /* from 1, for 2^-alpha <= x <= 1, to a fiftieth of it */
} dpi_ckks_sign;

/* For places that are 0 or have magnitudes from 2^-alpha to 1; between them the result is between
 * -1 - off and 1 + off.  At 9 signs are 2^-13.3 off from 2^-9 on, and max(x, 0) 2^-13.1 everywhere
 * (tests/fhe/t-sign).  DP_EDOMAIN alpha is not 8 .. 12; DP_EACCURACY no such polynomials found. */
DP_MUST_CHECK dp_status dpi_ckks_sign_make(int alpha, dpi_ckks_sign *s, dp_error *err);

/* Levels of the sign, and of x (1 + sign(x)) / 2. */
size_t dpi_ckks_sign_levels(void);
size_t dpi_ckks_relu_levels(void);

/* Without encryption. */
double dpi_ckks_sign_at(const dpi_ckks_sign *s, double x);
double dpi_ckks_relu_at(const dpi_ckks_sign *s, double x);

/* to = the sign of x, or x where that is above 0 and 0 below, `to` with room for x's level and not
 * x.  Places are taken to be between -1 and 1; what the bound of `to` is is by the rules of sums
 * and products, and wide.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_sign_apply(const dpi_ckks *c, const dpi_ckks_sign *s,
                                            const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                                            dpi_ckks_room *room, dpi_ckks_cipher *to,
                                            dp_error *err);
DP_MUST_CHECK dp_status dpi_ckks_relu_apply(const dpi_ckks *c, const dpi_ckks_sign *s,
                                            const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                                            dpi_ckks_room *room, dpi_ckks_cipher *to,
                                            dp_error *err);

#endif
