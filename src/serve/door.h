/* Where a server or a party stands and lets callers in. */
#ifndef DPI_SERVE_DOOR_H
#define DPI_SERVE_DOOR_H

#include <stdatomic.h>

#include "wire/listener.h"
#include "wire/log.h"

typedef struct dpi_door {
    dpi_wire_listener *listener;
    dpi_query_log *log;
    atomic_bool *stop, *look; /* look: at the log, since a session may have failed for it */
    void (*admit)(void *user, dpi_wire_session *wire); /* which it owns from then on; never waits */
    void *user;
} dpi_door;

/* Lets in whoever opens a session, until *stop.  DP_EIO, DP_EDATA the log can take no query any
 * more; DP_EIO, DP_ENOMEM nobody could be let in for a minute. */
dp_status dpi_door_keep(const dpi_door *d, dp_error *err) DP_MUST_CHECK;

#endif
