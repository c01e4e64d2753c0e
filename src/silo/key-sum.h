/* Sums under a key of all owners but the one who adds up: the letters of crypto/threshold.h.
 *
 * Who adds up has no share of the key and encrypts nothing: it adds its own words to the opened sum
 * of the others (doc/design/silo-he.md has why).  All are needed, and wait for each other. */
#ifndef DPI_SILO_KEY_SUM_H
#define DPI_SILO_KEY_SUM_H

#include <tacit/status.h>

#include "silo/post.h"

typedef struct dpi_key_sum_opts {
    dpi_post *post;              /* these are borrowed */
    const unsigned char *plan;   /* [DPI_SILO_HASH] */
    const unsigned char *secret; /* [32] of this run: what all that is drawn follows from */
    size_t party, parties, aggregator;
    /* Polynomials that the run opens at most, and of them before this process: ceil((n + 1) / 8192)
     * for a sum of n words. */
    uint64_t openings, opened;
} dpi_key_sum_opts;

typedef struct dpi_key_sum dpi_key_sum;

/* Makes this owner's share and the key of all, by letters of round 0.
 * DP_EPEER an owner's part is malformed; errors of dpi_threshold_new and of the post; DP_ENOMEM. */
dp_status dpi_key_sum_new(const dpi_key_sum_opts *opts, dpi_key_sum **s,
                          dp_error *err) DP_MUST_CHECK;
void dpi_key_sum_free(dpi_key_sum *s);

/* values[n], this owner's, becomes the sum of all modulo 2^64; zeros on errors.  A round and
 * question that are opened again, after a crash, are opened with the same values.
 * DP_EPEER owners have not the same vectors, or what was opened is no sum: they have come to
 * different questions, or one does not follow the plan; errors of the post and of
 * dpi_threshold_partial; DP_ENOMEM. */
dp_status dpi_key_sum_open(dpi_key_sum *s, uint64_t round, const unsigned char question[32],
                           size_t n, uint64_t *values, dp_error *err) DP_MUST_CHECK;

#endif
