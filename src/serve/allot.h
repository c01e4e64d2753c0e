/* How many threads each stage of a pipeline gets, and on which host it runs (doc/design/stream.md).
 *
 * Stage i takes time[i] / y_i on y_i threads of one host.  A pipeline gives an answer as often as
 * its slowest stage is done, so that max time[i] / y_i is what is made least, exactly. */
#ifndef DPI_SERVE_ALLOT_H
#define DPI_SERVE_ALLOT_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

enum {
    DPI_ALLOT_STAGES = 65,
    DPI_ALLOT_HOSTS = 16,
    DPI_ALLOT_PACKED = 20, /* most stages where there are several hosts */
    DPI_ALLOT_EVEN = 12    /* most stages of dpi_allot_even */
};

typedef struct dpi_allot_task {
    size_t stages;
    const double *time;        /* [stages] of one query on one thread, finite and >= 0 */
    const unsigned char *kind; /* [stages] 0 or 1: a host has stages of one kind; NULL: all alike */
    size_t hosts;
    const size_t *room; /* [hosts] threads of each, at most 4096 */
} dpi_allot_task;

typedef struct dpi_allotment {
    size_t threads[DPI_ALLOT_STAGES], host[DPI_ALLOT_STAGES];
    double slowest; /* the largest time / threads */
    double total;   /* their sum: how long one query takes that is alone */
    double spread;  /* the sum of |time_i / y_i - time_j / y_j| over pairs of stages */
} dpi_allotment;

/* The allotment with the smallest `slowest`, each stage with the fewest threads that this needs;
 * threads that are left then go where they shorten `total` most.
 * DP_EINVAL a time, a kind or a number of stages or hosts that cannot be; DP_EUNSUPPORTED the hosts
 * have no room for all stages with a thread each, or there are more than DPI_ALLOT_PACKED stages
 * for several hosts; DP_ENOMEM. */
dp_status dpi_allot(const dpi_allot_task *task, dpi_allotment *made, dp_error *err) DP_MUST_CHECK;

/* The allotment with the smallest `spread`, which is what PP-Stream's program asks for; of several
 * the one with the smallest `slowest`.  Here to be compared with: equal times are no aim, and the
 * least spread may leave threads without work.  As dpi_allot, and at most DPI_ALLOT_EVEN stages. */
dp_status dpi_allot_even(const dpi_allot_task *task, dpi_allotment *made,
                         dp_error *err) DP_MUST_CHECK;

/* ---- what both stand on ---- */

/* DP_OK where the task is one; see dpi_allot. */
dp_status dpi_allot_check(const dpi_allot_task *task, dp_error *err) DP_MUST_CHECK;

/* Puts stages that need so many threads on hosts: *fits, and host[stages] where it does.  Exact.
 * DP_ENOMEM. */
dp_status dpi_allot_pack(const dpi_allot_task *task, const size_t *threads, size_t *host,
                         bool *fits, dp_error *err) DP_MUST_CHECK;

/* Fills in what follows from threads. */
void dpi_allot_measure(const dpi_allot_task *task, dpi_allotment *made);

#endif
