/* The header of an NPY file. */
#ifndef DPI_DATA_NPY_HEADER_H
#define DPI_DATA_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

typedef struct dpi_npy_header {
    bool real;                   /* doubles, else 32-bit whole numbers */
    size_t rows, columns, start; /* where the values begin, a multiple of 8 */
} dpi_npy_header;

/* Reads the header of a file of `size` bytes, the first n_bytes of which are at `bytes` (all, or
 * DPI_NPY_MOST); rows * columns values fill the file from `start` on.  DP_EDATA, with *header
 * zeroed. */
enum { DPI_NPY_MOST = 4096 };
dp_status dpi_npy_header_read(const unsigned char *bytes, size_t n_bytes, size_t size,
                              dpi_npy_header *header, dp_error *err) DP_MUST_CHECK;

#endif
