/* Letters that are sealed to their reader and signed by their writer.
 *
 * A letter is
 *
 *   magic "TcL" and version, 4 bytes     length of the body, 8 bytes
 *   nonce, 24 bytes                      body, sealed by XChaCha20-Poly1305 (tag of 16 bytes)
 *   Ed25519 signature of all before it under the header
 *
 * The header (plan, round, attempt, writer, reader, name) is not sent: both sides know it, it is
 * associated data of the seal and is signed.  The sealing key is BLAKE2b of X25519 between the two
 * parties' run keys (dpi_post_open), so that what was sealed in a run stays sealed when an
 * identity's key is found out later.  A reader knows how long the body is. */
#ifndef DPI_SILO_POST_H
#define DPI_SILO_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "silo/carrier.h"
#include "silo/part.h"

enum { DPI_SILO_HASH = 32, DPI_SILO_PUBLIC = 32, DPI_SILO_SECRET = 64, DPI_SILO_DIGEST = 64 };

typedef struct dpi_post_opts {
    dpi_carrier *carrier; /* borrowed */
    unsigned char plan[DPI_SILO_HASH];
    size_t party, parties;
    char (*names)[DPI_SILO_NAME];                    /* [parties] for tags and messages; borrowed */
    const unsigned char (*publics)[DPI_SILO_PUBLIC]; /* [parties] Ed25519 keys that are pinned */
    const unsigned char *secret; /* [DPI_SILO_SECRET] this party's, as of crypto_sign; borrowed */
    uint32_t patience_ms;        /* that a party is waited for; 0: 600 000 */
    /* Told of every letter before it leaves and after it has come: for the audit log.  An error
     * stops it.  NULL: nobody. */
    dp_status (*witness)(void *of, bool leaves, size_t peer, const char *tag, size_t bytes,
                         dp_error *err);
    void *witness_of;
    /* Told of every letter's hash, before it leaves and before what has come is used: for who goes
     * on with what has left (columns-state.h).  *held [out] it has left before, and is not sent
     * again.  An error stops it.  NULL: nobody. */
    dp_status (*record)(void *of, bool leaves, const char *tag,
                        const unsigned char hash[DPI_SILO_DIGEST], bool *held, dp_error *err);
    void *record_of;
    const char
        *again; /* what to do when a party is not heard, for messages; NULL: run again when it
                        * is, and the run goes on */
} dpi_post_opts;

typedef struct dpi_post dpi_post;

/* Exchanges run keys with all other parties: each posts an X25519 key signed by its identity under
 * the plan, and waits for the others'.  The key of a run that goes on is kept by the caller in
 * run_secret[32]: zeros before the first time, when it is drawn.
 * DP_ETIMEOUT naming who is not heard; DP_EPEER a wrong signature. */
dp_status dpi_post_open(const dpi_post_opts *opts, unsigned char run_secret[32], dpi_post **post,
                        dp_error *err) DP_MUST_CHECK;
void dpi_post_close(dpi_post *post);

/* A hash of all parties' run keys: another one means that somebody has begun anew. */
const unsigned char *dpi_post_run_keys(const dpi_post *post);

/* A key of this party and another, for a purpose: BLAKE2b of their shared secret under its name. */
void dpi_post_pair_key(const dpi_post *post, size_t peer, const char *purpose,
                       unsigned char key[32]);

/* A hash of plan, run keys, round, question and purpose: what is made of it belongs to one sum of
 * one run. */
void dpi_post_context(const dpi_post *post, uint64_t round, const unsigned char question[32],
                      const char *purpose, unsigned char hash[32]);

/* Signs with the party's identity, and checks another's. */
void dpi_post_sign(const dpi_post *post, size_t n, const unsigned char *bytes,
                   unsigned char signature[64]);
bool dpi_post_verify(const dpi_post *post, size_t party, size_t n, const unsigned char *bytes,
                     const unsigned char signature[64]);

/* Sends body[n] to a party.  The same letter sent again is the same bytes (the nonce follows from
 * header and body).  DP_EIO. */
dp_status dpi_post_send(dpi_post *post, size_t to, uint64_t round, uint32_t attempt,
                        const char *name, size_t n, const unsigned char *body,
                        dp_error *err) DP_MUST_CHECK;

/* Waits for a letter of exactly n bytes, at most wait_ms, or patience_ms where that is 0.
 * DP_ETIMEOUT; DP_EPEER it is not what it must be: wrong seal, signature or length. */
dp_status dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                           const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                           dp_error *err) DP_MUST_CHECK;

#endif
