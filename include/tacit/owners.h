/* One fit over several owners' records, which they may not show to each other
 * (dp_fit_opts.owners).
 *
 * Every owner runs the same fit, with the same model and options, over its own records.  Where the
 * fit would release a sum over records, each owner's is put on the grid of the noise, gets this
 * owner's share of the noise, and is handed to `open`, which makes of it the sum over all owners,
 * by whatever they trust with that: the values hide nothing beyond what one share hides.  The
 * result is in law that of one fit over all records with the noise of all shares:
 * doc/design/silo.md. */
#ifndef TACIT_OWNERS_H
#define TACIT_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/group.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DP_OWNERS_QUESTION = 32,
    DP_OWNERS_KEY = 32,
    DP_OWNERS_MOST = 64,
    DP_OWNERS_LOCAL_STEPS = 256
};

typedef struct dp_owners {
    size_t size; /* owners, 1 ... DP_OWNERS_MOST */
    /* Shares of noise in an opened sum that somebody who attacks does not know, 1 ... size.  The
     * epsilon of the fit is against such an attacker. */
    size_t honest;
    /* Of all that is random and no noise, such as chains; public, the same at all owners, not 0. */
    uint64_t seed;
    /* Records that one owner has at most, 1 ... 2^26; public.  Sums are proven not to overflow by
     * it, and an owner that has more is refused. */
    uint64_t most_records;
    /* Whether `open` gives what it has begun to open before, whatever the values then are: so that
     * a release that a crash has cut off is made again as it was, and a ledger pays it once. */
    bool repeats;
    /* 0: each step's gradient is opened.  1 ... DP_OWNERS_LOCAL_STEPS: so many steps are taken by
     * each owner on its own records alone, from parameters that all have; what is opened are
     * parameters, and what the optimiser remembers of each, summed over owners with their numbers
     * of records as weights, and all go on with the mean.  For fits by steps without privacy alone,
     * since nothing bounds what a record does to parameters, and not where records have latents.
     * From two on it is not the answer of all records together where owners' records differ:
     * doc/design/silo.md. */
    uint64_t local_steps;
    /* 0: of local steps means are opened.  Above 0, to 1: partitioned variational inference
     * (doc/design/silo-pvi.md), with local steps, for fits by steps with privacy or without.  All
     * noise of an owner's steps is its own, and all of it: `honest` is not looked at, and the
     * epsilon of the fit is of each owner's records against everybody else.  The posterior is
     * prior times a normal factor for each owner; an owner takes its steps with the others' factors
     * beside the prior, and what is opened is the sum of what all owners' steps change of natural
     * parameters, times `damping`; every owner keeps its own factor.  The same at all owners;
     * 1 / size is safe: precisions stay positive then.  Not for parameters without a prior. */
    double damping;
    /* Nullable: this owner's records lie in shards, one with each rank of this group, and this
     * process is one of them; at most 64 ranks, borrowed.  All ranks run the same fit over their
     * shards, rank 0 alone calls `share` and `open`, for all of the owner, and all get what it
     * opened: with full batches, and latents that are of no record, the same to the bit as one
     * process with the owner's records.  Poisson samples and latents of records each rank draws for
     * itself, which in law is the same.  All rows of a unit must be in one shard: no rank can see
     * that they are, and of a unit in two each part is clipped by itself.  Ranks see each other's
     * sums without noise.  Not with local_steps.  doc/design/silo-hosts.md. */
    const dp_group *group;
    void *context; /* for open and share */
    /* Gives the key of the stream that this owner's share of a sum's noise is made from; NULL: the
     * system's generator does.  For whoever may come to make a share again: what is told must give
     * the same key, and anything else one that nothing is known of, so that no two vectors have one
     * share.  values[n] is this owner's sum without noise.  Whoever knows a key knows a share: it
     * must follow from a secret of the system's generator that only this owner has.  With n = 0
     * (values NULL) it is the key of what the owner draws in a step and nobody else may know: its
     * batch, and latents of its records.  These do not follow from the records: a secret is of one
     * run over one set of them, and where they change a new one is needed. */
    dp_status (*share)(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       const uint64_t *values /* [n] */, unsigned char key[DP_OWNERS_KEY],
                       dp_error *err);
    /* Replaces values[n], this owner's sum and share of noise, by the sum over all owners, modulo
     * 2^64.  `question` is a hash of all that the sum follows from, but the records: owners that
     * have come to different ones must not open anything.  An error ends the fit. */
    dp_status (*open)(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                      uint64_t *values /* [n] */, dp_error *err);
} dp_owners;

#ifdef __cplusplus
}
#endif
#endif
