/* The loop: DP-SVI (tacit/svi.h) with everything chosen, in three phases.
 *
 *   number  one noisy count of the units, for the speed of the clip norm and the check of delta
 *   norms   32 steps at the start, which nothing moves, that find the median of gradients' norms
 *   steps   512 steps of Adam on all units, averaged over the last part, whose clip norm begins
 *           there and follows a quantile of the norms
 *
 * All are Gaussian mechanisms on the whole data set, their number and noise functions of options
 * alone (loop-budget.c), so the lemma of doc/design/infer.md is their account: what a later one
 * asks may follow from what earlier ones have released.  doc/design/loop.md has the choices and how
 * they were measured.
 *
 * All else follows from releases and a public seed.  So a fit that goes on does all again that it
 * did, with the releases of its journal (doc/design/resume.md). */
#include "infer/loop.h"

#include <math.h>
#include <sodium.h>

#include "base/hosts.h"
#include "fit/fit.h"
#include "infer/loop-budget.h"
#include "infer/loop-guide.h"
#include "infer/loop-keep.h"
#include "infer/loop-report.h"
#include "infer/resume.h"
#include "random/failure.h"
#include "svi/svi.h"
#include "svi/together.h"

enum {
    NUMBER = DPI_LOOP_NUMBER,
    NORMS = DPI_LOOP_NORMS,
    STEPS = DPI_LOOP_STEPS,
    PHASES = DPI_LOOP_PHASES
};

/* Seconds: what a crash may lose, against two to seven syncs of 1 to 10 ms each. */
static const double between_groups = 0.25;

typedef struct loop {
    const dp_model *model;
    const dp_dataset *data;
    dp_fit_opts opts; /* without the journal where steps release more than it takes */
    const char *why;
    const dpi_loop_witness *witness;
    dpi_progress *progress;
    dpi_arena arena;
    dp_model *guide;
    dpi_loop_budget budget;
    dpi_keeper keeper;
    dpi_resume resume;
    dpi_loop_keep kept;
    dpi_svi_keep keep; /* by way of kept */
    dp_reservation *reservation;
    bool begun; /* a release may have been made */
    dp_svi *svi;
    double number; /* of units, as released */
    double clip[PHASES];
    double *trace[2]; /* [n_theta] parameters added up over the last eighths of the steps, */
    double traced[2]; /* and how many of these */
} loop;

/* ---- before anything is read ---- */

const char *dpi_loop_why(const dp_fit_opts *o, dp_status viewed, const char *refused)
{
    if (viewed == DP_EUNSUPPORTED && refused[0] != 0)
        return refused;
    return viewed == DP_OK && o->owners != NULL && o->owners->local_steps > 0
               ? "owners take steps by themselves"
               : NULL;
}

static dp_status check_options(const dp_fit_opts *o, const char *why, dp_error *err)
{
    const char *name = o->rounds != 0 ? "rounds" : o->clip != 0 ? "clip" : "draws";
    if (o->rounds == 0 && o->clip == 0 && o->draws == 0)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL,
                    "%s is given, which a fit by %ssteps does not have; leave it 0 (%s)", name,
                    o->mode == DP_PRIVATE ? "noisy " : "", why);
}

/* Whether a journal takes what steps release. */
static dp_status check_journal(loop *a, size_t numbers, dp_error *err)
{
    if (a->opts.journal == NULL || numbers <= DPI_JOURNAL_NUMBERS)
        return DP_OK;
    if (a->opts.resume)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "steps of this model release %zu numbers, and a journal takes %d: none was "
                        "kept, and the fit cannot go on (%s); begin a new one, which is paid for "
                        "anew",
                        numbers, DPI_JOURNAL_NUMBERS, a->why);
    a->opts.journal = NULL;
    return DP_OK;
}

