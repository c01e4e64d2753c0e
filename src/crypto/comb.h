/* Powers of a fixed base: one product for each five bits of the exponent, no squarings.
 *
 * A table holds base^(d 32^j) for d = 0 ... 31 and each window j, 32 (bits / 5) residues of each
 * modulus (Brickell, Gordon, McCurley and Wilson, Eurocrypt 1992, with all digits in the table).
 * Exponents may be secret: all entries of a window are read each time. */
#ifndef DPI_CRYPTO_COMB_H
#define DPI_CRYPTO_COMB_H

#include "crypto/montgomery.h"

typedef struct dpi_comb dpi_comb;

/* The table of a number (lane 0's and 1's of `base`, where there are two moduli) for exponents of
 * `bits` bits; m is borrowed.  *comb [out], owned by the caller, const from then on.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_comb_new(const dpi_montgomery *m, const uint64_t *base, size_t bits,
                                     dpi_comb **comb, dp_error *err);

/* NULL is allowed. */
void dpi_comb_free(dpi_comb *comb);

/* out = base^exponent in lanes 0 ... lanes - 1; exponents are [ceil(bits / 64)].  factor and out
 * are different eights. */
void dpi_comb_power(const dpi_comb *comb, size_t lanes, const mp_limb_t *const *exponent,
                    uint64_t *factor, uint64_t *out);

#endif
