/* Identities and fingerprints inside the library; tacit/serve.h has the public calls. */
#ifndef DPI_WIRE_IDENTITY_H
#define DPI_WIRE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>
#include <tacit/serve.h>

enum {
    DPI_IDENTITY_SEED = 32,                             /* bytes, of a public key, too */
    DPI_FINGERPRINT = 32,                               /* bytes */
    DPI_FINGERPRINT_TEXT = 6 + 2 * DPI_FINGERPRINT + 1, /* "tacit:", digits, the final zero */
};

struct dp_identity {
    EVP_PKEY *key;
    X509 *certificate;
    unsigned char fingerprint[DPI_FINGERPRINT];
    char text[DPI_FINGERPRINT_TEXT];
};

/* An identity of the text of a file, at most INT_MAX bytes; path is for messages. */
DP_MUST_CHECK dp_status dpi_identity_parse(const char *bytes, size_t n, const char *path,
                                           dp_identity **identity, dp_error *err);

/* The identity whose Ed25519 key has a seed; nothing is written.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_identity_of_seed(const unsigned char seed[DPI_IDENTITY_SEED],
                                             dp_identity **identity, dp_error *err);

/* The fingerprint of a public Ed25519 key; false when memory is out. */
bool dpi_fingerprint_of_key(const unsigned char key[DPI_IDENTITY_SEED],
                            unsigned char to[DPI_FINGERPRINT]);

/* The fingerprint of a certificate's public key; false when memory is out. */
bool dpi_fingerprint_of(const X509 *certificate, unsigned char to[DPI_FINGERPRINT]);

/* As text, and back from n characters; false when they are none. */
void dpi_fingerprint_write(const unsigned char from[DPI_FINGERPRINT],
                           char to[DPI_FINGERPRINT_TEXT]);
bool dpi_fingerprint_read(const char *text, size_t n, unsigned char to[DPI_FINGERPRINT]);

#endif
