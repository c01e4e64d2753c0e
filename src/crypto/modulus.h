/* Numbers modulo a prime below 2^50, and such primes.
 *
 * 50 bits, so that 4q fits the 52-bit multiplier of AVX-512 IFMA (ntt-ifma.c); the portable code
 * has the same bound, so that both compute the same.  Nothing here branches on residues. */
#ifndef DPI_CRYPTO_MODULUS_H
#define DPI_CRYPTO_MODULUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { DPI_MODULUS_BITS = 50 };

typedef struct dpi_modulus {
    uint64_t q;       /* odd, > 2 */
    uint64_t barrett; /* floor(2^(bits + 50) / q), in (2^50, 2^51] */
    int bits;         /* 2^(bits - 1) < q < 2^bits */
} dpi_modulus;

/* Whether q is a prime: exact for every 64-bit number. */
bool dpi_prime(uint64_t q);

/* Makes m of q; false unless q is an odd prime below 2^50. */
bool dpi_modulus_make(uint64_t q, dpi_modulus *m);

/* The `skip`-th (from 0) largest prime q = 1 mod `step` below 2^bits and above 2^(bits - 1); 0
 * where there is none or bits is not in 2 .. 50. */
uint64_t dpi_modulus_find(int bits, uint64_t step, size_t skip);

/* a^e and the inverse of a, not 0; a < q. */
uint64_t dpi_modulus_power(const dpi_modulus *m, uint64_t a, uint64_t e);
uint64_t dpi_modulus_inverse(const dpi_modulus *m, uint64_t a);

/* A number of order exactly 2n, n a power of two: zeta^n = -1.  The least such power of the least
 * non-residue, so that all machines have the same.  2n must divide q - 1. */
uint64_t dpi_modulus_root(const dpi_modulus *m, size_t n);

/* a - q where a >= q, else a; for a < 2^63. */
DPI_INLINE uint64_t dpi_modulus_once(uint64_t a, uint64_t q)
{
    uint64_t less = a - q;
    return less + (q & (0 - (less >> 63)));
}

/* a b mod q of a, b < q (Barrett, CRYPTO '86).  x = floor(a b / 2^(bits - 2)) < 2^(bits + 2) and
 * floor(x barrett / 2^52) is at most 3 below floor(a b / q): half a unit is lost by cutting x, at
 * most one by cutting `barrett`, less than one by the last cut. */
DPI_INLINE uint64_t dpi_modulus_multiply(const dpi_modulus *m, uint64_t a, uint64_t b)
{
    unsigned long long low, x_low;
    uint64_t high = dpi_multiply_wide(a, b, &low), x = low >> (m->bits - 2);
    x |= high << 1 << (65 - m->bits);
    high = dpi_multiply_wide(x, m->barrett, &x_low);
    uint64_t quotient = high << 12 | x_low >> 52, r = low - quotient * m->q;
    return dpi_modulus_once(dpi_modulus_once(r, 2 * m->q), m->q);
}

DPI_INLINE uint64_t dpi_modulus_add(const dpi_modulus *m, uint64_t a, uint64_t b)
{
    return dpi_modulus_once(a + b, m->q);
}

DPI_INLINE uint64_t dpi_modulus_subtract(const dpi_modulus *m, uint64_t a, uint64_t b)
{
    return dpi_modulus_once(a + m->q - b, m->q);
}

/* The residue of a signed number, |a| < q. */
DPI_INLINE uint64_t dpi_modulus_signed(const dpi_modulus *m, int64_t a)
{
    return (uint64_t)a + (m->q & (0 - ((uint64_t)a >> 63)));
}

/* The residue of any 64-bit number. */
DPI_INLINE uint64_t dpi_modulus_reduce(const dpi_modulus *m, uint64_t a)
{
    return a % m->q;
}

#endif
