/* A session: TLS 1.3 between two processes that have pinned each other's fingerprints, and frames
 * of known sizes over it.  doc/design/wire.md says what it protects.
 *
 * The first error stays: later calls give it again and do nothing, and the connection is closed, of
 * which the other side learns no more.  A session is used by one thread at a time. */
#ifndef DPI_WIRE_SESSION_H
#define DPI_WIRE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/frame.h"
#include "wire/peers.h"
#include "wire/socket.h"

typedef struct dpi_wire_session dpi_wire_session;

typedef enum dpi_wire_role { DPI_WIRE_CLIENT, DPI_WIRE_SERVER } dpi_wire_role;

/* Borrowed until the session is open, or as long as the listener. */
typedef struct dpi_wire_opts {
    const dp_identity *identity;
    const dpi_peers *peers; /* who may be at the other end */
    size_t most;            /* bytes of the longest payload; 0: DPI_WIRE_MOST */
} dpi_wire_opts;

enum { DPI_WIRE_MOST = 1 << 30 };

/* Opens a session over a connected socket, which it owns from now on, also when it fails; with
 * whoever listens at host and port.  `within` milliseconds.  *session [out] NULL on error.
 * DP_EREFUSED the other side does not know us; DP_EPEER it is not one of the peers, or speaks
 * otherwise; DP_ETIMEOUT; DP_ENAME no such host; DP_EINVAL; DP_ENOMEM. */
dp_status dpi_wire_open(int socket, dpi_wire_role role, const dpi_wire_opts *o, uint32_t within,
                        dpi_wire_session **session, dp_error *err) DP_MUST_CHECK;
dp_status dpi_wire_connect(const char *host, const char *port, const dpi_wire_opts *o,
                           uint32_t within, dpi_wire_session **session,
                           dp_error *err) DP_MUST_CHECK;

/* Ends it, in good order where it has had no error, and frees it; NULL is allowed. */
void dpi_wire_close(dpi_wire_session *s);

/* Cuts the connection, from any thread while the session lives: whoever uses it gets DP_EPEER at
 * once, and the other side sees it close. */
void dpi_wire_cut(const dpi_wire_session *s);

/* The peer's name in the list, and its fingerprint. */
const char *dpi_wire_peer(const dpi_wire_session *s);
const unsigned char *dpi_wire_peer_fingerprint(const dpi_wire_session *s);

/* 16 bytes that no other session has; both sides have the same. */
const unsigned char *dpi_wire_id(const dpi_wire_session *s);

/* Its error; DP_OK and an empty text while there is none. */
const dp_error *dpi_wire_error(const dpi_wire_session *s);

/* True once the other side has ended the session in good order, between two frames.  A receive then
 * gives DP_EPEER like any that cannot be done. */
bool dpi_wire_ended(const dpi_wire_session *s);

/* Whether something has come that was not received yet, if only the end: where the other side has
 * nothing to say, it has gone. */
bool dpi_wire_stirs(const dpi_wire_session *s);

/* n bytes that only the two sides know, the same on both, others for each label.  A key for the
 * caller to wipe. */
dp_status dpi_wire_export(dpi_wire_session *s, const char *label, unsigned char *bytes,
                          size_t n) DP_MUST_CHECK;

/* Payload bytes and frames moved so far, with the one of the listener's hello. */
typedef struct dpi_wire_traffic {
    uint64_t frames_sent, bytes_sent, frames_received, bytes_received;
} dpi_wire_traffic;
dpi_wire_traffic dpi_wire_counts(const dpi_wire_session *s);

/* One frame each, of a kind at or above DPI_FRAME_OWN and just n bytes, at most the session's
 * longest.  What is received is wiped when it is not all there.  DP_EREFUSED with the reason's
 * words (receive, in the opening); DP_EPEER; DP_ETIMEOUT; DP_EINVAL. */
dp_status dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer, const void *bytes,
                        size_t n, uint32_t within) DP_MUST_CHECK;
dp_status dpi_wire_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *bytes,
                           size_t n, uint32_t within) DP_MUST_CHECK;

/* One of several frames that are moved at once. */
typedef struct dpi_wire_task {
    dpi_wire_session *session;
    uint16_t kind;
    uint32_t layer;
    const void *from; /* [n] to send, or NULL */
    void *to;         /* [n] to receive into, or NULL: just one of the two, also where n is 0 */
    size_t n;
} dpi_wire_task;

enum { DPI_WIRE_MOST_TASKS = 64 };

/* Moves them all at once, at most one a session and direction, in whatever order the connections
 * allow.  When one cannot be moved all these sessions are at an end, and what is received is wiped.
 * The status of the first session with an error, which dpi_wire_error tells. */
dp_status dpi_wire_move(const dpi_wire_task *tasks, size_t n, uint32_t within) DP_MUST_CHECK;

/* Refuses what the other side asks for in place of sending the next frame of the opening, and ends
 * the session.  DP_ESTATE where the last frame was of another layer: then only closing is left. */
dp_status dpi_wire_refuse(dpi_wire_session *s, dpi_refusal why, uint32_t within) DP_MUST_CHECK;

#endif
