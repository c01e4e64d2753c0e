/* The product of two encrypted matrices (Jiang, Kim, Lauter and Song, CCS 2018, section 3).
 *
 * A matrix of d rows and columns, d a power of two, is a vector by rows, repeated with period d^2.
 * Indices are modulo d:
 *
 *   A B = sum_k phi^k(sigma(A)) * psi^k(tau(B)),   * place by place,
 *   sigma(A)[i][j] = A[i][i + j],  tau(B)[i][j] = B[i + j][j],
 *   phi^k(A)[i][j] = A[i][j + k],  psi^k(B)[i][j] = B[i + k][j].
 *
 * sigma and tau are maps (linear.h) of 2 d - 1 and d diagonals; psi^k is a rotation by d k, all of
 * one raising; phi^k is one by k of what has in its first k columns what lies d places before.
 * Three levels, 2 d - 1 rotations and those of the two maps; of the d products the sum is
 * relinearised. */
#ifndef DPI_FHE_PRODUCT_H
#define DPI_FHE_PRODUCT_H

#include "fhe/linear.h"

/* Of 2^15 places. */
enum { DPI_CKKS_PRODUCT_LEVELS = 3, DPI_CKKS_MOST_SIDE = 128 };

/* Steps of the rotations that a product needs, each once: steps [*n], NULL to count them.
 * d: 2, 4 ... DPI_CKKS_MOST_SIDE; others are misuse.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_product_turns(size_t d, size_t *n, int *steps, dp_error *err);

typedef struct dpi_ckks_product dpi_ckks_product;

/* For matrices at that level, 3 at least and of those where products are taken; d^2 at most n / 2.
 * Others are misuse.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_product_new(const dpi_ckks *c, size_t d, size_t level,
                                             dpi_ckks_room *room, dpi_ckks_product **p,
                                             dp_error *err);
void dpi_ckks_product_free(dpi_ckks_product *p);

/* to = x y, three levels below them, which are at the product's level; `to` may be one of them, and
 * has room for two levels below theirs.  Takes the memory of d ciphertexts.  A step without a key
 * is misuse.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_product_apply(const dpi_ckks_product *p, const dpi_ckks_cipher *x,
                                               const dpi_ckks_cipher *y,
                                               const dpi_ckks_turns *turns,
                                               const dpi_ckks_switch *square, dpi_ckks_room *room,
                                               dpi_ckks_cipher *to, dp_error *err);

#endif
