/* How a session opens: who the other side is, then the hello.
 *
 * In TLS 1.3 a client has finished before the server has looked at its certificate, so that it
 * would send its first frame to a server that may turn it away, and might find a reset connection
 * where the reason should be.  So the server sends a first, empty frame once it has looked, and the
 * client's session is open when it has read it. */
#define _XOPEN_SOURCE 700
#include <string.h>

#include <openssl/err.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/parts.h"

/* Called in place of the check of a chain: the certificate's key must be pinned.  TLS itself has
 * the other side prove that it holds the key. */
static int verify(X509_STORE_CTX *chain, void *of)
{
    const dpi_peers *peers = of;
    unsigned char fingerprint[DPI_FINGERPRINT];
    const X509 *certificate = X509_STORE_CTX_get0_cert(chain);
    bool known = certificate != NULL && dpi_fingerprint_of(certificate, fingerprint) &&
                 dpi_peers_find(peers, fingerprint) < peers->n;
    X509_STORE_CTX_set_error(chain, known ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
    return known;
}

static bool set_up(SSL_CTX *c, const dpi_wire_opts *o)
{
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    /* OpenSSL hands the pointer on to verify, which only reads what is there. */
    SSL_CTX_set_cert_verify_callback(c, verify, (void *)(uintptr_t)o->peers);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
    (void)SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* One record at a time: else whoever sends records that hold nothing for us, such as updates of
     * keys, faster than they are read, would keep OpenSSL from returning, past every deadline.
     * What is read ahead is read by our BIO, which tells of it (bio.h). */
    (void)SSL_CTX_clear_mode(c, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(c, 0);
    return SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") &&
           SSL_CTX_set1_groups_list(c, "X25519") == 1 &&
           SSL_CTX_set1_sigalgs_list(c, "ed25519") == 1 &&
           SSL_CTX_set1_client_sigalgs_list(c, "ed25519") == 1 &&
           SSL_CTX_set_num_tickets(c, 0) == 1 &&
           SSL_CTX_use_certificate(c, o->identity->certificate) == 1 &&
           SSL_CTX_use_PrivateKey(c, o->identity->key) == 1;
}

dp_status dpi_wire_settings(const dpi_wire_opts *o, SSL_CTX **settings, dp_error *err)
{
    *settings = NULL;
    if (o->peers->n == 0)
        return dpi_fail(
            err, DP_EINVAL,
            "no peers are known, so that nobody could be let in; name their fingerprints");
    if (o->most > DPI_WIRE_MOST)
        return dpi_fail(err, DP_EINVAL, "a frame holds at most 1 GB; cut what is longer");
    ERR_clear_error();
    SSL_CTX *c = SSL_CTX_new(TLS_method());
    if (c == NULL || !set_up(c, o)) {
        SSL_CTX_free(c);
        ERR_clear_error();
        return dpi_fail(err, DP_ENOMEM,
                        "OpenSSL cannot be set up: out of memory, or it has no TLS "
                        "1.3 with Ed25519, X25519 and AES-GCM here");
    }
    *settings = c;
    return DP_OK;
}

/* ---- what OpenSSL says ---- */

/* Why the handshake or a record failed, from the reasons on OpenSSL's queue. */
static dp_status explain(dpi_wire_session *s, unsigned long code)
{
    switch (ERR_GET_REASON(code)) {
    case ERR_R_MALLOC_FAILURE:
        return dpi_wire_break(s, DP_ENOMEM, "out of memory");
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return dpi_wire_break(
            s, DP_EPEER,
            "the other side is not who was expected: its fingerprint is not among "
            "those pinned here; check both, and the address");
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return dpi_wire_break(s, DP_EPEER, "the other side has no certificate");
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        return dpi_wire_break(s, DP_EREFUSED,
                              "the other side refused: it does not know this identity; send it the "
                              "fingerprint that tacit keys show prints");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_WRONG_VERSION_NUMBER:
        return dpi_wire_break(s, DP_EPEER, "the other side does not speak TLS 1.3");
    default:
        return dpi_wire_break(s, DP_EPEER,
                              s->stage == DPI_STAGE_TLS
                                  ? "no TLS session comes about with the other side; it is another "
                                    "program, or the connection was tampered with"
                                  : "the other side broke the TLS session, or the connection was "
                                    "tampered with");
    }
}

int dpi_wire_after(dpi_wire_session *s, int result)
{
    switch (SSL_get_error(s->tls, result)) {
    case SSL_ERROR_WANT_READ:
        return POLLIN;
    case SSL_ERROR_WANT_WRITE:
        return POLLOUT;
    case SSL_ERROR_ZERO_RETURN:
        s->ended = s->stage == DPI_STAGE_OPEN && s->in.at == 0;
        (void)dpi_wire_break(s, DP_EPEER, "the other side ended the session");
        break;
    case SSL_ERROR_SSL:
        (void)explain(s, ERR_peek_error());
        break;
    default:
        (void)dpi_wire_lost(s);
    }
    ERR_clear_error();
    return DPI_WIRE_FAILED;
}

int dpi_wire_lost(dpi_wire_session *s)
{
    (void)dpi_wire_break(s, DP_EPEER, "the connection to the other side was lost");
    return DPI_WIRE_FAILED;
}

/* ---- steps ---- */

/* The exporter's label for the session's id. */
static const char id_label[] = "EXPORTER-tacit-session";

/* With both fingerprints, client first: the exporter's secret does not cover the client's
 * certificate. */
dp_status dpi_wire_export(dpi_wire_session *s, const char *label, unsigned char *bytes, size_t n)
{
    unsigned char both[2 * DPI_FINGERPRINT];
    bool client = s->role == DPI_WIRE_CLIENT;
    memcpy(both, client ? s->own : s->peer.fingerprint, DPI_FINGERPRINT);
    memcpy(both + DPI_FINGERPRINT, client ? s->peer.fingerprint : s->own, DPI_FINGERPRINT);
    if (s->err.status == DP_OK && SSL_export_keying_material(s->tls, bytes, n, label, strlen(label),
                                                             both, sizeof both, 1) == 1)
        return DP_OK;
    OPENSSL_cleanse(bytes, n);
    return dpi_wire_break(s, DP_ENOMEM, "no key could be derived for the session");
}

/* TLS has let the other side in: who is it? */
static bool meet(dpi_wire_session *s, const dpi_peers *peers)
{
    X509 *certificate = SSL_get1_peer_certificate(s->tls);
    unsigned char fingerprint[DPI_FINGERPRINT] = {0};
    bool good = certificate != NULL && dpi_fingerprint_of(certificate, fingerprint);
    X509_free(certificate);
    size_t which = good ? dpi_peers_find(peers, fingerprint) : peers->n;
    if (which == peers->n) {
        (void)dpi_wire_break(s, DP_EPEER, "the other side's fingerprint cannot be told");
        return false;
    }
    s->peer = peers->list[which];
    return dpi_wire_export(s, id_label, s->id, sizeof s->id) == DP_OK;
}

static void begin_hello(dpi_wire_session *s)
{
    if (s->role == DPI_WIRE_CLIENT) {
        dpi_wire_begin_receive(s, DPI_FRAME_HELLO, DPI_FRAME_OPENING, NULL, 0);
        return;
    }
    const dpi_frame f = dpi_wire_next(s, DPI_FRAME_HELLO, DPI_FRAME_OPENING, 0);
    dpi_wire_begin_send(s, &f, NULL, 0);
}

int dpi_wire_open_step(dpi_wire_session *s, const dpi_peers *peers)
{
    if (s->err.status != DP_OK)
        return DPI_WIRE_FAILED;
    if (s->stage == DPI_STAGE_TLS) {
        ERR_clear_error();
        int result = SSL_do_handshake(s->tls);
        if (result != 1)
            return dpi_wire_after(s, result);
        if (!meet(s, peers))
            return DPI_WIRE_FAILED;
        s->stage = DPI_STAGE_HELLO;
        begin_hello(s);
    }
    int wait = DPI_WIRE_DONE;
    if (s->stage == DPI_STAGE_HELLO)
        wait = s->role == DPI_WIRE_CLIENT ? dpi_wire_receive_step(s) : dpi_wire_send_step(s);
    if (wait != DPI_WIRE_DONE)
        return wait;
    if (!dpi_bio_widen(&s->bio)) {
        (void)dpi_wire_break(s, DP_ENOMEM, "out of memory");
        return DPI_WIRE_FAILED;
    }
    s->stage = DPI_STAGE_OPEN;
    return DPI_WIRE_DONE;
}
