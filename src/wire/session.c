/* The life of a session, and what it tells of itself. */
#define _XOPEN_SOURCE 700
#include "wire/session.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/parts.h"

/* The number stays the session's until it is freed: a thread that cuts must not meet another
 * file that the system has given the same number to. */
void dpi_wire_cut(const dpi_wire_session *s)
{
    (void)shutdown(s->socket, SHUT_RDWR);
}

bool dpi_wire_stirs(const dpi_wire_session *s)
{
    struct pollfd wait = {.fd = s->socket, .events = POLLIN};
    return s->err.status != DP_OK || dpi_bio_holds(&s->bio) || poll(&wait, 1, 0) != 0;
}

dp_status dpi_wire_break(dpi_wire_session *s, dp_status status, const char *message)
{
    status = dpi_fail(&s->err, status, "%s%s%s", s->peer.name, s->peer.name[0] != 0 ? ": " : "",
                      message);
    dpi_wire_cut(s);
    return status;
}

/* Gives it its TLS over the socket. */
static bool attach(dpi_wire_session *s, SSL_CTX *settings)
{
    BIO *b = dpi_bio_begin(&s->bio, s->socket);
    s->tls = b != NULL ? SSL_new(settings) : NULL;
    if (s->tls == NULL) {
        BIO_free(b);
        return false;
    }
    SSL_set_bio(s->tls, b, b);
    if (s->role == DPI_WIRE_CLIENT)
        SSL_set_connect_state(s->tls);
    else
        SSL_set_accept_state(s->tls);
    return true;
}

dp_status dpi_wire_begin(int socket, dpi_wire_role role, SSL_CTX *settings, const dpi_wire_opts *o,
                         dpi_wire_session **session, dp_error *err)
{
    *session = NULL;
    dpi_wire_session *s = dpi_alloc(1, sizeof *s);
    if (s == NULL) {
        (void)close(socket);
        return dpi_fail_nomem(err);
    }
    s->socket = socket;
    s->role = role;
    s->most = o->most > 0 ? o->most : DPI_WIRE_MOST;
    memcpy(s->own, o->identity->fingerprint, DPI_FINGERPRINT);
    dp_status status = DP_OK;
    if (!dpi_socket_prepare(socket))
        status = dpi_fail(err, DP_EINVAL, "the socket cannot be used; is it open?");
    else if (!attach(s, settings))
        status = dpi_fail_nomem(err);
    if (status != DP_OK) {
        dpi_wire_close(s);
        return status;
    }
    *session = s;
    return DP_OK;
}

dp_status dpi_wire_open(int socket, dpi_wire_role role, const dpi_wire_opts *o, uint32_t within,
                        dpi_wire_session **session, dp_error *err)
{
    *session = NULL;
    dpi_deadline d = dpi_deadline_after(within);
    SSL_CTX *settings;
    dp_status status = dpi_wire_settings(o, &settings, err);
    if (status != DP_OK) {
        (void)close(socket);
        return status;
    }
    dpi_wire_session *s;
    status = dpi_wire_begin(socket, role, settings, o, &s, err);
    SSL_CTX_free(settings); /* the session keeps it as long as it needs it */
    if (status != DP_OK)
        return status;
    for (int wait; (wait = dpi_wire_open_step(s, o->peers)) > 0;) {
        struct pollfd p = {.fd = s->socket, .events = (short)wait};
        int ready = dpi_socket_wait(&p, 1, d);
        if (ready == 0)
            (void)dpi_wire_break(s, DP_ETIMEOUT,
                                 "the other side did not open the session in time; is it busy, or "
                                 "another program?");
        else if (ready < 0)
            (void)dpi_wire_break(s, DP_EIO, "the system cannot wait for the connection");
    }
    if (s->err.status == DP_OK) {
        *session = s;
        return DP_OK;
    }
    status = dpi_fail(err, s->err.status, "%s", s->err.text);
    dpi_wire_close(s);
    return status;
}

dp_status dpi_wire_connect(const char *host, const char *port, const dpi_wire_opts *o,
                           uint32_t within, dpi_wire_session **session, dp_error *err)
{
    *session = NULL;
    dpi_deadline d = dpi_deadline_after(within);
    int socket;
    dp_status status = dpi_socket_connect(host, port, d, &socket, err);
    if (status != DP_OK)
        return status;
    uint32_t left = (uint32_t)dpi_deadline_left(d);
    return dpi_wire_open(socket, DPI_WIRE_CLIENT, o, left, session, err);
}

void dpi_wire_close(dpi_wire_session *s)
{
    if (s == NULL)
        return;
    if (s->tls != NULL && s->stage == DPI_STAGE_OPEN && s->err.status == DP_OK)
        (void)SSL_shutdown(s->tls); /* one attempt: whether it is heard does not matter */
    (void)close(s->socket);
    SSL_free(s->tls);
    dpi_bio_end(&s->bio);
    ERR_clear_error();
    OPENSSL_cleanse(&s->out, sizeof s->out);
    dpi_free(s);
}

const char *dpi_wire_peer(const dpi_wire_session *s)
{
    return s->peer.name;
}

const unsigned char *dpi_wire_peer_fingerprint(const dpi_wire_session *s)
{
    return s->peer.fingerprint;
}

const unsigned char *dpi_wire_id(const dpi_wire_session *s)
{
    return s->id;
}

const dp_error *dpi_wire_error(const dpi_wire_session *s)
{
    return &s->err;
}

bool dpi_wire_ended(const dpi_wire_session *s)
{
    return s->ended;
}

dpi_wire_traffic dpi_wire_counts(const dpi_wire_session *s)
{
    return s->moved;
}
