/* Where others connect to: handshakes go on side by side, so that nobody who does not finish his
 * keeps the others out. */
#ifndef DPI_WIRE_LISTENER_H
#define DPI_WIRE_LISTENER_H

#include "wire/session.h"

typedef struct dpi_wire_listener dpi_wire_listener;

typedef struct dpi_wire_limits {
    size_t pending;     /* handshakes side by side, at most DPI_WIRE_MOST_PENDING; 0: 32 */
    uint32_t handshake; /* milliseconds for one; 0: 5000 */
} dpi_wire_limits;

enum { DPI_WIRE_MOST_PENDING = 256 };

/* Listens at host ("127.0.0.1", "0.0.0.0") and port ("0": any free one).  What o names is borrowed
 * as long as the listener.  *listener [out] NULL on error.  DP_ENAME, DP_EIO, DP_EINVAL,
 * DP_ENOMEM. */
dp_status dpi_wire_listen(const char *host, const char *port, const dpi_wire_opts *o,
                          const dpi_wire_limits *limits, dpi_wire_listener **listener,
                          dp_error *err) DP_MUST_CHECK;

/* The next session that is open, within so many milliseconds.  Handshakes that fail or take too
 * long are dropped and only counted; when there are too many the oldest is dropped.  *session [out]
 * NULL on error.  DP_ETIMEOUT nobody came; DP_EIO; the listener stays usable. */
dp_status dpi_wire_accept(dpi_wire_listener *l, uint32_t within, dpi_wire_session **session,
                          dp_error *err) DP_MUST_CHECK;

int dpi_wire_port(const dpi_wire_listener *l);

/* Handshakes that came to nothing so far. */
typedef struct dpi_wire_dropped {
    uint64_t failed, late, crowded_out;
} dpi_wire_dropped;
dpi_wire_dropped dpi_wire_drops(const dpi_wire_listener *l);

/* Drops what is pending, and frees; NULL is allowed.  Sessions stay. */
void dpi_wire_listener_free(dpi_wire_listener *l);

#endif
