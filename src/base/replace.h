/* A file that is replaced as a whole or not at all. */
#ifndef DPI_BASE_REPLACE_H
#define DPI_BASE_REPLACE_H

#include <stddef.h>

#include <tacit/status.h>

/* Makes `path` a file of just these n bytes, readable by its owner alone.  With DP_OK they are on
 * the disk under that name; else, and after a crash at any point, the name has what it had before.
 * DP_EIO, DP_ENOMEM. */
dp_status dpi_file_replace(const char *path, const void *bytes, size_t n,
                           dp_error *err) DP_MUST_CHECK;

#endif
