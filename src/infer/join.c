/* What makes shards give what the whole would.
 *
 * Poisson subsets of shards at one rate are one of the whole, and so are all records of all shards.  A
 * fixed number of records a shard is not a fixed number of the whole, nor is one allocation a shard one of
 * the whole's.  The guide's draws of global values are the same in all ranks, parameters are the same
 * to the bit, and so is everything that is computed from the release.  What differs between ranks is
 * records, batches, draws of records, and the ledger of the shard. */
#include "infer/join.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "infer/group.h"

/* In units of the noise's grid sums are below n 2^32 / sigma; of all ranks together they must stay below
 * 2^62. */
static const double most_share = 0x1p29;

dp_status dpi_join_check(const dp_svi *s, dp_error *err)
{
    const dp_svi_opts *o = &s->opts;
    if (o->group == NULL)
        return DP_OK;
    if (o->sampling != DP_SAMPLING_FULL && o->sampling != DP_SAMPLING_POISSON)
        return dpi_fail(
            err, DP_EMISMATCH,
            "a batch of a shard is a batch of the whole under Poisson sampling and with "
            "full batches only; take one of them for a group");
    if (o->form != DP_FORM_LATENTS)
        return dpi_fail(err, DP_EMISMATCH,
                        "in the form of d3p every gradient holds a share of the prior, which needs "
                        "the number of all records; use DP_FORM_LATENTS in a group");
    return DP_OK;
}

static dp_status count_units(dp_svi *s, dp_error *err)
{
    int64_t total[2] = {(int64_t)s->n};
    dp_status status = dpi_group_add(s->opts.group, DP_OK, 1, total, err);
    s->n_all = status == DP_OK ? (size_t)total[0] : 0;
    if (status == DP_OK && s->opts.mode != DP_NO_PRIVACY && s->opts.sigma > 0 &&
        s->opts.sigma * most_share < (double)s->n_all)
        return dpi_fail(
            err, DP_EUNSUPPORTED,
            "sums of so many records do not fit the grid of noise as small as sigma %g; "
            "take a larger sigma or fewer records",
            s->opts.sigma);
    return status;
}

dp_status dpi_join(dp_svi *s, dp_status mine, dp_error *err)
{
    const dp_group *group = s->opts.group;
    uint64_t seed = 0;
    s->n_all = s->n;
    if (group == NULL)
        return mine;
    if (mine == DP_OK && !s->seeded) {
        dp_rng_free(s->rng);
        s->rng = NULL;
        mine = dp_rng_new_random(&s->rng, &seed, err);
    }
    dp_status status = dpi_group_agree(group, mine, err);
    if (status == DP_OK)
        status = dpi_group_share(group, 1, &seed, err);
    if (status == DP_OK)
        status = count_units(s, err); /* the same verdict in all ranks */
    if (status == DP_OK && !s->seeded && group->rank != 0) {
        dp_rng_free(s->rng);
        s->rng = NULL;
        mine = dp_rng_new(seed, &s->rng, err);
    }
    return status == DP_OK ? dpi_group_agree(group, mine, err) : status;
}

/* What must be the same in all ranks, hashed: options, model, guide, parameters. */
static void describe(const dp_svi *s, uint64_t words[4])
{
    const dp_svi_opts *o = &s->opts;
    const double real[] = {o->epsilon,    o->delta,      o->sigma,     o->clip,
                           o->rate,       o->step_size,  o->momentum,  o->beta2,
                           o->average,    o->init_scale, o->loss_clip, o->loss_sigma,
                           o->clip_sigma, o->clip_speed, s->delta,     o->clip_quantile};
    const uint64_t whole[] = {(uint64_t)o->mode,
                              (uint64_t)o->sampling,
                              (uint64_t)o->form,
                              (uint64_t)o->optimizer,
                              (uint64_t)o->schedule,
                              (uint64_t)o->precision,
                              o->steps,
                              o->loss_every,
                              o->public_units,
                              o->seed,
                              s->optimizer.done,
                              o->group->size};
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, 4 * sizeof *words);
    (void)crypto_generichash_update(&h, (const unsigned char *)real, sizeof real);
    (void)crypto_generichash_update(&h, (const unsigned char *)whole, sizeof whole);
    (void)crypto_generichash_update(&h, s->print[0], sizeof s->print);
    (void)crypto_generichash_update(&h, (const unsigned char *)s->optimizer.theta,
                                    s->optimizer.n * sizeof(double));
    (void)crypto_generichash_final(&h, (unsigned char *)words, 4 * sizeof *words);
}

dp_status dpi_join_compare(const dp_svi *s, dp_status mine, dp_error *err)
{
    uint64_t own[4], first[4];
    if (s->opts.group == NULL)
        return mine;
    describe(s, own);
    memcpy(first, own, sizeof first);
    dp_status status = dpi_group_share(s->opts.group, 4, first, err);
    if (mine != DP_OK || status != DP_OK || memcmp(own, first, sizeof own) == 0)
        return mine != DP_OK ? mine : status;
    return dpi_fail(err, DP_EMISMATCH,
                    "rank %zu runs another model, guide, options or parameters than rank 0; give "
                    "all ranks the same program and input, data apart",
                    s->opts.group->rank);
}

uint64_t dpi_join_seed(const dp_svi *s, uint64_t seed)
{
    size_t rank = s->opts.group != NULL ? s->opts.group->rank : 0;
    return rank == 0 ? seed : (seed ^ rank * UINT64_C(0xd1342543de82ef95)) | 1;
}
