/* Bootstrapping of CKKS (doc/design/bootstrap.md): a vector of real numbers at a low level becomes
 * the same vector, nearly, at the top one of those that are computed at.
 *
 * Slots become coefficients, the modulus is raised under a sparse secret of its own, coefficients
 * become slots, and multiples of q_0 are taken away by a sine. */
#ifndef DPI_FHE_BOOT_H
#define DPI_FHE_BOOT_H

#include "fhe/ckks.h"

enum {
    DPI_CKKS_BOOT_RANGE = 16,  /* multiples of q_0 that are taken away: -16 .. 16 */
    DPI_CKKS_BOOT_WEIGHT = 32, /* of the sparse secret */
    DPI_CKKS_BOOT_SQUARES = 9, /* levels of the sine */
    DPI_CKKS_BOOT_STAGES = 4   /* of a transform, at the most */
};

/* For dpi_ckks_new_above. */
typedef struct dpi_ckks_boot_spec {
    dpi_ckks_spec below;
    dpi_ckks_upper above;
} dpi_ckks_boot_spec;

/* Parameters with `usable` levels between two bootstraps, of transforms in `stages` levels each,
 * at scales of that many bits, 50 of q_0.  DP_EPRIVACY no such ones are within the table, unless
 * `toy`. */
DP_MUST_CHECK dp_status dpi_ckks_boot_choose(int log_n, size_t usable, int scale_bits,
                                             size_t stages, bool toy, dpi_ckks_boot_spec *spec,
                                             dp_error *err);

typedef struct dpi_ckks_boot dpi_ckks_boot;           /* const once made, shared by threads */
typedef struct dpi_ckks_boot_keys dpi_ckks_boot_keys; /* as keys are */

/* For vectors of n / 2 places up to `most` in magnitude.  The context is of such parameters, else
 * misuse.  DP_EDOMAIN `most` is not above 0, or too large for q_0; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_boot_new(const dpi_ckks *c, double most, dpi_ckks_room *room,
                                          dpi_ckks_boot **b, dp_error *err);
void dpi_ckks_boot_free(dpi_ckks_boot *b);

/* Steps of rotations that are needed: steps [n], NULL to count them. */
size_t dpi_ckks_boot_turns(const dpi_ckks_boot *b, int *steps);

/* All keys but that of products.  The sparse secret is drawn and forgotten.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_boot_keys_new(const dpi_ckks_boot *b, const dpi_ckks_secret *s,
                                               dpi_rlwe_stream *random, dpi_ckks_boot_keys **k,
                                               dp_error *err);
void dpi_ckks_boot_keys_free(dpi_ckks_boot_keys *k);
size_t dpi_ckks_boot_keys_memory(const dpi_ckks_boot_keys *k); /* bytes */

/* All of them as bytes, for whoever has the same maps.  DP_EPEER another length, or bytes that are
 * no residues; DP_ENOMEM. */
size_t dpi_ckks_boot_keys_size(const dpi_ckks_boot *b);
void dpi_ckks_boot_keys_write(const dpi_ckks_boot_keys *k, unsigned char *to);
DP_MUST_CHECK dp_status dpi_ckks_boot_keys_read(const dpi_ckks_boot *b, size_t n_bytes,
                                                const unsigned char *from, dpi_ckks_boot_keys **k,
                                                dp_error *err);

/* x is at a level that has `stages` below it, its size at most a thousandth beyond `most` (else
 * misuse), so that what was bootstrapped may be again; `to`, at level dpi_ckks_depth, has room for
 * all levels.  Imaginary parts are dropped.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ckks_boot_apply(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                                            const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                                            dpi_ckks_room *room, dpi_ckks_cipher *to,
                                            dp_error *err);

/* The same in two rounds: what the first is off by, as a multiple of itself, is bootstrapped too
 * and taken away.  Twice the time for all bits that the scale at dpi_ckks_depth has, and no bend;
 * where the bound of one round is no less than `most`, one round. */
DP_MUST_CHECK dp_status dpi_ckks_boot_apply_twice(const dpi_ckks_boot *b,
                                                  const dpi_ckks_boot_keys *k,
                                                  const dpi_ckks_cipher *x,
                                                  const dpi_ckks_switch *square,
                                                  dpi_ckks_room *room, dpi_ckks_cipher *to,
                                                  dp_error *err);

/* The first half: slots to coefficients, and the modulus raised, all levels: what is decrypted has
 * coefficients S_0 x + q_0 I, in an order of its own. */
DP_MUST_CHECK dp_status dpi_ckks_boot_raise(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                                            const dpi_ckks_cipher *x, dpi_ckks_room *room,
                                            dpi_ckks_cipher *to, dp_error *err);

/* log2 of a bound of the chance that any multiple is outside of the range: what comes of it then
 * is no number near anything. */
double dpi_ckks_boot_failure(const dpi_ckks_boot *b);

/* The largest error of the sine's polynomial, doublings included, near whole numbers, and how far
 * places are off by its not being a line. */
double dpi_ckks_boot_sine(const dpi_ckks_boot *b);
double dpi_ckks_boot_bend(const dpi_ckks_boot *b);

/* The same of degree 2 d, that many doublings and multiples to `range`, for tables. */
double dpi_ckks_boot_sine_of(size_t d, size_t doublings, double range);

#endif
