/* Audits of the program: many runs with and without one canary, or one run with many canaries; of
 * what dp_fit_private asks all records, of which the account certifies so many releases of so much
 * noise (asking.c); and of its whole fits by the loop (looped.c).
 *
 * Every run is one of dp_svi as a user makes it: dp_svi_new with DP_PRIVATE, its steps,
 * dp_svi_free; for many runs, some follow each other in one dp_svi (scene.c).  The certified figure
 * is what dp_svi_privacy says at the end of a run, not what it should say.
 *
 * One run: the g canaries with the greatest and the g with the least scores are guessed to be there
 * and not to be there, and the rest is abstained from.  Which g is best depends on the noise, so g
 * = m/2, m/4, ... are all tried, each at its share of 1 - confidence.
 *
 * Fixed batches have n records and replace one; their rate names the least n with a whole batch. */
#include "audit/audit.h"

#include <math.h>
#include <stdlib.h>

#include "audit/asking.h"
#include "audit/bound.h"
#include "audit/claim.h"
#include "audit/looped.h"
#include "audit/scene.h"
#include "base/error.h"
#include "svi/options.h"

enum {
    DEFAULT_RUNS = 100000,
    LEAST_RUNS = 100,
    MOST_RUNS = 100000000,
    LEAST_CANARIES = 10,
    MOST_CANARIES = 1000000,
    LEAST_GUESSES = 4,   /* of each kind */
    MOST_RECORDS = 1000, /* of fixed batches */
    TRIALS = 2048        /* in one run of dp_svi */
};
static const double default_confidence = 0.99, clip = 1;

/* The least number of records of which `rate` is a whole number, or 0. */
static size_t records_for(double rate)
{
    for (size_t n = 2; n <= MOST_RECORDS && rate > 0 && rate < 1; n++) {
        double batch = nearbyint(rate * (double)n);
        if (batch >= 1 && batch < (double)n && fabs(batch / (double)n - rate) <= 1e-9 * rate)
            return n;
    }
    return 0;
}

static dp_status resolve_sampling(dp_audit_opts *o, dp_error *err)
{
    bool allocates = o->sampling == DP_SAMPLING_ALLOCATION,
         fixed = o->sampling == DP_SAMPLING_FIXED;
    if (!allocates && !fixed && o->sampling != DP_SAMPLING_FULL &&
        o->sampling != DP_SAMPLING_POISSON)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "sampling %d has no audit; use DP_SAMPLING_FULL, DP_SAMPLING_POISSON, "
                        "DP_SAMPLING_FIXED or DP_SAMPLING_ALLOCATION",
                        (int)o->sampling);
    if (fixed && o->canaries != 0)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "canaries is %zu with fixed batches, whose records are replaced and never "
                        "missing; ask for many runs",
                        o->canaries);
    if (fixed && records_for(o->rate) == 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "rate is %g with fixed batches; it must be a batch over at most %d "
                        "records, below 1",
                        o->rate, MOST_RECORDS);
    if (allocates ? o->epoch < 2 || o->rate != 0 : o->epoch != 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "epoch is %llu and rate %g; random allocation takes an epoch of 2 or more "
                        "steps and no rate, other samplings no epoch",
                        (unsigned long long)o->epoch, o->rate);
    if (o->steps == 0)
        o->steps = allocates ? o->epoch : 1;
    if (allocates && o->steps % o->epoch != 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "steps is %llu, no multiple of the epoch of %llu; take whole epochs",
                        (unsigned long long)o->steps, (unsigned long long)o->epoch);
    return DP_OK;
}

