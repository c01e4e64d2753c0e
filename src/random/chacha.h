/* The first 64 blocks of a ChaCha20 keystream. */
#ifndef DPI_RANDOM_CHACHA_H
#define DPI_RANDOM_CHACHA_H

#include <stdbool.h>
#include <stddef.h>

enum { DPI_CHACHA_KEY = 32, DPI_CHACHA_BYTES = 4096 };

/* Writes blocks 0 .. 63 under the key and a nonce of zero, by the fastest code that runs here. */
void dpi_chacha(const unsigned char key[DPI_CHACHA_KEY], unsigned char out[DPI_CHACHA_BYTES]);

/* ---- for tests and benchmarks ---- */

typedef void dpi_chacha_make(const unsigned char *key, unsigned char *out);
dpi_chacha_make dpi_chacha_sodium, dpi_chacha_avx512;

bool dpi_chacha_has_avx512(void);

#endif
