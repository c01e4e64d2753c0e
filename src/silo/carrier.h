/* What moves sealed letters between parties: one table a kind.
 *
 * A letter has a tag, a path of at most five parts of letters, digits and -_. such as
 * "run/3-0/north/south/h.m", and is bytes that the carrier neither understands nor is trusted
 * with: it may lose, repeat, reorder and show them to others.  A letter of a tag that is there
 * already replaces nothing: the first one stays. */
#ifndef DPI_SILO_CARRIER_H
#define DPI_SILO_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

enum { DPI_CARRIER_TAG = 256 };

/* The most bytes of a letter. */
#define DPI_CARRIER_MOST ((size_t)1 << 30)

typedef struct dpi_carrier dpi_carrier;

typedef struct dpi_carrier_kind {
    const char *name;
    dp_status (*put)(dpi_carrier *c, const char *tag, size_t n, const unsigned char *bytes,
                     dp_error *err);
    /* Waits for a letter, at most wait_ms.  One of more than `most` bytes is not read.  *bytes
     * [out] freed with dpi_free; NULL on error.  DP_ETIMEOUT; DP_ESTOPPED; DP_EPEER it is longer,
     * or no letter. */
    dp_status (*get)(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t most, size_t *n,
                     unsigned char **bytes, dp_error *err);
    void (*close)(dpi_carrier *c);
} dpi_carrier_kind;

/* Begins every carrier's own struct. */
struct dpi_carrier {
    const dpi_carrier_kind *kind;
    /* Asked while a letter is waited for in a folder or at a server: true ends that with
     * DP_ESTOPPED.  NULL: nobody. */
    bool (*stop)(void *of);
    void *stop_of;
};

/* DP_ESTOPPED where the carrier's `stop` asks for it, else DP_OK. */
dp_status dpi_carrier_look(const dpi_carrier *c, dp_error *err);

/* DP_EPEER: what stands there has more bytes than the letter that is awaited. */
dp_status dpi_carrier_fail_long(const char *tag, dp_error *err);

/* Letters in memory, between threads of one process, for simulation: a box, and a carrier into it
 * for each party.  The box is freed after all its carriers are closed. */
typedef struct dpi_letter_box dpi_letter_box;
dp_status dpi_letter_box_new(dpi_letter_box **box, dp_error *err) DP_MUST_CHECK;
void dpi_letter_box_free(dpi_letter_box *box);
dp_status dpi_carrier_memory(dpi_letter_box *box, dpi_carrier **c, dp_error *err) DP_MUST_CHECK;

/* A folder, which parties may share by NFS, sftp or a disk that is carried: a letter is a file that
 * appears whole (written beside, flushed, renamed).  DP_EIO. */
dp_status dpi_carrier_folder(const char *path, dpi_carrier **c, dp_error *err) DP_MUST_CHECK;

/* A mailbox that a server keeps, by HTTPS: a letter is put at URL/TAG (If-None-Match: *), and taken
 * from there; 404 is a letter that has not come.  Any server that stores what is PUT will do, and
 * none needs to be trusted; one that answers late where asked to (Prefer: wait) is quicker.
 * Proxies are those of the environment (https_proxy).  What fails for a while (no connection, a
 * status of 429 or 5xx) is tried again for patience_ms.
 *   url                       https://HOST[:PORT]/PATH
 *   certificate, key          PEM files of this side's, nullable, both or none
 *   authorities               PEM file of who may sign the server's; NULL: the system's
 * DP_EINVAL no such URL; DP_EUNSUPPORTED built without libcurl; DP_EIO. */
typedef struct dpi_https_opts {
    const char *url, *certificate, *key, *authorities;
    uint32_t patience_ms; /* 0: 600 000 */
} dpi_https_opts;
dp_status dpi_carrier_https(const dpi_https_opts *opts, dpi_carrier **c,
                            dp_error *err) DP_MUST_CHECK;

#endif
