/* What makes shards give what the whole would.
 *
 * Poisson subsets of shards at one rate are one of the whole, and so are all records of all shards.
 * A fixed number of records a shard is not a fixed number of the whole, nor is one allocation a
 * shard one of the whole's.  The guide's draws of global values are the same in all ranks,
 * parameters are the same to the bit, and so is everything that is computed from the release.  What
 * differs between ranks is records, batches, draws of records, and the ledger of the shard. */
#include "svi/join.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "base/group.h"
#include "svi/svi.h"
#include "svi/together.h"

/* In units of the noise's grid sums are below n 2^32 / sigma; of all ranks together they must stay
 * below 2^62. */
static const double most_share = 0x1p29;

dp_status dpi_join_check(const dp_svi_opts *o, dp_error *err)
{
    dp_status status = dpi_together_check_run(o, err);
    if (status != DP_OK || (o->group == NULL && o->owners == NULL))
        return status;
    if (!dpi_sampler_of(o->sampling)->in_shards)
        return dpi_fail(
            err, DP_EMISMATCH,
            "a batch of a shard is a batch of the whole under Poisson sampling and with "
            "full batches only; take one of them for a group or owners");
    if (o->form != DP_FORM_LATENTS)
        return dpi_fail(err, DP_EMISMATCH,
                        "in the form of d3p every gradient holds a share of the prior, which needs "
                        "the number of all records; use DP_FORM_LATENTS in a group");
    return DP_OK;
}

static dp_status count_units(dpi_ranks *r, size_t n, const dp_svi_opts *o, dp_error *err)
{
    int64_t total[2] = {(int64_t)n};
    dp_status status = dpi_group_add(r->group, DP_OK, 1, total, err);
    r->n_all = status == DP_OK ? (size_t)total[0] : 0;
    if (status == DP_OK && o->mode != DP_NO_PRIVACY && o->sigma > 0 &&
        o->sigma * most_share < (double)r->n_all)
        return dpi_fail(
            err, DP_EUNSUPPORTED,
            "sums of so many records do not fit the grid of noise as small as sigma %g; "
            "take a larger sigma or fewer records",
            o->sigma);
    return status;
}

dp_status dpi_join(dpi_ranks *r, size_t n, const dp_svi_opts *o, dp_rng **rng, dp_status mine,
                   dp_error *err)
{
    const dp_group *group = r->group;
    bool seeded = o->seed != 0;
    uint64_t seed = 0;
    r->n_all = n;
    if (group == NULL)
        return mine;
    if (mine == DP_OK && !seeded) {
        dp_rng_free(*rng);
        *rng = NULL;
        mine = dp_rng_new_random(rng, &seed, err);
    }
    dp_status status = dpi_group_agree(group, mine, err);
    if (status == DP_OK)
        status = dpi_group_share(group, 1, &seed, err);
    if (status == DP_OK)
        status = count_units(r, n, o, err); /* the same verdict in all ranks */
    if (status == DP_OK && !seeded && group->rank != 0) {
        dp_rng_free(*rng);
        *rng = NULL;
        mine = dp_rng_new(seed, rng, err);
    }
    return status == DP_OK ? dpi_group_agree(group, mine, err) : status;
}

/* ---- going on ---- */

/* A hash of what checkpoints of all ranks of a run have in common at any step. */
static dp_status kind_of(const dpi_checkpoint *c, uint64_t kind[4], dp_error *err)
{
    dpi_checkpoint all = {.opts = c->opts};
    unsigned char *bytes;
    size_t n;
    memcpy(all.model, c->model, sizeof all.model);
    memcpy(all.guide, c->guide, sizeof all.guide);
    all.opts.threads = 0;
    if (c->opts.clip_quantile > 0)
        all.opts.clip = 0; /* of the step */
    dp_status status = dpi_checkpoint_write(&all, &bytes, &n, err);
    if (status != DP_OK)
        return status;
    memcpy(kind, bytes + n - 4 * sizeof *kind, 4 * sizeof *kind);
    dpi_free(bytes);
    return DP_OK;
}

/* One after the other, by way of room[c->n_theta]. */
static dp_status share_vectors(const dp_group *group, const dpi_checkpoint *c, uint64_t *room,
                               dp_error *err)
{
    size_t n = (size_t)c->n_theta;
    dp_status status = DP_OK;
    for (size_t k = 0; k < c->n_vectors && status == DP_OK; k++) {
        memcpy(room, c->vector[k].at, n * sizeof *room);
        status = dpi_group_share(group, n, room, err);
        memcpy(c->vector[k].at, room, n * sizeof *room);
    }
    return status;
}

/* Numbers of the state, which all have 8 bytes, as words and back. */
static void pack_state(uint64_t words[5], dpi_checkpoint *c, bool back)
{
    void *const at[5] = {&c->done, &c->loss_step, &c->loss, &c->below, &c->opts.clip};
    for (int k = 0; k < 5; k++)
        memcpy(back ? at[k] : &words[k], back ? &words[k] : at[k], sizeof *words);
}

