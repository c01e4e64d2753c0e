/* Chains begin at tops of the posterior, in coordinates in which it is about round there.
 *
 *   climb    from the prior's medians and from draws, latents whose prior has a location or a scale
 *            that is computed in units of these: otherwise the top is where scales are 0
 *   look     second derivatives at the best top say which of them stay so, and give the chains
 *            their first coordinates
 *   draw     four chains; where they disagree, move slowly or leave the density, again with
 *            nothing tied, and then with a longer warm-up and shorter steps (attempts.c)
 *
 * Tops that are about as high keep a chain each, so that a posterior with several shows in the
 * chains' disagreement.  doc/design/exact.md. */
#include "infer/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/answer.h"
#include "infer/attempts.h"
#include "infer/exact-words.h"
#include "infer/mode.h"
#include "infer/posterior.h"
#include "infer/prior.h"
#include "infer/recorded.h"
#include "model/loose.h"
#include "num/linalg.h"

enum {
    CHAINS = 4,
    PRIOR_DRAWS = 400,
    STEPS = 500,
    MOST_NUMBERS = 1000, /* of latents, unless the method is asked for */
    HALVES = 12          /* of the way from a start to 0 */
};
static const double most_work = 1e7; /* numbers of latents times records, likewise */
static const size_t most_settled = (size_t)256 << 20; /* bytes of values that are computed once */

/* How far starts are from the prior's medians at most; by how much a top may be lower than the best
 * one for a chain to begin there; how far from it, in standard deviations. */
static const double reach = 2, lower = 10, jitter = 0.5;

typedef struct exact {
    const dpi_exact_spec *spec;
    dpi_arena arena;
    dpi_posterior posterior;
    dpi_objective plain;       /* of points, nothing loose: of the answer */
    double **loose;            /* [sites of the model]: see dpi_objective_spec */
    dpi_recorded *told;        /* likewise */
    dpi_evaluator *evaluators; /* [n_evaluators] */
    size_t n_evaluators, d;
    dpi_target *targets;
    dpi_pool *pool;
    dp_rng *rng;
    double *top[CHAINS]; /* [d] as drawn */
    double height[CHAINS];
    size_t best;
    double *spread;    /* [d] */
    double *square[3]; /* [d][d] curvature and factor, and scratch */
    double *room;      /* [3 d] */
    double *from;      /* [CHAINS][d] */
    double *theta[2];  /* [n_draws][d] the best draws so far, as they are; those being made */
    double *place[2];  /* [CHAINS][d] tops with no number tied, and with those of tied[d] */
    bool *tied;
    size_t n_tied;
    size_t n_draws;
    dpi_hmc_report report;
} exact;

/* ---- what is needed ---- */

static dp_status check_work(const exact *a, dp_error *err)
{
    double n = (double)a->spec->data->n;
    if (a->spec->opts->method == DP_METHOD_EXACT)
        return DP_OK;
    if (a->d > MOST_NUMBERS || n * (double)a->d > most_work)
        return dpi_fail(err, DP_EUNSUPPORTED, "%zu numbers of latents and %zu records are too much",
                        a->d, a->spec->data->n);
    return DP_OK;
}

static dp_status make_room(exact *a, dp_error *err)
{
    size_t asked = a->spec->opts->draws != 0 ? a->spec->opts->draws : DPI_KEPT_DRAWS, d = a->d;
    bool all = true;
    a->n_draws = (asked + CHAINS - 1) / CHAINS * CHAINS;
    for (int c = 0; c < CHAINS; c++)
        all = all && (a->top[c] = dpi_arena_alloc(&a->arena, d, sizeof(double))) != NULL;
    for (int k = 0; k < 3; k++)
        all = all && (a->square[k] = dpi_arena_alloc(&a->arena, d, d * sizeof(double))) != NULL;
    a->spread = dpi_arena_alloc(&a->arena, d, sizeof *a->spread);
    a->room = dpi_arena_alloc(&a->arena, d, 3 * sizeof *a->room);
    a->from = dpi_arena_alloc(&a->arena, d, CHAINS * sizeof *a->from);
    a->tied = dpi_arena_alloc(&a->arena, d, sizeof *a->tied);
    for (int k = 0; k < 2; k++) {
        a->theta[k] = dpi_arena_alloc(&a->arena, a->n_draws, d * sizeof(double));
        a->place[k] = dpi_arena_alloc(&a->arena, CHAINS, d * sizeof(double));
        all = all && a->theta[k] != NULL && a->place[k] != NULL;
    }
    return all && a->spread != NULL && a->room != NULL && a->from != NULL && a->tied != NULL
               ? DP_OK
               : dpi_fail_nomem(err);
}

