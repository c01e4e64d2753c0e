/* Sockets that never block and never raise SIGPIPE, and deadlines. */
#ifndef DPI_WIRE_SOCKET_H
#define DPI_WIRE_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include <poll.h>
#include <tacit/status.h>

/* A point of the monotonic clock, which no change of the date moves. */
typedef struct dpi_deadline {
    int64_t at; /* ns */
} dpi_deadline;

dpi_deadline dpi_deadline_after(uint32_t milliseconds);

/* Milliseconds until it, rounded up; 0 when it has passed. */
int dpi_deadline_left(dpi_deadline d);

/* poll until something happens: the number of sockets; 0 when the deadline has passed, also where
 * something has happened, since the other side could have it happen forever; -1 on an error of the
 * system. */
int dpi_socket_wait(struct pollfd *sockets, nfds_t n, dpi_deadline d);

/* The same where there is something to go on with already: it only looks.  1; 0 when the deadline
 * has passed; -1 on an error of the system. */
int dpi_socket_look(struct pollfd *sockets, nfds_t n, dpi_deadline d);

/* Non-blocking, closed on exec, and without the delay that gathers small packets where it is TCP;
 * false on an error of the system. */
bool dpi_socket_prepare(int socket);

/* Connects to one of the addresses of host and port, in turn.  The names are looked up by the
 * system, with its own limit of time.  *socket [out] owned by the caller; -1 on error.
 * DP_ENAME no such host or port; DP_ETIMEOUT; DP_EPEER nobody listens there. */
dp_status dpi_socket_connect(const char *host, const char *port, dpi_deadline d, int *socket,
                             dp_error *err) DP_MUST_CHECK;

/* Listens there; port "0" is any free one.  DP_ENAME, DP_EIO. */
dp_status dpi_socket_listen(const char *host, const char *port, int *socket,
                            dp_error *err) DP_MUST_CHECK;

/* The port of a listening socket; 0 when it has none. */
int dpi_socket_port(int socket);

#endif
