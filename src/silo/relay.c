/* One thread and one poll over all connections (relay-visit.h).  A turn of each is bounded, so that
 * nobody keeps others waiting. */
#define _XOPEN_SOURCE 700
#include <tacit/relay.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silo/relay-visit.h"

enum {
    USUAL_CONNECTIONS = 64,
    GLANCE = 500,  /* milliseconds between looks at whether it is to stop */
    CROWDED = 1000 /* without new connections, where the system has no room for one */
};

struct dp_relay {
    dpi_relay_box box;
    SSL_CTX *settings;
    int socket;
    dpi_deadline crowded; /* no connection is taken in before */
    atomic_bool stops;
    size_t n, most;
    dpi_relay_visitor *list[DP_RELAY_MOST_CONNECTIONS];
};

/* Answers those who wait for a letter. */
static void tell_of(dp_relay *r, const char *name)
{
    for (size_t k = 0; k < r->n; k++)
        if (r->list[k]->stage == DPI_RELAY_WAITS && strcmp(r->list[k]->asked.name, name) == 0)
            (void)dpi_relay_answer_letter(&r->box, r->list[k]);
}

/* ---- who is there ---- */

/* Takes a visitor out of the list. */
static void dismiss(dp_relay *r, size_t k)
{
    dpi_relay_visitor *v = r->list[k];
    r->list[k] = r->list[--r->n];
    dpi_relay_part_from(&r->box, v);
    dpi_free(v);
}

/* Makes room where all places are taken: of whoever has not shaken hands, or else asks for nothing,
 * the one that came first goes. */
static bool make_room(dp_relay *r)
{
    size_t worst = r->n;
    for (size_t k = 0; k < r->n; k++) {
        const dpi_relay_visitor *v = r->list[k], *w = worst < r->n ? r->list[worst] : NULL;
        if (v->stage != DPI_RELAY_GREETS && (v->stage != DPI_RELAY_ASKS || v->n_in > 0))
            continue;
        if (w == NULL || (v->stage == DPI_RELAY_GREETS && w->stage != DPI_RELAY_GREETS) ||
            (v->stage == w->stage && v->end.at < w->end.at))
            worst = k;
    }
    if (worst < r->n)
        dismiss(r, worst);
    return r->n < r->most;
}

static void welcome(dp_relay *r, int socket)
{
    dpi_relay_visitor *v = r->n < r->most || make_room(r) ? dpi_alloc(1, sizeof *v) : NULL;
    if (v == NULL) {
        (void)close(socket);
        return;
    }
    r->list[r->n++] = v;
    if (!dpi_relay_greet(v, socket, r->settings))
        dismiss(r, r->n - 1);
}

static void let_in(dp_relay *r)
{
    const int socket = accept(r->socket, NULL, NULL);
    if (socket >= 0)
        welcome(r, socket);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        r->crowded = dpi_deadline_after(CROWDED);
}

/* ---- serving ---- */

static dpi_deadline sooner(dpi_deadline a, dpi_deadline b)
{
    return a.at < b.at ? a : b;
}

/* Waits for anything: false where the system cannot. */
static bool wait_for_any(dp_relay *r, struct pollfd *waits)
{
    dpi_deadline until = dpi_deadline_after(GLANCE);
    bool busy = false;
    const bool open = dpi_deadline_left(r->crowded) == 0;
    waits[r->n] = (struct pollfd){.fd = open ? r->socket : -1, .events = POLLIN};
    for (size_t k = 0; k < r->n; k++) {
        const dpi_relay_visitor *v = r->list[k];
        waits[k] = (struct pollfd){.fd = v->wants != 0 ? v->socket : -1, .events = v->wants};
        until = sooner(until, v->end);
        busy = busy || v->busy;
    }
    const nfds_t n = (nfds_t)r->n + 1;
    const int ready = busy ? dpi_socket_look(waits, n, dpi_deadline_after(GLANCE))
                           : dpi_socket_wait(waits, n, until);
    return ready >= 0;
}

dp_status dp_relay_run(dp_relay *r, dp_error *err)
{
    struct pollfd waits[DP_RELAY_MOST_CONNECTIONS + 1];
    while (!atomic_load(&r->stops)) {
        if (!wait_for_any(r, waits))
            return dpi_fail(err, DP_EIO, "the system cannot wait for connections");
        const size_t n = r->n;
        /* From the end: the place of one that goes is taken by the last, which has had its turn. */
        for (size_t k = n; k-- > 0;) {
            dpi_relay_visitor *v = r->list[k];
            if (!v->busy && waits[k].revents == 0 && dpi_deadline_left(v->end) > 0)
                continue;
            const bool stays = dpi_relay_turn(&r->box, v);
            if (v->kept)
                tell_of(r, v->asked.name);
            v->kept = false;
            if (!stays)
                dismiss(r, k);
        }
        if (waits[n].revents != 0)
            let_in(r);
    }
    return DP_OK;
}

