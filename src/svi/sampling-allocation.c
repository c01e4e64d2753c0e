/* Random allocation: in each epoch every unit is in the batch of exactly one step, drawn uniformly
 * and afresh.  The batches of an epoch are drawn at its first step and kept for it; whoever draws
 * them goes on with them, and a child of fork does not.  An epoch that has begun costs what a whole
 * one does.  One allocation a shard is not one of the whole. */
#include "base/error.h"
#include "random/allocation.h"
#include "svi/sampling.h"

/* Offsets of batches are kept for a whole epoch, and the account reaches as far. */
static const uint64_t greatest_epoch = 1000000;

static dp_status resolve(dp_svi_opts *o, size_t n, dp_error *err)
{
    (void)n;
    if (o->rate != 0 || o->batch != 0)
        return dpi_fail(
            err, DP_EMISMATCH,
            "rate is %g and batch %zu; under random allocation the batch size is random "
            "and the rate 1 / epoch: give epoch and leave both 0",
            o->rate, o->batch);
    if (o->epoch < 2 || o->epoch > greatest_epoch)
        return dpi_fail(err, DP_EDOMAIN,
                        "epoch is %llu; random allocation needs the number of steps of an epoch, 2 "
                        "to %llu",
                        (unsigned long long)o->epoch, (unsigned long long)greatest_epoch);
    if (o->steps > UINT64_MAX - o->epoch)
        return dpi_fail(err, DP_EDOMAIN, "steps is %llu; take fewer", (unsigned long long)o->steps);
    o->rate = 1 / (double)o->epoch;
    return DP_OK;
}

static dp_status make_room(dpi_batch *b, const dp_svi_opts *o, dpi_arena *arena, dpi_arena *members,
                           dp_error *err)
{
    (void)o;
    b->scratch = dpi_arena_alloc(members, b->n, sizeof *b->scratch);
    b->start = dpi_arena_alloc(arena, (size_t)b->epoch + 1, sizeof *b->start);
    if (b->scratch == NULL || b->start == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_fork_new(&b->drawn_by, err);
    return status != DP_OK ? status : dpi_batch_make_room(b, b->n, members, err);
}

static dp_status draw(dpi_batch *b, uint64_t done, dpi_stream *stream, dpi_members *chosen,
                      dp_error *err)
{
    size_t k = (size_t)(done % b->epoch);
    if (k == 0) {
        dpi_allocation_draw(stream, b->n, (size_t)b->epoch, b->member, b->start, b->scratch);
        dpi_fork_set(b->drawn_by);
    }
    if (!dpi_fork_here(b->drawn_by))
        return dpi_fail(err, DP_ESTATE,
                        "the batches of this epoch were drawn by the process that this one was "
                        "forked from, which goes on with them; fork between epochs");
    *chosen = (dpi_members){b->start[k + 1] - b->start[k], b->member + b->start[k]};
    return DP_OK;
}

static dp_mechanism mechanism(const dp_svi_opts *o, uint64_t steps)
{
    uint64_t over = steps % o->epoch;
    return (dp_mechanism){.sampling = DP_SAMPLING_ALLOCATION,
                          .rate = o->rate,
                          .epoch = o->epoch,
                          .steps = over > 0 ? steps - over + o->epoch : steps};
}

const dpi_sampler dpi_sampling_allocation = {.sampling = DP_SAMPLING_ALLOCATION,
                                             .name = "DP_SAMPLING_ALLOCATION",
                                             .neighbours = DPI_ADD_REMOVE_WORDS,
                                             .has_epochs = true,
                                             .sets_rate = true,
                                             .resolve = resolve,
                                             .make_room = make_room,
                                             .draw = draw,
                                             .mechanism = mechanism};
