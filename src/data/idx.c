/* Reading IDX.  Nothing is allocated or skipped by a number that the file gives before that number has
 * been found to agree with the bytes that are there. */
#include <tacit/idx.h>

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/file.h"

enum { UNSIGNED_BYTES = 8, MOST_DIMS = 4, START = 4, DIM = 4 };

static const size_t usual_most = (size_t)1 << 30;

struct dp_idx {
    size_t items, size;
    unsigned char *values;
};

static size_t big_endian(const unsigned char *b)
{
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

/* Reads items, size and the number of bytes before the values. */
static dp_status read_header(const unsigned char *bytes, size_t n_bytes, dp_idx *idx,
                             size_t *header, dp_error *err)
{
    if (n_bytes < START || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != UNSIGNED_BYTES ||
        bytes[3] < 1 || bytes[3] > MOST_DIMS || n_bytes < START + (size_t)DIM * bytes[3])
        return dpi_fail(err, DP_EDATA,
                        "these %zu bytes do not begin like IDX of unsigned bytes in 1 to %d "
                        "dimensions; unpack a compressed file first",
                        n_bytes, MOST_DIMS);
    *header = START + (size_t)DIM * bytes[3];
    size_t total = 1;
    for (size_t k = 0; k < bytes[3]; k++) {
        size_t dim = big_endian(bytes + START + DIM * k);
        if (dim == 0 || !dpi_mul(total, dim, &total))
            return dpi_fail(err, DP_EDATA, "dimension %zu of the IDX file is %zu; it cannot be", k,
                            dim);
        if (k == 0)
            idx->items = dim;
    }
    idx->size = total / idx->items;
    if (total != n_bytes - *header)
        return dpi_fail(err, DP_EDATA,
                        "the IDX file says it has %zu values and has %zu; it is cut or damaged",
                        total, n_bytes - *header);
    return DP_OK;
}

dp_status dp_idx_parse(const void *bytes, size_t n_bytes, dp_idx **out, dp_error *err)
{
    dp_idx idx = {0};
    size_t header = 0;
    if (out == NULL || (bytes == NULL && n_bytes > 0))
        dpi_misuse(__func__, "NULL bytes or result");
    *out = NULL;
    dp_status status = read_header(bytes, n_bytes, &idx, &header, err);
    if (status != DP_OK)
        return status;
    dp_idx *made = dpi_alloc(1, sizeof *made);
    idx.values = dpi_alloc(n_bytes - header, 1);
    if (made == NULL || idx.values == NULL) {
        dpi_free(made);
        dpi_free(idx.values);
        return dpi_fail_nomem(err);
    }
    memcpy(idx.values, (const unsigned char *)bytes + header, n_bytes - header);
    *made = idx;
    *out = made;
    return DP_OK;
}

dp_status dp_idx_read(const char *path, size_t max_bytes, dp_idx **idx, dp_error *err)
{
    char *bytes;
    size_t n_bytes;
    if (path == NULL || idx == NULL)
        dpi_misuse(__func__, "NULL path or result");
    *idx = NULL;
    dp_status status =
        dpi_file_read(path, max_bytes > 0 ? max_bytes : usual_most, &bytes, &n_bytes, err);
    if (status == DP_OK)
        status = dp_idx_parse(bytes, n_bytes, idx, err);
    dpi_free(bytes);
    return status;
}

void dp_idx_free(dp_idx *idx)
{
    if (idx == NULL)
        return;
    dpi_free(idx->values);
    dpi_free(idx);
}

size_t dp_idx_items(const dp_idx *idx)
{
    return idx->items;
}

size_t dp_idx_size(const dp_idx *idx)
{
    return idx->size;
}

const unsigned char *dp_idx_values(const dp_idx *idx)
{
    return idx->values;
}
