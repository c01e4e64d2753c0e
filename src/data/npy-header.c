/* The header of an NPY file that holds numbers of one kind, by the grammar of npy-text.h. */
#include "data/npy-header.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/npy-text.h"

enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

/* (rows,) or (rows, columns) with an optional comma behind. */
static bool take_shape(dpi_npy_text *t, dpi_npy_header *header)
{
    header->columns = 1;
    if (!dpi_npy_take(t, "(") || !dpi_npy_number(t, &header->rows) || !dpi_npy_take(t, ","))
        return false;
    if (dpi_npy_take(t, ")"))
        return true;
    if (!dpi_npy_number(t, &header->columns))
        return false;
    (void)dpi_npy_take(t, ",");
    return dpi_npy_take(t, ")");
}

/* One entry; *seen collects which have been. */
static bool take_entry(dpi_npy_text *t, dpi_npy_header *header, unsigned *seen)
{
    unsigned which = 0;
    bool good = false;
    if (dpi_npy_take(t, "'descr'") && dpi_npy_take(t, ":")) {
        which = DESCR;
        header->real = dpi_npy_take(t, "'<f8'");
        good = header->real || dpi_npy_take(t, "'<i4'");
    } else if (dpi_npy_take(t, "'fortran_order'") && dpi_npy_take(t, ":")) {
        which = ORDER;
        good = dpi_npy_take(t, "False");
    } else if (dpi_npy_take(t, "'shape'") && dpi_npy_take(t, ":")) {
        which = SHAPE;
        good = take_shape(t, header);
    }
    good = good && (*seen & which) == 0;
    *seen |= which;
    return good;
}

static bool take_dictionary(dpi_npy_text *t, dpi_npy_header *header)
{
    unsigned seen = 0;
    bool more = true;
    if (!dpi_npy_take(t, "{"))
        return false;
    while (more && !dpi_npy_take(t, "}")) {
        if (!take_entry(t, header, &seen))
            return false;
        more = dpi_npy_take(t, ",");
        if (!more && !dpi_npy_take(t, "}"))
            return false;
    }
    dpi_npy_blanks(t);
    return seen == (DESCR | ORDER | SHAPE) && t->at == t->end;
}

dp_status dpi_npy_header_read(const unsigned char *bytes, size_t n_bytes, size_t size,
                              dpi_npy_header *header, dp_error *err)
{
    dpi_npy_text t;
    dpi_npy_header h = {0};
    size_t values, total;
    *header = h;
    if (!dpi_npy_dictionary(bytes, n_bytes, &t))
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
