/* What hides all of a ciphertext's message but its low bits.
 *
 *   c (1 + r 2^bits n) encrypts m + r 2^bits mod n, r uniform below n / 2^bits
 *
 * Whoever has the key learns m mod 2^bits.  Of the rest nothing is learnt but whether the sum has
 * passed n, which for |m| < 2^bits happens with chance 2^bits / n: whatever m is, the sum divided
 * by 2^bits is uniform but for as much.  So who sends messages beyond the declared bounds, to read
 * many weights off one sum, gets no more bits back than for an honest one. */
#ifndef DPI_CRYPTO_MASK_H
#define DPI_CRYPTO_MASK_H

#include "crypto/paillier.h"

enum { DPI_MASK_BITS = 64 };

/* Masks c[count], 1 <= bits <= 64 and less than half the bits of n.  DP_EINVAL, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_paillier_mask(const dpi_paillier_public *key, size_t count,
                                          unsigned bits, mp_limb_t *c, dp_error *err);

/* m[count] = what is left, in [-2^(bits - 1), 2^(bits - 1)).  DP_EPEER, and m is zeros, when one is
 * no ciphertext; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_paillier_decrypt_masked(const dpi_paillier_key *key, size_t count,
                                                    const mp_limb_t *c, unsigned bits, int64_t *m,
                                                    dp_error *err);

/* c[count] *= encryptions without randomness of m[count]; c are encryptions of zero made ahead. */
DP_MUST_CHECK dp_status dpi_paillier_fill(const dpi_paillier_public *key, size_t count,
                                          const int64_t *m, mp_limb_t *c, dp_error *err);

#endif
