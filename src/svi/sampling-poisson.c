/* Poisson sampling: each unit with the same probability, by itself and afresh in every step.  No
 * batch is cut.  Subsets of shards at one rate are one of the whole. */
#include "base/error.h"
#include "svi/sampling.h"

static dp_status resolve(dp_svi_opts *o, size_t n, dp_error *err)
{
    (void)n;
    return dpi_sampling_need_rate(o, err);
}

dp_status dpi_poisson_make_room(dpi_batch *b, const dp_svi_opts *o, dpi_arena *arena,
                                dpi_arena *members, dp_error *err)
{
    (void)arena;
    dp_status status = dpi_bernoulli_set(&b->rate, o->rate, err);
    if (status != DP_OK)
        return status;
    return dpi_batch_make_room(b, dpi_poisson_room(&b->rate, b->n), members, err);
}

dp_status dpi_poisson_draw(dpi_batch *b, dpi_stream *stream, size_t *size, dp_error *err)
{
    *size = dpi_poisson_subset(stream, b->n, &b->rate, b->member);
    if (*size <= b->n)
        return DP_OK;
    *size = 0;
    return dpi_fail(err, DP_EENTROPY,
                    "a batch was drawn that is larger than chance allows (2^-500); the source "
                    "of randomness is broken, mend the machine before private data are used");
}

static dp_status draw(dpi_batch *b, uint64_t done, dpi_stream *stream, dpi_members *chosen,
                      dp_error *err)
{
    (void)done;
    chosen->unit = b->member;
    return dpi_poisson_draw(b, stream, &chosen->size, err);
}

static dp_mechanism mechanism(const dp_svi_opts *o, uint64_t steps)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_POISSON, .rate = o->rate, .steps = steps};
}

const dpi_sampler dpi_sampling_poisson = {.sampling = DP_SAMPLING_POISSON,
                                          .name = "DP_SAMPLING_POISSON",
                                          .neighbours = DPI_ADD_REMOVE_WORDS,
                                          .in_shards = true,
                                          .draws_gaps = true,
                                          .resolve = resolve,
                                          .make_room = dpi_poisson_make_room,
                                          .draw = draw,
                                          .mechanism = mechanism};
