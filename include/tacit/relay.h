/* A mailbox for owners who fit one model together (tacit/silo.h), kept by a server that need not be
 * trusted: libtacit-serve.
 *
 * Letters are put and taken by HTTP/1.1 over TLS 1.3: PUT /NAME, GET /NAME, and nothing else.  They
 * are sealed to their readers and signed by their writers; here they are bytes.  The first letter
 * of a name stays.  Who asks for one that is not there yet (Prefer: wait=N) is answered when it
 * comes.
 *
 * One thread, bounded in everything: connections, the time that each may take for what it is about,
 * bytes of a letter, letters and bytes that are kept.  What cannot be is refused before it is
 * read. */
#ifndef TACIT_RELAY_H
#define TACIT_RELAY_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_relay dp_relay;

enum { DP_RELAY_MOST_CONNECTIONS = 256 };

typedef struct dp_relay_opts {
    const char *folder;            /* where letters lie, each a file; it must be there */
    const char *certificate, *key; /* PEM files: the server's, with its chain, and its key */
    const char *clients;     /* PEM of who signs clients' certificates; NULL: anybody is served */
    const char *host, *port; /* default 127.0.0.1, 443; port "0": any free one */
    /* What is kept at most; default 2^28 bytes of a letter, 2^20 letters of 2^36 bytes. */
    uint64_t most_letter, most_letters, most_bytes;
    size_t connections; /* side by side; default 64 */
} dp_relay_opts;

/* Listens.  *relay [out] owned by the caller; NULL on error.
 * DP_EINVAL options, or certificate and key are none; DP_ENAME no such host; DP_EPRIVACY the key
 * lies among the letters; DP_EIO; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_relay_new(const dp_relay_opts *opts, dp_relay **relay,
                                            dp_error *err) DP_NONNULL(1, 2);

DP_API int dp_relay_port(const dp_relay *relay) DP_NONNULL(1);

/* Serves until it is stopped; what is under way then is cut off, and letters that are not whole are
 * taken away.  DP_EIO the system cannot wait for connections.  For one thread. */
DP_API DP_MUST_CHECK dp_status dp_relay_run(dp_relay *relay, dp_error *err) DP_NONNULL(1);

/* Ends dp_relay_run within a second, from another thread or a signal handler. */
DP_API void dp_relay_stop(dp_relay *relay) DP_NONNULL(1);

/* NULL is allowed. */
DP_API void dp_relay_free(dp_relay *relay);

#ifdef __cplusplus
}
#endif
#endif