static dp_status resolve(dp_audit_opts *o, dp_error *err)
{
    bool fits = o->target == DP_AUDIT_LOOP, whole = fits || dpi_audit_asks(o->target);
    if (o->target != DP_AUDIT_GRADIENTS && o->target != DP_AUDIT_PARAMETERS && !whole)
        return dpi_fail(err, DP_EINVAL, "target %d is unknown; use the names of tacit/audit.h",
                        (int)o->target);
    if (whole && (o->sampling != DP_SAMPLING_FULL || o->canaries != 0))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "sampling is %d and canaries %zu; releases of dp_fit_private are of all "
                        "records: ask for full batches and many runs",
                        (int)o->sampling, o->canaries);
    if (fits && (o->sigma != 0 || o->steps > 1))
        return dpi_fail(err, DP_EINVAL,
                        "sigma is %g and steps %llu; a fit chooses both: give epsilon, and leave "
                        "them 0",
                        o->sigma, (unsigned long long)o->steps);
    if (o->canaries != 0 && o->runs != 0)
        return dpi_fail(err, DP_EINVAL,
                        "canaries is %zu and runs %zu; the audit with many canaries is of one run: "
                        "give one of the two",
                        o->canaries, o->runs);
    if (o->canaries != 0 && (o->canaries < LEAST_CANARIES || o->canaries > MOST_CANARIES))
        return dpi_fail(err, DP_EDOMAIN, "canaries is %zu; it must be from %d to %d", o->canaries,
                        LEAST_CANARIES, MOST_CANARIES);
    if (o->runs == 0 && o->canaries == 0)
        o->runs = DEFAULT_RUNS;
    if (o->canaries == 0 && (o->runs < LEAST_RUNS || o->runs > MOST_RUNS))
        return dpi_fail(err, DP_EDOMAIN, "runs is %zu; it must be from %d to %d", o->runs,
                        LEAST_RUNS, MOST_RUNS);
    if (o->confidence == 0)
        o->confidence = default_confidence;
    if (!(o->confidence > 0 && o->confidence < 1))
        return dpi_fail(err, DP_EDOMAIN, "confidence is %g; it must be above 0 and below 1",
                        o->confidence);
    return resolve_sampling(o, err);
}

static size_t batch_of(const dp_audit_opts *o)
{
    bool fixed = o->sampling == DP_SAMPLING_FIXED;
    return fixed ? (size_t)nearbyint(o->rate * (double)records_for(o->rate)) : 0;
}

static dp_svi_opts options_of_run(const dp_audit_opts *o, uint64_t seed)
{
    return (dp_svi_opts){.epsilon = o->epsilon,
                         .sigma = o->sigma,
                         .delta = o->delta,
                         .clip = clip,
                         .sampling = o->sampling,
                         .rate = o->sampling == DP_SAMPLING_FIXED ? 0 : o->rate,
                         .batch = batch_of(o),
                         .epoch = o->epoch,
                         .steps = o->steps,
                         .seed = seed};
}

/* Probability that a record is in the batch of a step. */
static double rate_of(const dp_audit_opts *o)
{
    if (o->sampling == DP_SAMPLING_FULL)
        return 1;
    if (o->sampling == DP_SAMPLING_FIXED)
        return (double)batch_of(o) / (double)records_for(o->rate);
    return o->sampling == DP_SAMPLING_ALLOCATION ? 1 / (double)o->epoch : o->rate;
}

/* Runs once with the canaries there and notes what such a run says of itself. */
static dp_status certify(const dp_audit_opts *o, uint64_t seed, const dpi_scene *scene,
                         dpi_trials *run, double *scores, dp_audit_result *result, dp_error *err)
{
    dp_privacy privacy;
    *run = (dpi_trials){.opts = options_of_run(o, seed),
                        .rate = rate_of(o),
                        .target = o->target,
                        .world = 1,
                        .trials = 1};
    dp_status status = dpi_scene_run(scene, run, &privacy, scores, err);
    if (status != DP_OK)
        return status;
    result->epsilon_certified = privacy.epsilon;
    result->sigma = run->opts.sigma = privacy.sigma;
    result->rate = privacy.rate;
    result->delta = privacy.delta;
    result->steps = privacy.steps;
    result->epoch = privacy.epoch;
    run->opts.epsilon = 0; /* found once, and given from now on */
    return DP_OK;
}

