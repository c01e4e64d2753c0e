/* DP-SVI: one step is
 *
 *   draw the guide's noise; evaluate what is global; choose the batch; chunk after chunk run the
 *   records and add up their units' clipped gradients (sum.c); add N(0, (sigma C)^2) to the sum;
 *   divide by the public rate; pull back to the parameters; step the optimiser (finish.c).
 *
 * A unit is a record, or all records with one value in the unit column.  The release is the only
 * place where records reach anything that outlives the step.  A unit whose gradient is not finite
 * adds zero, so that it cannot be seen in the outcome either.
 *
 * Draws of the guide that belong to records are secrets, as the batch is: they are handed out by
 * place in the batch, so that one record more moves all that follow it to other draws.  Those of
 * columns that are drawn (dp_dataset_bernoulli) likewise.  The sum's
 * distribution given the batch is still that of draws tied to records, but only to an observer who
 * does not know them.  They come from the source of the noise.  The guide's draws of global values
 * are the same for all records and need no secrecy. */
#define _POSIX_C_SOURCE 200809L
#include "svi/svi.h"

#include <math.h>
#include <sodium.h>

#include "base/float.h"
#include "base/group.h"
#include "base/hosts.h"
#include "model/init.h"
#include "model/proper.h"
#include "random/failure.h"
#include "random/noise.h"
#include "svi/check.h"
#include "svi/finish.h"
#include "svi/join.h"
#include "svi/options.h"
#include "svi/release.h"
#include "svi/sum.h"
#include "svi/together.h"
#include "svi/waves.h"

static dp_status make_random(dp_svi *s, uint64_t random, dp_error *err)
{
    uint64_t seed = dpi_hosts_seed(s->opts.owners, s->opts.seed);
    s->seeded = s->opts.seed != 0;
    if (s->seeded && s->optimizer.done > 0) /* resumed: repeatable, but nothing is repeated */
        seed = (seed ^ s->optimizer.done * 0x9e3779b97f4a7c15) | 1;
    dp_status status = s->seeded
                           ? dp_noise_new_seeded(dpi_join_seed(&s->ranks, seed), &s->noise, err)
                           : dp_noise_new(&s->noise, err);
    if (status == DP_OK && s->opts.owners != NULL)
        return dp_rng_new(s->opts.owners->seed, &s->rng, err);
    if (status == DP_OK && (random != 0 || s->seeded))
        return dp_rng_new(random != 0 ? random : seed, &s->rng, err);
    return status == DP_OK ? dp_rng_new_random(&s->rng, NULL, err) : status;
}

static dp_status make_run(dp_svi *s, const dp_dataset *data, dp_error *err)
{
    const dpi_objective *o = &s->objective;
    dpi_id *wanted = dpi_arena_alloc(&s->arena, 2 * o->n_blocks + o->n_noise + 1, sizeof *wanted);
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    size_t n = 0;
    for (size_t k = 0; k < o->n_blocks; k++) {
        wanted[n++] = o->blocks[k].node;
        if (o->cut == DP_FORM_LATENTS)
            wanted[n++] = o->blocks[k].gradient;
    }
    for (size_t k = 0; k < o->n_noise; k++)
        wanted[n++] = o->noise[k];
    if (s->extras.n > 0)
        wanted[n++] = o->record;
    size_t n_lent;
    const dpi_lent *lent =
        dpi_finish_lent(o, s->optimizer.theta, s->release.out, &s->arena, &n_lent);
    if (lent == NULL)
        return dpi_fail_nomem(err);
    dpi_run_spec spec = {.graph = &o->graph,
                         .wanted = wanted,
                         .n_wanted = n,
                         .parts = o->part,
                         .n_parts = o->n_parts,
                         .lent = lent,
                         .n_lent = n_lent,
                         .data = data,
                         .chunk = s->sum.chunk,
                         .single = s->opts.precision == DP_SINGLE,
                         .kept = dpi_waves_may(&s->sum),
                         .tasks = dpi_waves_may(&s->sum) ? DPI_SVI_TASKS : 1,
                         .all_columns = true};
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    dp_status status = dpi_check_observations(o, data, err);
    return status != DP_OK ? status : dpi_run_new(&spec, &s->run, err);
}

/* Records at a time.  Where a record is much work, batches of usual sizes are to make more than one
 * task for the threads; it may depend on the model, and not on the threads, nor on the number of
 * records, which memory would tell. */
