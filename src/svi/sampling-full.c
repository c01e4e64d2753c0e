/* Every unit in every step: nothing is drawn.  Accounted for as the Gaussian mechanism. */
#include "base/error.h"
#include "svi/sampling.h"

static dp_status resolve(dp_svi_opts *o, size_t n, dp_error *err)
{
    (void)n;
    if ((o->rate != 0 && o->rate != 1) || o->batch != 0) /* batch == n would tell n */
        return dpi_fail(err, DP_EMISMATCH,
                        "sampling is full, but rate is %g and batch %zu; leave "
                        "both 0, or choose Poisson or fixed-size sampling",
                        o->rate, o->batch);
    o->rate = 1;
    return DP_OK;
}

static dp_status make_room(dpi_batch *b, const dp_svi_opts *o, dpi_arena *arena, dpi_arena *members,
                           dp_error *err)
{
    (void)b, (void)o, (void)arena, (void)members, (void)err;
    return DP_OK;
}

static dp_mechanism mechanism(const dp_svi_opts *o, uint64_t steps)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_FULL, .rate = o->rate, .steps = steps};
}

const dpi_sampler dpi_sampling_full = {.sampling = DP_SAMPLING_FULL,
                                       .name = "DP_SAMPLING_FULL",
                                       .neighbours = DPI_ADD_REMOVE_WORDS,
                                       .in_shards = true,
                                       .resolve = resolve,
                                       .make_room = make_room,
                                       .mechanism = mechanism};
