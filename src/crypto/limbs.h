/* Numbers of fixed width as arrays of 64-bit limbs, lowest first, for secrets: the time of each
 * operation depends on sizes alone, unless it is said to be for public numbers.
 *
 * GMP's mpz_t keeps numbers in memory of its own, where they cannot be locked or wiped; so secrets
 * are never mpz_t.  What operations leave on the stack is overwritten by dpi_limbs_wipe_stack, once
 * at the end of each call that works on secrets. */
#ifndef DPI_CRYPTO_LIMBS_H
#define DPI_CRYPTO_LIMBS_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

enum {
    DPI_LIMB_BITS = 64,
    DPI_LIMBS_MOST = 128,                   /* of a modulus: the square of 4096 bits */
    DPI_LIMBS_ROOM = 2 * DPI_LIMBS_MOST + 2 /* of a number that is divided */
};

/* Where random bytes come from: NULL is the operating system.  A seed, for tests alone, gives the
 * same bytes each time. */
typedef struct dpi_seed {
    unsigned char key[32];
    uint64_t calls;
} dpi_seed;

/* Fills out with random bytes.  DP_EENTROPY where the system gives none. */
DP_MUST_CHECK dp_status dpi_limbs_random(dpi_seed *seed, size_t n, void *out, dp_error *err);

/* Zeroed memory of count * size bytes for secrets, 64-byte aligned: locked where that is permitted,
 * between guard pages, wiped when freed.  NULL when memory is out.  Free with dpi_secret_free. */
void *dpi_secret_alloc(size_t count, size_t size);
void dpi_secret_free(void *block);

/* Overwrites the part of the stack that calls before this one have used. */
void dpi_limbs_wipe_stack(void);

/* Bytes with the little end first, 8 a limb, and back. */
void dpi_limbs_from_bytes(size_t n, const unsigned char *bytes, mp_limb_t *out);
void dpi_limbs_to_bytes(size_t n, const mp_limb_t *a, unsigned char *bytes);

/* Bits of a number, 0 for zero; public numbers. */
size_t dpi_limbs_bits(size_t n, const mp_limb_t *a);

bool dpi_limbs_are_zero(size_t n, const mp_limb_t *a);

/* out[an + bn] = a b; an, bn > 0.  out must not overlap. */
void dpi_limbs_mul(size_t an, const mp_limb_t *a, size_t bn, const mp_limb_t *b, mp_limb_t *out);

/* r[dn] = a mod d, an <= DPI_LIMBS_ROOM; r may be a.  How many limbs d needs is public. */
void dpi_limbs_mod(size_t an, const mp_limb_t *a, size_t dn, const mp_limb_t *d, mp_limb_t *r);

/* q[an] = a / d rounded down, r[dn] = what is left. */
void dpi_limbs_divide(size_t an, const mp_limb_t *a, size_t dn, const mp_limb_t *d, mp_limb_t *q,
                      mp_limb_t *r);

/* out[n] = a - b mod m, for a and b below m. */
void dpi_limbs_sub_mod(size_t n, const mp_limb_t *a, const mp_limb_t *b, const mp_limb_t *m,
                       mp_limb_t *out);

/* x[2 n] = the number below A B that is a modulo A and b modulo B, of n limbs, n <=
 * DPI_LIMBS_MOST / 2: a + A ((b - a) / A mod B).  a < A and b < B; inverse = 1 / A mod B. */
void dpi_limbs_join(size_t n, const mp_limb_t *a, const mp_limb_t *b, const mp_limb_t *big_a,
                    const mp_limb_t *big_b, const mp_limb_t *inverse, mp_limb_t *x);

/* out[n] = 1 / a mod m, m odd, a < m.  False, and out is zeros, where there is none. */
DP_MUST_CHECK bool dpi_limbs_invert(size_t n, const mp_limb_t *a, const mp_limb_t *m,
                                    mp_limb_t *out);

/* Greatest common divisor of public numbers, b odd, is 1. */
bool dpi_limbs_coprime(size_t an, const mp_limb_t *a, size_t bn, const mp_limb_t *b);

#endif