static size_t records_at_a_time(const dp_svi *s, size_t most)
{
    bool large = s->objective.n_release >= DPI_SVI_LARGE_RELEASE && most > DPI_SVI_LARGE_CHUNK;
    return large ? DPI_SVI_LARGE_CHUNK : most;
}

/* Which record is not what the model needs, and in which column, is for the data's owner to know:
 * whoever reads the messages of a private run learns that there is one, and no more. */
static dp_status make_run_discreetly(dp_svi *s, const dp_dataset *data, dp_error *err)
{
    dp_error found = {0};
    dp_status status = make_run(s, data, &found);
    if (status == DP_EDATA && s->opts.mode == DP_PRIVATE)
        return dpi_fail(
            err, status,
            "the data are not what the model needs; dp_check_data tells their owner which "
            "column and record, for which to leave records out or mend them beforehand");
    return status == DP_OK ? status : dpi_fail(err, status, "%s", found.text);
}

static dp_status make_state(dp_svi *s, dp_error *err)
{
    const dpi_objective *o = &s->objective;
    dp_status status = dpi_optimizer_init(&s->optimizer, &s->arena, o->n_theta, &s->opts, err);
    if (status == DP_OK)
        status = dpi_batch_init(&s->batch, &s->opts, s->n, &s->arena, &s->members, err);
    if (status == DP_OK)
        status = dpi_finish_init(s, err);
    if (status == DP_OK)
        status = dpi_local_init(s, err);
    if (status == DP_OK)
        status = dpi_factor_init(s, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; status == DP_OK && k < o->n_blocks; k++) {
        const dpi_block *block = &o->blocks[k];
        status =
            dpi_start_values(&block->start, block->name, &dpi_get(&o->graph, block->node)->shape,
                             s->optimizer.theta + block->offset, err);
    }
    return status;
}

/* Clipping leaves this share of the bound to rounding, so that what is computed, not only what is
 * meant, changes by at most clip when a unit comes or goes.  With u = 2^-53, n units and P released
 * numbers:
 *   a unit's gradient as computed is a function of its own rows, to the bit (clip.c).  Rounding on
 *   the way to it, where its rows are added up too, is no part of the bound: what came out is what
 *   is clipped; its norm, from sums of at most P squares: off by P u / 2, and its numbers by 3 u;
 *   the sum of a task of k <= 256 units (sum.c; exec/terms.c): off by k u * k clip; for all tasks
 *   of two neighbouring data sets 2^-44 n clip, since one unit more may shift all tasks;
 *   the sum of tasks, compensated: off by 2 u n clip for each of the two, 2^-51 n clip;
 *   multiplying it by one over the step of the grid: off by 4 u n clip for the two.
 * Together below 2^-16 for n <= 2^27 and P <= 2^30.  It must not depend on n, which is not public.
 *
 * Long releases (waves.c): factors of a clipped gradient are rounded once more, 3 u of each number;
 * a task of k <= 256 units is off by u k (k + 1) / 2 clip, which is less than above, and tasks are
 * added as there.
 *
 * Whole numbers (exec/whole.c): below 2^53 sums are exact, beyond they are off as above; and a unit
 * moves them by what it is as rounded, half of what is left to rounding two sums to the grid.
 *
 * In single precision what is left besides is for sums of floats, 0.94 2^-10 (exec/chains.c,
 * exec/factors.c), and for factors rounded to floats, 2^-18.  Where sums are in double, by n or by
 * the clip norm, the lines above hold. */
static const double left_to_rounding = 0x1p-16, left_to_floats = 0x1p-10;
static const double least_clipped = 0.5;
static const size_t most_units = (size_t)1 << 27, most_numbers = DPI_MOST_RELEASED;

double dpi_svi_share_clipped(const dp_svi *s)
{
    double left = s->opts.precision == DP_SINGLE ? left_to_floats : left_to_rounding;
    return 1 - left - dpi_release_share(s->opts.sigma, s->objective.n_release);
}

static dp_status check_sizes(const dp_svi *s, dp_error *err)
{
    if (s->opts.mode != DP_NO_PRIVACY && dpi_svi_share_clipped(s) < least_clipped)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "noise of %g times the clip norm on %zu released numbers needs a finer "
                        "grid than there is; raise epsilon or release fewer numbers",
                        s->opts.sigma, s->objective.n_release);
    if (s->opts.mode == DP_WITHOUT_GUARANTEE && s->opts.sigma > 0 &&
        s->opts.sigma * 0x1p30 < (double)s->n) /* sums would not fit the grid */
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "sigma is %g; noise so small is not drawn, leave it 0 for none",
                        s->opts.sigma);
    if (s->opts.mode != DP_PRIVATE ||
        (s->n <= most_units && s->objective.n_release <= most_numbers))
        return DP_OK;
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "rounding is accounted for up to %zu records (or units of them) and %zu "
                    "released numbers (here %zu); fit a sample of the records",
                    most_units, most_numbers, s->objective.n_release);
}

