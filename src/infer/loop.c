/* The loop: DP-SVI (tacit/svi.h) with everything chosen, in three phases.
 *
 *   number  one noisy count of the units, for the speed of the clip norm and the check of delta
 *   norms   32 steps at the start, which nothing moves, that find the median of gradients' norms
 *   steps   512 steps of Adam on all units, averaged over the last part, whose clip norm begins
 *           there and follows a quantile of the norms
 *
 * All are Gaussian mechanisms on the whole data set, their number and noise functions of options
 * alone, so the lemma of doc/design/infer.md is their account: what a later one asks may follow
 * from what earlier ones have released.  A step releases the clipped sum and a count in one vector
 * (svi/cost.c); the count is accounted for as if its quantile were 1, so that it may be chosen from
 * the number.  doc/design/loop.md has the choices and how they were measured. */
#include "infer/loop.h"

#include <math.h>
#include <sodium.h>

#include "fit/fit.h"
#include "infer/loop-guide.h"
#include "infer/loop-report.h"
#include "random/failure.h"
#include "svi/cost.h"
#include "svi/options.h"
#include "svi/svi.h"
#include "svi/together.h"

enum { NUMBER, NORMS, STEPS, PHASES, WARM = 32, PRIVATE_STEPS = 512, OPEN_STEPS = 2048 };
static const char *const phase_names[PHASES] = {"number", "norms", "steps"};

/* How it is done was measured (doc/design/loop.md): of 1 / sigma^2 what each phase has, and of that
 * of a step what the count of norms has beside the gradient. */
static const double shares[PHASES] = {0.01, 0.04, 0.95}, count_shares[PHASES] = {0, 0.999, 0.1};
static const double average = 0.5, clip_speed = 0.2;

/* Gradients that are clipped: a share of least_clipped ... 1/2, else so many times sqrt(numbers)
 * sigma, at which bias and noise of a clipped sum balance, or times the noise of their count. */
static const double least_clipped = 0.05, clipped_dims = 3, clipped_noise = 1.5;
static const double nowhere = 1e-300;           /* a step that no double notices */
static const double greatest_count_sigma = 1e6; /* of svi/options.c */

typedef struct loop {
    const dp_model *model;
    const dp_dataset *data;
    const dp_fit_opts *opts;
    const char *why;
    const dpi_loop_witness *witness;
    dpi_progress *progress;
    dpi_arena arena;
    dp_model *guide;
    bool noisy;
    uint64_t seed;                          /* of the start, the same for both runs */
    double accounted, epsilon;              /* delta of the account; what all costs */
    double sigma;                           /* of one release that costs as much */
    double gradient[PHASES], count[PHASES]; /* noise of what the steps of a phase release */
    dp_mechanism list[PHASES];
    dp_owners owners[PHASES]; /* where there are, each with a seed of its own */
    dp_reservation *reservation;
    bool begun;
    dp_svi *svi;
    double number, doubt; /* of units, as released; twice its noise, of all shares */
    double clip[PHASES];
    double *trace[2]; /* [n_theta] means over the last eighths */
} loop;

/* ---- the budget ---- */

static dp_status check_options(const dp_fit_opts *o, const char *why, dp_error *err)
{
    const char *name = o->rounds != 0 ? "rounds" : o->clip != 0 ? "clip" : "draws";
    if (o->rounds == 0 && o->clip == 0 && o->draws == 0)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL,
                    "%s is given, which a fit by noisy steps does not have; leave it 0 (%s)", name,
                    why);
}

/* A seed for each phase, far from those of other seeds' phases; never 0. */
static uint64_t seed_of(uint64_t of, int phase)
{
    uint64_t seed = of + (uint64_t)phase * UINT64_C(0x9e3779b97f4a7c15);
    return seed != 0 ? seed : 1;
}

