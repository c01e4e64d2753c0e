/* Which process an object belongs to: told to a child of fork by memory that does not
 * survive it. */
#ifndef DPI_BASE_FORK_H
#define DPI_BASE_FORK_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

/* A mark that only the process that set it sees. */
typedef struct dpi_fork dpi_fork;

/* A mark of this process.  *mark [out] owned by the caller; NULL on error.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_fork_new(dpi_fork **mark, dp_error *err);

/* True in the process that made the mark, or set it last, and in no child of it.  Thread-safe. */
bool dpi_fork_here(const dpi_fork *mark);

/* Sets the mark for this process: in a child it is no longer the parent's. */
void dpi_fork_set(dpi_fork *mark);

/* NULL is allowed; a child frees its copy. */
void dpi_fork_free(dpi_fork *mark);

/* Makes whole pages read as zeros in every child from now on; false where the system cannot. */
bool dpi_fork_wipe(void *pages, size_t size);

/* Takes that back, before the pages go back to an allocator. */
void dpi_fork_keep(void *pages, size_t size);

#endif
