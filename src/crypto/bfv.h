/* Additive BFV: encryption of polynomials of integers modulo 2^k, which can be added and multiplied
 * by plain polynomials (doc/design/lattice.md: scheme, security, proofs).  k = 64 is for sums of
 * words: no answers are made of them.
 *
 * Legend: n degree, power of two; q product of `levels` primes; t = 2^k plaintext modulus.
 * Polynomials are [levels][n] residues; ciphertexts and plain factors are kept transformed.
 * What a peer sent is checked where bytes are read.  A context is const and may be shared by
 * threads; streams may not. */
#ifndef DPI_CRYPTO_BFV_H
#define DPI_CRYPTO_BFV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "crypto/ntt.h"
#include "crypto/rlwe-sample.h"

enum {
    DPI_BFV_LEVELS = 4,
    DPI_BFV_WORDS = 3, /* of 64 bits in a flooding number */
    DPI_BFV_WHOLE = 64 /* bits of plaintexts that are words */
};

typedef struct dpi_bfv_spec {
    size_t n;
    int levels, prime_bits, plain_bits;
} dpi_bfv_spec;

typedef struct dpi_bfv {
    dpi_bfv_spec spec;
    size_t n, levels;
    dpi_ntt *ntt[DPI_BFV_LEVELS];
    double log_q;   /* log2, rounded down a little */
    uint64_t q_low; /* q mod 2^64 */
    struct dpi_bfv_level {
        uint64_t over_t[2];           /* 1/t mod the prime, and what its kernel wants beside it */
        uint64_t over_rest[2];        /* the inverse of q / prime, likewise */
        uint64_t part[2];             /* floor(2^128 / prime), low word first */
        uint64_t word[DPI_BFV_WORDS]; /* 2^(64 j) mod the prime */
    } level[DPI_BFV_LEVELS];
    int first_bits, second_bits; /* of a coefficient of c0 and c1 in an answer */
} dpi_bfv;

/* Makes a context.
 * DP_EINVAL n, primes or plaintext bits are not such; DP_EPRIVACY log2 q is above what the 2024
 * guidelines allow for n at 128 bits; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_bfv_new(const dpi_bfv_spec *spec, dpi_bfv **f, dp_error *err);
void dpi_bfv_free(dpi_bfv *f);

/* The same without tables and memory, for sizes, bounds and plans alone; nothing to be freed. */
DP_MUST_CHECK dp_status dpi_bfv_describe(const dpi_bfv_spec *spec, dpi_bfv *f, dp_error *err);

/* A zeroed polynomial; NULL when memory is out.  dpi_free frees it. */
uint64_t *dpi_bfv_polynomial(const dpi_bfv *f);

/* ---- keys ---- */

typedef struct dpi_bfv_secret {
    size_t n;
    int8_t *s, *backwards; /* [n], of -1, 0, 1; the second is s from its end */
    uint64_t *transformed; /* [levels][n] */
    size_t bytes;          /* of `transformed` */
} dpi_bfv_secret;

DP_MUST_CHECK dp_status dpi_bfv_secret_new(const dpi_bfv *f, dpi_rlwe_stream *random,
                                           dpi_bfv_secret **secret, dp_error *err);
void dpi_bfv_secret_free(dpi_bfv_secret *secret); /* wipes */

/* A ciphertext: c0 + c1 s = (q/t) m + noise, transformed.  One whose c1 is expanded from a seed can
 * be sent as that seed and c0. */
typedef struct dpi_bfv_cipher {
    unsigned char seed[DPI_RLWE_SEED];
    uint64_t *c0, *c1; /* [levels][n] */
} dpi_bfv_cipher;

/* Of zeros; the public key is an encryption of 0, written and read as any. */
DP_MUST_CHECK dp_status dpi_bfv_cipher_new(const dpi_bfv *f, dpi_bfv_cipher **c, dp_error *err);
void dpi_bfv_cipher_free(dpi_bfv_cipher *c);
void dpi_bfv_cipher_clear(const dpi_bfv *f, dpi_bfv_cipher *c);

/* Encrypts message [n] modulo 2^k (NULL: zeros).  Noise: at most DPI_RLWE_COINS + 1/2 a
 * coefficient. DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_bfv_encrypt(const dpi_bfv *f, const dpi_bfv_secret *secret,
                                        const uint64_t *message, dpi_rlwe_stream *random,
                                        dpi_bfv_cipher *c, dp_error *err);

/* The same with c1 from the seed that c has: no two messages under one secret and one seed. */
DP_MUST_CHECK dp_status dpi_bfv_encrypt_from(const dpi_bfv *f, const dpi_bfv_secret *secret,
                                             const uint64_t *message, dpi_rlwe_stream *random,
                                             dpi_bfv_cipher *c, dp_error *err);

/* Encrypts with the public key alone: c0 = key0 u + e0 + round(q m / t), c1 = key1 u + e1, u
 * ternary; c1 is of no seed.  Noise: at most DPI_RLWE_COINS (2 n + 1) + 1/2, for a key of one
 * secret. DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_bfv_encrypt_public(const dpi_bfv *f, const dpi_bfv_cipher *key,
                                               const uint64_t *message, dpi_rlwe_stream *random,
                                               dpi_bfv_cipher *c, dp_error *err);

/* The message of any ciphertext whose noise is below q / 2^(k + 1) - 1.  For its owner only: what
 * is decrypted of a computed ciphertext tells of the computation. */
DP_MUST_CHECK dp_status dpi_bfv_decrypt(const dpi_bfv *f, const dpi_bfv_secret *secret,
                                        const dpi_bfv_cipher *c, uint64_t *message /* [n] */,
                                        dp_error *err);

