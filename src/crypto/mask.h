/* Answers of the other side: packed, and masked so that nothing is left but what was declared.
 *
 *   m = sum_j (v_j + 2^(bits - 1)) 2^(bits j) + r 2^(bits k) mod n,   j = 0 ... k - 1
 *
 * k numbers stand side by side in one ciphertext, |v_j| < 2^(bits - 1), and r is uniform below
 * n / 2^(bits k).  Whoever has the key learns the low bits k bits of the sum, as many as k honest
 * numbers have, and nothing else, whatever the messages were that the v_j were made of: the sum
 * divided by 2^(bits k) is uniform but for 2^(bits k) / n <= 2^-DPI_MASK_SLACK, which is also the
 * chance that an honest sum passes n and is read wrong.  So who encrypts numbers beyond the
 * declared bounds, to read many weights off one sum, gets no more bits back than for honest ones.
 */
#ifndef DPI_CRYPTO_MASK_H
#define DPI_CRYPTO_MASK_H

#include "crypto/paillier.h"

enum { DPI_MASK_SLACK = 64, DPI_MASK_BITS = 64 /* most of a number, with its sign */ };

/* How many numbers of so many bits stand in a ciphertext of a key; at least 1 for a key of 192 bits
 * and more. */
size_t dpi_mask_slots(size_t key_bits, unsigned bits);

/* packed[ceil(count / slots)] of c[count], slots <= dpi_mask_slots; with `bare` true without masks,
 * as protocols have been published.  2 <= bits <= 64.  DP_EINVAL, DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_paillier_pack(const dpi_paillier_public *key, size_t slots,
                                          unsigned bits, bool bare, size_t count,
                                          const mp_limb_t *c, mp_limb_t *packed, dp_error *err);

/* m[count] of packed[ceil(count / slots)], in [-2^(bits - 1), 2^(bits - 1)).  DP_EPEER, and m is
 * zeros, when one is no ciphertext; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_paillier_unpack(const dpi_paillier_key *key, size_t slots,
                                            unsigned bits, size_t count, const mp_limb_t *packed,
                                            int64_t *m, dp_error *err);

/* c[count] *= by[count], ciphertexts both: their messages are added.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_paillier_add(const dpi_paillier_public *key, size_t count,
                                         const mp_limb_t *by, mp_limb_t *c, dp_error *err);

/* c[count] *= encryptions without randomness of m[count]; c are encryptions of zero made ahead. */
DP_MUST_CHECK dp_status dpi_paillier_fill(const dpi_paillier_public *key, size_t count,
                                          const int64_t *m, mp_limb_t *c, dp_error *err);

#endif
