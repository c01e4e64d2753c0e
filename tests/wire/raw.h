/* A side of a session that has TLS and an identity, and does as it likes. */
#ifndef TESTS_WIRE_RAW_H
#define TESTS_WIRE_RAW_H

#include "tests/wire/pair.h"

enum { LONG = 20000 }; /* milliseconds; nothing should take them */

/* Somebody who has TLS and an identity, and then does as he likes. */
typedef struct raw {
    pthread_t thread;
    int socket;
    bool server;
    const dp_identity *own; /* NULL: no certificate */
    int most_version;       /* of TLS */
    unsigned char id[DPI_FRAME_SESSION];
    const unsigned char *peer; /* its fingerprint */
    void (*act)(struct raw *r, SSL *tls);
} raw;

/* In a thread of its own, until `act` has returned or TLS did not come about. */
void raw_start(raw *r);
void raw_join(raw *r);

/* Opens a session with a raw server, with a raw client. */
dp_status open_to(wire_pair *p, raw *r, uint32_t within, dpi_wire_session **s, dp_error *err);
dp_status open_from(wire_pair *p, raw *r, dpi_wire_session **s, dp_error *err);

/* A header alone. */
void send_header(raw *r, SSL *tls, uint16_t kind, uint32_t layer, uint64_t sequence,
                 uint32_t length);
void send_hello(raw *r, SSL *tls);

#endif
