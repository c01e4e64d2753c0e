/* Private serving of fitted models: libtacit-serve, `pkg-config tacit-serve`.
 *
 * An identity is what a provider, a client or a computing party is known by to the others: an
 * Ed25519 key with a certificate of its own in one file.  Nobody signs for it; the others are given
 * its fingerprint by a way that they trust, and pin it. */
#ifndef TACIT_SERVE_H
#define TACIT_SERVE_H

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_serve_identity dp_serve_identity;

/* Makes a new identity and its file, which its owner alone can read.  A file that is there is never
 * overwritten.
 *   *identity  [out] owned by the caller; NULL on error
 * DP_EIO the file exists or cannot be written; DP_EENTROPY, DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_identity_new(const char *path, dp_serve_identity **identity,
                                               dp_error *err) DP_NONNULL(1, 2);

/* Reads an identity from its file, which must be a regular file of the user that runs this process
 * and which nobody else may read or write.
 *   *identity  [out] owned by the caller; NULL on error
 * DP_EIO it cannot be opened; DP_EPRIVACY others can read it, or it is a link; DP_EDATA it is no
 * identity; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_identity_load(const char *path, dp_serve_identity **identity,
                                                dp_error *err) DP_NONNULL(1, 2);

/* What others know it by: "tacit:" and 64 hexadecimal digits, the SHA-256 of its public key (the
 * DER form of SubjectPublicKeyInfo).  Public; valid as long as the identity.  Thread-safe. */
DP_API const char *dp_identity_fingerprint(const dp_serve_identity *identity) DP_NONNULL(1);

/* Wipes its key from memory and frees it; NULL is allowed.  The file stays. */
DP_API void dp_identity_free(dp_serve_identity *identity);

#ifdef __cplusplus
}
#endif
#endif
