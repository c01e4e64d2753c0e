/* A few threads that wait for work. */
#ifndef DPI_BASE_POOL_H
#define DPI_BASE_POOL_H

#include <stddef.h>

#include <tacit/status.h>

typedef struct dpi_pool dpi_pool;

/* Starts n - 1 threads, n >= 1; the caller's own is the n-th.  They sleep until there is work, take
 * no signals, and round to nearest whatever the caller does (float.h).  DP_ENOMEM, also when the
 * system gives no more threads. */
dp_status dpi_pool_new(size_t n, dpi_pool **pool, dp_error *err);

/* Calls work(user, k) for k = 0 ... n - 1 at the same time, 0 in the calling thread, and returns
 * when all are done.  Work must be cut so that any number of calls does all of it: in a child of
 * fork, where the threads are not, only work(user, 0) is called.  One caller at a time. */
void dpi_pool_run(dpi_pool *pool, void (*work)(void *user, size_t k), void *user);

/* Ends the threads and frees the pool; NULL is allowed. */
void dpi_pool_free(dpi_pool *pool);

#endif
