/* Stands between parties, which are threads of this program, and their meshes, lanes and models:
 * sees what they send and tell in a session, and does one deed in the place of one of them.
 *
 * A program that has it is linked with the wraps of tests/serve/local.mk. */
#ifndef TESTS_SERVE_BETWEEN_H
#define TESTS_SERVE_BETWEEN_H

#include "serve/party-lane.h"
#include "tests/serve/daemons.h"

enum { BETWEEN_LANES = 2, BETWEEN_KINDS = DPI_MESH_TAG + 1 };

typedef enum deed_kind {
    NOTHING,
    TURN_A_BIT,   /* of a message */
    FALL_SILENT,  /* before it, for `random` ms */
    CHANGE_SEED,  /* of a component that the client has given it */
    CHANGE_MODEL, /* one of the first `number` weights */
    CHANGE_PIECE
} deed_kind;

/* Of a machine in a lane; a message: to which role, of which kind, and its number. */
typedef struct deed {
    deed_kind kind;
    size_t machine, lane, to, number;
    dpi_mesh_kind message;
    uint64_t random;
} deed;

/* A session, kept to the end: threads of its parties may outlast the client. */
typedef struct session session;
struct session {
    deed deed;
    _Atomic size_t done, opened, closed, told[DAEMONS];
    struct lane_seen {
        session *of;
        size_t machine, lane, sent[DAEMONS][BETWEEN_KINDS], bytes[DAEMONS][BETWEEN_KINDS];
        dpi_share model;
    } lane[DAEMONS][BETWEEN_LANES];
    session *before;
};

/* Sessions that begin from now on are this one, in which the deed is done. */
session *session_begin(const deed *d);
void session_forget_all(void);

#endif