dp_status dp_svi_new(const dp_model *model, const dp_model *guide, const dp_dataset *data,
                     const dp_svi_opts *opts, dp_svi **out, dp_error *err)
{
    if (model == NULL || data == NULL || opts == NULL || out == NULL)
        dpi_misuse(__func__, "NULL model, data, options or result");
    const dpi_svi_spec spec = {
        .model = model, .guide = guide, .data = data, .opts = opts, .chunk = DPI_SVI_CHUNK};
    return dpi_svi_new(&spec, out, err);
}

/* Takes options and what they say of the data, and makes the objective; the values have not been
 * looked at then. */
static dp_status plan(dp_svi *s, const dpi_svi_spec *spec, dp_error *err)
{
    double epsilon;
    dp_status status = dpi_float_check(err);
    if (status == DP_OK)
        status = dpi_together_check_local(spec->opts->owners, spec->opts->mode, spec->guide != NULL,
                                          err);
    if (status == DP_OK)
        status = dpi_units_init(&s->units, &s->members, spec->data, err);
    s->n = s->units.n;
    if (status == DP_OK)
        status = dpi_options_resolve(&s->opts, s->n, &epsilon, err);
    if (status == DP_OK)
        status = dpi_join_check(&s->opts, err);
    if (status == DP_OK)
        status = dpi_together_check_records(s->opts.owners, s->n, err);
    if (status == DP_OK && s->opts.mode != DP_NO_PRIVACY)
        status = dpi_need_proper(spec->model, "a run with noise would drift along", err);
    if (status != DP_OK)
        return status;
    dpi_extras_init(&s->extras, &s->opts, s->n);
    dpi_objective_spec parts = {.model = spec->model,
                                .guide = spec->guide,
                                .cut = s->opts.form,
                                .population = (double)s->n,
                                .shared = s->units.start != NULL,
                                .n_extra = s->extras.n,
                                .init_scale = s->opts.init_scale};
    status = dpi_objective_init(&s->objective, &parts, err);
    s->falls_short = dpi_svi_delta(s, (double)s->opts.steps, epsilon) > s->delta;
    return status == DP_OK ? check_sizes(s, err) : status;
}

/* Makes all that steps need, and the images that a fit needs. */
static dp_status make(dp_svi *s, const dpi_svi_spec *spec, dp_error *err)
{
    s->sum = (dpi_summation){.objective = &s->objective,
                             .units = &s->units,
                             .extras = &s->extras,
                             .chunk = records_at_a_time(s, spec->chunk),
                             .counts = s->opts.mode == DP_NO_PRIVACY,
                             .whole = dpi_together_is_whole(&s->opts, s->objective.n_release)};
    dp_status status = make_state(s, err);
    if (status == DP_OK && s->release.whole == NULL)
        s->sum.place = s->release.out;
    if (status == DP_OK)
        status = make_run_discreetly(s, spec->data, err);
    if (status == DP_OK && spec->resume != NULL)
        status = dpi_svi_restore(s, spec->resume, err);
    s->sum.run = s->run;
    s->sum.rows = status == DP_OK ? dpi_run_chunk(s->run) : s->sum.chunk;
    if (status == DP_OK)
        status = dpi_summation_init(&s->sum, s->opts.threads, &s->arena, err);
    if (status == DP_OK)
        status = make_random(s, spec->random, err);
    s->sum.noise = s->noise;
    if (status == DP_OK)
        status = dpi_model_store(spec->model, &s->image[0], err);
    if (status == DP_OK && spec->guide != NULL)
        status = dpi_model_store(spec->guide, &s->image[1], err);
    return status;
}

/* The ranks of an owner begin: that none has failed, and that together they have no more units than
 * an owner may. */
static dp_status join_hosts(const dp_owners *o, size_t n, dp_status mine, dp_error *err)
{
    static const unsigned char nothing[DP_OWNERS_QUESTION];
    dpi_hosts_meeting all = {.question = nothing, .units = n};
    mine = dpi_hosts_meet(o, mine, &all, err);
    return mine == DP_OK && dpi_hosts_are(o) ? dpi_together_check_records(o, (size_t)all.units, err)
                                             : mine;
}

