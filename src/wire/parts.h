/* What session.c, handshake.c, transfer.c and listener.c share. */
#ifndef DPI_WIRE_PARTS_H
#define DPI_WIRE_PARTS_H

#include <openssl/ssl.h>

#include "wire/bio.h"
#include "wire/session.h"

enum { DPI_WIRE_RECORD = 16384 }; /* the most that a TLS record holds */

typedef enum dpi_wire_stage { DPI_STAGE_TLS, DPI_STAGE_HELLO, DPI_STAGE_OPEN } dpi_wire_stage;

/* A frame on its way out: header and what fits behind it go as one record, the rest from where the
 * caller has it. */
typedef struct dpi_wire_out {
    unsigned char first[DPI_WIRE_RECORD];
    const unsigned char *rest;
    size_t first_n, rest_n, at; /* `at` counts over both */
    bool more; /* it may wait in the BIO for the next frame, which follows at once */
} dpi_wire_out;

/* A frame on its way in. */
typedef struct dpi_wire_in {
    unsigned char header[DPI_FRAME_HEADER];
    dpi_frame expected;
    unsigned char *to;
    size_t n, at; /* `at` counts over header and payload */
} dpi_wire_in;

struct dpi_wire_session {
    int socket;
    SSL *tls;
    dpi_bio bio;
    dpi_wire_role role;
    dpi_wire_stage stage;
    size_t most;
    unsigned char id[DPI_FRAME_SESSION], own[DPI_FINGERPRINT];
    dpi_peer peer;
    uint64_t next_out, next_in; /* sequence numbers */
    uint32_t layer;             /* of the last frame that was begun */
    dpi_wire_traffic moved;
    bool ended;
    dp_error err;
    dpi_wire_out out;
    dpi_wire_in in;
};

/* What a step waits for: POLLIN or POLLOUT; DPI_WIRE_DONE; DPI_WIRE_FAILED, with s->err set. */
enum { DPI_WIRE_DONE = 0, DPI_WIRE_FAILED = -1 };

/* Settings of TLS for sessions with any of the peers, which are borrowed for handshakes. */
dp_status dpi_wire_settings(const dpi_wire_opts *o, SSL_CTX **settings, dp_error *err);

/* A session at its beginning over a connected socket, which it owns, also when it fails. */
dp_status dpi_wire_begin(int socket, dpi_wire_role role, SSL_CTX *settings, const dpi_wire_opts *o,
                         dpi_wire_session **session, dp_error *err);

/* Goes on with opening it. */
int dpi_wire_open_step(dpi_wire_session *s, const dpi_peers *peers);

/* What to wait for after SSL gave `result`; fails the session when it cannot go on. */
int dpi_wire_after(dpi_wire_session *s, int result);

/* Fails it because the connection has gone: DPI_WIRE_FAILED. */
int dpi_wire_lost(dpi_wire_session *s);

/* Records an error and closes the connection. */
dp_status dpi_wire_break(dpi_wire_session *s, dp_status status, const char *message);

/* Prepares the next frame of a direction; goes on with it. */
void dpi_wire_begin_send(dpi_wire_session *s, const dpi_frame *f, const void *bytes, size_t n);
void dpi_wire_begin_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *to, size_t n);
int dpi_wire_send_step(dpi_wire_session *s);
int dpi_wire_receive_step(dpi_wire_session *s);

/* Waits for sockets of sessions; `held` where one of them that waits for POLLIN has read ahead what
 * it has not looked at, which poll does not see.  As dpi_socket_wait. */
int dpi_wire_wait(struct pollfd *waits, nfds_t n, bool held, dpi_deadline d);

/* The header of the next frame out. */
dpi_frame dpi_wire_next(const dpi_wire_session *s, uint16_t kind, uint32_t layer, size_t n);

#endif
