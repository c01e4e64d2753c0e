/* Rounds: each opens one sum, and what it takes to do so once is on the disk.
 *
 * The state file holds the run's secrets, and of the round that is being made its number, its
 * question, this owner's vector with its share of noise, and the set of owners that it has
 * signed.  It is written before what it tells of leaves. */
#ifndef DPI_SILO_ROUND_H
#define DPI_SILO_ROUND_H

#include "silo/execute.h"

typedef struct dpi_silo_round_opts {
    const dpi_silo_part *part; /* these are borrowed */
    dpi_post_opts post;
    size_t colluders, dropouts;
    uint64_t
        rounds; /* where sums are under a key: that the run opens at most, and numbers of one */
    size_t most;
    const char *state;     /* a file; NULL, in simulations: nothing outlives the process */
    uint32_t lack_ms;      /* that owners which may drop out are waited for; 0: 30 000 */
    dpi_silo_costs *costs; /* nullable: is told how long steps take */
} dpi_silo_round_opts;

typedef struct dpi_silo_round dpi_silo_round;

/* Opens the state, or begins one, and exchanges keys with the other owners.
 * DP_ESTATE it is of another plan, or another process has it; DP_EDATA it is damaged; errors of
 * dpi_post_open; DP_EIO, DP_ENOMEM. */
dp_status dpi_silo_round_new(const dpi_silo_round_opts *opts, dpi_silo_round **r,
                             dp_error *err) DP_MUST_CHECK;
void dpi_silo_round_free(dpi_silo_round *r);

/* The number of the next round, for a run that goes on behind `done` ones. */
void dpi_silo_round_skip(dpi_silo_round *r, uint64_t done);

/* Whether the next round was begun before: its vector is in the state. */
bool dpi_silo_round_begun(const dpi_silo_round *r);

/* The key of this owner's share of noise in the next round: BLAKE2b of plan, run keys, round,
 * question and values[n], this owner's sum, under BLAKE2b of its identity under a secret of the
 * state.  So an older copy of the state, put back, makes the same share for the same sum, and one
 * that nothing is known of for another.  The state's secret is replaced by its hash when the round
 * begins: later states do not have it. */
void dpi_silo_round_share(dpi_silo_round *r, const unsigned char question[32], size_t n,
                          const uint64_t *values, unsigned char key[32]);

/* Opens a sum: values[n], this owner's share, becomes the sum of all.  Where this very round was
 * begun before, what was then kept takes the place of `values`.  Fits dp_owners.open. */
dp_status dpi_silo_round_open(void *round, const unsigned char question[32], size_t n,
                              uint64_t *values, dp_error *err);

#endif
