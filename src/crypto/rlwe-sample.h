/* Polynomials for encryption over rings: uniform, ternary, and small errors, from seeds.
 *
 * A stream is ChaCha20 under a key that BLAKE2b makes of a seed and a label, so that uses of one
 * seed under different labels have nothing to do with each other.  The same seed and label give
 * the same numbers on every machine.  Time does not depend on what secret numbers are: values that
 * are turned down are independent of those that are kept. */
#ifndef DPI_CRYPTO_RLWE_SAMPLE_H
#define DPI_CRYPTO_RLWE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "crypto/modulus.h"

enum {
    DPI_RLWE_SEED = 32,
    DPI_RLWE_COINS = 21, /* of each sign: errors are at most 21, of variance 21 / 2 */
    DPI_RLWE_ROOM = 4096
};

typedef struct dpi_rlwe_stream {
    unsigned char key[DPI_RLWE_SEED];
    uint64_t block; /* of 64 bytes, the next one */
    size_t used;    /* of `bytes` */
    unsigned char bytes[DPI_RLWE_ROOM];
} dpi_rlwe_stream;

/* A seed from the operating system; zeros, and DP_EENTROPY, where it gives none.  Also has
 * libsodium choose its fastest code. */
DP_MUST_CHECK dp_status dpi_rlwe_seed(unsigned char seed[DPI_RLWE_SEED], dp_error *err);

/* Begins a stream, and wipes it. */
void dpi_rlwe_start(dpi_rlwe_stream *r, const unsigned char seed[DPI_RLWE_SEED], const char *label);
void dpi_rlwe_end(dpi_rlwe_stream *r);

/* Begins one of a fresh seed that nobody keeps.  DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_rlwe_begin(dpi_rlwe_stream *r, const char *label, dp_error *err);

/* The next n bytes. */
void dpi_rlwe_bytes(dpi_rlwe_stream *r, size_t n, unsigned char *out);

/* n numbers of [0, q), exactly uniform. */
void dpi_rlwe_uniform(dpi_rlwe_stream *r, const dpi_modulus *m, size_t n, uint64_t *out);

/* n numbers of -1, 0, 1, exactly uniform. */
void dpi_rlwe_ternary(dpi_rlwe_stream *r, size_t n, int8_t *out);

/* n numbers of [-2^(bits - 1), 2^(bits - 1)), exactly uniform; 1 <= bits <= 63. */
void dpi_rlwe_wide(dpi_rlwe_stream *r, int bits, size_t n, int64_t *out);

/* n errors: the difference of two counts of heads in 21 coins. */
void dpi_rlwe_errors(dpi_rlwe_stream *r, size_t n, int8_t *out);

#endif
