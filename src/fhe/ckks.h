/* CKKS: vectors of numbers that are computed on under encryption (doc/design/ckks.md).
 *
 * Contexts and keys are const once made and may be shared by threads; a room is one thread's.
 * Values are at levels 0 .. depth; each operation says what levels it takes, and others are misuse.
 * Every ciphertext and plaintext at a level has that level's scale, unless it is a product that is
 * not rescaled yet.
 *
 * Experimental until reviewed by others. */
#ifndef DPI_FHE_CKKS_H
#define DPI_FHE_CKKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "base/pool.h"
#include "crypto/ntt.h"
#include "crypto/rlwe-sample.h"
#include "fhe/embed.h"

enum { DPI_CKKS_PRIMES = 64, DPI_CKKS_LEAST_LOG = 10, DPI_CKKS_MOST_LOG = 16 };

/* ---- parameters ---- */

typedef struct dpi_ckks_spec {
    int log_n;
    int first_bits; /* of q_0, which holds what is decrypted */
    int scale_bits; /* p: scales are near 2^p, and so are q_1 ... q_depth */
    size_t depth;   /* products after one another */
    size_t special; /* primes of P, of 50 bits, below q_0 */
    size_t alpha;   /* primes of a digit, 1 ... special: P must be as long as a digit */
    bool toy;       /* for tests: not secure, and not refused */
} dpi_ckks_spec;

/* Levels above `depth`, for bootstrapping (boot.h), at scales near 2^bits: products are taken at the
 * lower ones; at those above them only plain values are factors. */
typedef struct dpi_ckks_upper {
    size_t squares, plains;
    int bits;
} dpi_ckks_upper;

/* log2(Q P) that is allowed at 128 bits; 0 for another n. */
double dpi_ckks_most_bits(int log_n);

/* The least degree at which `depth` products after one another on vectors of `places` are within
 * the table, with 9 bits for what is decrypted where 50 allow; and of digits those by which a key
 * is switched with the least transforms.  DP_EPRIVACY there is none. */
DP_MUST_CHECK dp_status dpi_ckks_choose(size_t depth, int scale_bits, size_t places,
                                        dpi_ckks_spec *spec, dp_error *err);

typedef struct dpi_ckks dpi_ckks;

/* DP_EINVAL no such parameters, or no such primes; DP_EPRIVACY Q P is too long for n; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_new(const dpi_ckks_spec *spec, dpi_ckks **c, dp_error *err);
DP_MUST_CHECK dp_status dpi_ckks_new_above(const dpi_ckks_spec *spec, const dpi_ckks_upper *upper,
                                           dpi_ckks **c, dp_error *err);
void dpi_ckks_free(dpi_ckks *c);

size_t dpi_ckks_n(const dpi_ckks *c);
size_t dpi_ckks_depth(const dpi_ckks *c);
double dpi_ckks_scale(const dpi_ckks *c, size_t level);

/* The scale of plaintexts that are factors: dpi_ckks_scale, but where levels above `depth` end. */
double dpi_ckks_factor_scale(const dpi_ckks *c, size_t level);

double dpi_ckks_bits(const dpi_ckks *c); /* log2(Q P) */

/* ---- values ---- */

/* A polynomial has level + 1 rows of n residues, transformed. */
typedef struct dpi_ckks_plain {
    size_t level;
    double scale, size, noise;
    uint64_t *row; /* [level + 1][n] */
    size_t room;   /* words of row */
} dpi_ckks_plain;

typedef struct dpi_ckks_cipher {
    size_t level;
    double scale, size, noise; /* of places: bounds of magnitudes, and of what they are off by */
    uint64_t *part[3];         /* [level + 1][n]: c0, c1, and room for a product */
    size_t room;               /* words of each part */
    bool seeded;               /* part 1 follows from seed, as of dpi_ckks_encrypt */
    unsigned char seed[DPI_RLWE_SEED];
} dpi_ckks_cipher;

/* Room for a value at levels up to `level`; what a higher one is written to is misuse.  Plain ones
 * are wiped when freed: of what was decrypted the key follows.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_plain_new(const dpi_ckks *c, size_t level, dpi_ckks_plain *p,
                                           dp_error *err);
DP_MUST_CHECK dp_status dpi_ckks_cipher_new(const dpi_ckks *c, size_t level, dpi_ckks_cipher *x,
                                            dp_error *err);
void dpi_ckks_plain_free(dpi_ckks_plain *p);
void dpi_ckks_cipher_free(dpi_ckks_cipher *x);

/* What one thread computes in; wiped when freed.  DP_ENOMEM. */
typedef struct dpi_ckks_room dpi_ckks_room;
DP_MUST_CHECK dp_status dpi_ckks_room_new(const dpi_ckks *c, dpi_ckks_room **room, dp_error *err);
void dpi_ckks_room_free(dpi_ckks_room *room);

