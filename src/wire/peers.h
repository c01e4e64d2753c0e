/* Who may be at the other end: fingerprints that came by another way, and names for them. */
#ifndef DPI_WIRE_PEERS_H
#define DPI_WIRE_PEERS_H

#include <stddef.h>

#include "base/name.h"
#include "wire/identity.h"

typedef struct dpi_peer {
    unsigned char fingerprint[DPI_FINGERPRINT];
    char name[DPI_MOST_NAME + 1];
} dpi_peer;

enum { DPI_MOST_PEERS = 4096 };

typedef struct dpi_peers {
    dpi_peer *list; /* [n] */
    size_t n;
} dpi_peers;

/* Which of them it is, or `peers->n`.  The time taken depends on n alone. */
size_t dpi_peers_find(const dpi_peers *peers, const unsigned char fingerprint[DPI_FINGERPRINT]);

/* What is wrong with another one beside `n` of them, as a sentence ("the name is used twice"); NULL
 * when nothing is.  `text` is "fingerprint name" and is cut apart. */
const char *dpi_peer_read(char *text, const dpi_peer *list, size_t n, dpi_peer *peer);

/* Adds one to a list that dpi_peers_free frees.  DP_ENOMEM. */
dp_status dpi_peers_add(dpi_peers *peers, const dpi_peer *one, dp_error *err) DP_MUST_CHECK;

/* From the text of a file: a line each, fingerprint and name.  The list is freed by
 * dpi_peers_free.  DP_EDATA with the line; DP_ENOMEM. */
dp_status dpi_peers_parse(const char *text, size_t n, const char *file, dpi_peers *peers,
                          dp_error *err) DP_MUST_CHECK;

/* The same from the file, which nobody but its owner may write.  DP_EIO, DP_EPRIVACY. */
dp_status dpi_peers_load(const char *path, dpi_peers *peers, dp_error *err) DP_MUST_CHECK;

void dpi_peers_free(dpi_peers *peers);

#endif
