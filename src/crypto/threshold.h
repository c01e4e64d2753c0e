/* Sums of vectors of 64-bit words under a key that nobody has: every owner has a share of it, and a
 * sum is opened by all shares together (doc/design/silo-he.md: scheme, noise, security).
 *
 *   all owners    share_new -> public part;   all public parts -> key
 *   each          sum_new, encrypt -> `opened`, for who opens alone; `shared`, for all other owners
 *   each          sum_add of the others' shared parts;   digest, told to all others
 *   each          partial, where all digests are the same -> for who opens
 *   who opens     open, of all opened parts and all partials -> the sum modulo 2^64, exact
 *
 * Who opens need not be an owner, and had better not be: with an owner that makes up what it sends,
 * it reads everything.  The caller carries bytes, so that nobody can send in another's name.
 *
 * A context is const and may be shared by threads; the other objects are of one thread at a time.
 * Keys are of one run: whoever goes on with a share after a crash counts what was opened before. */
#ifndef DPI_CRYPTO_THRESHOLD_H
#define DPI_CRYPTO_THRESHOLD_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "crypto/bfv.h"

enum {
    DPI_THRESHOLD_OWNERS = 64,
    DPI_THRESHOLD_HASH = 32,
    DPI_THRESHOLD_BITS = 40,          /* at least, of which `bits` below */
    DPI_THRESHOLD_WORD = 9,           /* bytes of a word's fraction of q */
    DPI_THRESHOLD_DEGREE = 8192,      /* words of a polynomial */
    DPI_THRESHOLD_POLYNOMIAL = 192512 /* bytes of one: so many numbers of 4 times 47 bits */
};

typedef struct dpi_threshold_spec {
    size_t owners;                     /* 1 .. 64 */
    uint64_t openings;                 /* polynomials that are opened under one key, at most */
    unsigned char seed[DPI_RLWE_SEED]; /* public, the same at all owners */
} dpi_threshold_spec;

typedef struct dpi_threshold {
    dpi_threshold_spec spec;
    dpi_bfv *f;
    double noise; /* of a sum before it is opened, at most */
    int flood;    /* a partial has noise uniform in [-2^flood, 2^flood) */
    double bits;  /* log2 of one over the statistical distance of all that all openings tell from
                     what follows from the sums */
} dpi_threshold;

/* DP_EINVAL no or too many owners; DP_EPRIVACY fewer than DPI_THRESHOLD_BITS; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_threshold_new(const dpi_threshold_spec *spec, dpi_threshold **t,
                                          dp_error *err);
void dpi_threshold_free(dpi_threshold *t);

/* Polynomials of n words; bytes of an owner's public part, of the parts of an encrypted vector, and
 * of a partial. */
size_t dpi_threshold_polynomials(const dpi_threshold *t, size_t n);
size_t dpi_threshold_public_size(const dpi_threshold *t);
size_t dpi_threshold_shared_size(const dpi_threshold *t, size_t n);
size_t dpi_threshold_opened_size(size_t n);
size_t dpi_threshold_partial_size(size_t n);

/* ---- keys ---- */

typedef struct dpi_threshold_share {
    size_t owner;
    uint64_t opened; /* polynomials so far */
    dpi_bfv_secret *secret;
    unsigned char flooding[32]; /* what partials' noise follows from */
} dpi_threshold_share;

/* An owner's share of the key, and its public part, dpi_threshold_public_size bytes; owners are
 * numbered from 0.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_threshold_share_new(const dpi_threshold *t, size_t owner,
                                                dpi_rlwe_stream *random,
                                                dpi_threshold_share **share, unsigned char *public,
                                                dp_error *err);
void dpi_threshold_share_free(dpi_threshold_share *share); /* wipes */

typedef struct dpi_threshold_key {
    uint64_t owners; /* whose parts are in it, a bit each */
    dpi_bfv_cipher *sum, *part;
} dpi_threshold_key;

DP_MUST_CHECK dp_status dpi_threshold_key_new(const dpi_threshold *t, dpi_threshold_key **key,
                                              dp_error *err);
