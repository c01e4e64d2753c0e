/* Poisson sampling with a largest batch: of a sample above `cap` units `cap` are kept, every set of
 * them with the same probability.
 *
 * Where a sample is cut a unit more takes the place of another, so that the sum changes by up to
 * 2 clip there: the account (pairs/truncated.c, doc/design/mechanisms.md, C) weighs that by the
 * probability that `records` others reach the cap.  It grows with `records` and holds for every
 * number of units up to it; so `public_units` is that number, known to all, and data with more
 * units are refused.  Neighbours are data sets that both have no more.
 *
 * The release is divided by the rate as that of any Poisson sample: batches that were cut pull the
 * estimate towards zero. */
#include "base/error.h"
#include "svi/sampling.h"

static dp_status resolve(dp_svi_opts *o, size_t n, dp_error *err)
{
    dp_status status = dpi_sampling_need_rate(o, err);
    if (status != DP_OK)
        return status;
    if (o->cap == 0)
        return dpi_fail(err, DP_EINVAL,
                        "cap is 0; truncated Poisson sampling needs the size of the largest batch");
    if (o->public_units == 0)
        return dpi_fail(err, DP_EINVAL,
                        "public_units is 0; truncated Poisson sampling is accounted for up to a "
                        "number of units: give one that the data cannot exceed, known to all");
    if (n > o->public_units)
        return dpi_fail(err, DP_EINVAL,
                        "public_units is %llu, and there are more units in the data; under "
                        "truncated Poisson sampling it must be a number that they cannot exceed",
                        (unsigned long long)o->public_units);
    return DP_OK;
}

static dp_status draw(dpi_batch *b, uint64_t done, dpi_stream *stream, dpi_members *chosen,
                      dp_error *err)
{
    (void)done;
    chosen->unit = b->member;
    dp_status status = dpi_poisson_draw(b, stream, &chosen->size, err);
    if (status != DP_OK || chosen->size <= b->cap)
        return status;
    size_t cap = (size_t)b->cap;
    for (size_t i = 0; i < cap; i++) { /* the first places of a random order (Fisher and Yates) */
        size_t j = i + (size_t)dpi_stream_below(stream, chosen->size - i);
        size_t kept = b->member[j];
        b->member[j] = b->member[i];
        b->member[i] = kept;
    }
    chosen->size = cap;
    return DP_OK;
}

static dp_mechanism mechanism(const dp_svi_opts *o, uint64_t steps)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_TRUNCATED,
                          .rate = o->rate,
                          .steps = steps,
                          .records = o->public_units,
                          .cap = o->cap};
}

const dpi_sampler dpi_sampling_truncated = {
    .sampling = DP_SAMPLING_TRUNCATED,
    .name = "DP_SAMPLING_TRUNCATED",
    .neighbours = {{"add or remove one record, public_units being known to be the most there are",
                    "add or remove " DPI_UNIT_WORDS
                    ", public_units being known to be the most there are"},
                   {"add or remove what one record adds, the number of records being public",
                    "add or remove what " DPI_UNIT_WORDS
                    " adds, the number of units being public"}},
    .is_cut = true,
    .draws_gaps = true,
    .resolve = resolve,
    .make_room = dpi_poisson_make_room,
    .draw = draw,
    .mechanism = mechanism};
