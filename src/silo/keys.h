/* The key of an owner inside the library; tacit/silo.h has the public calls.
 *
 *   tacit silo key 1
 *   <64 hexadecimal digits: the seed of an Ed25519 key> */
#ifndef DPI_SILO_KEYS_H
#define DPI_SILO_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/silo.h>

struct dp_silo_key {
    unsigned char public[32], secret[64]; /* as of crypto_sign */
    char text[DP_SILO_PUBLIC_TEXT];
};

/* The public key of "tacit-owner:..."; false where the text is none. */
bool dpi_silo_public_read(const char *text, unsigned char public[32]);

void dpi_silo_key_sign(const dp_silo_key *key, size_t n, const unsigned char *bytes,
                       unsigned char signature[64]);

#endif
