/* Draws by the no-U-turn sampler (nuts.c): chains, warm-up, report.
 *
 * All chains take turns, one transition each, and share step and covariance, which so are learnt
 * from every chain's draws; after the warm-up both stay, and a chain is a Markov chain that leaves
 * the target invariant, with random numbers of its own, so that any thread may run it.
 *
 * The step is found by doubling or halving until a single leapfrog crosses an acceptance of 0.8,
 * and then led by dual averaging (Hoffman and Gelman 2014, section 3.2) to the acceptance that is
 * asked for: with m transitions done and h the mean shortfall of acceptance, the first ones of less
 * weight,
 *
 *   log step = log(10 first step) - sqrt(m) / 0.05 h
 *
 * and in the end a mean of log steps in which the k-th weighs about k^-0.75.
 *
 * The warm-up of opts.adapt is that of Stan (Carpenter and others 2017, J. Stat. Softw. 76): 15 %,
 * at most 75 transitions, on the way to where the density is; windows of 25, 50, 100, ...
 * transitions, of which the last takes what would not do for another; 10 %, at most 50, for the
 * step alone.  After each window the factor is learnt from it (whiten.c), each chain's place
 * becomes the origin of its coordinates, and the step is looked for anew. */
#include "infer/hmc.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "infer/mixing.h"
#include "infer/whiten.h"
#include "random/rng.h"

enum { DEPTH = 10, LEAST_ADAPT = 20, FIRST = 75, LAST = 50, WINDOW = 25, MOST_DOUBLINGS = 100 };

static const double good_acceptance = 0.8;

/* Dual averaging; names as above. */
typedef struct averaging {
    double target, middle, shortfall, log_mean;
    double done;
} averaging;

typedef struct markov_chain {
    dpi_hmc_point at;
    double *origin; /* [n] */
    uint64_t seed;  /* of its draws after the warm-up */
    size_t divergent, cut;
    double acceptance;
} markov_chain;

/* A thread's own. */
typedef struct worker {
    dpi_nuts *nuts;
    dp_rng *rng;
} worker;

typedef struct sampler {
    dpi_hmc_opts opts;
    dpi_nuts nuts;
    averaging step;
    markov_chain *chains;
    worker *workers;
    size_t n_workers;
    atomic_size_t next; /* chain whose draws nobody makes yet */
    double *draws;
    double *factor, *scratch; /* [n][n], for opts.adapt */
    double *window;           /* [chains][transitions between the first and the last][n] */
    size_t first, slow;       /* transitions before windows, and in them */
    dp_rng *rng;
    dpi_arena arena;
    size_t moved; /* turns of the caller's thread, of as many as there would be with one */
    atomic_bool stopped;
} sampler;

/* ---- options ---- */

static bool factor_is_one(size_t n, const double *factor)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            if (!isfinite(factor[i * n + j]))
                return false;
        if (!(factor[i * n + i] > 0) || isinf(factor[i * n + i]))
            return false;
    }
    return true;
}

static dp_status check(const dpi_target *target, dpi_hmc_opts *o, dp_error *err)
{
    size_t size;
    if (target->n == 0 || o->chains == 0 || o->draws == 0 || o->start == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a sampler needs coordinates, chains, draws and a start: %zu, %zu, %zu "
                        "and %s are given",
                        target->n, o->chains, o->draws, o->start == NULL ? "none" : "one");
    if (!dpi_mul(o->chains, o->draws, &size) || !dpi_mul(size, target->n, &size) ||
        !dpi_mul(size, sizeof(double), &size))
        return dpi_fail(err, DP_EINVAL, "%zu chains of %zu draws of %zu numbers are too many",
                        o->chains, o->draws, target->n);
    o->depth = o->depth == 0 ? DEPTH : o->depth;
    o->acceptance = o->acceptance == 0 ? good_acceptance : o->acceptance;
    if (o->depth < 1 || o->depth > DPI_NUTS_DEPTH)
        return dpi_fail(err, DP_EDOMAIN, "%d doublings of a trajectory; give 1 to %d", o->depth,
                        (int)DPI_NUTS_DEPTH);
    if (!(o->acceptance > 0 && o->acceptance < 1))
        return dpi_fail(err, DP_EDOMAIN, "acceptance %g; give one between 0 and 1", o->acceptance);
    if (!(o->step >= 0) || isinf(o->step))
        return dpi_fail(err, DP_EDOMAIN, "step %g; give a finite one, or 0 to have it found",
                        o->step);
    if (o->factor != NULL && !factor_is_one(target->n, o->factor))
        return dpi_fail(err, DP_EDOMAIN,
                        "the factor of the covariance has a number that is not finite or no "
                        "positive diagonal; give a Cholesky factor");
    return DP_OK;
}