/* c0 + c1 s and round(q m / t), not transformed. */
void dpi_bfv_phase(const dpi_bfv *f, const dpi_bfv_secret *secret, const dpi_bfv_cipher *c,
                   uint64_t *phase /* [levels][n] */);
uint64_t dpi_bfv_scaled(const dpi_bfv *f, size_t level, uint64_t message);

/* ---- arithmetic ---- */

/* A plain factor of coefficients below 2^(prime_bits - 1) in magnitude, transformed. */
void dpi_bfv_plain(const dpi_bfv *f, const int64_t *coefficients /* [n] */,
                   uint64_t *plain /* [levels][n] */);

/* sum += plain c; sum += c.  Noise: by the sum of magnitudes of the factor; adds up. */
void dpi_bfv_multiply_add(const dpi_bfv *f, const uint64_t *plain, const dpi_bfv_cipher *c,
                          dpi_bfv_cipher *sum);
void dpi_bfv_add(const dpi_bfv *f, const dpi_bfv_cipher *c, dpi_bfv_cipher *sum);

/* ---- bytes of a ciphertext that was encrypted here: seed and c0 ---- */

size_t dpi_bfv_cipher_size(const dpi_bfv *f);
void dpi_bfv_cipher_write(const dpi_bfv *f, const dpi_bfv_cipher *c, unsigned char *to);

/* DP_EPEER: another length, or a residue that is not below its prime; then c is zeroed. */
DP_MUST_CHECK dp_status dpi_bfv_cipher_read(const dpi_bfv *f, size_t n_bytes,
                                            const unsigned char *from, dpi_bfv_cipher *c,
                                            dp_error *err);

/* A polynomial alone. */
size_t dpi_bfv_polynomial_size(const dpi_bfv *f);
void dpi_bfv_polynomial_write(const dpi_bfv *f, const uint64_t *a, unsigned char *to);

/* From bytes of that size.  DP_EPEER: a residue is not below its prime. */
DP_MUST_CHECK dp_status dpi_bfv_polynomial_read(const dpi_bfv *f, const unsigned char *from,
                                                uint64_t *a, dp_error *err);

/* ---- answers (bfv-answer.c) ---- */

/* Chosen coefficients of a ciphertext, for its owner: c1 whole and c0 at the chosen places, both
 * rounded to fractions of 2^second_bits and 2^first_bits, after it was made fresh and flooded. */
typedef struct dpi_bfv_answer {
    size_t count;
    uint64_t *second; /* [n] */
    uint64_t *first;  /* [count] */
} dpi_bfv_answer;

DP_MUST_CHECK dp_status dpi_bfv_answer_new(const dpi_bfv *f, size_t count, dpi_bfv_answer **a,
                                           dp_error *err);
void dpi_bfv_answer_free(dpi_bfv_answer *a);

/* Bits of each coefficient of the u by which an answer of `count` results is made fresh, at least
 * DPI_BFV_HIDE: so many that whoever made up key and ciphertexts, and reads k + 2 bits of each
 * result off u alone, has n log2 3 bits of it left to find (doc/design/lattice.md).  DP_EPRIVACY
 * where they do not fit a prime, or where k = 64. */
enum { DPI_BFV_HIDE = 2 };
DP_MUST_CHECK dp_status dpi_bfv_hide(const dpi_bfv *f, size_t count, int *hide, dp_error *err);

/* How many bits of flooding a result gets whose noise is at most `noise` before it: uniform noise
 * in [-2^flood, 2^flood) is added to each coefficient; decryption stays exact.  `noise` must be
 * public: of shapes and bounds, not of weights. DP_EPRIVACY where even flood = 0 does not fit:
 * noise, k or the primes must change. */
DP_MUST_CHECK dp_status dpi_bfv_flood(const dpi_bfv *f, double noise, int hide, int *flood,
                                      dp_error *err);

/* What making fresh adds to the noise before flooding. */
double dpi_bfv_fresh_noise(const dpi_bfv *f, int hide);

typedef struct dpi_bfv_ask {
    const dpi_bfv_cipher *key; /* public key of the owner */
    const size_t *places;      /* [count], below n */
    const uint64_t *added;     /* [count], modulo 2^k, or NULL: a bias, a mask */
    int flood, hide;           /* 0: DPI_BFV_HIDE */
} dpi_bfv_ask;

/* Makes `sum` fresh, by a new encryption of 0 under the owner's public key, floods it and rounds
 * it; of `sum`, which is used up, the made-fresh c1 is left, not transformed and not rounded.
 * DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_bfv_answer_make(const dpi_bfv *f, const dpi_bfv_ask *ask,
                                            dpi_rlwe_stream *random, dpi_bfv_cipher *sum,
                                            dpi_bfv_answer *a, dp_error *err);

/* The chosen coefficients of the message, modulo 2^k. */
DP_MUST_CHECK dp_status dpi_bfv_answer_open(const dpi_bfv *f, const dpi_bfv_secret *secret,
                                            const size_t *places, const dpi_bfv_answer *a,
                                            uint64_t *message /* [count] */, dp_error *err);

size_t dpi_bfv_answer_size(const dpi_bfv *f, size_t count);
void dpi_bfv_answer_write(const dpi_bfv *f, const dpi_bfv_answer *a, unsigned char *to);
DP_MUST_CHECK dp_status dpi_bfv_answer_read(const dpi_bfv *f, size_t n_bytes,
                                            const unsigned char *from, dpi_bfv_answer *a,
                                            dp_error *err);

#endif