/* What a run of a phase is asked for; its clip norm is the caller's. */
static dp_svi_opts options_of(const loop *a, int phase)
{
    const dp_fit_opts *o = a->opts;
    dp_svi_opts s = {.mode = o->mode,
                     .sampling = DP_SAMPLING_FULL,
                     .steps = phase == NORMS ? WARM
                              : a->noisy     ? PRIVATE_STEPS
                                             : OPEN_STEPS,
                     .threads = o->threads,
                     .owners = o->owners != NULL ? &a->owners[phase] : NULL,
                     .seed = o->seed != 0 ? seed_of(o->seed, phase) : 0, /* an owner's own */
                     .average = phase == STEPS ? average : 0};
    s.step_size = phase == NORMS ? nowhere : 1 / sqrt((double)s.steps);
    if (!a->noisy)
        return s;
    s.rate = 1;
    s.delta = o->delta;
    s.sigma = a->gradient[phase];
    s.clip = 1;
    s.clip_quantile = phase == NORMS ? 0.5 : 1 - least_clipped;
    s.clip_sigma = a->count[phase];
    s.clip_speed = phase == NORMS ? 1 : clip_speed;
    s.public_units = 1; /* until the number is known */
    return s;
}

static dp_status calibrate(loop *a, dp_error *err)
{
    const dp_fit_opts *o = a->opts;
    dp_interval spent;
    a->accounted = dpi_release_delta(o->delta);
    dp_status status =
        dp_approximate_sigma(o->epsilon, a->accounted, 1, 1, DP_SAMPLING_FULL, &a->sigma, err);
    if (status != DP_OK)
        return status;
    a->sigma *= 1 + 0x1p-40; /* for the rounding of the shares */
    a->list[NUMBER] = (dp_mechanism){.sampling = DP_SAMPLING_FULL, .rate = 1, .steps = 1};
    const double least = a->list[NUMBER].sigma = a->sigma / sqrt(shares[NUMBER]);
    a->doubt = 2 * least * dpi_together_excess(o->owners);
    for (int k = NORMS; k < PHASES; k++) {
        const dp_svi_opts as_planned = options_of(a, k);
        double step = a->sigma * sqrt((double)as_planned.steps / shares[k]);
        double beside = count_shares[k];
        a->gradient[k] = step / sqrt(1 - beside);
        a->count[k] = step / sqrt(beside) * as_planned.clip_quantile;
        const dp_svi_opts now = options_of(a, k);
        (void)dpi_cost_list(&now, now.steps, &a->list[k]);
    }
    if (!(a->count[STEPS] <= greatest_count_sigma))
        return dpi_fail(err, DP_EDOMAIN,
                        "epsilon %g at delta %g asks for more noise than is drawn in steps, and "
                        "leaves nothing of the records; raise epsilon",
                        o->epsilon, o->delta);
    status = dp_account_epsilon(a->list, PHASES, a->accounted, 0, &spent, err);
    a->epsilon = spent.upper;
    if (status == DP_OK && !(spent.upper <= o->epsilon))
        return dpi_fail(err, DP_EACCURACY, "the phases would cost %.9g, and %.9g may be spent",
                        spent.upper, o->epsilon);
    return status == DP_OK ? dpi_together_check_grid(o->owners, least, err) : status;
}

/* ---- the ledger ---- */

static dp_status reserve(loop *a, dp_error *err)
{
    dpi_purpose what = {.spending = {.data = a->opts->ledger_data,
                                     .label = a->opts->ledger_label,
                                     .list = a->list,
                                     .n = PHASES,
                                     .records = a->data}};
    dpi_objective_spec spec = {
        .model = a->model, .guide = a->guide, .cut = DP_FORM_LATENTS, .init_scale = 1};
    dpi_objective objective;
    unsigned char print[DPI_PRINT];
    char model[2 * DPI_PRINT + 1];
    dpi_model_print(a->model, print);
    what.model = sodium_bin2hex(model, sizeof model, print, sizeof print);
    dp_status status = dpi_objective_init(&objective, &spec, err);
    if (status == DP_OK)
        status = dpi_spend_columns(&objective.graph, a->data, &a->arena, &what, err);
    if (status == DP_OK)
        status = dpi_reserve(a->opts->ledger, &what, &a->reservation, err);
    dpi_objective_free(&objective);
    return status;
}

