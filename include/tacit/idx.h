/* IDX, the format of the MNIST images: arrays of bytes.
 *
 * A file is two zero bytes, the type (8: unsigned bytes, the only one that is read), the number of
 * dimensions (1 ... 4), the dimensions as big-endian 32-bit numbers, and the values.  Everything it
 * says is checked against the bytes that are there.  Files compressed by gzip are read as they are.
 * What it holds is for dp_dataset_bytes and dp_dataset_bernoulli, which borrow it. */
#ifndef TACIT_IDX_H
#define TACIT_IDX_H

#include <stddef.h>

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_idx dp_idx;

/* Reads the file at `path`, of at most max_bytes (0: 2^30), packed and unpacked.  The caller frees
 * *idx, which is NULL on error: DP_EIO it cannot be read, DP_EDATA it is larger or no such array,
 * DP_ENOMEM.  Any thread. */
DP_API dp_status dp_idx_read(const char *path, size_t max_bytes, dp_idx **idx,
                             dp_error *err) DP_MUST_CHECK;

/* The same from n_bytes bytes in memory, which are copied, or unpacked to at most 2^30 values.
 * DP_EDATA, DP_ENOMEM. */
DP_API dp_status dp_idx_parse(const void *bytes, size_t n_bytes, dp_idx **idx,
                              dp_error *err) DP_MUST_CHECK;

/* NULL is allowed. */
DP_API void dp_idx_free(dp_idx *idx);

/* Number of items, the first dimension, and of values each has, the product of the others; >= 1. */
DP_API size_t dp_idx_items(const dp_idx *idx);
DP_API size_t dp_idx_size(const dp_idx *idx);

/* All values, [items][size]; as long as idx lives. */
DP_API const unsigned char *dp_idx_values(const dp_idx *idx);

#ifdef __cplusplus
}
#endif
#endif
