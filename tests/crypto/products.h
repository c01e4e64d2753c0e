/* Products of every back end against GMP's integers. */
#ifndef TESTS_CRYPTO_PRODUCTS_H
#define TESTS_CRYPTO_PRODUCTS_H

#include "crypto/montgomery.h"

/* `rounds` products modulo numbers of `limbs` limbs, of eight pairs and of one to seven in turn:
 * lanes have all pairs of 0, 1, 2, N - 1, N - 2 and the highest powers of two below N, eight and
 * four at a time, then random pairs, in chains of products that are not reduced between. */
void check_products(const dpi_montgomery_backend *backend, size_t limbs, size_t moduli,
                    size_t rounds);

#endif
