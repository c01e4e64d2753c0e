/* Two identities that know each other, a stranger, and sessions between them in one process. */
#ifndef TESTS_WIRE_PAIR_H
#define TESTS_WIRE_PAIR_H

#include <pthread.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "wire/session.h"

typedef struct wire_pair {
    char folder[64];
    dp_identity *own[3]; /* client, server, and somebody whom neither knows */
    dpi_peer peer[3];
    dpi_peers knows[3]; /* client knows server, server knows client, the stranger knows server */
} wire_pair;

enum { CLIENT, SERVER, STRANGER };

int pair_make(void **state);
int pair_remove(void **state);

/* The path of a file in the folder; valid until the next call. */
const char *pair_path(wire_pair *p, const char *name);

dpi_wire_opts pair_opts(const wire_pair *p, int who);

/* One side of opening a session, in a thread of its own. */
typedef struct opening {
    pthread_t thread;
    int socket;
    dpi_wire_role role;
    dpi_wire_opts opts;
    uint32_t within;
    dpi_wire_session *session;
    dp_status status;
    dp_error err;
} opening;

void opening_start(opening *o, int socket, dpi_wire_role role, dpi_wire_opts opts, uint32_t within);
void opening_join(opening *o);

/* Connected sockets. */
void socket_pair(int sockets[2]);

/* An open session, from both ends. */
void open_pair(const wire_pair *p, dpi_wire_session *ends[2]);

/* Open descriptors of this process. */
int open_files(void);

#endif