/* ---- start ---- */

static bool evaluate(sampler *s, markov_chain *c)
{
    s->nuts.in.origin = c->origin;
    return dpi_nuts_evaluate(&s->nuts, &c->at);
}

static dp_status make_workers(sampler *s, dp_error *err)
{
    dp_status status = DP_OK;
    s->n_workers = s->opts.pool != NULL ? s->opts.n_twins + 1 : 1;
    s->workers = dpi_arena_alloc(&s->arena, s->n_workers, sizeof *s->workers);
    if (s->workers == NULL) {
        s->n_workers = 0;
        return dpi_fail_nomem(err);
    }
    for (size_t k = 0; k < s->n_workers && status == DP_OK; k++) {
        worker *w = &s->workers[k];
        w->nuts = k == 0 ? &s->nuts : dpi_arena_alloc(&s->arena, 1, sizeof *w->nuts);
        if (w->nuts == NULL ||
            (k > 0 && !dpi_nuts_init(w->nuts, &s->opts.twins[k - 1], s->opts.depth, &s->arena)))
            status = dpi_fail_nomem(err);
        else
            status = dp_rng_new(1, &w->rng, err);
    }
    return status;
}

static dp_status start_chains(sampler *s, dp_error *err)
{
    const size_t n = s->nuts.in.n;
    s->chains = dpi_arena_alloc(&s->arena, s->opts.chains, sizeof *s->chains);
    for (size_t c = 0; c < s->opts.chains; c++) {
        markov_chain *one = s->chains == NULL ? NULL : &s->chains[c];
        if (one == NULL || !dpi_hmc_point_init(&one->at, n, &s->arena) ||
            (one->origin = dpi_arena_alloc(&s->arena, n, sizeof *one->origin)) == NULL)
            return dpi_fail_nomem(err);
        memcpy(one->origin, s->opts.start + c * n, n * sizeof *one->origin);
        if (!evaluate(s, one))
            return dpi_fail(err, DP_EDOMAIN,
                            "chain %zu starts where the density or its gradient is 0 or not "
                            "finite; start it elsewhere",
                            c);
        dp_status status = dp_rng_below(s->rng, UINT64_MAX, 1, &one->seed, err);
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}

/* Room for what is learnt. */
static bool init_windows(sampler *s)
{
    const size_t n = s->nuts.in.n, warmup = s->opts.warmup;
    size_t square, size;
    if (!s->opts.adapt || warmup < LEAST_ADAPT)
        return true;
    s->first = warmup / 20 * 3 < FIRST ? warmup / 20 * 3 : FIRST;
    s->slow = warmup - s->first - (warmup / 10 < LAST ? warmup / 10 : LAST);
    if (!dpi_mul(n, n, &square) || !dpi_mul(s->opts.chains, s->slow, &size) ||
        !dpi_mul(size, n, &size))
        return false;
    s->factor = dpi_arena_alloc(&s->arena, square, sizeof *s->factor);
    s->scratch = dpi_arena_alloc(&s->arena, square, sizeof *s->scratch);
    s->window = dpi_arena_alloc(&s->arena, size, sizeof *s->window);
    if (s->factor == NULL || s->scratch == NULL || s->window == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            s->factor[i * n + j] = s->opts.factor != NULL ? s->opts.factor[i * n + j] : i == j;
    return true;
}

/* ---- step ---- */

static void restart_averaging(sampler *s)
{
    s->step = (averaging){.target = s->opts.acceptance, .middle = log(10 * s->nuts.step)};
}

static void average(sampler *s, double acceptance)
{
    averaging *a = &s->step;
    a->done++;
    a->shortfall += (a->target - acceptance - a->shortfall) / (a->done + 10);
    double now = a->middle - sqrt(a->done) / 0.05 * a->shortfall;
    a->log_mean += pow(a->done, -0.75) * (now - a->log_mean);
    s->nuts.step = exp(now);
}

static void settle_step(sampler *s)
{
    if (s->step.done > 0)
        s->nuts.step = exp(s->step.log_mean);
}

static bool short_enough(sampler *s)
{
    s->nuts.in.origin = s->chains[0].origin;
    return dpi_nuts_try(&s->nuts, &s->chains[0].at, s->nuts.step, s->rng) > log(good_acceptance);
}

static void find_step(sampler *s)
{
    bool grow = short_enough(s);
    for (int i = 0; i < MOST_DOUBLINGS; i++) {
        s->nuts.step *= grow ? 2 : 0.5;
        if (short_enough(s) != grow)
            break;
    }
    restart_averaging(s);
}

/* ---- warm-up ---- */

/* Tells what the caller's thread has done, before each turn of a chain; true: no more are wanted. 
 * A thread that makes the draws of one chain in four tells of four at a time. */
static bool is_stopped(sampler *s, size_t turns)
{
    const dpi_hmc_opts *o = &s->opts;
    s->moved += turns;
    if (turns > 0 &&
        dpi_progress_moved(o->progress,
                           (double)s->moved / (double)(o->chains * (o->warmup + o->draws))))
        atomic_store(&s->stopped, true);
    return atomic_load(&s->stopped);
}

static void move(sampler *s, markov_chain *c)
{
    s->nuts.in.origin = c->origin;
    dpi_nuts_step(&s->nuts, &c->at, s->rng);
    dpi_nuts_rescale(&s->nuts, &c->at, s->rng);
}

/* So many transitions of each chain, kept as rows of the window where keep. */
static void run(sampler *s, size_t transitions, bool keep)
{
    const size_t n = s->nuts.in.n;
    bool leads = s->opts.step == 0 || s->opts.adapt;
    for (size_t t = 0; t < transitions; t++)
        for (size_t c = 0; c < s->opts.chains && !is_stopped(s, 1); c++) {
            move(s, &s->chains[c]);
            if (leads)
                average(s, s->nuts.acceptance);
            if (keep)
                memcpy(s->window + (c * transitions + t) * n, s->chains[c].at.x,
                       n * sizeof *s->window);
        }
}

/* A window: its draws, the factor from them, coordinates that begin where the chains are. */
static dp_status learn(sampler *s, size_t transitions, dp_error *err)
{
    const size_t n = s->nuts.in.n;
    dpi_hmc_window window = {
        .chains = s->opts.chains, .draws = transitions, .n = n, .x = s->window};
    run(s, transitions, true);
    if (is_stopped(s, 0))
        return DP_OK;
    for (size_t c = 0; c < s->opts.chains; c++) {
        markov_chain *one = &s->chains[c];
        s->nuts.in.origin = one->origin;
        dpi_nuts_place(&s->nuts, one->at.x, s->nuts.z);
        memcpy(one->origin, s->nuts.z, n * sizeof *one->origin);
        memset(one->at.x, 0, n * sizeof *one->at.x);
    }
    dpi_whiten_learn(&window, s->scratch, s->factor);
    dpi_nuts_whiten(&s->nuts, s->factor);
    for (size_t c = 0; c < s->opts.chains; c++)
        if (!evaluate(s, &s->chains[c]))
            return dpi_fail(err, DP_EDOMAIN, "the density is not the same when it is asked again");
    settle_step(s);
    find_step(s);
    return DP_OK;
}

static dp_status warm_up(sampler *s, dp_error *err)
{
    dp_status status = DP_OK;
    s->nuts.step = s->opts.step > 0 ? s->opts.step : 1;
    restart_averaging(s);
    if (s->opts.step == 0)
        find_step(s);
    run(s, s->first, false);
    for (size_t left = s->slow, width = WINDOW; status == DP_OK && left > 0 && !is_stopped(s, 0);
         width *= 2) {
        if (left < 3 * width)
            width = left;
        status = learn(s, width, err);
        left -= width;
    }
    if (status == DP_OK)
        run(s, s->opts.warmup - s->first - s->slow, false);
    settle_step(s);
    return status;
}

/* ---- draws ---- */

static void draw_chain(sampler *s, const worker *w, size_t c)
{
    const size_t n = s->nuts.in.n, each = s->opts.draws;
    size_t turns = w == s->workers ? s->n_workers : 0;
    markov_chain *chain = &s->chains[c];
    dpi_rng_reseed(w->rng, chain->seed);
    w->nuts->in.origin = chain->origin;
    for (size_t t = 0; t < each && !is_stopped(s, turns); t++) {
        dpi_nuts_step(w->nuts, &chain->at, w->rng);
        dpi_nuts_rescale(w->nuts, &chain->at, w->rng);
        dpi_nuts_place(w->nuts, chain->at.x, s->draws + (c * each + t) * n);
        chain->divergent += w->nuts->diverged;
        chain->cut += w->nuts->cut;
        chain->acceptance += w->nuts->acceptance / (double)each;
    }
}

static void draw_chains(void *user, size_t k)
{
    sampler *s = user;
    for (size_t c; k < s->n_workers && (c = atomic_fetch_add(&s->next, 1)) < s->opts.chains;)
        draw_chain(s, &s->workers[k], c);
}

/* From here on a chain needs no other: each has random numbers of its own. */
static void sample(sampler *s, dpi_hmc_report *report)
{
    const double *factor = s->factor != NULL ? s->factor : s->opts.factor;
    for (size_t k = 1; k < s->n_workers; k++) {
        s->workers[k].nuts->step = s->nuts.step;
        if (factor != NULL)
            dpi_nuts_whiten(s->workers[k].nuts, factor);
    }
    atomic_init(&s->next, 0);
    if (s->n_workers > 1)
        dpi_pool_run(s->opts.pool, draw_chains, s);
    else
        draw_chains(s, 0);
    for (const markov_chain *c = s->chains; c < s->chains + s->opts.chains; c++) {
        report->divergent += c->divergent;
        report->cut += c->cut;
        report->acceptance += c->acceptance / (double)s->opts.chains;
    }
    for (size_t k = 0; k < s->n_workers; k++)
        report->gradients += s->workers[k].nuts->gradients;
    report->step = s->nuts.step;
}

static dp_status run_all(sampler *s, double *draws, dpi_hmc_report *report, dp_error *err)
{
    dp_status status = make_workers(s, err);
    if (status == DP_OK)
        status = start_chains(s, err);
    if (status == DP_OK)
        status = warm_up(s, err);
    if (status != DP_OK)
        return status;
    sample(s, report);
    if (is_stopped(s, 0))
        return dpi_progress_stopped(err);
    dpi_mixing mixing;
    status = dpi_mixing_of(s->opts.chains, s->opts.draws, s->nuts.in.n, draws, &mixing, err);
    report->r_hat = mixing.r_hat;
    report->ess = mixing.ess;
    return status;
}

static void wipe(double *draws, size_t size)
{
    for (size_t i = 0; i < size; i++)
        draws[i] = NAN;
}

dp_status dpi_hmc(const dpi_target *target, const dpi_hmc_opts *opts, dp_rng *rng, double *draws,
                  dpi_hmc_report *report, dp_error *err)
{
    sampler s = {.opts = *opts, .rng = rng, .draws = draws};
    *report = (dpi_hmc_report){.r_hat = INFINITY};
    atomic_init(&s.stopped, false);
    dp_status status = check(target, &s.opts, err);
    if (status == DP_EINVAL)
        return status;
    if (status == DP_OK &&
        (!dpi_nuts_init(&s.nuts, target, s.opts.depth, &s.arena) || !init_windows(&s)))
        status = dpi_fail_nomem(err);
    if (status == DP_OK && opts->factor != NULL)
        dpi_nuts_whiten(&s.nuts, opts->factor);
    if (status == DP_OK)
        status = run_all(&s, draws, report, err);
    for (size_t k = 0; k < s.n_workers; k++)
        dp_rng_free(s.workers[k].rng);
    dpi_arena_free(&s.arena);
    if (status != DP_OK) {
        *report = (dpi_hmc_report){.r_hat = INFINITY};
        wipe(draws, opts->chains * opts->draws * target->n);
    }
    return status;
}
