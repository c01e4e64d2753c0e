/* One fit over several owners, each with records that may not leave its house: libtacit-serve.
 *
 * doc/design/silo.md says how, and why. */
#ifndef TACIT_SILO_H
#define TACIT_SILO_H

#include <stdint.h>

#include <tacit/export.h>
#include <tacit/owners.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- who an owner is ---- */

typedef struct dp_silo_key dp_silo_key;

enum { DP_SILO_PUBLIC_TEXT = 12 + 64 + 1 }; /* "tacit-owner:", digits, the final zero */

/* Makes a new key and its file, which its owner alone can read; a file that is there is never
 * overwritten.
 *   *key  [out] owned by the caller; NULL on error
 * DP_EIO the file exists or cannot be written; DP_EENTROPY, DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_key_new(const char *path, dp_silo_key **key, dp_error *err)
    DP_NONNULL(1, 2);

/* Reads a key from its file, which nobody else may read or write.
 * DP_EIO; DP_EPRIVACY others can read it; DP_EDATA it is no key; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_key_load(const char *path, dp_silo_key **key, dp_error *err)
    DP_NONNULL(1, 2);

/* "tacit-owner:" and 64 hexadecimal digits of its public half, by which others know the owner. */
DP_API const char *dp_silo_key_public(const dp_silo_key *key) DP_NONNULL(1);

/* Wipes it; NULL is allowed. */
DP_API void dp_silo_key_free(dp_silo_key *key);

enum { DP_SILO_HASH = 32 }; /* bytes of the hash of a plan */

/* ---- what has left, and what has come ---- */

/* A log is a file of lines that tell of each letter of a run, before it leaves or after it has come:
 * when, to or from whom, its tag, and its bytes, which are the same whatever the records are.  Each
 * line ends with the hash of itself and of the one before it, so that what is changed, taken out or
 * put in another order is found.  Who cuts off the end, or writes a whole new file, is found by
 * `head` alone, where somebody else has noted it. */
typedef struct dp_silo_audit_peer {
    char name[16];                             /* of an owner */
    uint64_t sent, sent_bytes, got, got_bytes; /* letters, with those that were sent again */
} dp_silo_audit_peer;

typedef struct dp_silo_audit {
    unsigned char plan[DP_SILO_HASH];
    uint64_t lines, runs; /* runs that have begun: after a crash there is one more */
    uint64_t torn;        /* lines that a crash cut off; their letters have not left */
    char outcome[24];     /* of the last run, as "DP_OK"; "" where it has not ended */
    size_t n_peers;
    dp_silo_audit_peer peers[DP_OWNERS_MOST];
    char head[2 * DP_SILO_HASH + 1]; /* hexadecimal: the hash of the last line */
} dp_silo_audit;

/* Reads a log of letters and looks at its chain.
 *   plan    [DP_SILO_HASH] the hash of the plan whose log it must be; NULL: any
 *   *found  [out] zeros on error
 * DP_EDATA with the line that is not what was written there; DP_EMISMATCH it is of another plan;
 * DP_EIO.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_audit_check(const char *path, const unsigned char *plan,
                                                   dp_silo_audit *found, dp_error *err)
    DP_NONNULL(1, 3);

#ifdef __cplusplus
}
#endif
#endif
