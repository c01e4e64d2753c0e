/* Answers of the other side: packed, and masked so that no more is left than what was declared.
 *
 *   m = sum_j (v_j + 2^(bits - 1)) 2^(bits j) + r 2^(bits k) mod n,   j = 0 ... k - 1
 *
 * k numbers stand side by side in one ciphertext, |v_j| < 2^(bits - 1), and r is uniform below R >=
 * n / 2^(bits k).  Of honest numbers whoever has the key learns these and nothing else: the sum
 * passes n, and is read wrong, with chance 2^(bits k) / n <= 2^-DPI_MASK_SLACK.  Whatever else was
 * encrypted, an answer tells at most log2 n - log2 R <= bits k bits, as many as k honest numbers
 * have, since m is one of n numbers and each is as likely as another of R.  So who encrypts numbers
 * beyond the declared bounds, to read many weights off one sum, gets no more bits back.
 *
 * This is of the message.  Of the rest of the ciphertext whole zeros (zeros.h) leave nothing. */
#ifndef DPI_CRYPTO_MASK_H
#define DPI_CRYPTO_MASK_H

#include "crypto/paillier.h"
#include "crypto/zeros.h"

enum { DPI_MASK_SLACK = 64, DPI_MASK_BITS = 64 /* most of a number, with its sign */ };

/* How many numbers of so many bits stand in a ciphertext of a key; at least 1 for a key of 192 bits
 * and more. */
size_t dpi_mask_slots(size_t key_bits, unsigned bits);

/* How answers are packed. */
typedef struct dpi_packing {
    const dpi_paillier_public *key;
    dpi_zeros *zeros; /* one for each result, whole ones where it is sent; NULL: none */
    size_t slots;     /* numbers in a result, at most dpi_mask_slots */
    unsigned bits;    /* of a number, 2 ... 64 */
    bool bare;        /* without masks, as protocols have been published */
} dpi_packing;

/* packed[ceil(count / slots)] of c[count].  DP_EINVAL, DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_paillier_pack(const dpi_packing *how, size_t count, const mp_limb_t *c,
                                          mp_limb_t *packed, dp_error *err);

/* m[count] of packed[ceil(count / slots)], in [-2^(bits - 1), 2^(bits - 1)).  DP_EPEER, and m is
 * zeros, when one is no ciphertext; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_paillier_unpack(const dpi_paillier_key *key, size_t slots,
                                            unsigned bits, size_t count, const mp_limb_t *packed,
                                            int64_t *m, dp_error *err);

#endif
