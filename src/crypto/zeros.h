/* Encryptions of zero, made ahead in idle time; each is handed out once.
 *
 * Safe in threads.  A child of fork has none of its parent's: they would be used twice. */
#ifndef DPI_CRYPTO_ZEROS_H
#define DPI_CRYPTO_ZEROS_H

#include "crypto/paillier.h"

typedef struct dpi_zeros dpi_zeros;

/* Of short exponents, which are cheap and hide numbers from who has not the key; whole ones, which
 * also hide from who has it what an answer was made of (dpi_paillier_whole_zeros); or short ones
 * each with its step (dpi_paillier_make_steps), for dpi_zeros_encrypt. */
typedef enum dpi_zeros_kind { DPI_ZEROS_SHORT, DPI_ZEROS_WHOLE, DPI_ZEROS_STEPS } dpi_zeros_kind;

/* Room for `capacity` of them, none made yet; the key is borrowed.  *zeros [out] owned by the
 * caller.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_zeros_new(const dpi_paillier_public *key, dpi_zeros_kind kind,
                                      size_t capacity, dpi_zeros **zeros, dp_error *err);

/* Has short ones made with the primes from now on, in two thirds to three quarters of the time; the
 * key, whose modulus is that of the other, is borrowed.  Before the zeros are shared by threads. */
void dpi_zeros_hold(dpi_zeros *zeros, const dpi_paillier_key *holder);

/* NULL is allowed. */
void dpi_zeros_free(dpi_zeros *zeros);

/* Makes as many as there is room for, at most `most`; one call of eight is the unit of work.
 * *added [out] nullable.  DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_zeros_fill(dpi_zeros *zeros, size_t most, size_t *added, dp_error *err);

/* c[count]; those that are not there are made on the spot.  DP_ENOMEM, DP_EENTROPY: then c holds
 * zeros, and what was taken is lost. */
DP_MUST_CHECK dp_status dpi_zeros_take(dpi_zeros *zeros, size_t count, mp_limb_t *c, dp_error *err);

/* c[count] = encryptions of m[count], by DPI_ZEROS_STEPS; as dpi_zeros_take. */
DP_MUST_CHECK dp_status dpi_zeros_encrypt(dpi_zeros *zeros, size_t count, const int64_t *m,
                                          mp_limb_t *c, dp_error *err);

/* How many are ready, and how many have been handed out in all. */
size_t dpi_zeros_ready(dpi_zeros *zeros);
uint64_t dpi_zeros_taken(dpi_zeros *zeros);

#endif