void dpi_threshold_key_free(dpi_threshold_key *key);

/* Adds an owner's public part.  DP_EPEER it came before, has another length or another seed, or is
 * malformed; nothing is added then. */
DP_MUST_CHECK dp_status dpi_threshold_key_add(const dpi_threshold *t, dpi_threshold_key *key,
                                              size_t owner, size_t n_bytes,
                                              const unsigned char *from, dp_error *err);

/* ---- an owner's view of a sum ---- */

typedef struct dpi_threshold_sum {
    const dpi_threshold *t; /* these are borrowed */
    dpi_threshold_share *share;
    size_t n;
    uint64_t owners; /* whose vectors are in it, a bit each */
    bool spoiled;    /* by bytes that were malformed: never opened */
    unsigned char context[DPI_THRESHOLD_HASH];
    unsigned char hash[DPI_THRESHOLD_OWNERS][DPI_THRESHOLD_HASH]; /* of shared parts */
    uint64_t *c1, *room; /* [polynomials][levels][N], [levels][N] */
} dpi_threshold_sum;

/* A sum of vectors of n > 0 words, of whose owners this one is `share`'s.  `context` is a hash of
 * all that the sum is of, the same at all owners, no two sums having the same.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_threshold_sum_new(const dpi_threshold *t, dpi_threshold_share *share,
                                              const unsigned char context[DPI_THRESHOLD_HASH],
                                              size_t n, dpi_threshold_sum **sum, dp_error *err);
void dpi_threshold_sum_free(dpi_threshold_sum *sum);

/* Where the parts of an encrypted vector go. */
typedef struct dpi_threshold_parts {
    unsigned char *opened, *shared;
} dpi_threshold_parts;

/* Encrypts this owner's vector, once, and puts it in its place.  No two vectors with the same
 * random numbers.  DP_ESTATE the key lacks owners, or it was done before; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_threshold_encrypt(dpi_threshold_sum *sum, const dpi_threshold_key *key,
                                              const uint64_t *words, dpi_rlwe_stream *random,
                                              const dpi_threshold_parts *parts, dp_error *err);

/* Adds another owner's shared part.  DP_EPEER it came before, is this owner's, has another length,
 * or is malformed; the sum is never opened then. */
DP_MUST_CHECK dp_status dpi_threshold_sum_add(dpi_threshold_sum *sum, size_t owner, size_t n_bytes,
                                              const unsigned char *shared, dp_error *err);

/* What the sum is of: its context, and the shared parts of all owners, each in its place.
 * DP_ESTATE not all are there. */
DP_MUST_CHECK dp_status dpi_threshold_digest(const dpi_threshold_sum *sum,
                                             unsigned char digest[DPI_THRESHOLD_HASH],
                                             dp_error *err);

/* What this owner adds to open the sum.  `digests` are those that all owners have come to,
 * [owners][DPI_THRESHOLD_HASH].  The same bytes each time for one sum.
 * DP_ESTATE not all vectors are there, this owner's among them; DP_EPEER an owner has another
 * digest; DP_EPRIVACY more would be opened than was said; nothing is written then. */
DP_MUST_CHECK dp_status dpi_threshold_partial(dpi_threshold_sum *sum, const unsigned char *digests,
                                              unsigned char *partial, dp_error *err);

/* ---- who opens (threshold-open.c) ---- */

/* words[n] = the sum, of the opened parts and the partials of all owners.  Where one is missing, of
 * another sum, or twice there, the words are garbage: a word among them must check the others.
 * DP_EPEER one is NULL. */
DP_MUST_CHECK dp_status dpi_threshold_open(size_t owners, const unsigned char *const *opened,
                                           const unsigned char *const *partial, size_t n,
                                           uint64_t *words, dp_error *err);

/* ---- inside ---- */

/* Writes fractions of q, rounded to 2^-72, of the first `count` coefficients of a polynomial, which
 * is used up, as those of words from `first` on of n. */
void dpi_threshold_fractions(const dpi_bfv *f, uint64_t *polynomial, size_t count, size_t first,
                             size_t n, unsigned char *to);

#endif