/* Evaluators of the posterior as it is now, as many as there are threads. */
static dp_status make_evaluators(exact *a, size_t most, dp_error *err)
{
    dp_status status = DP_OK;
    for (; a->n_evaluators < most && status == DP_OK; a->n_evaluators += status == DP_OK) {
        status = dpi_evaluator_init(&a->evaluators[a->n_evaluators], &a->posterior, err);
        if (status == DP_OK)
            a->targets[a->n_evaluators] = dpi_evaluator_target(&a->evaluators[a->n_evaluators]);
    }
    if (status == DP_OK && dpi_run_draws(a->evaluators[0].run))
        return dpi_fail(err, DP_EUNSUPPORTED, "columns are drawn");
    return status;
}

static void free_posterior(exact *a)
{
    while (a->n_evaluators > 0)
        dpi_evaluator_free(&a->evaluators[--a->n_evaluators]);
    dpi_posterior_free(&a->posterior);
}

static dp_status make_posterior(exact *a, size_t most, dp_error *err)
{
    dp_status status = dpi_posterior_init(&a->posterior, a->spec->model, a->spec->data,
                                          (const double *const *)a->loose, a->told, err);
    if (status == DP_OK)
        status = dpi_posterior_settle(&a->posterior, most_settled, NULL, err);
    return status == DP_OK ? make_evaluators(a, most, err) : status;
}

static bool loosen_all(exact *a, size_t s)
{
    const dp_model *model = a->spec->model;
    size_t n = dpi_shape_size(&dpi_get(&model->graph, model->sites[s].value)->shape);
    a->loose[s] = dpi_arena_alloc(&a->arena, n, sizeof **a->loose);
    for (size_t i = 0; a->loose[s] != NULL && i < n; i++)
        a->loose[s][i] = 1;
    return a->loose[s] != NULL;
}

/* At first all that may be is loose. */
static dp_status begin(exact *a, dp_error *err)
{
    const dp_model *model = a->spec->model;
    const dpi_objective_spec plain = {.model = model, .cut = DP_FORM_LATENTS, .points = true};
    a->evaluators = dpi_arena_alloc(&a->arena, CHAINS, sizeof *a->evaluators);
    a->targets = dpi_arena_alloc(&a->arena, CHAINS, sizeof *a->targets);
    a->loose = dpi_arena_alloc(&a->arena, model->n_sites + 1, sizeof *a->loose);
    a->told = dpi_arena_alloc(&a->arena, model->n_sites + 1, sizeof *a->told);
    if (a->evaluators == NULL || a->targets == NULL || a->loose == NULL || a->told == NULL)
        return dpi_fail_nomem(err);
    for (size_t s = 0; s < model->n_sites; s++)
        if (dpi_may_loosen(model, &model->sites[s]) && !loosen_all(a, s))
            return dpi_fail_nomem(err);
    dp_status status = make_posterior(a, 1, err);
    a->d = a->posterior.objective.n_theta;
    return status == DP_OK ? dpi_objective_init(&a->plain, &plain, err) : status;
}

static dp_status make_rng(exact *a, dp_error *err)
{
    uint64_t seed = a->spec->opts->seed;
    return seed != 0 ? dp_rng_new(seed, &a->rng, err) : dp_rng_new_random(&a->rng, NULL, err);
}

