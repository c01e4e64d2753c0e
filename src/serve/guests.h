/* The sessions that a server answers: so many at a time, each in a thread of its own, shared fairly
 * among those who may ask.
 *
 * A session that waits for its client, between queries or in its opening, holds a place that others
 * may need.  Whoever has the most of them gives up the one that has waited longest to somebody who
 * has fewer; who has as many as one client may have gives up his own.  A query that has begun is
 * never given up: it was paid for.  So nobody keeps others out by opening sessions, and who lost
 * his connections is not kept out by what is left of them. */
#ifndef DPI_SERVE_GUESTS_H
#define DPI_SERVE_GUESTS_H

#include "wire/session.h"

typedef struct dpi_guests dpi_guests;
typedef struct dpi_guest dpi_guest;

/* One session, from its opening to its end; `wire` stays the caller's. */
typedef void (*dpi_guest_call)(void *user, dpi_wire_session *wire, dpi_guest *guest);

/* So many sessions at a time, `each` of one client.  *guests [out] freed by dpi_guests_free after
 * dpi_guests_end; NULL on error.  DP_ENOMEM. */
dp_status dpi_guests_new(size_t sessions, size_t each, dpi_guest_call call, void *user,
                         dpi_guests **guests, dp_error *err) DP_MUST_CHECK;
void dpi_guests_free(dpi_guests *g);

/* Answers a session, which it owns from now on, or tells it that it is busy: neither waits. */
void dpi_guests_admit(dpi_guests *g, dpi_wire_session *wire);

/* Ends all: who waits at once, queries that have begun within so many milliseconds.  Returns when
 * no thread is left.  Nobody is admitted meanwhile or later. */
void dpi_guests_end(dpi_guests *g, uint32_t within);

/* ---- for the call ---- */

/* A query begins, and has ended.  False: the session is to end instead.  Without a guest both do
 * nothing. */
bool dpi_guest_begin(dpi_guest *guest);
bool dpi_guest_finish(dpi_guest *guest);

/* The session is somebody else's from now on, who may use it beyond the call. */
void dpi_guest_keep(dpi_guest *guest);

#endif
