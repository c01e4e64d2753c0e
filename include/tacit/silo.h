/* One fit over several owners, each with records that may not leave its house: libtacit-serve.
 *
 * doc/design/silo.md says how, and why. */
#ifndef TACIT_SILO_H
#define TACIT_SILO_H

#include <tacit/export.h>
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

#ifdef __cplusplus
}
#endif
#endif
