/* Several numbers in one ciphertext: the numbers of as many requests, which a layer treats alike.
 *
 *   m = sum_j v_j 2^(bits j), |v_j| < 2^(bits - 1)
 *
 * A sum of multiples of such messages holds the same sums of the v_j, as long as each of them stays
 * below 2^(bits - 1).  One that does not spills into its neighbours, and nothing shows it: slots
 * are for requests of one client, or of clients whose numbers are known to be in range. */
#ifndef DPI_CRYPTO_SLOTS_H
#define DPI_CRYPTO_SLOTS_H

#include "crypto/paillier.h"

typedef struct dpi_slots {
    size_t count;  /* at least 1; for a layer 0 is 1, too */
    unsigned bits; /* of each, 2 ... 64 */
} dpi_slots;

/* As many of so many bits as a key has room for. */
size_t dpi_slots_room(size_t key_bits, unsigned bits);

/* c[count] = fresh encryptions of m [count][slots.count], by the holder.  DP_EINVAL where the slots
 * do not fit the key, DP_EDOMAIN for a number beyond +-(2^(bits - 1) - 1). */
DP_MUST_CHECK dp_status dpi_slots_encrypt(const dpi_paillier_key *key, dpi_slots slots,
                                          size_t count, const int64_t *m, mp_limb_t *c,
                                          dp_error *err);

/* m [count][slots.count] = what ciphertexts hold.  DP_EPEER, and m is zeros, when one is beyond
 * +-bound < 2^(bits - 1) or no ciphertext: as dpi_paillier_decrypt. */
DP_MUST_CHECK dp_status dpi_slots_decrypt(const dpi_paillier_key *key, dpi_slots slots,
                                          size_t count, const mp_limb_t *c, int64_t bound,
                                          int64_t *m, dp_error *err);

#endif