/* Gives the reservation back where nothing was released. */
static void settle(loop *a)
{
    static const uint64_t none[PHASES];
    if (a->reservation != NULL && !a->begun)
        (void)!dp_reservation_settle(a->reservation, none, NULL);
    else if (a->reservation != NULL)
        (void)!dpi_reservation_finish(a->reservation, NULL);
    dp_reservation_free(a->reservation);
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

/* The number of units, each entered as what rounding leaves of one in the steps of the run at hand,
 * which release more numbers with more noise.  The run's source has the noise, and has the steps'
 * after it. */
static dp_status release_number(loop *a, dp_error *err)
{
    const dp_owners *owners = a->opts->owners != NULL ? &a->owners[NUMBER] : NULL;
    double share = dpi_svi_share_clipped(a->svi), sum = (double)a->svi->n * share;
    unsigned char question[DPI_JOIN_HASH];
    int64_t whole;
    dpi_release r = {.n = 1,
                     .noisy = true,
                     .sd = a->list[NUMBER].sigma * dpi_together_share(owners),
                     .rate = share,
                     .sum = &sum,
                     .whole = owners != NULL ? &whole : NULL,
                     .quiet = owners != NULL,
                     .out = &a->number};
    dp_status status = dpi_release_begin(&r, a->svi->noise, err);
    if (status == DP_OK) {
        dpi_release_block(&r, 0, NULL, NULL);
        dpi_release_end(&r);
    }
    sodium_memzero(&sum, sizeof sum);
    if (status == DP_OK && owners != NULL) {
        question_of_number(a, question);
        status = dpi_together_open(owners, a->svi->noise, question, &r, err);
    }
    if (status == DP_OK)
        show(a, &r);
    return status;
}

/* Fewer than the noise would hide are taken for that many. */
static double units_of(const loop *a)
{
    return fmax(a->number, a->doubt);
}

static double share_clipped(const loop *a)
{
    double numbers = (double)a->svi->objective.n_release;
    double most = fmax(clipped_dims * sqrt(numbers) * a->sigma, clipped_noise * a->count[STEPS]);
    return fmin(fmax(most / units_of(a), least_clipped), 0.5);
}

static dp_status new_run(loop *a, int phase, dp_error *err)
{
    dp_svi_opts o = options_of(a, phase);
    dp_rng *rng = NULL;
    if (a->noisy && phase == STEPS) {
        o.clip = a->clip[NORMS];
        o.clip_quantile = 1 - share_clipped(a);
    }
    dp_svi_free(a->svi);
    dp_status status = dp_svi_new(a->model, a->guide, a->data, &o, &a->svi, err);
    if (status == DP_OK && a->guide == NULL)
        status = dp_rng_new(a->seed, &rng, err);
    if (status == DP_OK && a->guide == NULL)
        status = dpi_loop_start(a->model, &a->svi->objective, rng, a->svi->optimizer.theta, err);
    if (status == DP_OK && a->noisy && phase == STEPS)
        a->svi->extras.units = units_of(a);
    dp_rng_free(rng);
    return status;
}

/* Adds the parameters to the mean over their eighth of the steps, of which the last two count. */
static void trace(loop *a)
{
    const dpi_optimizer *at = &a->svi->optimizer;
    uint64_t eighth = at->steps / 8, left = at->steps - at->done;
    if (left >= 2 * eighth)
        return;
    double *mean = a->trace[left < eighth];
    for (size_t i = 0; i < at->n; i++)
        mean[i] += at->theta[i] / (double)eighth;
}

/* Without privacy steps are no releases, and are told of as if draws were made. */
static dp_status tell(loop *a, int phase, dp_error *err)
{
    const dpi_optimizer *at = &a->svi->optimizer;
    if (a->noisy)
        return dpi_progress_release(a->progress, (size_t)phase, err);
    return dpi_progress_moved(a->progress, (double)at->done / (double)at->steps)
               ? dpi_progress_stopped(err)
               : DP_OK;
}

/* Makes all steps of the run at hand. */
static dp_status run(loop *a, int phase, dp_error *err)
{
    dp_status status = DP_OK;
    while (status == DP_OK && !dp_svi_done(a->svi)) {
        status = dp_svi_step(a->svi, err);
        if (status == DP_OK)
            show(a, &a->svi->release);
        if (status == DP_OK && a->trace[1] != NULL)
            trace(a);
        if (status == DP_OK)
            status = tell(a, phase, err);
    }
    return status;
}

static dp_status run_norms(loop *a, dp_error *err)
{
    a->begun = true;
    dp_status status = release_number(a, err);
    a->svi->extras.units = units_of(a);
    if (status == DP_OK)
        status = dpi_progress_release(a->progress, NUMBER, err);
    if (status == DP_OK)
        status = run(a, NORMS, err);
    a->clip[NORMS] = a->svi->opts.clip;
    return status;
}

static dp_status run_steps(loop *a, dp_error *err)
{
    size_t n = a->svi->objective.n_theta;
    a->begun = true;
    for (int k = 0; k < 2; k++)
        if ((a->trace[k] = dpi_arena_alloc(&a->arena, n, sizeof *a->trace[k])) == NULL)
            return dpi_fail_nomem(err);
    dp_status status = run(a, STEPS, err);
    a->clip[STEPS] = a->svi->opts.clip;
    return status;
}

/* ---- the fit ---- */

/* The noise of a phase is that of all that one of its releases holds, in units of what a record
 * can change; so that the squares of 1 / sigma add up to what was spent. */
static size_t list_phases(const loop *a, dp_fit_phase phases[PHASES])
{
    for (int k = 0; k < PHASES; k++)
        phases[k] = (dp_fit_phase){.name = phase_names[k],
                                   .releases = a->list[k].steps,
                                   .sigma = a->list[k].sigma,
                                   .clip = k == NUMBER ? 1 : a->clip[k]};
    return a->noisy ? PHASES : 0;
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
            most = fmax(most, fabs(a->trace[1][i] - a->trace[0][i]) / sd);
        }
    return most;
}

