/* Randomness of two kinds that do not turn into each other.
 *
 *   dp_rng    reproducible: a seed gives the same numbers for ever.  For simulations, predictive
 *             draws, starting points.  Never for noise that protects a release.
 *   dp_noise  keyed by the operating system: for the noise of a release and the choice of batches.
 *             It cannot be copied, printed or stored, and is wiped when it is freed.  Shares that
 *             must come out the same again have a key of their own (dp_noise_shares_from).
 *
 * Both are ChaCha20 streams.  No call takes one for the other, and there is no conversion.
 * An object belongs to one thread at a time.  Maths: doc/design/random.md. */
#ifndef TACIT_RANDOM_H
#define TACIT_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_rng dp_rng;
typedef struct dp_noise dp_noise;

/* A reproducible source; equal seeds give equal numbers, different seeds independent ones.
 *   *rng  [out] owned by the caller, freed with dp_rng_free; NULL on error
 * DP_ENOMEM; DP_EENTROPY when the system has no randomness at all (libsodium needs it to start).
 * The numbers of dp_rng_uniform and dp_rng_below are the same on every machine; those of
 * dp_rng_normal may differ in the last digit between processors. */
DP_API DP_MUST_CHECK dp_status dp_rng_new(uint64_t seed, dp_rng **rng, dp_error *err) DP_NONNULL(2);

/* The same with a seed drawn by the operating system.
 *   *seed  [out, nullable] the seed, which gives the same source again through dp_rng_new
 * Errors as dp_rng_new. */
DP_API DP_MUST_CHECK dp_status dp_rng_new_random(dp_rng **rng, uint64_t *seed, dp_error *err)
    DP_NONNULL(1);

/* Wipes and frees; NULL is allowed. */
DP_API void dp_rng_free(dp_rng *rng);

/* n independent numbers uniform on (0, 1): multiples of 2^-53, never 0 or 1.  Cannot fail. */
DP_API void dp_rng_uniform(dp_rng *rng, size_t n, double *out /* [n] */) DP_NONNULL(1);

/* n independent standard normal numbers, tails to 10 standard deviations.  Cannot fail.
 * Numbers are made in pairs and an odd n drops one: two calls of n = 1 are not one of n = 2. */
DP_API void dp_rng_normal(dp_rng *rng, size_t n, double *out /* [n] */) DP_NONNULL(1);

/* n independent integers exactly uniform on 0 .. bound - 1.
 * DP_EDOMAIN when bound is 0; then out is zeroed. */
DP_API DP_MUST_CHECK dp_status dp_rng_below(dp_rng *rng, uint64_t bound, size_t n,
                                            uint64_t *out /* [n] */, dp_error *err) DP_NONNULL(1);

/* A private source, keyed with 256 bits of the operating system.
 *   *noise  [out] owned by the caller, freed with dp_noise_free; NULL on error
 * After a fork the child draws a new key by itself: parent and child never share noise.
 * Not covered: a virtual machine that is cloned while it runs repeats its noise in both clones.
 * DP_EENTROPY the system gives no randomness; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_noise_new(dp_noise **noise, dp_error *err) DP_NONNULL(1);

/* A repeatable source of the same type, for tests.  What is made with it is not private, and
 * dp_noise_is_private says so.  A forked child repeats its parent's numbers.  Errors as
 * dp_noise_new. */
DP_API DP_MUST_CHECK dp_status dp_noise_new_seeded(uint64_t seed, dp_noise **noise, dp_error *err)
    DP_NONNULL(2);

/* True unless the source was made from a seed.  Thread-safe. */
DP_API bool dp_noise_is_private(const dp_noise *noise) DP_NONNULL(1);

/* n independent normal numbers with mean 0 and standard deviation sd, in floating point.
 *   sd  finite, > 0, in the unit of the noised quantity
 * On error out is filled with NaN.  DP_EDOMAIN sd out of range; DP_EENTROPY after a fork, when the
 * system gives no new key.  The time taken does not depend on the numbers.  The double nearest to
 * a real normal number times sd, up to a few units in the last place: alone it does not hide the
 * floating-point grid of what it is added to. */
DP_API DP_MUST_CHECK dp_status dp_noise_normal(dp_noise *noise, size_t n, double sd,
                                               double *out /* [n] */, dp_error *err) DP_NONNULL(1);

/* n independent integers x with probability proportional to exp(-x^2 / (2 sigma^2)), exactly, for
 * releases that are integers by nature (Canonne, Kamath and Steinke 2020).
 *   sigma  in [2^-6, 2^20], in integers
 * On error out is filled with INT64_MIN.  DP_EDOMAIN sigma out of range; DP_EENTROPY after a fork,
 * when the system gives no new key.  Some microseconds each; the time taken depends on the
 * numbers. */
DP_API DP_MUST_CHECK dp_status dp_noise_discrete_gaussian(dp_noise *noise, size_t n, double sigma,
                                                          int64_t *out /* [n] */, dp_error *err)
    DP_NONNULL(1);

/* n independent integers round(2^32 z), z a real standard normal number: what several parties add
 * to whole numbers as their shares of the noise of a sum, which then costs what real noise does
 * (doc/design/silo.md).  Within 2^-200 of that law in total variation.
 * On error out is filled with INT64_MIN.  DP_EENTROPY as above.  The time taken depends on about
 * one number in 50000. */
DP_API DP_MUST_CHECK dp_status dp_noise_shares(dp_noise *noise, size_t n, int64_t *out /* [n] */,
                                               dp_error *err) DP_NONNULL(1);

/* The same of a key in place of a source, for whoever may have to make a share again: the same key
 * gives the same numbers.  Whoever knows the key knows them: it must follow from a secret of the
 * system's generator and from all that the share is added to, so that no two sums have one share.
 * DP_EENTROPY libsodium does not start, and out is filled with INT64_MIN.  Thread-safe. */
enum { DP_NOISE_KEY = 32 };
DP_API DP_MUST_CHECK dp_status dp_noise_shares_from(const unsigned char key[DP_NOISE_KEY], size_t n,
                                                    int64_t *out /* [n] */, dp_error *err)
    DP_NONNULL(1, 3);

/* Wipes and frees; NULL is allowed. */
DP_API void dp_noise_free(dp_noise *noise);

#ifdef __cplusplus
}
#endif
#endif
