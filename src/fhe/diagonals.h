/* Linear maps of encrypted vectors, by any of their diagonals: y = sum_k e_k * rot_k(x).
 *
 * Offsets k are multiples of a stride; k = stride (i + g j), i < g: x is turned by the baby steps
 * stride i, of one raising, and sums by the giant ones (Halevi and Shoup, CRYPTO 2014 and 2018).
 * Vectors are repeated with a period of `places`, a power of two up to n / 2.  One level. */
#ifndef DPI_FHE_DIAGONALS_H
#define DPI_FHE_DIAGONALS_H

#include "fhe/linear.h"

typedef struct dpi_ckks_diagonals dpi_ckks_diagonals;

/* A map without diagonals, and room for `most`; `baby`: g, a power of two.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_diagonals_new(const dpi_ckks *c, size_t level, size_t places,
                                               size_t most, size_t stride, size_t baby,
                                               dpi_ckks_diagonals **d, dp_error *err);
void dpi_ckks_diagonals_free(dpi_ckks_diagonals *d);

/* e_k[places], im NULL: real.  An offset is added once.  DP_EDOMAIN a number that cannot be
 * encoded; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_diagonals_add(dpi_ckks_diagonals *d, size_t offset,
                                               const double *re, const double *im,
                                               dpi_ckks_room *room, dp_error *err);

/* Steps of the rotations that it needs, each once: steps [n], NULL to count them. */
size_t dpi_ckks_diagonals_turns(const dpi_ckks_diagonals *d, int *steps);

/* to = the map of x, which is at its level and is not `to`.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_diagonals_apply(const dpi_ckks_diagonals *d,
                                                 const dpi_ckks_cipher *x,
                                                 const dpi_ckks_turns *turns, dpi_ckks_room *room,
                                                 dpi_ckks_cipher *to, dp_error *err);

/* The noise of what apply makes of places up to `size` with that noise.  `apart`: errors of
 * different places have nothing to do with each other, and their variances add up. */
double dpi_ckks_diagonals_noise(const dpi_ckks_diagonals *d, double size, double noise, bool apart);

#endif
