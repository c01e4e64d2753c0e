/* The insides of Paillier's keys. */
#ifndef DPI_CRYPTO_PAILLIER_KEY_H
#define DPI_CRYPTO_PAILLIER_KEY_H

#include "crypto/comb.h"
#include "crypto/paillier.h"

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
    mp_limb_t less_one[2][DPI_PAILLIER_HALF];      /* p - 1 */
    mp_limb_t other[2][DPI_PAILLIER_HALF];         /* q mod p */
    mp_limb_t scale[2][DPI_PAILLIER_HALF];         /* -1 / q mod p */
    mp_limb_t join[DPI_PAILLIER_HALF];             /* 1 / p mod q */
    mp_limb_t join_squares[2 * DPI_PAILLIER_HALF]; /* 1 / p^2 mod q^2 */
    dpi_montgomery *pair;                          /* modulo p^2 in even lanes, q^2 in odd ones */
    dpi_comb *comb;                                /* of s */
};

/* Options with what is left to choose filled in.  DP_EINVAL. */
DP_MUST_CHECK dp_status dpi_paillier_settle(const dpi_paillier_options *options,
                                            dpi_paillier_options *settled, dp_error *err);

/* base[limbs] = -x^2 mod n for a random x. */
DP_MUST_CHECK dp_status dpi_paillier_base(dpi_seed *seed, size_t limbs, const mp_limb_t *n,
                                          mp_limb_t *base, dp_error *err);

#endif