/* What is computed in the room goes over primes in all `threads` threads of the pool from now on, or
 * in the caller's alone where the pool is NULL, and is the same bit for bit.  One that computes uses
 * the pool at a time.  DP_ENOMEM, and it is as before. */
DP_MUST_CHECK dp_status dpi_ckks_room_share(dpi_ckks_room *room, dpi_pool *pool, size_t threads,
                                            dp_error *err);

/* Places are off by less, all of 2^15 but 1e-11 of the time: 19 standard deviations.  They wrap, and
 * nothing tells, where `size` times the scale is not below half of the level's modulus. */
double dpi_ckks_error(const dpi_ckks_cipher *x);

/* Bits behind the point that places have right by that bound. */
double dpi_ckks_precision(const dpi_ckks_cipher *x);

/* places: a power of two up to n / 2; im NULL: real.  The scale is that of
 * factors at the level where `scale` is 0.
 * DP_EDOMAIN a number is not finite, or too large for the level's modulus. */
DP_MUST_CHECK dp_status dpi_ckks_encode(const dpi_ckks *c, size_t level, double scale,
                                        size_t places, const double *re, const double *im,
                                        dpi_ckks_room *room, dpi_ckks_plain *p, dp_error *err);

/* Of fewer places than there are: each the mean of those that are `places` apart. */
void dpi_ckks_decode(const dpi_ckks *c, const dpi_ckks_plain *p, size_t places, dpi_ckks_room *room,
                     double *re, double *im);

/* ---- keys ---- */

typedef struct dpi_ckks_secret dpi_ckks_secret;
typedef struct dpi_ckks_public dpi_ckks_public;
typedef struct dpi_ckks_switch dpi_ckks_switch; /* from another secret to this one */

/* `random`, here and below, is a stream of a seed of dpi_rlwe_seed that is begun once and is told to
 * nobody: a second one of the seed has the same errors again, and the difference of two ciphertexts
 * then is that of what they hold.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_secret_new(const dpi_ckks *c, dpi_rlwe_stream *random,
                                            dpi_ckks_secret **s, dp_error *err);
DP_MUST_CHECK dp_status dpi_ckks_public_new(const dpi_ckks_secret *s, dpi_rlwe_stream *random,
                                            dpi_ckks_public **p, dp_error *err);
void dpi_ckks_secret_free(dpi_ckks_secret *s);
void dpi_ckks_public_free(dpi_ckks_public *p);

/* What X becomes a power of: for rotations by `steps` places, to lower ones; for conjugates.  Keys
 * for products are of DPI_CKKS_SQUARE. */
enum { DPI_CKKS_SQUARE = 0 };
size_t dpi_ckks_rotation(const dpi_ckks *c, int steps);
size_t dpi_ckks_conjugation(const dpi_ckks *c);

DP_MUST_CHECK dp_status dpi_ckks_switch_new(const dpi_ckks_secret *s, size_t turn,
                                            dpi_rlwe_stream *random, dpi_ckks_switch **k,
                                            dp_error *err);
void dpi_ckks_switch_free(dpi_ckks_switch *k);

/* x is made at p's level and scale. */
void dpi_ckks_encrypt(const dpi_ckks_secret *s, const dpi_ckks_plain *p, dpi_rlwe_stream *random,
                      dpi_ckks_room *room, dpi_ckks_cipher *x);
void dpi_ckks_encrypt_public(const dpi_ckks_public *k, const dpi_ckks_plain *p,
                             dpi_rlwe_stream *random, dpi_ckks_room *room, dpi_ckks_cipher *x);

/* x for whoever has the key, who is to learn what it holds and not how that was computed: an
 * encryption of 0 is added, and to each coefficient a uniform number of so many bits, 0 ...
 * DPI_CKKS_FLOOD.  Sums of errors below 2^b are hidden by floods of `bits` but for a statistical
 * distance of n 2^(b - bits). */
