/* A fixed number of units without replacement, drawn afresh in every step.  Neighbours differ in
 * what one unit holds, so that their number, and with it the rate, is public.  A fixed number of a
 * shard is not a fixed number of the whole. */
#include <math.h>

#include "base/error.h"
#include "random/subset.h"
#include "svi/sampling.h"

static dp_status resolve(dp_svi_opts *o, size_t n, dp_error *err)
{
    if (o->batch == 0 || o->batch > n || o->rate != 0)
        return dpi_fail(err, DP_EINVAL,
                        "batch is %zu and rate %g; fixed-size sampling needs a batch "
                        "of 1 ... number of records, and no rate",
                        o->batch, o->rate);
    o->rate = (double)o->batch / (double)n;
    return DP_OK;
}

static dp_status make_room(dpi_batch *b, const dp_svi_opts *o, dpi_arena *arena, dpi_arena *members,
                           dp_error *err)
{
    (void)members; /* the batch's size is public */
    return dpi_batch_make_room(b, o->batch, arena, err);
}

static dp_status draw(dpi_batch *b, uint64_t done, dpi_stream *stream, dpi_members *chosen,
                      dp_error *err)
{
    (void)done, (void)err;
    dpi_fixed_subset(stream, b->n, b->room, b->member);
    *chosen = (dpi_members){b->room, b->member};
    return DP_OK;
}

static dp_mechanism mechanism(const dp_svi_opts *o, uint64_t steps)
{
    /* batch / n may have been rounded down; privacy only worsens with the rate. */
    return (dp_mechanism){.sampling = DP_SAMPLING_FIXED,
                          .rate = o->rate < 1 ? nextafter(o->rate, 1) : o->rate,
                          .steps = steps};
}

const dpi_sampler dpi_sampling_fixed = {
    .sampling = DP_SAMPLING_FIXED,
    .name = "DP_SAMPLING_FIXED",
    .neighbours = {{"replace one record", "replace " DPI_UNIT_WORDS},
                   {"replace one record", "replace " DPI_UNIT_WORDS}},
    .replaces = true,
    .sets_rate = true,
    .resolve = resolve,
    .make_room = make_room,
    .draw = draw,
    .mechanism = mechanism};
