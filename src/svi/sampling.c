/* The table of sampling schemes, and what is the same for all of them. */
#include "svi/sampling.h"

#include <sodium.h>

#include "base/error.h"
#include "random/noise.h"

static const dpi_sampler *const samplers[] = {&dpi_sampling_full, &dpi_sampling_poisson,
                                              &dpi_sampling_truncated, &dpi_sampling_fixed,
                                              &dpi_sampling_allocation};
enum { N_SAMPLERS = sizeof samplers / sizeof *samplers };

const dpi_sampler *const *dpi_samplers(size_t *n)
{
    *n = N_SAMPLERS;
    return samplers;
}

const dpi_sampler *dpi_sampler_of(dp_sampling sampling)
{
    for (size_t k = 0; k < N_SAMPLERS; k++)
        if (samplers[k]->sampling == sampling)
            return samplers[k];
    return NULL;
}

/* ---- options ---- */

/* Every unit in every step where nothing is said of batches. */
static dp_status choose(dp_svi_opts *o, const dpi_sampler **sampler, dp_error *err)
{
    bool none = o->sampling == DP_SAMPLING_NONE_GIVEN;
    if (none && (o->rate != 0 || o->batch != 0))
        return dpi_fail(err, DP_EINVAL,
                        "rate or batch is given without a sampling; set sampling to "
                        "DP_SAMPLING_POISSON or DP_SAMPLING_FIXED");
    if (none)
        o->sampling = DP_SAMPLING_FULL;
    *sampler = dpi_sampler_of(o->sampling);
    if (*sampler != NULL)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL,
                    "sampling %d is not one that a run draws; use %s, %s, %s, %s or %s",
                    (int)o->sampling, samplers[0]->name, samplers[1]->name, samplers[2]->name,
                    samplers[3]->name, samplers[4]->name);
}

dp_status dpi_sampling_resolve(dp_svi_opts *o, size_t n, dp_error *err)
{
    const dpi_sampler *sampler = dpi_sampler_of(o->sampling);
    if (o->epoch != 0 && (sampler == NULL || !sampler->has_epochs))
        return dpi_fail(err, DP_EMISMATCH,
                        "epoch is %llu, which belongs to random allocation; set sampling to "
                        "DP_SAMPLING_ALLOCATION, or leave epoch 0",
                        (unsigned long long)o->epoch);
    if (o->cap != 0 && (sampler == NULL || !sampler->is_cut))
        return dpi_fail(err, DP_EMISMATCH,
                        "cap is %llu, which belongs to truncated Poisson sampling; set sampling "
                        "to DP_SAMPLING_TRUNCATED, or leave cap 0",
                        (unsigned long long)o->cap);
    dp_status status = choose(o, &sampler, err);
    return status != DP_OK ? status : sampler->resolve(o, n, err);
}

dp_status dpi_sampling_need_rate(const dp_svi_opts *o, dp_error *err)
{
    if (o->batch != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "batch is %zu; under Poisson sampling the batch size is "
                        "random, give rate and leave batch 0",
                        o->batch);
    if (!(o->rate > 0 && o->rate <= 1))
        return dpi_fail(err, DP_EDOMAIN, "rate is %g; Poisson sampling needs a rate in (0, 1]",
                        o->rate);
    return DP_OK;
}

/* ---- steps ---- */

dp_mechanism dpi_sampling_mechanism(const dp_svi_opts *o, uint64_t steps)
{
    const dpi_sampler *sampler = dpi_sampler_of(o->sampling);
    if (sampler != NULL)
        return sampler->mechanism(o, steps);
    return (dp_mechanism){.sampling = DP_SAMPLING_NONE_GIVEN}; /* has no account */
}

bool dpi_sampling_inside_epoch(const dp_svi_opts *o, uint64_t done)
{
    const dpi_sampler *sampler = dpi_sampler_of(o->sampling);
    return sampler != NULL && sampler->has_epochs && (o->epoch == 0 || done % o->epoch != 0);
}

/* ---- batches ---- */

dp_status dpi_batch_make_room(dpi_batch *b, size_t room, dpi_arena *members, dp_error *err)
{
    b->room = room;
    b->member = dpi_arena_alloc(members, room, sizeof *b->member);
    return b->member != NULL ? DP_OK : dpi_fail_nomem(err);
}

dp_status dpi_batch_init(dpi_batch *b, const dp_svi_opts *o, size_t n, dpi_arena *arena,
                         dpi_arena *members, dp_error *err)
{
    *b = (dpi_batch){
        .sampler = dpi_sampler_of(o->sampling), .n = n, .epoch = o->epoch, .cap = o->cap};
    return b->sampler->make_room(b, o, arena, members, err);
}

dp_status dpi_batch_draw(dpi_batch *b, uint64_t done, dp_noise *source, dpi_members *chosen,
                         dp_error *err)
{
    dpi_stream *stream = NULL;
    dp_status status = DP_OK;
    *chosen = (dpi_members){.size = b->n};
    if (b->sampler->draw == NULL) /* all units */
        return DP_OK;
    status = dpi_noise_stream(source, &stream, err);
    if (status == DP_OK)
        status = b->sampler->draw(b, done, stream, chosen, err);
    if (status != DP_OK)
        *chosen = (dpi_members){.size = 0};
    return status;
}

void dpi_batch_free(dpi_batch *b)
{
    if (b->member != NULL)
        sodium_memzero(b->member, b->room * sizeof *b->member);
    dpi_fork_free(b->drawn_by);
}
