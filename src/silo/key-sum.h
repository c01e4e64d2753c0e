/* Sums under a key of all owners but the one who adds up: the steps of part.h of which
 * crypto/threshold.h is the inside.
 *
 * Who adds up has no share of the key and encrypts nothing: it adds its own words to the opened sum
 * of the others (doc/design/silo-he.md has why).  All are needed, and wait for each other.  Words
 * have a check word behind them (masks.h), which adds up as they do.
 *
 * All that an owner draws follows from its secret of the run and from what it is drawn for, its
 * vector among it: what is done again is the same bytes, and another vector is never encrypted with
 * the same numbers.  What was opened under the key follows from the number of the round: each
 * counts as the largest. */
#ifndef DPI_SILO_KEY_SUM_H
#define DPI_SILO_KEY_SUM_H

#include <tacit/status.h>

#include "silo/execute.h"

typedef struct dpi_key_sum_opts {
    dpi_post *post;              /* these are borrowed */
    const unsigned char *secret; /* [32] of this run: what all that is drawn follows from */
    const dpi_silo_part *part;
    uint64_t rounds; /* that the run opens at most */
    size_t most;     /* numbers of one of them, at most */
} dpi_key_sum_opts;

typedef struct dpi_key_sum dpi_key_sum;

/* Makes room for the key of a run.  Errors of dpi_threshold_new: DP_EPRIVACY too many sums are
 * opened under one key; DP_ENOMEM. */
dp_status dpi_key_sum_new(const dpi_key_sum_opts *opts, dpi_key_sum **s,
                          dp_error *err) DP_MUST_CHECK;
void dpi_key_sum_free(dpi_key_sum *s); /* wipes */

/* Sets the machine's kernels of KEYPART ... COMBINE; `s` is borrowed.  They fail with DP_EPEER
 * where owners have not the same vectors, what was opened is no sum, or a part of the key is
 * malformed or of another run; DP_EPRIVACY where more would be opened than was said; DP_ENOMEM. */
void dpi_key_sum_install(dpi_key_sum *s, dpi_silo_machine *m);

#endif