dp_status dpi_svi_new(const dpi_svi_spec *spec, dp_svi **out, dp_error *err)
{
    *out = NULL;
    dp_status status = dpi_group_check(spec->opts->group, err);
    if (status == DP_OK)
        status = dpi_hosts_check(spec->opts->owners, err);
    if (status != DP_OK)
        return status;
    dp_svi *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return join_hosts(spec->opts->owners, 0,
                          dpi_group_agree(spec->opts->group, dpi_fail_nomem(err), err), err);
    s->opts = *spec->opts;
    s->ranks.group = s->opts.group;
    s->delta = s->opts.delta;
    if (s->delta < 1) /* else it is refused as it is */
        s->opts.delta = dpi_release_delta(s->delta);
    s->data = spec->data;
    s->keep = spec->keep;
    s->grouped = spec->data->unit != NULL;
    status = plan(s, spec, err);
    if (status == DP_OK)
        status = dpi_spend_open(s, spec, err);
    if (status == DP_OK)
        status = make(s, spec, err);
    status = dpi_join(&s->ranks, s->n, &s->opts, &s->rng, status, err);
    status = join_hosts(spec->opts->owners, s->n, status, err);
    if (status != DP_OK) {
        dpi_spend_cancel(s);
        dp_svi_free(s);
        return status;
    }
    dpi_model_print(spec->model, s->print[0]);
    dpi_model_print(spec->guide, s->print[1]);
    *out = s;
    return DP_OK;
}

void dp_svi_free(dp_svi *s)
{
    if (s == NULL)
        return;
    dpi_batch_free(&s->batch); /* sums and noise were wiped as they were used */
    dp_reservation_free(s->spend.reservation);
    dpi_summation_free(&s->sum);
    dpi_run_free(s->run);
    dpi_objective_free(&s->objective);
    for (int k = 0; k < 2; k++)
        dpi_bytes_free(&s->image[k]);
    dp_noise_free(s->noise);
    dp_rng_free(s->rng);
    dpi_arena_free(&s->members);
    dpi_arena_free(&s->arena);
    dpi_free(s);
}

size_t dp_svi_bytes(const dp_svi *s)
{
    size_t bytes = sizeof *s + dpi_arena_bytes(&s->arena) + dpi_arena_bytes(&s->objective.arena) +
                   s->image[0].room + s->image[1].room;
    bytes += dpi_summation_bytes(&s->sum);
    return bytes;
}

bool dp_svi_done(const dp_svi *s)
{
    return s->optimizer.done >= s->opts.steps;
}

dp_status dp_check_data(const dp_model *model, const dp_model *guide, const dp_dataset *data,
                        dp_error *err)
{
    dp_svi *svi;
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1};
    dp_status status = dp_svi_new(model, guide, data, &opts, &svi, err);
    if (status == DP_OK)
        status = dpi_check_sizes(&svi->objective, data, err);
    dp_svi_free(svi);
    return status;
}

dp_status dp_svi_dropped(const dp_svi *s, uint64_t *units, dp_error *err)
{
    *units = UINT64_MAX;
    if (!s->sum.counts)
        return dpi_fail(err, DP_EPRIVACY,
                        "how many units add nothing is a function of the records; it is counted "
                        "for public data only, in DP_NO_PRIVACY");
    *units = s->dropped;
    return DP_OK;
}

/* ---- one step ---- */

void dpi_svi_draw(dp_svi *s)
{
    const dpi_objective *o = &s->objective;
    for (size_t k = 0; k < o->n_noise; k++) {
        if (!dpi_get(&o->graph, o->noise[k])->shape.per_record)
            dpi_run_normal(s->run, o->noise[k], 1, s->rng);
    }
}

/* Keys the draws of an owner's step. */
static dp_status begin_draws(dp_svi *s, dp_error *err)
{
    unsigned char question[DPI_JOIN_HASH];
    if (s->opts.owners == NULL)
        return DP_OK;
    if (s->local.steps > 0)
        dpi_local_describe(s, question);
    else
        dpi_join_describe(s, question);
    return dpi_together_draws(s->opts.owners, s->noise, question, err);
}

