/* Several queries of one session at a time (doc/design/stream.md).
 *
 * Queries 0 ... n - 1 go through lanes, query q through lane q mod W.  In each turn each lane goes
 * on by one layer, lanes one after the other; lane j begins floor(j L / W) turns later, so that at
 * any time all layers are at work.  An item is what a lane does in a turn: a layer of a query.
 * Messages of both directions come in the order of the items:
 *
 *   client -> provider   query   of the kind stream
 *                        stream  n, W
 *   client -> provider   up      for each item
 *   provider -> client   go      before the first item of a query, or a refusal
 *                        down    for each item
 *
 * Sizes and order depend on the program, n and W alone.  An item needs the one before it in its
 * lane and nothing else, and lies W places behind it at most: that is why no more than W queries
 * are under way, and why neither side ever waits for a message that is behind its own. */
#ifndef DPI_SERVE_STREAM_H
#define DPI_SERVE_STREAM_H

#include <pthread.h>

#include "serve/line.h"
#include "serve/talk.h"

/* ---- the order ---- */

typedef struct dpi_stream_shape {
    size_t layers, in_flight; /* at most DPI_LINE_LANES */
    uint64_t queries;
} dpi_stream_shape;

typedef struct dpi_stream_item {
    uint64_t query, turn, left; /* items from this one on; 0: there is none */
    size_t lane, layer;
} dpi_stream_item;

/* Whether there are such streams, with no more than so many queries under way. */
bool dpi_stream_fits(const dpi_stream_shape *shape, size_t most);

dpi_stream_item dpi_stream_first(const dpi_stream_shape *shape);
void dpi_stream_next(const dpi_stream_shape *shape, dpi_stream_item *item);

/* ---- threads ---- */

/* What stages take, from all queries so far. */
typedef struct dpi_stream_profile {
    pthread_mutex_t lock;
    size_t stages;
    double seconds[DPI_LINE_STAGES];
    uint64_t lanes[DPI_LINE_STAGES];
} dpi_stream_profile;

void dpi_stream_profile_start(dpi_stream_profile *p, size_t stages);
void dpi_stream_profile_add(dpi_stream_profile *p, dpi_line *line);
void dpi_stream_profile_end(dpi_stream_profile *p);

/* How many of the threads each stage gets: by what it takes, or alike while nothing is known or
 * `even`; at least one each.  DP_ENOMEM. */
dp_status dpi_stream_threads(dpi_stream_profile *p, size_t threads, bool even,
                             size_t each[DPI_LINE_STAGES], dp_error *err) DP_MUST_CHECK;

/* ---- one side ---- */

typedef struct dpi_stream_side {
    bool asks; /* the client */
    dpi_stream_shape shape;
    dpi_wire_session *wire;
    dpi_line *line; /* the client's lanes have been put in its first stage */
    uint32_t timeout;
    const dpi_serve_cost *cost;
    unsigned char *up[DPI_LINE_LANES], *down[DPI_LINE_LANES];
    /* Of the provider: why the query in a lane is refused, once its first layer has come out; and
     * what is to be done when its last message is sent. */
    dpi_refusal (*refused)(void *user, size_t lane);
    dp_status (*ended)(void *user, size_t lane, dp_error *err);
    void *user;
} dpi_stream_side;

/* Moves all messages and puts lanes to work, until all queries are answered, or the first error,
 * after which the session is at its end.  DP_OK also where the provider has refused a query. */
dp_status dpi_stream_run(const dpi_stream_side *side, dp_error *err) DP_MUST_CHECK;

/* The provider's, from after the message `stream` on.  *more [out] false where a query was refused.
 * Each query is spent before its first layer is computed, and has orders of its own. */
dp_status dpi_stream_answer(const dpi_answering *a, dpi_wire_session *wire, void *session,
                            const dpi_stream_shape *shape, bool *more, dp_error *err) DP_MUST_CHECK;

#endif