static dp_status guarantee(const loop *a, dp_privacy *p, dp_error *err)
{
    dp_status status = dpi_svi_guarantee(a->svi, p, err);
    double numbers = 1;
    if (status != DP_OK || !a->noisy)
        return status;
    p->epsilon = a->epsilon;
    p->sigma = a->sigma;
    p->steps = 0;
    for (int k = 0; k < PHASES; k++) {
        p->steps += a->list[k].steps;
        numbers += (double)a->list[k].steps * (double)a->svi->objective.n_release;
    }
    numbers *= dpi_together_failures(a->opts->owners);
    p->delta = dpi_release_whole_delta(a->opts->delta, a->accounted, numbers, a->epsilon);
    if (p->delta > a->opts->delta && p->why_not == NULL)
        p->why_not = "noise so small that the delta asked for is not kept";
    p->is_private = p->why_not == NULL;
    return DP_OK;
}

static dp_status make_fit(const loop *a, dp_fit **fit, dp_error *err)
{
    dp_privacy privacy;
    dp_fit_phase phases[PHASES];
    dpi_loop_report said;
    double units = fmax(a->number - a->doubt, 0);
    const dpi_loop_found found = {
        .why = a->why, .noisy = a->noisy, .drift = drift_of(a), .delta = a->opts->delta * units};
    dpi_loop_say(&found, &said);
    const dpi_fit_parts parts = {.privacy = &privacy,
                                 .phases = phases,
                                 .n_phases = list_phases(a, phases),
                                 .diagnostics = said.list,
                                 .n_diagnostics = said.n};
    dp_status status = guarantee(a, &privacy, err);
    return status == DP_OK ? dpi_fit_said(a->svi, &parts, fit, err) : status;
}

/* Both runs begin at the same place, seeded or not; and all owners do. */
static dp_status choose_start(loop *a, dp_error *err)
{
    const dp_owners *owners = a->opts->owners;
    dp_rng *rng = NULL;
    a->seed = owners != NULL ? owners->seed : a->opts->seed;
    for (int k = 0; k < PHASES && owners != NULL; k++) {
        a->owners[k] = *owners;
        a->owners[k].seed = seed_of(a->seed, k);
    }
    dp_status status = a->seed != 0 ? DP_OK : dp_rng_new_random(&rng, &a->seed, err);
    dp_rng_free(rng);
    return status;
}

