/* What each stage of a query takes, and a simulation of stages on cores that are not here. */
#ifndef TACIT_BENCH_SERVE_STAGES_H
#define TACIT_BENCH_SERVE_STAGES_H

#include "loopback.h"

enum { MOST_STAGES = 2 * DPI_SERVE_LAYERS + 1 };

/* 2 L + 1 stages: the client's have even numbers. */
typedef struct stages {
    size_t n;
    double seconds[MOST_STAGES];
} stages;

/* Means of `queries` queries, by one thread in this process, after one that is not counted. */
void time_stages(const loopback_kind *k, dp_serve_protocol protocol, size_t queries, stages *t);

/* Cores alike for all stages, what is left to the first; the least slowest stage (dpi_allot); the
 * least spread (dpi_allot_even), as PP-Stream has it: these need as many cores as stages.  Shared:
 * all cores of a side work on one of its stages after the other, what a server and a client do
 * without a stream, two queries at a time. */
typedef enum stage_way {
    STAGE_ALIKE,
    STAGE_SLOWEST,
    STAGE_SPREAD,
    STAGE_SHARED,
    STAGE_WAYS
} stage_way;

typedef struct simulated {
    size_t used;
    double alone;       /* seconds of a query that is alone */
    double between;     /* seconds between answers */
    double latency;     /* mean seconds of a query in the stream, of its entry to its answer */
    double centralised; /* seconds of a query on one core */
} simulated;

/* 400 queries, as many at a time as there are stages.  False where a way has no result. */
bool simulate(const stages *t, size_t cores, stage_way way, simulated *r);

#endif