static dp_status reserve(loop *a, const dpi_graph *graph, dp_error *err)
{
    dpi_purpose what = {.spending = {.records = a->data}};
    unsigned char print[DPI_PRINT];
    char model[2 * DPI_PRINT + 1];
    if (a->opts.ledger == NULL)
        return DP_OK;
    dpi_model_print(a->model, print);
    what.model = sodium_bin2hex(model, sizeof model, print, sizeof print);
    dp_status status = dpi_spend_columns(graph, a->data, &a->arena, &what, err);
    return status == DP_OK ? dpi_resume_reserve(&a->resume, &what, &a->reservation, err) : status;
}

/* Finds the journal of a fit that goes on, or is to be kept, and pays. */
static dp_status prepare(loop *a, dp_error *err)
{
    dpi_objective o;
    dp_status status = dpi_loop_objective(&o, a->model, a->guide, a->budget.noisy, err);
    if (status != DP_OK)
        return status;
    a->resume = (dpi_resume){.model = a->model,
                             .opts = &a->opts,
                             .list = a->budget.list,
                             .n = PHASES,
                             .rounds = a->budget.list[STEPS].steps,
                             .keeper = &a->keeper};
    a->keeper.pause = a->opts.owners == NULL ? between_groups : 0;
    a->kept = (dpi_loop_keep){.keeper = &a->keeper, .budget = &a->budget};
    a->keep = dpi_loop_keeps(&a->kept);
    status = check_journal(a, o.n_release, err);
    if (status == DP_OK)
        status = dpi_resume_open(&a->resume, err);
    if (status == DP_OK)
        dpi_loop_budget_seed(&a->budget, a->resume.random);
    if (status == DP_OK)
        status = reserve(a, &o.graph, err);
    dpi_objective_free(&o);
    return status;
}

/* Gives the reservation back, and takes the journal away, where nothing was released; leaves both
 * as they are where the fit can go on. */
static void settle(loop *a, dp_status status)
{
    static const uint64_t none[PHASES];
    bool fresh = !a->begun && !a->opts.resume, done = status == DP_OK || a->keeper.journal == NULL;
    if (fresh)
        dpi_journal_drop(a->keeper.journal);
    if (a->reservation != NULL && fresh)
        (void)!dp_reservation_settle(a->reservation, none, NULL);
    else if (a->reservation != NULL && done)
        (void)!dpi_reservation_finish(a->reservation, NULL);
    dp_reservation_free(a->reservation);
    dpi_journal_free(a->keeper.journal);
}

/* ---- the phases ---- */

static void show(const loop *a, const dpi_release *r)
{
    if (a->witness != NULL)
        a->witness->see(a->witness->of, r, a->svi);
}

/* Like that of the run's first step, and no step's. */
static void question_of_number(const loop *a, unsigned char hash[DPI_JOIN_HASH])
{
    unsigned char first[DPI_JOIN_HASH];
    dpi_join_describe(a->svi, first);
    (void)crypto_generichash(hash, DPI_JOIN_HASH, first, sizeof first,
                             (const unsigned char *)"number", sizeof "number");
}

/* Makes the release of the number, of the sum that r has; of what was made before only the
 * noise. */
static dp_status make_number(const loop *a, dpi_release *r,
                             const unsigned char question[DPI_JOIN_HASH], bool made, dp_error *err)
{
    const dp_owners *owners = &a->budget.owners[NUMBER];
    dp_noise *noise = a->svi->noise;
    if (made && !dpi_hosts_gate(owners))
        return DP_OK;
    dp_status status = dpi_release_begin(r, noise, err);
    if (status != DP_OK)
        return status;
    dpi_release_block(r, 0, NULL, NULL);
    dpi_release_end(r);
    if (a->opts.owners == NULL)
        return DP_OK;
    return made ? dpi_together_again(owners, noise, r, err)
           : dpi_together_is_own(owners)
               ? dpi_together_alone(owners, noise, question, r, err)
               : dpi_together_open(owners, noise, question, r, DP_OK, err);
}

/* The number of units, each entered as what rounding leaves of one in the steps of the run at hand,
 * which release more numbers with more noise; of owners in whole steps of the grid, so that their
 * sum is that of all units.  The run's source has the noise, and has the steps' after it. */