/* ---- many runs ---- */

/* Epsilon at delta of mu-Gaussian DP. */
static dp_status gaussian_epsilon(double mu, double delta, double *epsilon, dp_error *err)
{
    const double least_mu = 1e-4;
    *epsilon = 0;
    if (mu < least_mu)
        return DP_OK;
    dp_interval found;
    dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = 1 / mu, .rate = 1, .steps = 1};
    dp_status status = dp_account_epsilon(&m, 1, delta, 0, &found, err);
    if (status == DP_OK)
        *epsilon = found.lower;
    return status;
}

/* The whole trade-off curve that the run says it has. */
static dp_status judge_curve(const dp_audit_opts *o, double *const scores[2],
                             dp_audit_result *result, dp_error *err)
{
    const dp_mechanism run = {.sampling = o->sampling,
                              .sigma = result->sigma,
                              .rate = result->rate,
                              .steps = result->steps,
                              .epoch = result->epoch};
    dpi_claim found;
    dp_status status = dpi_claim_judge(&run, o->runs, scores, 1 - o->confidence, &found, err);
    result->refuted = found.refuted;
    result->curve_false_positives = found.false_positives;
    result->curve_true_positives = found.true_positives;
    result->curve_certified = found.certified;
    return status;
}

static dp_status judge_many(const dp_audit_opts *o, double *const scores[2],
                            dp_audit_result *result, dp_error *err)
{
    dpi_separation found;
    dpi_separate(o->runs, scores, o->delta, 1 - o->confidence, &found);
    result->epsilon_measured_lower = found.epsilon;
    result->guesses = found.events;
    result->false_positives = found.false_positives;
    result->false_negatives = found.false_negatives;
    result->canaries = 1;
    result->runs = 2 * o->runs;
    dp_status status = DP_OK;
    if (o->sampling == DP_SAMPLING_FULL)
        status = gaussian_epsilon(found.mu, o->delta, &result->epsilon_as_gaussian, err);
    return status == DP_OK ? judge_curve(o, scores, result, err) : status;
}

/* Both worlds' runs, some trials in each. */
static dp_status try_all(const dp_audit_opts *o, const dpi_scene *scene, dpi_trials *run,
                         double *const scores[2], dp_error *err)
{
    size_t most = TRIALS;
    dp_status status = DP_OK;
    for (size_t done = 0; done < o->runs && status == DP_OK; done += run->trials) {
        run->trials = o->runs - done < most ? o->runs - done : most;
        for (run->world = 0; run->world < 2 && status == DP_OK; run->world++) {
            run->opts.seed += run->opts.seed != 0;
            dp_error why = {0};
            status = dpi_scene_run(scene, run, NULL, scores[run->world] + done, &why);
            if (status == DP_EACCURACY && most > 1) { /* so many trials have no account */
                most /= 2;
                run->trials = 0;
                status = DP_OK;
                break;
            }
            if (status != DP_OK)
                return dpi_fail(err, status, "%s", why.text);
        }
    }
    return status;
}

