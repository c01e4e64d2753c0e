/* One party's links to the others, the randomness it shares with them, and what it has seen.
 *
 * A mesh belongs to one session and one lane.  Whoever uses it speaks of roles, not of machines: a
 * lane says which machine plays which.  Errors stick: after the first one nothing is sent, what is
 * taken is zeros, and dpi_mesh_status tells it; so calls between two layers need no check.  What
 * was computed after an error is never opened.  For one thread.
 *
 * Every party must do the same calls in the same order, for the same sizes, which follow from the
 * program alone. */
#ifndef DPI_SHARE_MESH_H
#define DPI_SHARE_MESH_H

#include "share/share.h"
#include "wire/session.h"

typedef struct dpi_mesh dpi_mesh;

/* A set of roles, a bit each. */
typedef unsigned dpi_roles;

enum {
    DPI_MESH_MOST = 1 << 20, /* bytes of the longest message */
    DPI_MESH_AHEAD = 8 << 20 /* bytes that may wait for one role before dpi_mesh_room waits */
};

/* What a message is made of: shares in the making of keys and digests of them, what is posted, and
 * in comparisons the hash of a tag and then the tag. */
typedef enum dpi_mesh_kind {
    DPI_MESH_KEYS,
    DPI_MESH_POSTED,
    DPI_MESH_DIGEST,
    DPI_MESH_TAG
} dpi_mesh_kind;

typedef struct dpi_mesh_opts {
    size_t parties, role;                      /* 3 or 4; which one this party plays */
    dpi_wire_session *link[DPI_SHARE_PARTIES]; /* by role, NULL for itself; owned from now on, also
                                                * where making the mesh fails */
    const dpi_roles *sets; /* [n_sets] that need common randomness, ended by nothing */
    size_t n_sets;
    bool compares;       /* of the protocol, whether views are compared (party.h) */
    const void *context; /* [context_bytes]: what keys are bound to besides the TLS sessions: the
                          * client's session, the program's hash, the lane */
    size_t context_bytes;
    uint32_t timeout; /* ms for the others' next message */
    /* For tests: sees, and may change, every message before it is sent.  NULL: none. */
    void (*tamper)(void *user, dpi_mesh_kind kind, size_t to, unsigned char *bytes, size_t n);
    void *user;
} dpi_mesh_opts;

/* Agrees on a key for each set that this role is in: of two, 32 bytes of the TLS exporter; of
 * three, a hash of 32 bytes from each of them, sent over the links.  Any two roles then compare a
 * digest of the context and of the keys that they have in common.  *mesh [out] NULL on error.
 * DP_EPEER, DP_ETIMEOUT, DP_ENOMEM, DP_EENTROPY. */
dp_status dpi_mesh_new(const dpi_mesh_opts *o, dpi_mesh **mesh, dp_error *err) DP_MUST_CHECK;

/* Closes the links and wipes keys; what has not been sent is dropped.  NULL is allowed. */
void dpi_mesh_free(dpi_mesh *m);

/* The first error, and its words. */
dp_status dpi_mesh_status(const dpi_mesh *m);
const dp_error *dpi_mesh_error(const dpi_mesh *m);

/* Records an error and closes all links, which ends the session for everybody; the first one
 * stays. */
void dpi_mesh_fail(dpi_mesh *m, dp_status status, const char *why);

/* A layer begins: what was posted is sent, and all randomness goes on from a place of its own,
 * whatever was drawn before.  The same number gives the same randomness again, which an online
 * phase needs after its preparation and nobody else may ever have: numbers go on from query to
 * query. */
void dpi_mesh_layer(dpi_mesh *m, uint32_t layer);

/* The next bytes that the roles of a set, this one among them, have in common: AES-128 in counter
 * mode under the set's key. */
void dpi_mesh_draw(dpi_mesh *m, dpi_roles set, void *to, size_t bytes);

/* Room for the next message to a role, at most DPI_MESH_MOST bytes and 64-byte aligned, to be
 * filled before dpi_mesh_post.  What is posted goes out, as far as the connection takes it, when
 * some KiB have gathered, when a layer begins, and whenever this party waits for others.  Where
 * more than DPI_MESH_AHEAD bytes wait, dpi_mesh_room waits for the other side: two roles may not
 * both post more than that to each other before they take.  Never NULL: after an error it is room
 * that goes nowhere. */
void *dpi_mesh_room(dpi_mesh *m, size_t to, size_t bytes);
void dpi_mesh_post(dpi_mesh *m, size_t to);

/* The next message of a role; zeros after an error. */
void dpi_mesh_take(dpi_mesh *m, size_t from, void *to, size_t bytes);

/* Waits until all that was posted has been handed to the system: before anything else is waited for
 * than the mesh's own messages.  dpi_mesh_verify does it too. */
void dpi_mesh_flush(dpi_mesh *m);

/* Messages of preparation.  Together with the online phase they are messages like others; apart, a
 * receiver keeps on a tape (dpi_mesh_keep) what comes of them and reads it later
 * (dpi_mesh_take_kept), message by message: with the same sizes.  The tape must be empty when a
 * preparation begins. */
void dpi_mesh_keep(dpi_mesh *m, size_t from, size_t bytes);
void dpi_mesh_take_kept(dpi_mesh *m, size_t from, void *to, size_t bytes);

/* What all roles of a set, this one among them, must have seen alike: byte after byte, in any
 * pieces. */
void dpi_mesh_view(dpi_mesh *m, dpi_roles set, const void *bytes, size_t n);

/* Compares what any two roles have seen in all sets that have both of them: before anything is
 * opened.  DP_EPEER they differ, or whoever saw that has gone: all links are closed.  Where the
 * protocol compares nothing it waits for nobody, and its status is that of the mesh.
 *
 * Nobody may learn more than whether all agree.  After an error of a cheating role an honest one
 * may have seen what depends on a secret, so that a hash of it, or which two roles differ, would
 * tell something.  So a role's tag is the XOR, over the other roles, of a hash of the two's common
 * views under a key that only these two have; a role sends a hash of its tag and, when it has
 * everybody's hash, the tag.  The tags of all roles sum to zero where all agree; where two honest
 * roles differ they are uniform and independent of all else, and a cheating role had to choose its
 * own before. */
dp_status dpi_mesh_verify(dpi_mesh *m) DP_MUST_CHECK;

/* What was posted to each role so far, in preparations (between dpi_mesh_preparing(true) and
 * (false)) and online, without what the mesh sends by itself; and `turns`, an upper bound on the
 * rounds that this party had to wait for. */
typedef struct dpi_mesh_traffic {
    uint64_t prepared[DPI_SHARE_PARTIES], online[DPI_SHARE_PARTIES]; /* bytes */
    uint64_t messages[DPI_SHARE_PARTIES];
    uint64_t turns; /* takes (not kept ones) that came after a post of this party's */
} dpi_mesh_traffic;
void dpi_mesh_preparing(dpi_mesh *m, bool preparing);
dpi_mesh_traffic dpi_mesh_counts(const dpi_mesh *m);

#endif