static dp_status release_number(loop *a, dp_error *err)
{
    const dp_owners *owners = a->opts.owners;
    const bool shared = owners != NULL;
    const double share = dpi_svi_share_clipped(a->svi);
    const double sd = a->budget.list[NUMBER].sigma * dpi_together_share(owners);
    double sum = (double)a->svi->n * (shared ? floor(share * dpi_release_steps(sd)) : share);
    unsigned char question[DPI_JOIN_HASH];
    dpi_hosts_meeting at = {.question = question, .made = a->keep.made(a->keep.of)};
    int64_t whole[2];
    dpi_release r = {.n = 1,
                     .noisy = true,
                     .sd = sd,
                     .rate = share,
                     .sum = &sum,
                     .whole_sum = shared,
                     .whole = shared ? whole : NULL,
                     .quiet = shared,
                     .out = &a->number};
    question_of_number(a, question);
    a->kept.phase = DPI_LOOP_NUMBER;
    dp_status status = dpi_hosts_meet(owners, DP_OK, &at, err);
    if (status != DP_OK)
        return status;
    if (!at.made || a->svi->seeded)
        status = make_number(a, &r, question, at.made, err);
    sodium_memzero(&sum, sizeof sum);
    if (status == DP_OK)
        status = a->keep.keep(a->keep.of, question, &r, err);
    status = dpi_hosts_give(owners, status, 1, r.out, whole, err);
    if (status == DP_OK)
        show(a, &r);
    return status;
}

/* Fewer than the noise would hide are taken for that many. */
static double units_of(const loop *a)
{
    return fmax(a->number, a->budget.doubt);
}

/* All runs begin at the same place, seeded or not; and all owners do. */
static dp_status start(loop *a, dp_error *err)
{
    dp_rng *rng = NULL;
    if (a->guide != NULL)
        return DP_OK;
    dp_status status = dp_rng_new(a->budget.seed, &rng, err);
    if (status == DP_OK)
        status = dpi_loop_start(a->model, &a->svi->objective, rng, a->svi->optimizer.theta, err);
    dp_rng_free(rng);
    return status;
}

static dp_status new_run(loop *a, dpi_loop_phase phase, dp_error *err)
{
    dp_svi_opts o = dpi_loop_options(&a->budget, phase);
    const dpi_svi_spec spec = {.model = a->model,
                               .guide = a->guide,
                               .data = a->data,
                               .opts = &o,
                               .chunk = DPI_SVI_CHUNK,
                               .keep = a->opts.journal != NULL ? &a->keep : NULL,
                               .random = dpi_loop_seed(a->budget.seed, phase)};
    const bool follows = a->budget.noisy && phase == DPI_LOOP_STEPS;
    if (follows) {
        double numbers = (double)a->svi->objective.n_release;
        o.clip = a->clip[NORMS];
        o.clip_quantile = 1 - dpi_loop_share_clipped(&a->budget, numbers, units_of(a));
    }
    dp_svi_free(a->svi);
    dp_status status = dpi_svi_new(&spec, &a->svi, err);
    if (status == DP_OK)
        status = start(a, err);
    if (status == DP_OK && follows)
        a->svi->extras.units = units_of(a);
    return status;
}

/* Adds the parameters that so many steps have come to, to those of their eighth of all steps, of
 * which the last two count. */
static void trace(loop *a, uint64_t steps)
{
    const dpi_optimizer *at = &a->svi->optimizer;
    uint64_t eighth = at->steps / 8, left = at->steps - at->done;
    if (left >= 2 * eighth)
        return;
    const int last = left < eighth;
    for (size_t i = 0; i < at->n; i++)
        a->trace[last][i] += at->theta[i] * (double)steps;
    a->traced[last] += (double)steps;
}