void dp_relay_stop(dp_relay *relay)
{
    atomic_store(&relay->stops, true);
}

/* ---- opening ---- */

/* A key that is locked by a password is none: nobody is there to be asked. */
static int no_password(char *to, int n, int writes, void *of)
{
    (void)to;
    (void)n;
    (void)writes;
    (void)of;
    return 0;
}

static dp_status set_up_tls(dp_relay *r, const dp_relay_opts *o, dp_error *err)
{
    ERR_clear_error();
    SSL_CTX *c = r->settings = SSL_CTX_new(TLS_server_method());
    if (c == NULL || SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1)
        return dpi_fail(err, DP_ENOMEM,
                        "OpenSSL cannot be set up: out of memory, or without TLS 1.3");
    SSL_CTX_set_default_passwd_cb(c, no_password);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(c, SSL_OP_NO_TICKET);
    (void)SSL_CTX_set_num_tickets(c, 0);
    (void)SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_clear_mode(c, SSL_MODE_AUTO_RETRY); /* as in wire/handshake.c */
    const bool own = SSL_CTX_use_certificate_chain_file(c, o->certificate) == 1 &&
                     SSL_CTX_use_PrivateKey_file(c, o->key, SSL_FILETYPE_PEM) == 1 &&
                     SSL_CTX_check_private_key(c) == 1;
    const bool theirs =
        o->clients == NULL || SSL_CTX_load_verify_locations(c, o->clients, NULL) == 1;
    if (o->clients != NULL)
        SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    ERR_clear_error();
    if (!own)
        return dpi_fail(err, DP_EINVAL,
                        "%.200s and %.200s are not a certificate and its key without a password, "
                        "as PEM",
                        o->certificate, o->key);
    return theirs ? DP_OK
                  : dpi_fail(err, DP_EINVAL, "%.200s has no certificate of an authority, as PEM",
                             o->clients);
}

/* Files of the folder are served to whoever asks for their names: the key is not to be one. */
static dp_status check_apart(const dp_relay *r, const dp_relay_opts *o, dp_error *err)
{
    const char *slash = strrchr(o->key, '/');
    struct stat key, served;
    if (stat(o->key, &key) != 0 ||
        fstatat(r->box.folder, slash != NULL ? slash + 1 : o->key, &served, 0) != 0 ||
        key.st_dev != served.st_dev || key.st_ino != served.st_ino)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "%.200s lies in the folder of letters, from which anybody may have what is "
                    "there; name a folder that has nothing else",
                    o->key);
}

dp_status dp_relay_new(const dp_relay_opts *o, dp_relay **relay, dp_error *err)
{
    *relay = NULL;
    if (o->folder == NULL || o->certificate == NULL || o->key == NULL ||
        o->connections > DP_RELAY_MOST_CONNECTIONS)
        return dpi_fail(err, DP_EINVAL,
                        "a mailbox has a folder, a certificate, its key, and at most %d "
                        "connections side by side",
                        DP_RELAY_MOST_CONNECTIONS);
    dp_relay *r = dpi_alloc(1, sizeof *r);
    if (r == NULL)
        return dpi_fail_nomem(err);
    r->socket = r->box.folder = -1;
    r->box.most_letter = o->most_letter > 0 ? o->most_letter : (uint64_t)1 << 28;
    r->box.most_letters = o->most_letters > 0 ? o->most_letters : (uint64_t)1 << 20;
    r->box.most_bytes = o->most_bytes > 0 ? o->most_bytes : (uint64_t)1 << 36;
    r->most = o->connections > 0 ? o->connections : USUAL_CONNECTIONS;
    atomic_init(&r->stops, false);
    dp_status status = set_up_tls(r, o, err);
    if (status == DP_OK)
        status = dpi_relay_box_open(&r->box, o->folder, err);
    if (status == DP_OK)
        status = check_apart(r, o, err);
    if (status == DP_OK)
        status = dpi_socket_listen(o->host != NULL ? o->host : "127.0.0.1",
                                   o->port != NULL ? o->port : "443", &r->socket, err);
    if (status == DP_OK)
        *relay = r;
    else
        dp_relay_free(r);
    return status;
}

int dp_relay_port(const dp_relay *relay)
{
    return dpi_socket_port(relay->socket);
}

void dp_relay_free(dp_relay *r)
{
    if (r == NULL)
        return;
    while (r->n > 0)
        dismiss(r, r->n - 1);
    if (r->socket >= 0)
        (void)close(r->socket);
    SSL_CTX_free(r->settings);
    dpi_relay_box_close(&r->box);
    dpi_free(r);
}
