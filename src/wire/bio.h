/* How TLS reads and writes a socket, with few calls of the system.
 *
 * At first each read and write of OpenSSL's is one of the socket's.  Once it is wide, a read takes
 * what the socket has, of which OpenSSL gets as much as it asks for, and what is written gathers
 * until there is much of it or it is flushed.  So there may be input that poll does not see. */
#ifndef DPI_WIRE_BIO_H
#define DPI_WIRE_BIO_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/bio.h>

/* Bytes at ... n - 1 are there.  Room grows where it is filled at once, so that sessions that move
 * little do not hold much. */
typedef struct dpi_bio_half {
    unsigned char *bytes; /* [room]; NULL: not wide */
    size_t at, n, room;
} dpi_bio_half;

typedef struct dpi_bio {
    int socket;         /* borrowed */
    BIO_METHOD *method; /* one for each session: the library has no writable data of its own */
    dpi_bio_half in, out;
} dpi_bio;

/* A BIO over the socket, owned by the caller, to be freed before dpi_bio_end; NULL when memory is
 * out. */
BIO *dpi_bio_begin(dpi_bio *b, int socket);
void dpi_bio_end(dpi_bio *b);

/* Makes it wide; false when memory is out. */
bool dpi_bio_widen(dpi_bio *b);

/* Whether bytes were read that OpenSSL has not asked for yet. */
bool dpi_bio_holds(const dpi_bio *b);

#endif
