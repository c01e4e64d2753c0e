/* Fractions of q in 72 bits, and their sums.
 *
 * Of a fraction in units of 2^-72 the high 64 bits lie with those of the other words, 8 bytes each,
 * and the low 8 bits behind them all.  The sum of all is the sum of words, in units of 2^-64, plus
 * a part of a unit that noise and rounding make, which is below a half. */
#include "crypto/threshold.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/packed.h"

void dpi_threshold_fractions(const dpi_bfv *f, uint64_t *polynomial, size_t count, size_t first,
                             size_t n, unsigned char *to)
{
    const uint64_t half = (uint64_t)1 << 55;
    for (size_t i = 0; i < f->levels; i++) {
        const uint64_t *factor = f->level[i].over_rest;
        f->ntt[i]->kernel->scale(f->ntt[i], factor[0], factor[1], polynomial + i * f->n);
    }
    for (size_t j = 0; j < count; j++) {
        uint64_t low, high = dpi_bfv_fixed(f, polynomial + j, f->n, &low);
        low += half;
        high += low < half;
        dpi_put_number(to + 8 * (first + j), high);
        to[8 * n + first + j] = (unsigned char)(low >> 56);
    }
}

dp_status dpi_threshold_open(size_t owners, const unsigned char *const *opened,
                             const unsigned char *const *partial, size_t n, uint64_t *words,
                             dp_error *err)
{
    memset(words, 0, n * sizeof *words);
    for (size_t k = 0; k < owners; k++)
        if (opened[k] == NULL || partial[k] == NULL)
            return dpi_fail(err, DP_EPEER, "owner %zu's part of the sum is missing", k + 1);
    for (size_t j = 0; j < n; j++) {
        unsigned low = 128; /* half a unit of the words */
        for (size_t k = 0; k < owners; k++) {
            words[j] += dpi_load_word(opened[k] + 8 * j) + dpi_load_word(partial[k] + 8 * j);
            low += (unsigned)opened[k][8 * n + j] + partial[k][8 * n + j];
        }
        words[j] += low >> 8;
    }
    return DP_OK;
}
