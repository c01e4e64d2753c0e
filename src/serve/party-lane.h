/* One lane of a session at a party: a mesh, the role that this machine plays in it, and the program
 * on the records that fall to it.  For one thread at a time. */
#ifndef DPI_SERVE_PARTY_LANE_H
#define DPI_SERVE_PARTY_LANE_H

#include "serve/party-model.h"

typedef struct dpi_lane dpi_lane;

#define DPI_LANE_MOST ((size_t)1 << 33) /* bytes that a query may need at a time, in a lane */

typedef struct dpi_lane_opts {
    const dp_parties *parties;
    dpi_party_model *model; /* both borrowed as long as the lane */
    size_t lane, records;   /* which one; records of a query, at most */
    const unsigned char *token, *client;
    const unsigned char (*seed)[DPI_DEAL_SEED]; /* [parties] of inputs, by machine; copied */
    dpi_wire_session *link[DPI_SHARE_PARTIES];  /* by machine; owned from now on, also on error */
    uint32_t timeout;
} dpi_lane_opts;

/* The numbers in which a program is computed, and how many bits of each of the answer's a client is
 * told, with its sign: an honest answer has no more.  DP_EUNSUPPORTED it cannot be, which the
 * message says, with the stage. */
dp_status dpi_lane_numbers(const dp_program *p, bool probabilistic, dpi_ring *ring, int *bits,
                           dp_error *err) DP_MUST_CHECK;

/* Whether so many records at a time find room; false where they need more than DPI_LANE_MOST bytes
 * in each lane. */
bool dpi_lane_fits(const dpi_party_model *model, size_t records);

/* Agrees on keys with the others.  *lane [out] NULL on error.  As dpi_mesh_new. */
dp_status dpi_lane_open(const dpi_lane_opts *o, dpi_lane **lane, dp_error *err) DP_MUST_CHECK;

/* NULL is allowed. */
void dpi_lane_close(dpi_lane *l);

/* Draws what seeds give of the next n records: once for each run, and before it.  Needs no message,
 * so that it can be done while the rest is on its way. */
void dpi_lane_draw(dpi_lane *l, size_t n);

/* Runs n records, of which `full` is the component that seeds do not give (NULL on the machine that
 * lacks it), and compares what was seen: after DP_OK it may be told.  As dpi_mesh_status. */
dp_status dpi_lane_run(dpi_lane *l, size_t n, const void *full, dp_error *err) DP_MUST_CHECK;

/* Writes what this role tells the client of the n records that were run: the bytes written. */
size_t dpi_lane_tell(dpi_lane *l, size_t n, unsigned char *to);

#endif
