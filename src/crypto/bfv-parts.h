/* What the files of additive BFV share. */
#ifndef DPI_CRYPTO_BFV_PARTS_H
#define DPI_CRYPTO_BFV_PARTS_H

#include "crypto/bfv.h"

/* Wipes n bytes and frees them; NULL is allowed. */
void dpi_wipe_free(void *block, size_t n);

/* Adds a small polynomial modulo one prime. */
void dpi_bfv_add_small(const dpi_bfv *f, size_t level, const int8_t *small,
                       uint64_t *out /* [n] */);

/* A small polynomial modulo one prime, transformed. */
void dpi_bfv_small(const dpi_bfv *f, size_t level, const int8_t *small, uint64_t *out /* [n] */);

/* A plain factor modulo one prime, transformed; coefficients are below it in magnitude. */
void dpi_bfv_residues(const dpi_bfv *f, size_t level, const int32_t *coefficients,
                      uint64_t *out /* [n] */);

/* The same of numbers below the prime in magnitude. */
void dpi_bfv_wide(const dpi_bfv *f, size_t level, const int64_t *wide, uint64_t *out /* [n] */);

/* round(q m / t) of n messages (NULL: zeros) and errors added, modulo one prime, transformed. */
void dpi_bfv_encode(const dpi_bfv *f, size_t level, const uint64_t *message, const int8_t *e,
                    uint64_t *out /* [n] */);

/* Makes c1 of the seed. */
void dpi_bfv_expand(const dpi_bfv *f, dpi_bfv_cipher *c);

/* sum += a, residues. */
void dpi_bfv_add_polynomial(const dpi_bfv *f, const uint64_t *a, uint64_t *sum /* [levels][n] */);

/* Adds a number uniform in [-2^flood, 2^flood) to the one whose residues lie n apart at x; `middle`
 * has those of 2^flood. */
void dpi_bfv_add_flood(const dpi_bfv *f, int flood, const uint64_t *middle, dpi_rlwe_stream *random,
                       uint64_t *x);

/* x / q modulo 1 in units of 2^-128: the high word; too low by less than 2^52 units.  Of y_i = x (q
 * / q_i)^-1 mod q_i, which lie `stride` apart: sums y_i floor(2^128 / q_i) modulo 2^128, of which
 * each is low by less than y_i < 2^50. */
DPI_INLINE uint64_t dpi_bfv_fixed(const dpi_bfv *f, const uint64_t *y, size_t stride,
                                  uint64_t *low_word)
{
    unsigned long long low = 0, high = 0, part;
    for (size_t i = 0; i < f->levels; i++) {
        const uint64_t *over = f->level[i].part, factor = y[i * stride];
        high += dpi_multiply_wide(factor, over[0], &part) + factor * over[1];
        low += part;
        high += low < part;
    }
    *low_word = low;
    return high;
}

/* round(2^bits x / q) mod 2^bits, exact but for the cut of 2^-76 before rounding; 1 <= bits <= 64.
 */
DPI_INLINE uint64_t dpi_bfv_combine(const dpi_bfv *f, const uint64_t *y, size_t stride, int bits)
{
    uint64_t low;
    const uint64_t high = dpi_bfv_fixed(f, y, stride, &low);
    return bits == 64 ? high + (low >> 63) : (high + ((uint64_t)1 << (63 - bits))) >> (64 - bits);
}

/* The same of the residues of x. */
DPI_INLINE uint64_t dpi_bfv_fraction(const dpi_bfv *f, const uint64_t *x, size_t stride, int bits)
{
    uint64_t y[DPI_BFV_LEVELS];
    for (size_t i = 0; i < f->levels; i++)
        y[i] = dpi_modulus_multiply(&f->ntt[i]->m, x[i * stride], f->level[i].over_rest[0]);
    return dpi_bfv_combine(f, y, 1, bits);
}

#endif
