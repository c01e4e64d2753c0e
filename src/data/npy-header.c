/* Reading the header of an NPY file: "\x93NUMPY", version (1.0, 2.0 or 3.0), length (2 bytes; 4
 * from version 2.0 on), and a Python dictionary of three entries in any order, for instance
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (60000, 784), }
 *
 * padded with blanks.  It is taken by this grammar and not as Python: what does not fit is refused.
 * Format: NumPy Enhancement Proposal 1. */
#include "data/npy-header.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { MAGIC = 6, VERSION = MAGIC + 2, DESCR = 1, ORDER = 2, SHAPE = 4 };

typedef struct text {
    const char *at, *end;
} text;

static void skip_blanks(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n'))
        t->at++;
}

/* Passes over blanks and `word`, when that comes next. */
static bool take(text *t, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

static bool take_number(text *t, size_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (skip_blanks(t); t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++, digits++) {
        size_t digit = (size_t)(*t->at - '0');
        if (!dpi_mul(*number, 10, number) || *number > SIZE_MAX - digit)
            return false;
        *number += digit;
    }
    return digits > 0;
}

/* (rows,) or (rows, columns) with an optional comma behind. */
static bool take_shape(text *t, dpi_npy_header *header)
{
    header->columns = 1;
    if (!take(t, "(") || !take_number(t, &header->rows) || !take(t, ","))
        return false;
    if (take(t, ")"))
        return true;
    if (!take_number(t, &header->columns))
        return false;
    (void)take(t, ",");
    return take(t, ")");
}

/* One entry; *seen collects which have been. */
static bool take_entry(text *t, dpi_npy_header *header, unsigned *seen)
{
    unsigned which = 0;
    bool good = false;
    if (take(t, "'descr'") && take(t, ":")) {
        which = DESCR;
        header->real = take(t, "'<f8'");
        good = header->real || take(t, "'<i4'");
    } else if (take(t, "'fortran_order'") && take(t, ":")) {
        which = ORDER;
        good = take(t, "False");
    } else if (take(t, "'shape'") && take(t, ":")) {
        which = SHAPE;
        good = take_shape(t, header);
    }
    good = good && (*seen & which) == 0;
    *seen |= which;
    return good;
}

static bool take_dictionary(text *t, dpi_npy_header *header)
{
    unsigned seen = 0;
    bool more = true;
    if (!take(t, "{"))
        return false;
    while (more && !take(t, "}")) {
        if (!take_entry(t, header, &seen))
            return false;
        more = take(t, ",");
        if (!more && !take(t, "}"))
            return false;
    }
    skip_blanks(t);
    return seen == (DESCR | ORDER | SHAPE) && t->at == t->end;
}

/* Where the dictionary is; false when it is not all there. */
static bool find_dictionary(const unsigned char *bytes, size_t n, text *t)
{
    if (n < VERSION + 4 || memcmp(bytes, "\x93NUMPY", MAGIC) != 0 || bytes[MAGIC] < 1 ||
        bytes[MAGIC] > 3 || bytes[MAGIC + 1] != 0)
        return false;
    const unsigned char *length = bytes + VERSION;
    size_t wide = bytes[MAGIC] == 1 ? 2 : 4, size = length[0] | (size_t)length[1] << 8;
    if (wide == 4)
        size |= (size_t)length[2] << 16 | (size_t)length[3] << 24;
    if (size > n - VERSION - wide)
        return false;
    t->at = (const char *)length + wide;
    t->end = t->at + size;
    return true;
}

dp_status dpi_npy_header_read(const unsigned char *bytes, size_t n_bytes, size_t size,
                              dpi_npy_header *header, dp_error *err)
{
    text t;
    dpi_npy_header h = {0};
    size_t values, total;
    *header = h;
    if (!find_dictionary(bytes, n_bytes, &t))
        return dpi_fail(err, DP_EDATA,
                        "this is no NPY file (version 1.0 to 3.0); write one with numpy.save");
    h.start = (size_t)(t.end - (const char *)bytes);
    if (!take_dictionary(&t, &h))
        return dpi_fail(err, DP_EDATA,
                        "only arrays of doubles ('<f8') or 32-bit whole numbers ('<i4') of one or "
                        "two dimensions in C order are taken; convert with "
                        "numpy.ascontiguousarray(x, '<f8')");
    size_t bytes_each = h.real ? 8 : 4;
    if (h.start % 8 != 0)
        return dpi_fail(err, DP_EDATA,
                        "the values do not begin at a multiple of 8 bytes; write "
                        "the file again with NumPy 1.14 or later");
    if (h.rows == 0 || h.columns == 0 || !dpi_mul(h.rows, h.columns, &values) ||
        !dpi_mul(values, bytes_each, &total) || total != size - h.start)
        return dpi_fail(err, DP_EDATA,
                        "the header says %zu x %zu values, and the file has %zu bytes of them; it "
                        "is empty, cut or damaged",
                        h.rows, h.columns, size - h.start);
    *header = h;
    return DP_OK;
}
