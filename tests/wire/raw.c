/* Raw sides: OpenSSL with nothing of the library but headers of frames. */
#define _XOPEN_SOURCE 700
#include "tests/wire/raw.h"

#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

static int accept_any(X509_STORE_CTX *chain, void *of)
{
    (void)chain;
    (void)of;
    return 1;
}

/* The session's id, which whoever is in the session has. */
static void derive_id(raw *r, SSL *tls)
{
    unsigned char both[2 * DPI_FINGERPRINT];
    if (r->own == NULL)
        return;
    memcpy(both + (r->server ? DPI_FINGERPRINT : 0), r->own->fingerprint, DPI_FINGERPRINT);
    memcpy(both + (r->server ? 0 : DPI_FINGERPRINT), r->peer, DPI_FINGERPRINT);
    static const char label[] = "EXPORTER-tacit-session";
    (void)SSL_export_keying_material(tls, r->id, sizeof r->id, label, strlen(label), both,
                                     sizeof both, 1);
}

static void *run_raw(void *of)
{
    raw *r = of;
    SSL_CTX *c = SSL_CTX_new(TLS_method());
    SSL_CTX_set_cert_verify_callback(c, accept_any, NULL);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
    if (r->most_version != 0)
        (void)SSL_CTX_set_max_proto_version(c, r->most_version);
    if (r->own != NULL) {
        (void)SSL_CTX_use_certificate(c, r->own->certificate);
        (void)SSL_CTX_use_PrivateKey(c, r->own->key);
    }
    SSL *tls = SSL_new(c);
    (void)SSL_set_fd(tls, r->socket);
    if ((r->server ? SSL_accept(tls) : SSL_connect(tls)) == 1) {
        derive_id(r, tls);
        if (r->act != NULL)
            r->act(r, tls);
    }
    ERR_clear_error();
    SSL_free(tls);
    SSL_CTX_free(c);
    (void)close(r->socket);
    return NULL;
}

void raw_start(raw *r)
{
    assert_int_equal(pthread_create(&r->thread, NULL, run_raw, r), 0);
}

void raw_join(raw *r)
{
    assert_int_equal(pthread_join(r->thread, NULL), 0);
}

void send_header(raw *r, SSL *tls, uint16_t kind, uint32_t layer, uint64_t sequence,
                 uint32_t length)
{
    unsigned char header[DPI_FRAME_HEADER];
    dpi_frame f = {.kind = kind, .layer = layer, .sequence = sequence, .length = length};
    memcpy(f.session, r->id, sizeof f.session);
    dpi_frame_write(&f, header);
    (void)SSL_write(tls, header, sizeof header);
}

void send_hello(raw *r, SSL *tls)
{
    send_header(r, tls, DPI_FRAME_HELLO, DPI_FRAME_OPENING, 0, 0);
}

dp_status open_to(wire_pair *p, raw *r, uint32_t within, dpi_wire_session **s, dp_error *err)
{
    int sockets[2];
    socket_pair(sockets);
    r->socket = sockets[1];
    r->server = true;
    r->peer = p->own[CLIENT]->fingerprint;
    raw_start(r);
    const dpi_wire_opts o = pair_opts(p, CLIENT);
    return dpi_wire_open(sockets[0], DPI_WIRE_CLIENT, &o, within, s, err);
}

dp_status open_from(wire_pair *p, raw *r, dpi_wire_session **s, dp_error *err)
{
    int sockets[2];
    socket_pair(sockets);
    r->socket = sockets[0];
    r->server = false;
    r->peer = p->own[SERVER]->fingerprint;
    raw_start(r);
    const dpi_wire_opts o = pair_opts(p, SERVER);
    return dpi_wire_open(sockets[1], DPI_WIRE_SERVER, &o, LONG, s, err);
}
