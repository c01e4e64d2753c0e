/* The list of computing parties and their provider; tacit/parties.h has the public calls. */
#ifndef DPI_SERVE_PARTIES_H
#define DPI_SERVE_PARTIES_H

#include <tacit/parties.h>

#include "share/party.h"
#include "wire/policy.h"
#include "wire/session.h"

enum {
    DPI_PARTIES_LEAST = 3,
    DPI_PARTIES_HOST = 256,
    DPI_PARTIES_PORT = 32,
    DPI_PARTIES_HASH = 32
};

typedef struct dpi_party_line {
    char host[DPI_PARTIES_HOST], port[DPI_PARTIES_PORT];
    dpi_peer peer; /* "party 0" */
} dpi_party_line;

struct dp_parties {
    size_t n;
    dpi_party_line line[DPI_SHARE_PARTIES];
    dpi_peer provider;
    unsigned char hash[DPI_PARTIES_HASH]; /* SHA-256 of the fingerprints in their order */
};

/* What is served by so many: hm3 or hm4, and how it is computed. */
dpi_protocol dpi_parties_protocol(const dp_parties *p);
const dpi_share_row *dpi_parties_row(const dp_parties *p);

/* Which of them has the fingerprint, or p->n. */
size_t dpi_parties_find(const dp_parties *p, const unsigned char fingerprint[DPI_FINGERPRINT]);

/* Which machine plays a role in a lane.  In n! lanes that follow each other no two have the same
 * assignment, and in n of them every machine plays every role. */
size_t dpi_parties_machine(size_t n, size_t lane, size_t role);
size_t dpi_parties_role(size_t n, size_t lane, size_t machine);

/* Connects to one of them, as whoever has the identity.  Errors as of dpi_wire_connect. */
dp_status dpi_parties_connect(const dp_parties *p, size_t machine, const dp_identity *identity,
                              uint32_t within, dpi_wire_session **wire,
                              dp_error *err) DP_MUST_CHECK;

#endif
