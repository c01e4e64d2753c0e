/* A whole file in memory. */
#ifndef DPI_DATA_FILE_H
#define DPI_DATA_FILE_H

#include <stddef.h>

#include <tacit/status.h>

/* Reads the file at `path`, at most max_bytes (at least 1); *text [*size] is freed by dpi_free.
 * Works on pipes.  DP_EIO it cannot be opened or read; DP_EDATA it is larger; DP_ENOMEM. */
dp_status dpi_file_read(const char *path, size_t max_bytes, char **text, size_t *size,
                        dp_error *err);

/* The last 160 bytes of a path, which tell more than the first and leave a message its room. */
const char *dpi_path_end(const char *path);

#endif