/* Without privacy steps are no releases, and are told of as if draws were made. */
static dp_status tell(loop *a, dpi_loop_phase phase, uint64_t steps, dp_error *err)
{
    const dpi_optimizer *at = &a->svi->optimizer;
    if (a->budget.noisy) {
        dp_status status = DP_OK;
        for (; status == DP_OK && steps > 0; steps--)
            status = dpi_progress_release(a->progress, (size_t)phase, err);
        return status;
    }
    return dpi_progress_moved(a->progress, (double)at->done / (double)at->steps)
               ? dpi_progress_stopped(err)
               : DP_OK;
}

/* Makes all steps of the run at hand. */
static dp_status run(loop *a, dpi_loop_phase phase, dp_error *err)
{
    dp_status status = DP_OK;
    a->kept.phase = phase;
    while (status == DP_OK && !dp_svi_done(a->svi)) {
        const uint64_t before = a->svi->optimizer.done;
        status = dp_svi_step(a->svi, err);
        if (status == DP_OK)
            show(a, &a->svi->release);
        if (status == DP_OK && a->trace[1] != NULL)
            trace(a, a->svi->optimizer.done - before);
        if (status == DP_OK)
            status = tell(a, phase, a->svi->optimizer.done - before, err);
    }
    return status;
}

static dp_status run_norms(loop *a, dp_error *err)
{
    dp_status status = release_number(a, err);
    a->svi->extras.units = units_of(a);
    if (status == DP_OK)
        status = dpi_progress_release(a->progress, NUMBER, err);
    if (status == DP_OK)
        status = run(a, DPI_LOOP_NORMS, err);
    a->clip[NORMS] = a->svi->opts.clip;
    return status;
}

static dp_status run_steps(loop *a, dp_error *err)
{
    size_t n = a->svi->objective.n_theta;
    for (int k = 0; k < 2; k++)
        if ((a->trace[k] = dpi_arena_alloc(&a->arena, n, sizeof *a->trace[k])) == NULL)
            return dpi_fail_nomem(err);
    dp_status status = run(a, DPI_LOOP_STEPS, err);
    a->clip[STEPS] = a->svi->opts.clip;
    return status;
}

/* ---- the fit ---- */

/* The noise of a phase is that of all that one of its releases holds, in units of what a record
 * can change; so that the squares of 1 / sigma add up to what was spent.  An owner's own clip norm
 * is no part of a fit that all have. */
static size_t list_phases(const loop *a, dp_fit_phase phases[PHASES])
{
    const bool own = dpi_together_is_own(a->opts.owners);
    for (int k = 0; k < PHASES; k++)
        phases[k] = (dp_fit_phase){.name = dpi_loop_phase_names[k],
                                   .releases = a->budget.list[k].steps,
                                   .sigma = a->budget.list[k].sigma,
                                   .clip = k == NUMBER || own ? 1 : a->clip[k]};
    return a->budget.noisy ? PHASES : 0;
}

/* How far the guide's means went between the last two eighths of the steps, in its standard
 * deviations; NaN where it has none. */
static double drift_of(const loop *a)
{
    const dpi_objective *o = &a->svi->objective;
    const double *theta = dpi_optimizer_result(&a->svi->optimizer);
    double most = NAN;
    for (const dpi_block *b = o->blocks; b + 1 < o->blocks + o->n_blocks; b++)
        for (size_t e = 0; e < b->size && dpi_is_location(b); e++) {
            size_t i = b->offset + e;
            double sd = exp(theta[b[1].offset + e]);
            const double moved = a->trace[1][i] / a->traced[1] - a->trace[0][i] / a->traced[0];
            most = fmax(most, fabs(moved) / sd);
        }
    return most;
}