/* Clipped to this share of the clip norm. */
static dp_status sum_batch(dp_svi *s, double share, dp_error *err)
{
    dpi_members batch;
    dp_status status = begin_draws(s, err);
    if (status == DP_OK)
        status = dpi_batch_draw(&s->batch, s->optimizer.done, s->noise, &batch, err);
    if (status != DP_OK)
        return status;
    status = dpi_sum_batch(&s->sum, batch.size, batch.unit, s->opts.clip * share, err);
    if (status == DP_OK && batch.size > 0 && s->sum.dropped == batch.size)
        return dpi_fail(err, DP_EDATA,
                        "step %llu: the gradients of all its %zu units are not finite numbers, or "
                        "their squares overflow; scale the columns, start elsewhere, or keep "
                        "arguments in the range of their functions (log, sqrt)",
                        (unsigned long long)s->begun, batch.size);
    return status;
}

/* That all ranks of the owner are there; whether the release was made before. */
static dp_status meet(dp_svi *s, dp_status mine, dp_error *err)
{
    unsigned char question[DPI_JOIN_HASH];
    dpi_hosts_meeting at = {.question = question, .made = dpi_svi_was_made(s->keep)};
    if (dpi_hosts_are(s->opts.owners))
        dpi_join_describe(s, question);
    mine = dpi_hosts_meet(s->opts.owners, mine, &at, err);
    s->made = at.made;
    s->met = mine == DP_OK;
    return mine;
}

/* A step as far as a rank gets by itself. */
static dp_status begin_step(dp_svi *s, dp_error *err)
{
    dp_status status = dpi_float_check(err);
    if (status == DP_OK)
        status = dpi_spend_step(s, err);
    if (s->begun == 0)
        status = dpi_join_compare(s, status, err);
    status = meet(s, status, err);
    if (status != DP_OK)
        return status;
    s->begun = s->optimizer.done + 1;
    dpi_svi_draw(s);
    dpi_run_globals(s->run);
    double share = dpi_svi_share_clipped(s);
    s->sum.steps = s->sum.whole ? dpi_release_steps(dpi_finish_sd(s)) : 0;
    dpi_extras_prepare(&s->extras, &s->opts, s->begun, share, s->sum.steps);
    return !s->made || s->seeded ? sum_batch(s, share, err) : DP_OK;
}

static dp_status take_step(dp_svi *s, bool *finite, dp_error *err)
{
    const dp_status status = dpi_finish(s, begin_step(s, err), finite, err);
    if (status != DP_OK)
        return status;
    s->dropped += s->sum.dropped;
    dpi_extras_take(&s->extras, s->release.out + s->release.n - s->extras.n, &s->opts, s->begun);
    return DP_OK;
}

/* Steps of this owner alone, and the opening behind them. */
static dp_status take_local_steps(dp_svi *s, bool *finite, dp_error *err)
{
    dpi_local_walk w;
    dp_status status = dpi_local_begin(s, &w, finite, err);
    while (status == DP_OK && *finite && s->optimizer.done < w.end)
        status = take_step(s, finite, err);
    return status == DP_OK ? dpi_local_open(s, &w, finite, err) : status;
}

dp_status dp_svi_step(dp_svi *s, dp_error *err)
{
    if (dp_svi_done(s))
        return dpi_fail(err, DP_ESTATE, "all %llu steps are done; make a new run to go on",
                        (unsigned long long)s->opts.steps);
    if (s->ranks.parted && s->opts.owners != NULL)
        return dpi_fail(err, DP_ESTATE,
                        "this owner's part of the sum of step %llu may have left, and another one "
                        "must not; make a new run",
                        (unsigned long long)s->begun);
    if (s->ranks.parted)
        return dpi_fail(
            err, DP_ESTATE,
            "the ranks parted in step %llu, which some may have done; resume all of them "
            "from their checkpoints",
            (unsigned long long)s->begun);
    uint64_t step = s->optimizer.done + 1;
    bool finite = true;
    dp_status status =
        s->local.steps > 0 ? take_local_steps(s, &finite, err) : take_step(s, &finite, err);
    /* Were it tried again, who has its release would have two, and the ledger one. */
    bool left =
        s->opts.owners != NULL ? status != DP_OK : status == DP_EIO && s->ranks.group != NULL;
    left = left || (s->local.steps > 0 && !finite); /* this owner's own are no round's */
    s->ranks.parted = left && s->begun >= step;
    if (status != DP_OK)
        return status;
    dpi_spend_done(s);
    if (!finite)
        return dpi_fail(err, DP_EDOMAIN,
                        "step %llu: the parameters are no longer finite; take a smaller step_size, "
                        "or check the priors' scales",
                        (unsigned long long)s->optimizer.done);
    return DP_OK;
}
