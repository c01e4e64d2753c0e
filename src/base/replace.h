/* A file that is replaced as a whole or not at all. */
#ifndef DPI_BASE_REPLACE_H
#define DPI_BASE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

/* Makes `path` a file of just these n bytes, readable by its owner alone.  With DP_OK they are on
 * the disk under that name; else, and after a crash at any point, the name has what it had before.
 * DP_EIO, DP_ENOMEM. */
dp_status dpi_file_replace(const char *path, const void *bytes, size_t n,
                           dp_error *err) DP_MUST_CHECK;

/* Takes away what processes that were killed have left beside it, of files that they were writing:
 * they may hold secrets that it has no more.  No other process may be writing it. */
void dpi_file_sweep(const char *path);

/* Puts the name of a file on the disk, which was just made.  False where that cannot be done. */
bool dpi_sync_folder_of(const char *path);

#endif