static dp_status guarantee(const loop *a, dp_privacy *p, dp_error *err)
{
    const dpi_loop_budget *b = &a->budget;
    dp_status status = dpi_svi_guarantee(a->svi, p, err);
    double numbers = 1, asked = a->opts.delta;
    if (status != DP_OK || !b->noisy)
        return status;
    p->epsilon = b->epsilon;
    p->sigma = b->sigma;
    if (dpi_together_is_own(a->opts.owners))
        p->clip = 1; /* each owner has another */
    p->steps = 0;
    for (int k = 0; k < PHASES; k++) {
        p->steps += b->list[k].steps;
        numbers += (double)b->list[k].steps * (double)a->svi->objective.n_release;
    }
    numbers *= dpi_together_failures(a->opts.owners);
    p->delta = dpi_release_whole_delta(asked, b->accounted, numbers, b->epsilon);
    if (p->delta > asked && p->why_not == NULL)
        p->why_not = "noise so small that the delta asked for is not kept";
    p->is_private = p->why_not == NULL;
    return DP_OK;
}

static dp_status make_fit(const loop *a, dp_fit **fit, dp_error *err)
{
    dp_privacy privacy;
    dp_fit_phase phases[PHASES];
    dpi_loop_report said;
    const bool own = dpi_together_is_own(a->opts.owners); /* and so is the number that it knows */
    const double units = own ? 0 : fmax(a->number - a->budget.doubt, 0);
    const dpi_loop_found found = {.why = a->why,
                                  .noisy = a->budget.noisy,
                                  .drift = drift_of(a),
                                  .delta = a->opts.delta * units,
                                  .factors = own,
                                  .local_steps =
                                      a->opts.owners != NULL ? a->opts.owners->local_steps : 0};
    dpi_loop_say(&found, &said);
    const dpi_fit_parts parts = {.privacy = &privacy,
                                 .phases = phases,
                                 .n_phases = list_phases(a, phases),
                                 .diagnostics = said.list,
                                 .n_diagnostics = said.n};
    dp_status status = guarantee(a, &privacy, err);
    return status == DP_OK ? dpi_fit_said(a->svi, &parts, fit, err) : status;
}

/* Makes the journal of a fit that begins, and tells what there will be. */
static dp_status begin(loop *a, dp_error *err)
{
    const dpi_loop_budget *b = &a->budget;
    dp_status status = dpi_resume_begin(&a->resume, err);
    const dpi_progress_plan plan = {.names = dpi_loop_phase_names,
                                    .list = b->list,
                                    .n = b->noisy ? PHASES : 0,
                                    .delta = b->accounted,
                                    .kept = a->keeper.journal != NULL};
    if (status == DP_OK)
        status = dpi_progress_begin(a->progress, &plan, err);
    a->begun = status == DP_OK;
    return status;
}

/* All that is released. */
static dp_status release(loop *a, dp_error *err)
{
    dp_status status = check_options(&a->opts, a->why, err);
    if (status == DP_OK)
        status = dpi_loop_budget_init(&a->budget, &a->opts, err);
    if (status == DP_OK)
        status = dpi_loop_guide(a->model, &a->guide, err);
    if (status == DP_OK)
        status = prepare(a, err);
    if (status == DP_OK)
        status = new_run(a, a->budget.noisy ? DPI_LOOP_NORMS : DPI_LOOP_STEPS, err);
    if (status == DP_OK)
        status = begin(a, err);
    if (status == DP_OK && a->budget.noisy)
        status = run_norms(a, err);
    if (status == DP_OK && a->budget.noisy)
        status = new_run(a, DPI_LOOP_STEPS, err);
    if (status == DP_OK)
        status = run_steps(a, err);
    return dpi_keeper_end(&a->keeper, status, err);
}

dp_status dpi_fit_loop(const dpi_loop_spec *spec, dp_fit **fit, dp_error *err)
{
    loop a = {.model = spec->model,
              .data = spec->data,
              .opts = *spec->opts,
              .why = spec->why,
              .witness = spec->witness,
              .progress = spec->progress};
    *fit = NULL;
    dp_status status = release(&a, err);
    if (status == DP_OK)
        status = make_fit(&a, fit, err);
    settle(&a, status);
    dp_svi_free(a.svi);
    dp_model_free(a.guide);
    dpi_arena_free(&a.arena);
    return status;
}
