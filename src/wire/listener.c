/* One poll over the listening socket and all handshakes. */
#define _XOPEN_SOURCE 700
#include "wire/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/parts.h"

enum { USUAL_PENDING = 32, USUAL_HANDSHAKE = 5000 };

/* A handshake; oldest first in the list. */
typedef struct pending_one {
    dpi_wire_session *session;
    dpi_deadline end;
    int wait; /* POLLIN or POLLOUT */
} pending_one;

struct dpi_wire_listener {
    int socket;
    dpi_wire_opts opts;
    dpi_wire_limits limits;
    SSL_CTX *settings;
    dpi_wire_dropped dropped;
    size_t n;
    pending_one list[DPI_WIRE_MOST_PENDING];
};

dp_status dpi_wire_listen(const char *host, const char *port, const dpi_wire_opts *o,
                          const dpi_wire_limits *limits, dpi_wire_listener **listener,
                          dp_error *err)
{
    *listener = NULL;
    dpi_wire_limits used = {.pending = USUAL_PENDING, .handshake = USUAL_HANDSHAKE};
    if (limits != NULL && limits->pending > 0)
        used.pending = limits->pending;
    if (limits != NULL && limits->handshake > 0)
        used.handshake = limits->handshake;
    if (used.pending > DPI_WIRE_MOST_PENDING)
        return dpi_fail(err, DP_EINVAL, "at most %d handshakes go on side by side",
                        DPI_WIRE_MOST_PENDING);
    dpi_wire_listener *l = dpi_alloc(1, sizeof *l);
    if (l == NULL)
        return dpi_fail_nomem(err);
    l->socket = -1;
    l->opts = *o;
    l->limits = used;
    dp_status status = dpi_wire_settings(o, &l->settings, err);
    if (status == DP_OK)
        status = dpi_socket_listen(host, port, &l->socket, err);
    if (status == DP_OK)
        *listener = l;
    else
        dpi_wire_listener_free(l);
    return status;
}

/* Takes the i-th out of the list. */
static dpi_wire_session *take(dpi_wire_listener *l, size_t i)
{
    dpi_wire_session *s = l->list[i].session;
    l->n--;
    memmove(&l->list[i], &l->list[i + 1], (l->n - i) * sizeof l->list[0]);
    return s;
}

static void drop(dpi_wire_listener *l, size_t i, uint64_t *count)
{
    dpi_wire_close(take(l, i));
    ++*count;
}

/* Goes on with the handshakes that can, and drops the others that are late: a handshake that has
 * all it needs is not late because nobody called for long.  The first that is open, or NULL. */
static dpi_wire_session *go_on(dpi_wire_listener *l)
{
    for (size_t i = 0; i < l->n;) {
        pending_one *p = &l->list[i];
        p->wait = dpi_wire_open_step(p->session, l->opts.peers);
        if (p->wait == DPI_WIRE_DONE)
            return take(l, i);
        if (p->wait == DPI_WIRE_FAILED)
            drop(l, i, &l->dropped.failed);
        else if (dpi_deadline_left(p->end) == 0)
            drop(l, i, &l->dropped.late);
        else
            i++;
    }
    return NULL;
}

/* Takes in one connection that waits. */
static dp_status let_in(dpi_wire_listener *l, dp_error *err)
{
    int socket = accept(l->socket, NULL, NULL);
    if (socket < 0) {
        bool gone = errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
        return gone
                   ? DP_OK
                   : dpi_fail(err, DP_EIO,
                              "the system has no room for another connection; close some, or raise "
                              "the limit of open files");
    }
    dpi_wire_session *s;
    dp_status status = dpi_wire_begin(socket, DPI_WIRE_SERVER, l->settings, &l->opts, &s, err);
    if (status != DP_OK)
        return status;
    if (l->n == l->limits.pending)
        drop(l, 0, &l->dropped.crowded_out);
    l->list[l->n++] = (pending_one){s, dpi_deadline_after(l->limits.handshake), POLLIN};
    return DP_OK;
}

/* The earlier of the call's deadline and those of the handshakes. */
static dpi_deadline next_end(const dpi_wire_listener *l, dpi_deadline d)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->list[i].end.at < d.at)
            d = l->list[i].end;
    return d;
}

dp_status dpi_wire_accept(dpi_wire_listener *l, uint32_t within, dpi_wire_session **session,
                          dp_error *err)
{
    dpi_deadline d = dpi_deadline_after(within);
    struct pollfd waits[1 + DPI_WIRE_MOST_PENDING];
    while ((*session = go_on(l)) == NULL) {
        waits[0] = (struct pollfd){.fd = l->socket, .events = POLLIN};
        for (size_t i = 0; i < l->n; i++)
            waits[1 + i] =
                (struct pollfd){.fd = l->list[i].session->socket, .events = (short)l->list[i].wait};
        int ready = dpi_socket_wait(waits, (nfds_t)(1 + l->n), next_end(l, d));
        if (ready < 0)
            return dpi_fail(err, DP_EIO, "the system cannot wait for connections");
        if (ready == 0 && dpi_deadline_left(d) == 0)
            return dpi_fail(err, DP_ETIMEOUT, "nobody opened a session in time");
        dp_status status = ready > 0 && waits[0].revents != 0 ? let_in(l, err) : DP_OK;
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}

int dpi_wire_port(const dpi_wire_listener *l)
{
    return dpi_socket_port(l->socket);
}

dpi_wire_dropped dpi_wire_drops(const dpi_wire_listener *l)
{
    return l->dropped;
}

void dpi_wire_listener_free(dpi_wire_listener *l)
{
    if (l == NULL)
        return;
    while (l->n > 0)
        dpi_wire_close(take(l, l->n - 1));
    if (l->socket >= 0)
        (void)close(l->socket);
    SSL_CTX_free(l->settings);
    dpi_free(l);
}
