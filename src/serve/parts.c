/* Work cut into parts for a pool of threads. */
#include <string.h>

#include "serve/protocol.h"

enum { MOST_THREADS = 64 };

typedef struct cut_work {
    size_t n, unit, threads;
    dpi_serve_part part;
    void *user;
    dp_error err[MOST_THREADS];
} cut_work;

/* Number of the first item of thread k: whole units as evenly as they go. */
static size_t begin(const cut_work *j, size_t k)
{
    size_t units = (j->n + j->unit - 1) / j->unit, at = units * k / j->threads * j->unit;
    return at < j->n ? at : j->n;
}

static void work(void *user, size_t k)
{
    cut_work *j = user;
    size_t first = begin(j, k), last = begin(j, k + 1);
    if (first < last)
        (void)j->part(j->user, first, last, &j->err[k]);
}

dp_status dpi_serve_parts(dpi_pool *pool, size_t threads, size_t n, size_t unit,
                          dpi_serve_part part, void *user, dp_error *err)
{
    cut_work j = {.n = n, .unit = unit, .part = part, .user = user};
    j.threads = pool == NULL || threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
    memset(j.err, 0, sizeof j.err);
    if (j.threads == 1 || n <= unit) /* nobody is woken for one piece */
        return n > 0 ? part(user, 0, n, err) : DP_OK;
    dpi_pool_run(pool, work, &j);
    for (size_t k = 0; k < j.threads; k++)
        if (j.err[k].status != DP_OK) {
            if (err != NULL && err->status == DP_OK)
                *err = j.err[k];
            return j.err[k].status;
        }
    return DP_OK;
}
