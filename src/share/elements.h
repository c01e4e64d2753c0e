/* Elements one by one, and places in arrays, for the rows that hide numbers. */
#ifndef DPI_SHARE_ELEMENTS_H
#define DPI_SHARE_ELEMENTS_H

#include "base/compiler.h"
#include "share/share.h"

DPI_INLINE uint64_t dpi_element(dpi_ring ring, const void *x, size_t i)
{
    return ring == DPI_RING_32 ? ((const uint32_t *)x)[i] : ((const uint64_t *)x)[i];
}

DPI_INLINE void dpi_element_put(dpi_ring ring, void *x, size_t i, uint64_t v)
{
    if (ring == DPI_RING_32)
        ((uint32_t *)x)[i] = (uint32_t)v;
    else
        ((uint64_t *)x)[i] = v;
}

/* 2^bits - 1, for 1 to 64 bits. */
DPI_INLINE uint64_t dpi_low_bits(int bits)
{
    return UINT64_MAX >> (64 - bits);
}

DPI_INLINE size_t dpi_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* So many bytes further on, in an array that there may be or not. */
DPI_INLINE void *dpi_past(void *from, size_t bytes)
{
    return from == NULL ? NULL : (unsigned char *)from + bytes;
}

DPI_INLINE const void *dpi_past_const(const void *from, size_t bytes)
{
    return from == NULL ? NULL : (const unsigned char *)from + bytes;
}

enum { DPI_ELEMENTS_SUM = 3 };

/* x += c[n]; c NULL: one number for all, `same`.  Of bits words, and XOR. */
void dpi_elements_add(dpi_ring ring, size_t n, const uint64_t *c, uint64_t same, void *x);

/* z[n] = the sum of some arrays, or less it; those that are NULL are not there.  z is none of them.
 * Of bits XOR, which has no sign. */
void dpi_elements_sum(dpi_ring ring, size_t n, const void *const from[DPI_ELEMENTS_SUM],
                      bool negative, void *z);

/* What a client makes of m and lambda, where x = m - lambda: x modulo 2^bits, with its sign. */
void dpi_join_masked(dpi_ring ring, int bits, size_t n, const void *m, const void *lambda,
                     int64_t *x);

#endif
