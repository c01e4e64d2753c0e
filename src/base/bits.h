/* Whole powers of two. */
#ifndef DPI_BASE_BITS_H
#define DPI_BASE_BITS_H

#include <stddef.h>

#include "base/compiler.h"

/* Binary digits of n: the least k with n < 2^k. */
DPI_INLINE size_t dpi_binary_digits(size_t n)
{
    size_t k = 0;
    for (; n > 0; n >>= 1)
        k++;
    return k;
}

/* The least power of two that is not below n, which is at most the largest there is. */
DPI_INLINE size_t dpi_power_of_two(size_t n)
{
    size_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

#endif
