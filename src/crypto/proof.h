/* That gcd(n, phi(n)) = 1 for the modulus n of a key, which whoever has the key shows to whoever
 * has not.
 *
 * Then and only then numbers of Z_{n^2}^* are (1 + n)^m y^n for one m and one y of Z_n^*, and
 * y^n of a uniform y hides everything of a ciphertext but its message.  Shown are n-th roots of
 * numbers that follow from n by a hash: where a prime d >= 2^16 divides n and phi(n), at most
 * 1.5 / d of all numbers have one, so that DPI_PROOF_ROOTS of them are there by chance 2^-123
 * (Goldberg, Reyzin, Sagga and Baldimtsi, eprint 2018/057, section 3.2).  Whoever reads it must
 * have checked that n is odd and has no prime factor below 2^16. */
#ifndef DPI_CRYPTO_PROOF_H
#define DPI_CRYPTO_PROOF_H

#include "crypto/limbs.h"

enum { DPI_PROOF_ROOTS = 8 };

/* roots[DPI_PROOF_ROOTS][2 half], of n = primes[0] primes[1], both [half] and 3 mod 4; join is
 * 1 / primes[0] mod primes[1].  DP_EINVAL where n has no inverse modulo phi(n); DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_proof_make(size_t half, const mp_limb_t *n,
                                       const mp_limb_t *const primes[2], const mp_limb_t *join,
                                       mp_limb_t *roots, dp_error *err);

/* Whether roots[DPI_PROOF_ROOTS][limbs] are the ones; all numbers are public. */
DP_MUST_CHECK bool dpi_proof_holds(size_t limbs, const mp_limb_t *n, const mp_limb_t *roots);

#endif
