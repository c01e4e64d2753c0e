/* A line of workers: a thread for each stage, with a queue in front of it.
 *
 * What is worked on stands in lanes, each of which is in one place at a time: in a queue, in a
 * worker's hands, or outside, where `dpi_line_ready` says so.  A queue has room for all lanes, and
 * there are never more: that is the bound.  A stage has threads of its own (a pool), takes lanes in
 * the order in which they were put, and hands each on to the stage that it names. */
#ifndef DPI_SERVE_LINE_H
#define DPI_SERVE_LINE_H

#include "base/pool.h"

#include <stdbool.h>

#include <tacit/status.h>

enum { DPI_LINE_STAGES = 65, DPI_LINE_LANES = 64, DPI_LINE_OUT = DPI_LINE_STAGES };

/* Works on a lane; *next [in/out] DPI_LINE_OUT, or the stage to which it goes. */
typedef dp_status (*dpi_line_work)(void *user, size_t stage, size_t lane, dpi_pool *pool,
                                   size_t threads, size_t *next, dp_error *err);

typedef struct dpi_line_opts {
    size_t stages, lanes;  /* at most DPI_LINE_STAGES and DPI_LINE_LANES */
    const size_t *threads; /* [stages] */
    dpi_line_work work;
    void *user;
} dpi_line_opts;

typedef struct dpi_line dpi_line;

/* All lanes are outside and not ready.  *line [out] NULL on error.  DP_ENOMEM, also when the system
 * gives no more threads. */
dp_status dpi_line_new(const dpi_line_opts *opts, dpi_line **line, dp_error *err) DP_MUST_CHECK;

/* Becomes readable when a lane has come out, or work has failed; dpi_line_heard makes it silent. */
int dpi_line_wake(const dpi_line *line);
void dpi_line_heard(dpi_line *line);

/* Puts a lane that is outside in a stage's queue; it is not ready until it comes out. */
void dpi_line_put(dpi_line *line, size_t stage, size_t lane);

/* Whether a lane has come out since it was put. */
bool dpi_line_ready(dpi_line *line, size_t lane);

/* Whether any lane is in a queue or in a worker's hands. */
bool dpi_line_works(dpi_line *line);

/* The first error of any work, after which nothing more is done. */
dp_status dpi_line_status(dpi_line *line, dp_error *err) DP_MUST_CHECK;

/* What a stage has done so far: seconds of its worker's processor time times its threads, which is
 * what one thread would take. */
void dpi_line_done(dpi_line *line, size_t stage, double *seconds, size_t *lanes);

/* Waits for what is in hand, drops what is in queues, ends the threads.  NULL is allowed. */
void dpi_line_free(dpi_line *line);

#endif
