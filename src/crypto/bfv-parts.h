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

/* round(2^bits x / q) mod 2^bits, exact but for a cut of 2^-76 before rounding, of y_i = x (q /
 * q_i)^-1 mod q_i, which lie `stride` apart; 1 <= bits <= 63. Sums y_i floor(2^128 / q_i) modulo
 * 2^128, of which each is low by less than y_i < 2^50. */
DPI_INLINE uint64_t dpi_bfv_combine(const dpi_bfv *f, const uint64_t *y, size_t stride, int bits)
{
    unsigned long long low = 0, high = 0, part;
    for (size_t i = 0; i < f->levels; i++) {
        const uint64_t *over = f->level[i].part, factor = y[i * stride];
        high += dpi_multiply_wide(factor, over[0], &part) + factor * over[1];
        low += part;
        high += low < part;
    }
    return (high + ((unsigned long long)1 << (63 - bits))) >> (64 - bits);
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