static dp_status many_runs(const dp_audit_opts *o, uint64_t seed, dp_audit_result *result,
                           dp_error *err)
{
    dpi_scene scene;
    dpi_trials run;
    double *scores[2];
    dp_status status = o->sampling == DP_SAMPLING_FIXED
                           ? dpi_scene_replaced(&scene, records_for(o->rate), batch_of(o), err)
                           : dpi_scene_pair(&scene, err);
    if (status != DP_OK)
        return status;
    for (int world = 0; world < 2; world++)
        scores[world] = dpi_arena_alloc(&scene.arena, o->runs, sizeof *scores[world]);
    if (scores[0] == NULL || scores[1] == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = certify(o, seed, &scene, &run, scores[0], result, err);
    if (status == DP_OK)
        status = try_all(o, &scene, &run, scores, err);
    if (status == DP_OK)
        status = judge_many(o, scores, result, err);
    dpi_scene_free(&scene);
    return status;
}

/* ---- questions ---- */

static dp_status check_budget(const dp_audit_opts *o, dp_error *err)
{
    dp_status status = dpi_options_budget(o->epsilon, o->delta, o->sigma, err);
    if (status == DP_OK && o->rate != 0 && o->rate != 1)
        return dpi_fail(err, DP_EDOMAIN, "rate is %g with full batches; leave it 0", o->rate);
    return status;
}

/* What the account says of `steps` releases. */
static dp_status certify_question(const dp_audit_opts *o, dp_audit_result *result, dp_error *err)
{
    dp_interval spent;
    double sigma = o->sigma;
    dp_status status = check_budget(o, err);
    if (status == DP_OK && sigma == 0)
        status =
            dp_approximate_sigma(o->epsilon, o->delta, 1, o->steps, DP_SAMPLING_FULL, &sigma, err);
    dp_mechanism run = {.sampling = DP_SAMPLING_FULL, .sigma = sigma, .rate = 1, .steps = o->steps};
    if (status == DP_OK)
        status = dp_account_epsilon(&run, 1, o->delta, 0, &spent, err);
    if (status != DP_OK)
        return status;
    result->epsilon_certified = spent.upper;
    result->sigma = sigma;
    result->rate = 1;
    result->delta = o->delta;
    result->steps = o->steps;
    return DP_OK;
}

static dp_status question_runs(const dp_audit_opts *o, uint64_t seed, dp_audit_result *result,
                               dp_error *err)
{
    dpi_asking q;
    double *scores[2];
    dp_status status = certify_question(o, result, err);
    if (status != DP_OK)
        return status;
    status = dpi_asking_init(&q, o->target, result->sigma, seed, err);
    if (status != DP_OK)
        return status;
    for (int world = 0; world < 2 && status == DP_OK; world++) {
        scores[world] = dpi_arena_alloc(&q.arena, o->runs, sizeof *scores[world]);
        status = scores[world] == NULL ? dpi_fail_nomem(err)
                                       : dpi_asking_run(&q, world, result->sigma, o->steps, o->runs,
                                                        scores[world], err);
    }
    if (status == DP_OK)
        status = judge_many(o, scores, result, err);
    dpi_asking_free(&q);
    return status;
}

/* ---- fits ---- */

/* Fits of one world, scores[runs]; all say the same of themselves. */
static dp_status fit_world(const dp_audit_opts *o, uint64_t seed, const dpi_looped *q, int world,
                           double *scores, dp_audit_result *result, dp_error *err)
{
    dp_fit_opts fit = {.epsilon = o->epsilon, .delta = o->delta};
    dp_status status = DP_OK;
    for (size_t k = 0; k < o->runs && status == DP_OK; k++) {
        dpi_looped_seen seen;
        dp_privacy privacy;
        fit.seed = seed != 0 ? seed + 2 * k + (uint64_t)world : 0;
        status = dpi_looped_run(q, world, &fit, &seen, &privacy, err);
        if (status != DP_OK)
            return status;
        scores[k] = isnan(seen.score) ? INFINITY : seen.score; /* as elsewhere */
        result->epsilon_certified = privacy.epsilon;
        result->sigma = privacy.sigma;
        result->delta = privacy.delta;
    }
    return status;
}

static dp_status fit_runs(const dp_audit_opts *o, uint64_t seed, dp_audit_result *result,
                          dp_error *err)
{
    dpi_looped q;
    dpi_arena arena = {0};
    double *scores[2];
    dp_status status = check_budget(o, err);
    if (status == DP_OK)
        status = dpi_looped_init(&q, err);
    if (status != DP_OK)
        return status;
    result->rate = 1;
    result->steps = 1;
    for (int world = 0; world < 2 && status == DP_OK; world++) {
        scores[world] = dpi_arena_alloc(&arena, o->runs, sizeof *scores[world]);
        status = scores[world] == NULL ? dpi_fail_nomem(err)
                                       : fit_world(o, seed, &q, world, scores[world], result, err);
    }
    if (status == DP_OK)
        status = judge_many(o, scores, result, err);
    dpi_arena_free(&arena);
    dpi_looped_free(&q);
    return status;
}

/* ---- one run ---- */

typedef struct guess {
    double score;
    bool present;
} guess;

static int compare(const void *a, const void *b)
{
    double x = ((const guess *)a)->score, y = ((const guess *)b)->score;
    return (x > y) - (x < y);
}

static void judge_one(const dp_audit_opts *o, guess *sorted, dp_audit_result *result)
{
    size_t m = o->canaries, tries = 0;
    for (size_t g = m / 2; g >= LEAST_GUESSES; g /= 2)
        tries++;
    result->canaries = m;
    result->runs = 1;
    qsort(sorted, m, sizeof *sorted, compare);
    for (size_t g = m / 2; g >= LEAST_GUESSES; g /= 2) {
        size_t correct = 0;
        for (size_t j = 0; j < g; j++)
            correct += (size_t)!sorted[j].present + sorted[m - 1 - j].present;
        double epsilon =
            dpi_one_run_epsilon(m, 2 * g, correct, o->delta, (1 - o->confidence) / (double)tries);
        if (result->guesses != 0 && epsilon <= result->epsilon_measured_lower)
            continue;
        result->epsilon_measured_lower = epsilon;
        result->guesses = 2 * g;
        result->correct = correct;
    }
}

static dp_status one_run(const dp_audit_opts *o, uint64_t seed, dp_audit_result *result,
                         dp_error *err)
{
    dpi_scene scene;
    dp_rng *coins;
    dp_status status =
        seed != 0 ? dp_rng_new(seed, &coins, err) : dp_rng_new_random(&coins, NULL, err);
    if (status != DP_OK)
        return status;
    status = dpi_scene_crowd(&scene, o->canaries, coins, err);
    dp_rng_free(coins);
    if (status != DP_OK)
        return status;
    dpi_trials run;
    double *scores = dpi_arena_alloc(&scene.arena, o->canaries, sizeof *scores);
    guess *guesses = dpi_arena_alloc(&scene.arena, o->canaries, sizeof *guesses);
    if (scores == NULL || guesses == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = certify(o, seed, &scene, &run, scores, result, err);
    for (size_t j = 0; j < o->canaries && status == DP_OK; j++)
        guesses[j] = (guess){scores[j], scene.present[j]};
    if (status == DP_OK)
        judge_one(o, guesses, result);
    dpi_scene_free(&scene);
    return status;
}

/* ---- the public call ---- */

static const dp_audit_result nothing = {.epsilon_certified = INFINITY,
                                        .epsilon_as_gaussian = NAN,
                                        .false_positives = NAN,
                                        .false_negatives = NAN,
                                        .curve_false_positives = NAN,
                                        .curve_true_positives = NAN,
                                        .curve_certified = NAN};

dp_status dpi_audit(const dp_audit_opts *opts, uint64_t seed, dp_audit_result *result,
                    dp_error *err)
{
    dp_audit_opts o = *opts;
    *result = nothing;
    dp_status status = resolve(&o, err);
    if (status == DP_OK)
        status = (o.target == DP_AUDIT_LOOP  ? fit_runs
                  : dpi_audit_asks(o.target) ? question_runs
                  : o.canaries != 0          ? one_run
                                             : many_runs)(&o, seed, result, err);
    if (status != DP_OK) {
        *result = nothing;
        return status;
    }
    result->confidence = o.confidence;
    result->refuted = result->refuted ||
                      result->epsilon_measured_lower > result->epsilon_certified ||
                      result->epsilon_as_gaussian > result->epsilon_certified; /* NaN is not */
    return DP_OK;
}

dp_status dp_audit(const dp_audit_opts *opts, dp_audit_result *result, dp_error *err)
{
    return dpi_audit(opts, 0, result, err);
}
