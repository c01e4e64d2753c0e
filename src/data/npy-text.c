/* Reading the header of an NPY file: "\x93NUMPY", version (1.0, 2.0 or 3.0), length (2 bytes; 4
 * from version 2.0 on), and a Python dictionary of three entries in any order, for instance
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (60000, 784), }
 *
 * padded with blanks.  It is taken by this grammar and not as Python: what does not fit is refused.
 * Format: NumPy Enhancement Proposal 1. */
#include "data/npy-text.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum { VERSION = DPI_NPY_MAGIC + 2 };

void dpi_npy_blanks(dpi_npy_text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n'))
        t->at++;
}

bool dpi_npy_take(dpi_npy_text *t, const char *word)
{
    size_t n = strlen(word);
    dpi_npy_blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

bool dpi_npy_number(dpi_npy_text *t, size_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (dpi_npy_blanks(t); t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++, digits++) {
        size_t digit = (size_t)(*t->at - '0');
        if (!dpi_mul(*number, 10, number) || *number > SIZE_MAX - digit)
            return false;
        *number += digit;
    }
    return digits > 0;
}

size_t dpi_npy_start(const unsigned char *bytes, size_t n)
{
    if (n < DPI_NPY_LEAST || memcmp(bytes, "\x93NUMPY", DPI_NPY_MAGIC) != 0 ||
        bytes[DPI_NPY_MAGIC] < 1 || bytes[DPI_NPY_MAGIC] > 3 || bytes[DPI_NPY_MAGIC + 1] != 0)
        return 0;
    const unsigned char *length = bytes + VERSION;
    size_t wide = bytes[DPI_NPY_MAGIC] == 1 ? 2 : 4, size = length[0] | (size_t)length[1] << 8;
    if (wide == 4)
        size |= (size_t)length[2] << 16 | (size_t)length[3] << 24;
    return VERSION + wide + size;
}

bool dpi_npy_dictionary(const unsigned char *bytes, size_t n, dpi_npy_text *t)
{
    const size_t start = dpi_npy_start(bytes, n);
    if (start == 0 || start > n)
        return false;
    t->at = (const char *)bytes + VERSION + (bytes[DPI_NPY_MAGIC] == 1 ? 2 : 4);
    t->end = (const char *)bytes + start;
    return true;
}
