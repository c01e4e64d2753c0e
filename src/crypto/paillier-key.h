/* The insides of Paillier's keys. */
#ifndef DPI_CRYPTO_PAILLIER_KEY_H
#define DPI_CRYPTO_PAILLIER_KEY_H

#include "crypto/comb.h"
#include "crypto/paillier.h"
#include "crypto/proof.h"

enum {
    DPI_PAILLIER_BITS = DPI_LIMBS_MOST * DPI_LIMB_BITS / 2, /* the most */
    DPI_PAILLIER_HALF = DPI_LIMBS_MOST / 4                  /* limbs of a prime */
};

struct dpi_paillier_public {
    size_t exponent_bits, limbs;     /* of r; of n */
    mp_limb_t n[DPI_LIMBS_MOST / 2]; /* [limbs] */
    mp_limb_t square[DPI_LIMBS_MOST];
    dpi_montgomery *ring; /* modulo n^2 */
    dpi_comb *comb;       /* of s */
};

/* In secret memory.  0 belongs to p, 1 to q; numbers of a prime are [half], others [2 half]. */
struct dpi_paillier_key {
    size_t exponent_bits, half;
    mp_limb_t n[2 * DPI_PAILLIER_HALF];
    mp_limb_t prime[2][DPI_PAILLIER_HALF];
    mp_limb_t square[2][2 * DPI_PAILLIER_HALF];
    mp_limb_t less_one[2][DPI_PAILLIER_HALF];                 /* p - 1 */
    mp_limb_t other[2][DPI_PAILLIER_HALF];                    /* q mod p */
    mp_limb_t scale[2][DPI_PAILLIER_HALF];                    /* -1 / q mod p */
    mp_limb_t join[DPI_PAILLIER_HALF];                        /* 1 / p mod q */
    mp_limb_t join_squares[2 * DPI_PAILLIER_HALF];            /* 1 / p^2 mod q^2 */
    mp_limb_t roots[DPI_PROOF_ROOTS * 2 * DPI_PAILLIER_HALF]; /* [DPI_PROOF_ROOTS][2 half] */
    dpi_montgomery *pair; /* modulo p^2 in even lanes, q^2 in odd ones */
    dpi_comb *comb;       /* of s */
};

/* What a call of the holder works with, in secret memory: four ciphertexts. */
enum { DPI_PAILLIER_TOGETHER = DPI_LANES / 2 };

typedef struct dpi_paillier_desk {
    mp_limb_t number[DPI_LANES][2 * DPI_PAILLIER_HALF]; /* modulo p^2, q^2, ... */
    mp_limb_t exponent[DPI_PAILLIER_TOGETHER][2 * DPI_PAILLIER_HALF];
    mp_limb_t message[DPI_PAILLIER_TOGETHER][2 * DPI_PAILLIER_HALF]; /* |m| */
    mp_limb_t negative[DPI_PAILLIER_TOGETHER];                       /* m < 0: 1 */
    const mp_limb_t *number_at[DPI_LANES], *exponent_at[DPI_LANES];
    mp_limb_t *result_at[DPI_LANES];
    uint64_t *eights, *second, *space;
} dpi_paillier_desk;

/* NULL when memory is out; messages are zeros.  Freeing wipes the stack, too. */
dpi_paillier_desk *dpi_paillier_desk_new(const dpi_paillier_key *key);
void dpi_paillier_desk_free(const dpi_paillier_key *key, dpi_paillier_desk *desk);

/* c[count] from the messages on the desk, |m| < n / 2; at most four. */
DP_MUST_CHECK dp_status dpi_paillier_encrypt_some(const dpi_paillier_key *key,
                                                  dpi_paillier_desk *desk, size_t count,
                                                  mp_limb_t *c, dp_error *err);

/* Messages on the desk of c[count].  Not 0 when one is no ciphertext. */
mp_limb_t dpi_paillier_decrypt_some(const dpi_paillier_key *key, dpi_paillier_desk *desk,
                                    size_t count, const mp_limb_t *c);

/* DP_EPEER: what the other side sent cannot be decrypted within the bound. */
dp_status dpi_paillier_refuse(dp_error *err);

/* Options with what is left to choose filled in.  DP_EINVAL. */
DP_MUST_CHECK dp_status dpi_paillier_settle(const dpi_paillier_options *options,
                                            dpi_paillier_options *settled, dp_error *err);

/* base[limbs] = -x^2 mod n for a random x. */
DP_MUST_CHECK dp_status dpi_paillier_base(dpi_seed *seed, size_t limbs, const mp_limb_t *n,
                                          mp_limb_t *base, dp_error *err);

#endif
