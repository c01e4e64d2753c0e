/* Numbers of a few bits each, packed into bytes without gaps: number i has bits i w .. i w + w - 1
 * of the bytes, the lowest bit of a byte first; what is left of the last byte is zero. */
#ifndef DPI_CRYPTO_PACKED_H
#define DPI_CRYPTO_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { DPI_PACKED_MOST = 63 }; /* bits of a number */

/* Bytes of n numbers of `bits` bits: at most 63, n < 2^56. */
size_t dpi_packed_size(size_t n, int bits);

/* Writes n numbers below 2^bits. */
void dpi_packed_write(size_t n, int bits, const uint64_t *numbers, unsigned char *to);

/* Reads n numbers from dpi_packed_size bytes; false where the bits after the last are not zero. */
bool dpi_packed_read(size_t n, int bits, const unsigned char *from, uint64_t *numbers);

/* Eight bytes as a number, the lowest first; compilers make one instruction of it. */
DPI_INLINE uint64_t dpi_load_word(const unsigned char *from)
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
           (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

#endif