enum { DPI_CKKS_FLOOD = 45 };
void dpi_ckks_renew(const dpi_ckks_public *k, int bits, dpi_rlwe_stream *random,
                    dpi_ckks_room *room, dpi_ckks_cipher *x);

/* The most bits by which places' standard deviation grows by `spread` at the most. */
int dpi_ckks_flood_bits(const dpi_ckks *c, size_t level, double spread);

/* For the owner of the key alone: what is told of p to others tells of the key. */
void dpi_ckks_decrypt(const dpi_ckks_secret *s, const dpi_ckks_cipher *x, dpi_ckks_plain *p);

/* ---- arithmetic: results may be an operand ---- */

/* At one level and scale. */
void dpi_ckks_add(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                  dpi_ckks_cipher *to);
void dpi_ckks_subtract(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                       dpi_ckks_cipher *to);
void dpi_ckks_add_plain(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_plain *p,
                        dpi_ckks_cipher *to);

/* At one level; the scale is the product, and is to be rescaled. */
void dpi_ckks_multiply_plain(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_plain *p,
                             dpi_ckks_cipher *to);
void dpi_ckks_multiply(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                       const dpi_ckks_switch *square, dpi_ckks_room *room, dpi_ckks_cipher *to);

/* Down a level, from the scale of a product at the level, and no other, to that of the next. */
void dpi_ckks_rescale(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x);

/* Down to `level` without a product. */
void dpi_ckks_lower(const dpi_ckks *c, size_t level, dpi_ckks_room *room, dpi_ckks_cipher *x);

/* Place j of the result is place j + steps of x, or its conjugate, as the key is of. */
void dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                     dpi_ckks_room *room, dpi_ckks_cipher *to);

/* The same of one ciphertext by several keys: to[i] by k[i], none of which is x. */
void dpi_ckks_rotate_all(const dpi_ckks *c, const dpi_ckks_cipher *x, size_t count,
                         const dpi_ckks_switch *const *k, dpi_ckks_room *room,
                         dpi_ckks_cipher *const *to);

/* ---- bytes ---- */

/* A ciphertext at a level that is not a product any more; `seeded`: as dpi_ckks_encrypt has made
 * it, half as long.  Whoever reads it knows level and form, and a bound of its places; what its
 * noise would be were it fresh is what it is taken for.  DP_EPEER another length, or bytes that are
 * no residues; x is nothing then. */
size_t dpi_ckks_cipher_size(const dpi_ckks *c, size_t level, bool seeded);
void dpi_ckks_cipher_write(const dpi_ckks *c, const dpi_ckks_cipher *x, bool seeded,
                           unsigned char *to);
DP_MUST_CHECK dp_status dpi_ckks_cipher_read(const dpi_ckks *c, size_t level, double size,
                                             bool seeded, size_t n_bytes, const unsigned char *from,
                                             dpi_ckks_cipher *x, dp_error *err);

/* Of a vector at level 0 that is repeated with a period: c1, and of c0 the coefficients alone that
 * polynomials with that period have.  What else the vector holds does not go; what is read is to be
 * decrypted and decoded with as many places, and is good for nothing else.  DP_EPEER likewise. */
size_t dpi_ckks_answer_size(const dpi_ckks *c, size_t places);
void dpi_ckks_answer_write(const dpi_ckks *c, const dpi_ckks_cipher *x, size_t places,
                           dpi_ckks_room *room, unsigned char *to);
DP_MUST_CHECK dp_status dpi_ckks_answer_read(const dpi_ckks *c, size_t places, double size,
                                             size_t n_bytes, const unsigned char *from,
                                             dpi_ckks_cipher *x, dp_error *err);

/* Keys; DP_EPEER likewise, DP_ENOMEM. */
size_t dpi_ckks_switch_size(const dpi_ckks *c);
void dpi_ckks_switch_write(const dpi_ckks_switch *k, unsigned char *to);
DP_MUST_CHECK dp_status dpi_ckks_switch_read(const dpi_ckks *c, size_t turn, size_t n_bytes,
                                             const unsigned char *from, dpi_ckks_switch **k,
                                             dp_error *err);
size_t dpi_ckks_public_size(const dpi_ckks *c);
void dpi_ckks_public_write(const dpi_ckks_public *k, unsigned char *to);
DP_MUST_CHECK dp_status dpi_ckks_public_read(const dpi_ckks *c, size_t n_bytes,
                                             const unsigned char *from, dpi_ckks_public **k,
                                             dp_error *err);

#endif
