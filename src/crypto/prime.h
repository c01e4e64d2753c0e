/* Secret primes. */
#ifndef DPI_CRYPTO_PRIME_H
#define DPI_CRYPTO_PRIME_H

#include "crypto/limbs.h"

/* A prime of exactly `bits` bits, a multiple of 64, whose two highest bits are set and that is
 * 3 mod 4, uniformly among these; a composite one passes with probability below 4^-32.
 * DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_prime_draw(dpi_seed *seed, size_t bits, mp_limb_t *prime,
                                       dp_error *err);

/* Whether an odd number above 3 that is 3 mod 4 passes `rounds` tests with random bases.  The time
 * tells where it fails. */
DP_MUST_CHECK dp_status dpi_prime_test(dpi_seed *seed, size_t limbs, const mp_limb_t *number,
                                       int rounds, bool *passes, dp_error *err);

/* Whether a public number has a prime factor below 2^16 (and is not that prime itself). */
bool dpi_prime_has_small_factor(size_t limbs, const mp_limb_t *number);

#endif