dp_status dpi_join_resume(const dp_group *group, dp_status mine, dpi_arena *arena,
                          dpi_checkpoint *c, dp_error *err)
{
    uint64_t own[5] = {0}, first[10] = {0},
             *room = NULL; /* kind, n_theta; of rank 0 the state too */
    if (group == NULL)
        return mine;
    if (mine == DP_OK)
        mine = kind_of(c, own, err);
    if (mine == DP_OK && (room = dpi_arena_alloc(arena, c->n_theta, sizeof *room)) == NULL)
        mine = dpi_fail_nomem(err);
    dp_status status = dpi_group_agree(group, mine, err);
    if (status != DP_OK)
        return status;
    own[4] = c->n_theta;
    memcpy(first, own, sizeof own);
    pack_state(first + 5, c, false);
    status = dpi_group_share(group, 10, first, err);
    if (status == DP_OK && memcmp(own, first, sizeof own) != 0)
        mine = dpi_fail(err, DP_EMISMATCH,
                        "the checkpoint of rank %zu is of another run than that of rank 0; give "
                        "every rank the one that it wrote",
                        group->rank);
    if (status == DP_OK)
        status = dpi_group_agree(group, mine, err);
    if (status == DP_OK)
        status = share_vectors(group, c, room, err);
    if (status == DP_OK)
        pack_state(first + 5, c, true);
    return status;
}

/* ---- before the first step ---- */

static void describe(const dp_svi *s, const dp_svi_opts *o, unsigned char hash[DPI_JOIN_HASH])
{
    const dp_owners *owners = o->owners;
    const double real[] = {o->epsilon,       o->delta,       o->sigma,
                           o->clip,          o->rate,        o->step_size,
                           o->momentum,      o->beta2,       o->average,
                           o->init_scale,    o->loss_clip,   o->loss_sigma,
                           o->clip_sigma,    o->clip_speed,  s->delta,
                           o->clip_quantile, s->local.units, owners != NULL ? owners->damping : 0};
    const uint64_t whole[] = {(uint64_t)o->mode, (uint64_t)o->sampling, (uint64_t)o->form,
                              (uint64_t)o->optimizer, (uint64_t)o->schedule, (uint64_t)o->precision,
                              o->steps, o->cap, o->loss_every, o->public_units, s->optimizer.done,
                              /* what each owner's noise is seeded with is its own */
                              owners != NULL ? owners->seed : o->seed,
                              owners != NULL           ? owners->size
                              : s->ranks.group != NULL ? s->ranks.group->size
                                                       : 1,
                              owners != NULL ? owners->honest : 0,
                              owners != NULL ? owners->most_records : 0,
                              owners != NULL ? owners->local_steps : 0};
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, DPI_JOIN_HASH);
    (void)crypto_generichash_update(&h, (const unsigned char *)real, sizeof real);
    (void)crypto_generichash_update(&h, (const unsigned char *)whole, sizeof whole);
    (void)crypto_generichash_update(&h, s->print[0], sizeof s->print);
    dpi_state vector[DPI_OPTIMIZER_VECTORS];
    size_t n_vectors = dpi_optimizer_vectors(&s->optimizer, vector);
    for (size_t k = 0; k < n_vectors; k++)
        (void)crypto_generichash_update(&h,
                                        vector[k].at_single != NULL
                                            ? (const unsigned char *)vector[k].at_single
                                            : (const unsigned char *)vector[k].at,
                                        s->optimizer.n * dpi_state_bytes(&vector[k]));
    (void)crypto_generichash_final(&h, hash, DPI_JOIN_HASH);
}

void dpi_join_describe(const dp_svi *s, unsigned char hash[DPI_JOIN_HASH])
{
    describe(s, &s->opts, hash);
}

void dpi_join_describe_shared(const dp_svi *s, unsigned char hash[DPI_JOIN_HASH])
{
    dp_svi_opts o = s->opts;
    o.clip = o.clip_quantile = 0;
    describe(s, &o, hash);
}

dp_status dpi_join_compare(const dp_svi *s, dp_status mine, dp_error *err)
{
    uint64_t own[DPI_JOIN_HASH / sizeof(uint64_t)], first[DPI_JOIN_HASH / sizeof(uint64_t)];
    if (s->ranks.group == NULL)
        return mine;
    dpi_join_describe(s, (unsigned char *)own);
    memcpy(first, own, sizeof first);
    dp_status status = dpi_group_share(s->ranks.group, sizeof first / sizeof *first, first, err);
    if (mine != DP_OK || status != DP_OK || memcmp(own, first, sizeof own) == 0)
        return mine != DP_OK ? mine : status;
    return dpi_fail(err, DP_EMISMATCH,
                    "rank %zu runs another model, guide, options or parameters than rank 0; give "
                    "all ranks the same program and input, data apart",
                    s->ranks.group->rank);
}

uint64_t dpi_join_seed(const dpi_ranks *r, uint64_t seed)
{
    size_t rank = r->group != NULL ? r->group->rank : 0;
    return rank == 0 ? seed : (seed ^ rank * UINT64_C(0xd1342543de82ef95)) | 1;
}
