/* How the units of a step are chosen: one row a scheme, and nothing else asks which it is.
 *
 * A row holds the draw and the mechanism that the accountant is told of it, side by side in one
 * file, so that the two cannot be changed apart from each other; tests/svi/t-sampling compares the
 * law of the one with the fields of the other for every row. */
#ifndef DPI_SVI_SAMPLING_H
#define DPI_SVI_SAMPLING_H

#include <tacit/svi.h>

#include "base/alloc.h"
#include "base/fork.h"
#include "random/poisson.h"
#include "random/stream.h"

typedef struct dpi_sampler dpi_sampler;

/* The choice of units, and room for it. */
typedef struct dpi_batch {
    const dpi_sampler *sampler;
    size_t n; /* units */
    uint64_t epoch, cap;
    dpi_bernoulli rate; /* of Poisson samples */
    size_t *member;     /* [room] of the batch, or of all batches of an epoch; NULL: all units */
    size_t room;
    size_t *start;      /* [epoch + 1] of random allocation: where batches begin in `member` */
    size_t *scratch;    /* [n] of random allocation */
    dpi_fork *drawn_by; /* of random allocation: marks the process that drew the epoch */
} dpi_batch;

/* Members of a batch: [size] numbers of units, or for NULL the units 0 ... size - 1. */
typedef struct dpi_members {
    size_t size;
    const size_t *unit;
} dpi_members;

struct dpi_sampler {
    dp_sampling sampling;
    const char *name;             /* as messages propose it */
    const char *neighbours[2][2]; /* [dp_form][a column names the units], static text */
    bool replaces;   /* neighbours differ in what a unit holds, and their number is public */
    bool in_shards;  /* batches of shards, drawn apart, are a batch of the whole */
    bool has_epochs; /* steps of an epoch are drawn, paid and saved together */
    bool sets_rate;  /* the rate follows from other options, and is not given */
    bool is_cut;     /* has a largest batch: opts.cap */
    bool draws_gaps; /* members are drawn by their gaps, which can fail (random/failure.h) */

    /* Checks the options that are its own and sets rate, for n units. */
    dp_status (*resolve)(dp_svi_opts *o, size_t n, dp_error *err);
    /* Makes room, of what is public in size in one arena and of what is not in the other. */
    dp_status (*make_room)(dpi_batch *b, const dp_svi_opts *o, dpi_arena *arena, dpi_arena *members,
                           dp_error *err);
    /* Draws the batch of the step behind `done` ones; NULL where it is all units. */
    dp_status (*draw)(dpi_batch *b, uint64_t done, dpi_stream *stream, dpi_members *chosen,
                      dp_error *err);
    /* What the first `steps` steps are to the accountant, sigma apart. */
    dp_mechanism (*mechanism)(const dp_svi_opts *o, uint64_t steps);
};

extern const dpi_sampler dpi_sampling_full, dpi_sampling_poisson, dpi_sampling_truncated,
    dpi_sampling_fixed, dpi_sampling_allocation;

/* The row of a scheme; NULL for one that no run draws. */
const dpi_sampler *dpi_sampler_of(dp_sampling sampling);

/* The rows, `*n` of them. */
const dpi_sampler *const *dpi_samplers(size_t *n);

/* Completes what options say of batches: a scheme when none is given, and its rate.  DP_EINVAL,
 * DP_EMISMATCH, DP_EDOMAIN. */
dp_status dpi_sampling_resolve(dp_svi_opts *o, size_t n, dp_error *err) DP_MUST_CHECK;

/* The mechanism of the first `steps` steps, sigma apart. */
dp_mechanism dpi_sampling_mechanism(const dp_svi_opts *o, uint64_t steps);

/* Whether after `done` steps there are batches that have been drawn and not used; true for epochs
 * of no length, which a damaged checkpoint may have. */
bool dpi_sampling_inside_epoch(const dp_svi_opts *o, uint64_t done);

/* Room for batches of n units under resolved options.  DP_ENOMEM. */
dp_status dpi_batch_init(dpi_batch *b, const dp_svi_opts *o, size_t n, dpi_arena *arena,
                         dpi_arena *members, dp_error *err) DP_MUST_CHECK;

/* Draws the batch of the step behind `done` ones from the source of the noise.  What is chosen is
 * valid until the next draw.  DP_EENTROPY; DP_ESTATE in a child of fork inside an epoch. */
dp_status dpi_batch_draw(dpi_batch *b, uint64_t done, dp_noise *source, dpi_members *chosen,
                         dp_error *err) DP_MUST_CHECK;

/* Overwrites the last batch; the arenas keep their room. */
void dpi_batch_free(dpi_batch *b);

/* ---- for rows ---- */

/* Neighbours under add/remove.  In the form of d3p every unit's gradient holds 1/n of the prior's,
 * so that n must be the same in neighbouring data sets: a unit is then left out by leaving out what
 * it adds. */
#define DPI_UNIT_WORDS "one unit (all rows with one value in the unit column)"
#define DPI_ADD_REMOVE_WORDS                                                                       \
    {                                                                                              \
        {"add or remove one record", "add or remove " DPI_UNIT_WORDS},                             \
        {                                                                                          \
            "add or remove what one record adds, the number of records being public",              \
                "add or remove what " DPI_UNIT_WORDS " adds, the number of units being public"     \
        }                                                                                          \
    }

/* The rate that Poisson samples need, which comes without a batch size. */
dp_status dpi_sampling_need_rate(const dp_svi_opts *o, dp_error *err) DP_MUST_CHECK;

/* Room for Poisson samples, and one of them: *size members in rising order. */
dp_status dpi_poisson_make_room(dpi_batch *b, const dp_svi_opts *o, dpi_arena *arena,
                                dpi_arena *members, dp_error *err) DP_MUST_CHECK;
dp_status dpi_poisson_draw(dpi_batch *b, dpi_stream *stream, size_t *size,
                           dp_error *err) DP_MUST_CHECK;

/* Room for `room` members. */
dp_status dpi_batch_make_room(dpi_batch *b, size_t room, dpi_arena *members,
                              dp_error *err) DP_MUST_CHECK;

#endif