static dp_status begin(loop *a, dp_error *err)
{
    const dpi_progress_plan plan = {
        .names = phase_names, .list = a->list, .n = a->noisy ? PHASES : 0, .delta = a->accounted};
    return dpi_progress_begin(a->progress, &plan, err);
}

static dp_status fit_loop(loop *a, dp_fit **fit, dp_error *err)
{
    dp_status status = check_options(a->opts, a->why, err);
    if (status == DP_OK && a->opts->resume)
        status = dpi_fail(err, DP_EUNSUPPORTED,
                          "a fit by noisy steps keeps no journal and cannot go on (%s); begin a "
                          "new one, which is paid for anew",
                          a->why);
    if (status == DP_OK)
        status = dpi_together_check(a->opts->owners, err);
    if (status == DP_OK)
        status = choose_start(a, err);
    if (status == DP_OK && a->noisy)
        status = dpi_options_budget(a->opts->epsilon, a->opts->delta, 0, err);
    if (status == DP_OK && a->noisy)
        status = calibrate(a, err);
    if (status == DP_OK)
        status = dpi_loop_guide(a->model, &a->guide, err);
    if (status == DP_OK && a->opts->ledger != NULL)
        status = reserve(a, err);
    if (status == DP_OK)
        status = begin(a, err);
    if (status == DP_OK && a->noisy)
        status = new_run(a, NORMS, err);
    if (status == DP_OK && a->noisy)
        status = run_norms(a, err);
    if (status == DP_OK)
        status = new_run(a, STEPS, err);
    if (status == DP_OK)
        status = run_steps(a, err);
    return status == DP_OK ? make_fit(a, fit, err) : status;
}

dp_status dpi_loop_openings(const dp_model *model, const dp_fit_opts *opts, size_t *n,
                            dp_opening list[DP_OPENINGS], dp_error *err)
{
    loop a = {.model = model, .opts = opts, .noisy = opts->mode == DP_PRIVATE};
    dpi_objective o;
    dpi_objective_spec spec = {.model = model, .cut = DP_FORM_LATENTS, .n_extra = a.noisy};
    dp_status status = dpi_together_check(opts->owners, err);
    *n = 0;
    if (status == DP_OK && a.noisy)
        status = dpi_options_budget(opts->epsilon, opts->delta, 0, err);
    if (status == DP_OK && a.noisy)
        status = calibrate(&a, err);
    if (status == DP_OK)
        status = dpi_loop_guide(model, &a.guide, err);
    spec.guide = a.guide;
    spec.init_scale = 1;
    if (status == DP_OK)
        status = dpi_objective_init(&o, &spec, err);
    if (status == DP_OK) {
        for (int k = a.noisy ? NUMBER : STEPS; k < PHASES; k++)
            list[(*n)++] =
                (dp_opening){.phase = phase_names[k],
                             .times = a.noisy ? a.list[k].steps : OPEN_STEPS,
                             .numbers = k == NUMBER ? 1 : dpi_together_words(a.noisy, o.n_release),
                             .sigma = a.noisy ? a.list[k].sigma : 0};
        dpi_objective_free(&o);
    }
    dp_model_free(a.guide);
    dpi_arena_free(&a.arena);
    return status;
}

dp_status dpi_fit_loop(const dpi_loop_spec *spec, dp_fit **fit, dp_error *err)
{
    loop a = {.model = spec->model,
              .data = spec->data,
              .opts = spec->opts,
              .why = spec->why,
              .witness = spec->witness,
              .progress = spec->progress,
              .noisy = spec->opts->mode == DP_PRIVATE};
    *fit = NULL;
    dp_status status = fit_loop(&a, fit, err);
    settle(&a);
    dp_svi_free(a.svi);
    dp_model_free(a.guide);
    dpi_arena_free(&a.arena);
    return status;
}
