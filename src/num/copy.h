/* Copying a row of numbers. */
#ifndef DPI_NUM_COPY_H
#define DPI_NUM_COPY_H

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

/* Copies a row of numbers, no overlap.  Rows are often so short that a call costs more than the
 * copy. */
DPI_INLINE void dpi_copy_row(size_t bytes, const void *from, void *to)
{
    const unsigned char *a = from;
    unsigned char *b = to, *end = b + bytes;
    if (bytes > 256) {
        memcpy(b, a, bytes);
        return;
    }
    for (; end - b >= 32; a += 32, b += 32)
        memcpy(b, a, 32);
    for (; end - b >= 8; a += 8, b += 8)
        memcpy(b, a, 8);
    for (; b < end; a += 4, b += 4) /* a number has four bytes or eight */
        memcpy(b, a, 4);
}

#endif