/* ---- tops ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The prior's medians, and draws of it that are near enough. */
static dp_status place_starts(exact *a, dp_error *err)
{
    size_t d = a->d, n = PRIOR_DRAWS;
    double *all = dpi_alloc(n, (d + 1) * sizeof *all), *one = all + n * d;
    if (all == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_prior_draw(a->spec->model, d, n, a->rng, all, err);
    for (size_t i = 0; i < d && status == DP_OK; i++) {
        for (size_t k = 0; k < n; k++)
            one[k] = all[k * d + i] = isfinite(all[k * d + i]) ? all[k * d + i] : 0;
        qsort(one, n, sizeof *one, ascending);
        a->top[0][i] = one[n / 2];
        for (size_t c = 1; c < CHAINS; c++)
            a->top[c][i] = one[n / 2] + fmin(fmax(all[c * d + i] - one[n / 2], -reach), reach);
    }
    dpi_free(all);
    return status;
}

/* What is loose starts at its location, whatever that is: far out nothing is gained. */
static void start_loose(const exact *a, double *z)
{
    const dpi_objective *o = &a->posterior.objective;
    for (size_t k = 0; k < o->n_blocks; k++)
        if (a->posterior.loose[k])
            memset(z + o->blocks[k].offset, 0, o->blocks[k].size * sizeof *z);
}

/* Wide priors have medians of draws so far out that rates overflow, or that a climb would take
 * thousands of steps: moves z towards 0 to where the density is greatest of halves of the way. */
static void come_nearer(const exact *a, double *z)
{
    double most = -INFINITY, *best = a->room + a->d, *at = best + a->d;
    memcpy(at, z, a->d * sizeof *z);
    for (int k = 0; k <= HALVES; k++) {
        double there = a->targets->log_density(a->targets->of, at, a->room);
        if (isfinite(there) && there > most) {
            most = there;
            memcpy(best, at, a->d * sizeof *z);
        }
        for (size_t i = 0; i < a->d; i++)
            at[i] = k + 1 < HALVES ? at[i] / 2 : 0;
    }
    if (isfinite(most))
        memcpy(z, best, a->d * sizeof *z);
}

static dp_status climb_all(exact *a, dp_error *err)
{
    dp_status status = place_starts(a, err);
    for (size_t c = 0; c < CHAINS && status == DP_OK; c++) {
        start_loose(a, a->top[c]);
        come_nearer(a, a->top[c]);
        status = dpi_climb(a->targets, STEPS, a->top[c], &a->height[c], err);
        a->best = a->height[c] > a->height[a->best] ? c : a->best;
    }
    if (status == DP_OK && !isfinite(a->height[a->best]))
        return dpi_fail(err, DP_EDOMAIN,
                        "the posterior's density is no number at the prior's medians and at draws "
                        "of it; bring the priors nearer to what is possible, or scale the columns");
    return status;
}

/* ---- coordinates ---- */

static void unit_spread(const exact *a)
{
    for (size_t i = 0; i < a->d; i++)
        a->spread[i] = 1;
}

/* Standard deviations as the curvature's diagonal has them. */
static void find_spread(const exact *a, const double *curvature)
{
    for (size_t i = 0; i < a->d; i++) {
        double own = fabs(curvature[i * (a->d + 1)]);
        a->spread[i] = isfinite(own) && own > 0 ? fmin(1 / sqrt(own), 1e6) : 1;
    }
}

/* Of a loose number records tell more than its prior, whose curvature is about 1. */
static const double told = 2;

/* The posterior with all loose that may be, or but for what is tied, and its tops. */
static dp_status take_form(exact *a, bool tied, dp_error *err)
{
    const dp_model *model = a->spec->model;
    size_t threads = a->spec->opts->threads > 1 ? a->spec->opts->threads : 1;
    const dpi_block *b = a->posterior.objective.blocks;
    for (size_t s = 0; s < model->n_sites; s++) {
        for (size_t i = 0; a->loose[s] != NULL && i < b->size; i++)
            a->loose[s][i] = !(tied && a->tied[b->offset + i]);
        b += model->sites[s].kind == DPI_LATENT;
    }
    for (size_t c = 0; c < CHAINS; c++)
        memcpy(a->top[c], a->place[tied] + c * a->d, a->d * sizeof *a->top[c]);
    free_posterior(a);
    return make_posterior(a, threads < CHAINS ? threads : CHAINS, err);
}

/* Finds what records tell enough of, which is then drawn as it is, and tops in both forms. */
static dp_status tie(exact *a, dp_error *err)
{
    const dp_model *model = a->spec->model;
    size_t threads = a->spec->opts->threads > 1 ? a->spec->opts->threads : 1, d = a->d;
    const dpi_block *b = a->posterior.objective.blocks;
    dp_status status = dpi_recorded_find(a->evaluators, model, a->top[a->best], a->square[0],
                                         &a->arena, a->told, err);
    for (size_t c = 0; c < CHAINS && status == DP_OK; c++) {
        dpi_evaluator_tie(a->evaluators, a->top[c], a->from + c * d);
        status = dpi_recorded_place(a->evaluators, model, a->told, a->top[c], err);
        for (int k = 0; k < 2; k++)
            memcpy(a->place[k] + c * d, a->top[c], d * sizeof *a->place[k]);
    }
    for (size_t s = 0; s < model->n_sites; s++) {
        for (size_t i = b->offset; a->loose[s] != NULL && i < b->offset + b->size; i++) {
            a->n_tied += a->tied[i] = a->square[0][i * (d + 1)] > told;
            for (size_t c = 0; c < CHAINS && a->tied[i]; c++)
                a->place[1][c * d + i] = a->from[c * d + i];
        }
        b += model->sites[s].kind == DPI_LATENT;
    }
    if (status == DP_OK && threads > 1)
        status = dpi_pool_new(threads < CHAINS ? threads : CHAINS, &a->pool, err);
    return status;
}

/* From a spread that is about right. */
static dp_status find_factor(exact *a, dp_error *err)
{
    const double *top = a->top[a->best];
    for (int again = 0; again < 2; again++) {
        if (again)
            find_spread(a, a->square[0]);
        (void)dpi_curvature(a->targets, top, a->spread, a->room, a->square[0]);
    }
    find_spread(a, a->square[0]);
    return dpi_curvature_factor(a->d, a->spread, a->square, a->room, err);
}

static dp_status find_coordinates(exact *a, dp_error *err)
{
    const double *top = a->top[a->best];
    unit_spread(a);
    dpi_recorded_spread(a->evaluators, top, a->spread);
    (void)dpi_curvature(a->targets, top, a->spread, a->room, a->square[0]);
    dp_status status = tie(a, err);
    if (status == DP_OK)
        status = take_form(a, true, err);
    return status == DP_OK ? find_factor(a, err) : status;
}

/* ---- chains ---- */

/* The log density; -INFINITY where it or its slope is not finite, and no chain could go on. */
static double height_at(const exact *a, const double *z)
{
    double height = a->targets->log_density(a->targets->of, z, a->room);
    for (size_t i = 0; i < a->d && isfinite(height); i++)
        height = isfinite(a->room[i]) ? height : -INFINITY;
    return isfinite(height) ? height : -INFINITY;
}

/* Near the tops, and not much lower: along a ridge without an end a spread says nothing. */
static void start_chains(exact *a)
{
    size_t d = a->d;
    double *normal = a->room + d;
    for (size_t c = 0; c < CHAINS; c++) {
        bool own = a->height[c] >= a->height[a->best] - lower;
        const double *top = a->top[own ? c : a->best];
        double *from = a->from + c * d, away = jitter;
        double least_height = height_at(a, top) - lower - (double)d;
        for (int k = 0; k < 20; k++, away /= 2) {
            dp_rng_normal(a->rng, d, normal);
            for (size_t i = 0; i < d; i++)
                from[i] = top[i] + away * dpi_dot(i + 1, a->square[2] + i * d, normal);
            if (height_at(a, from) >= least_height)
                break;
        }
        if (!(height_at(a, from) >= least_height))
            memcpy(from, top, d * sizeof *from);
    }
}

/* Attempts first ... end - 1 from a->from; *ess is theirs, and the best draws of all are kept. */
static dp_status draw_some(exact *a, int first, int end, double *ess, dp_error *err)
{
    const dpi_hmc_opts o = {.chains = CHAINS,
                            .draws = a->n_draws / CHAINS,
                            .factor = a->square[2],
                            .adapt = true,
                            .pool = a->pool,
                            .twins = a->targets + 1,
                            .n_twins = a->n_evaluators - 1,
                            .progress = a->spec->progress};
    dpi_attempts some = {.first = first, .end = end, .from = a->from, .draws = a->theta[1]};
    dp_status status = dpi_attempts_make(&some, a->targets, &o, a->rng, err);
    *ess = some.report.ess;
    if (status != DP_OK || (isfinite(a->report.r_hat) && a->report.ess >= *ess &&
                            !dpi_exact_is_good(&some.report, a->n_draws)))
        return status;
    a->report = some.report;
    for (size_t k = 0; k < a->n_draws; k++)
        dpi_evaluator_tie(a->evaluators, a->theta[1] + k * a->d, a->theta[0] + k * a->d);
    return status;
}

static dp_status change_form(exact *a, bool tied, dp_error *err)
{
    dp_status status = take_form(a, tied, err);
    unit_spread(a);
    if (status == DP_OK)
        status = find_factor(a, err);
    if (status == DP_OK)
        start_chains(a);
    return status;
}

/* The top says what to tie where the posterior is about as it is at its top.  Where a scale is much
 * smaller elsewhere it is wrong, so that draws that are not good are tried with nothing tied before
 * care is taken over them; that is then for the form with more effective draws. */
static dp_status draw(exact *a, dp_error *err)
{
    double tied, loose = 0, rest;
    dpi_progress_draw(a->spec->progress);
    start_chains(a);
    dp_status status = draw_some(a, 0, 1, &tied, err);
    if (status == DP_OK && a->n_tied > 0 && !dpi_exact_is_good(&a->report, a->n_draws)) {
        status = change_form(a, false, err);
        if (status == DP_OK)
            status = draw_some(a, 0, 1, &loose, err);
        if (status == DP_OK && loose < tied && !dpi_exact_is_good(&a->report, a->n_draws))
            status = change_form(a, true, err);
    }
    if (status != DP_OK || dpi_exact_is_good(&a->report, a->n_draws))
        return status;
    return draw_some(a, 1, DPI_ATTEMPTS, &rest, err);
}

/* ---- the fit ---- */

static dp_status make_fit(exact *a, dp_fit **fit, dp_error *err)
{
    char words[2][DPI_EXACT_WORDS];
    dp_diagnostic list[2];
    const dp_privacy privacy = {.why_not = "fitted without privacy",
                                .adjacency = "add or remove one record",
                                .epsilon = INFINITY,
                                .delta = 1,
                                .clip = INFINITY,
                                .rate = 1,
                                .sampling = DP_SAMPLING_FULL};
    dpi_fit_parts parts = {.privacy = &privacy, .diagnostics = list, .n_diagnostics = 2};
    double *guide = dpi_arena_alloc(&a->arena, 2 * a->d, sizeof *guide);
    if (guide == NULL)
        return dpi_fail_nomem(err);
    dpi_answer answer = {.model = a->spec->model,
                         .objective = &a->plain,
                         .data = a->spec->data,
                         .theta = a->theta[0],
                         .n_draws = a->n_draws,
                         .guide = guide,
                         .arena = &a->arena};
    dpi_answer_guide(&answer, guide);
    dpi_exact_say(&a->report, a->n_draws, list, words);
    return dpi_answer_fit(&answer, &parts, fit, err);
}

static dp_status fit_exact(exact *a, dp_fit **fit, dp_error *err)
{
    dp_status status = begin(a, err);
    if (status == DP_OK)
        status = check_work(a, err);
    if (status == DP_OK)
        status = make_room(a, err);
    if (status == DP_OK)
        status = make_rng(a, err);
    if (status == DP_OK)
        status = climb_all(a, err);
    if (status == DP_OK)
        status = find_coordinates(a, err);
    if (status == DP_OK)
        status = draw(a, err);
    return status == DP_OK ? make_fit(a, fit, err) : status;
}

dp_status dpi_fit_exact(const dpi_exact_spec *spec, dp_fit **fit, dp_error *err)
{
    exact a = {.spec = spec, .report = {.r_hat = INFINITY}};
    dp_status status = fit_exact(&a, fit, err);
    free_posterior(&a);
    dpi_pool_free(a.pool);
    dpi_objective_free(&a.plain);
    dp_rng_free(a.rng);
    dpi_arena_free(&a.arena);
    return status;
}
