/* A run as one rank of a group. */
#ifndef DPI_SVI_JOIN_H
#define DPI_SVI_JOIN_H

#include <tacit/group.h>
#include <tacit/random.h>
#include <tacit/svi.h>

#include "svi/checkpoint.h"

/* The ranks that a run is one of; without a group it is all there is. */
typedef struct dpi_ranks {
    const dp_group *group; /* nullable, borrowed */
    size_t n_all;          /* units of all of them */
    bool parted;           /* a sum of theirs, or of all owners, did not come back */
} dpi_ranks;

/* Says whether the resolved options are such that shards give what the whole would:
 * DP_EMISMATCH. */
dp_status dpi_join_check(const dp_svi_opts *o, dp_error *err) DP_MUST_CHECK;

/* Collective, for a run that has been made so far with `mine`: when all ranks have theirs, the
 * units, n of which are here, are counted, and *rng, of the guide's draws, becomes that of rank 0.
 * Without a group, `mine`. */
dp_status dpi_join(dpi_ranks *r, size_t n, const dp_svi_opts *o, dp_rng **rng, dp_status mine,
                   dp_error *err) DP_MUST_CHECK;

/* Collective, for ranks that have read their checkpoints with `mine`: gives all of them the state
 * that is in rank 0's.  DP_EMISMATCH in a rank whose checkpoint is of another run; scratch in the
 * arena.  Without a group, `mine`. */
dp_status dpi_join_resume(const dp_group *group, dp_status mine, dpi_arena *arena,
                          dpi_checkpoint *c, dp_error *err) DP_MUST_CHECK;

/* A hash of what must be the same in all ranks, at all owners, or in a run that is made again,
 * before the next step: options, model, guide, parameters and what their moves remember. */
enum { DPI_JOIN_HASH = 32 };
void dpi_join_describe(const dp_svi *s, unsigned char hash[DPI_JOIN_HASH]);

/* The same without what follows from an owner's own releases, its clip norm. */
void dpi_join_describe_shared(const dp_svi *s, unsigned char hash[DPI_JOIN_HASH]);

/* Collective, before the first step, for a rank that has come so far with `mine`: DP_EMISMATCH in
 * one that does not run the same as rank 0, which the step's exchange tells the others. */
dp_status dpi_join_compare(const dp_svi *s, dp_status mine, dp_error *err) DP_MUST_CHECK;

/* The seed of a rank's noise: that of the options at rank 0. */
uint64_t dpi_join_seed(const dpi_ranks *r, uint64_t seed);

#endif
