/* What tests of lattice encryption share: a context with keys, messages, factors. */
#ifndef TESTS_CRYPTO_BFV_CASE_H
#define TESTS_CRYPTO_BFV_CASE_H

#include "crypto/bfv.h"

enum { CASE_MOST = 8192 };

typedef struct bfv_case {
    dpi_bfv *f;
    dpi_bfv_secret *secret;
    dpi_bfv_cipher *key, *c, *sum;
    uint64_t *plain;
    dpi_rlwe_stream random;
} bfv_case;

/* Everything from a fixed seed. */
void case_start(bfv_case *x, size_t n, int levels, int prime_bits, int plain_bits);
void case_end(bfv_case *x);

/* Scattered numbers modulo 2^bits, the first few the extremes. */
void case_message(size_t n, int bits, uint64_t *seed, uint64_t *message);

/* Scattered whole numbers of magnitude at most `most`. */
void case_factor(size_t n, int64_t most, uint64_t *seed, int64_t *factor);

/* The sum of magnitudes. */
double case_norm(size_t n, const int64_t *factor);

/* result += factor message modulo X^n + 1 and 2^bits, from the definition. */
void case_schoolbook(size_t n, int bits, const int64_t *factor, const uint64_t *message,
                     uint64_t *result);

/* The largest noise of a ciphertext of `message`, measured with the secret key; fails where it is
 * not the same modulo all primes, as noise below half a prime is. */
double case_noise(bfv_case *x, const dpi_bfv_cipher *c, const uint64_t *message);

/* What an answer says at its k-th place, `place`, before rounding to a message: a fraction of 1 in
 * 64 bits, from the definition. */
uint64_t case_phase(const bfv_case *x, const dpi_bfv_answer *a, size_t k, size_t place);

#endif
