/* Reading IDX.  Nothing is allocated or skipped by a number that the file gives before that number
 * has been found to agree with the bytes that are there: exactly, or in a compressed file with what
 * that many bytes can hold. */
#include <tacit/idx.h>

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/file.h"
#include "data/gunzip.h"

enum { UNSIGNED_BYTES = 8, MOST_DIMS = 4, START = 4, DIM = 4 };

static const size_t usual_most = (size_t)1 << 30;

struct dp_idx {
    size_t items, size;
    unsigned char *values;
};

/* The bytes of the array, as they are or packed. */
typedef struct source {
    const unsigned char *bytes;
    size_t n_bytes, taken;
    bool packed;
    dpi_gunzip zip;
} source;

/* The next n bytes. */
static dp_status take(source *s, size_t n, unsigned char *out, dp_error *err)
{
    if (s->packed)
        return dpi_gunzip_read(&s->zip, n, out, err);
    if (n > s->n_bytes - s->taken)
        return dpi_fail(err, DP_EDATA, "these %zu bytes are too few for IDX; the file is cut",
                        s->n_bytes);
    memcpy(out, s->bytes + s->taken, n);
    s->taken += n;
    return DP_OK;
}

static size_t big_endian(const unsigned char *b)
{
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

/* Reads items and size, and *total, their product. */
static dp_status read_header(source *s, dp_idx *idx, size_t *total, dp_error *err)
{
    unsigned char b[START + DIM * MOST_DIMS];
    dp_status status = take(s, START, b, err);
    if (status != DP_OK)
        return status;
    if (b[0] != 0 || b[1] != 0 || b[2] != UNSIGNED_BYTES || b[3] < 1 || b[3] > MOST_DIMS)
        return dpi_fail(err, DP_EDATA,
                        "these %zu bytes do not begin like IDX of unsigned bytes in 1 to %d "
                        "dimensions, nor like gzip",
                        s->n_bytes, MOST_DIMS);
    status = take(s, (size_t)DIM * b[3], b + START, err);
    *total = 1;
    for (size_t k = 0; k < b[3] && status == DP_OK; k++) {
        size_t dim = big_endian(b + START + DIM * k);
        if (dim == 0 || !dpi_mul(*total, dim, total))
            return dpi_fail(err, DP_EDATA, "dimension %zu of the IDX file is %zu; it cannot be", k,
                            dim);
        if (k == 0)
            idx->items = dim;
    }
    idx->size = status == DP_OK ? *total / idx->items : 0;
    return status;
}

/* Whether the file can hold as many values as it says. */
static dp_status check_total(const source *s, size_t total, size_t most, dp_error *err)
{
    size_t left = s->n_bytes - s->taken;
    if (!s->packed && total != left)
        return dpi_fail(err, DP_EDATA,
                        "the IDX file says it has %zu values and has %zu; it is cut or damaged",
                        total, left);
    if (s->packed && total / DPI_GZIP_MOST_RATIO > s->n_bytes)
        return dpi_fail(err, DP_EDATA,
                        "the IDX file says it has %zu values, which its %zu compressed bytes "
                        "cannot hold; it is damaged",
                        total, s->n_bytes);
    if (s->packed && total > most)
        return dpi_fail(err, DP_EDATA, "unpacked the file is larger than %zu bytes; %s", most,
                        "raise max_bytes of dp_idx_read");
    return DP_OK;
}

static dp_status read_array(source *s, size_t most, dp_idx **out, dp_error *err)
{
    dp_idx idx = {0};
    size_t total;
    dp_status status = read_header(s, &idx, &total, err);
    if (status == DP_OK)
        status = check_total(s, total, most, err);
    if (status != DP_OK)
        return status;
    dp_idx *made = dpi_alloc(1, sizeof *made);
    idx.values = dpi_alloc(total, 1);
    if (made == NULL || idx.values == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = take(s, total, idx.values, err);
    if (status == DP_OK && s->packed)
        status = dpi_gunzip_finish(&s->zip, err);
    if (status != DP_OK) {
        dpi_free(made);
        dpi_free(idx.values);
        return status;
    }
    *made = idx;
    *out = made;
    return DP_OK;
}

static dp_status parse(const void *bytes, size_t n_bytes, size_t most, dp_idx **out, dp_error *err)
{
    source s = {.bytes = bytes, .n_bytes = n_bytes, .packed = dpi_is_gzip(bytes, n_bytes)};
    if (!s.packed)
        return read_array(&s, most, out, err);
    dp_status status = dpi_gunzip_start(&s.zip, bytes, n_bytes, err);
    if (status == DP_OK)
        status = read_array(&s, most, out, err);
    dpi_gunzip_end(&s.zip);
    return status;
}

dp_status dp_idx_parse(const void *bytes, size_t n_bytes, dp_idx **out, dp_error *err)
{
    if (out == NULL || (bytes == NULL && n_bytes > 0))
        dpi_misuse(__func__, "NULL bytes or result");
    *out = NULL;
    return parse(bytes, n_bytes, usual_most, out, err);
}

dp_status dp_idx_read(const char *path, size_t max_bytes, dp_idx **idx, dp_error *err)
{
    char *bytes;
    size_t n_bytes;
    if (path == NULL || idx == NULL)
        dpi_misuse(__func__, "NULL path or result");
    *idx = NULL;
    size_t most = max_bytes > 0 ? max_bytes : usual_most;
    dp_status status = dpi_file_read(path, most, &bytes, &n_bytes, err);
    if (status == DP_OK)
        status = parse(bytes, n_bytes, most, idx, err);
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
