/* Simulations of a plan.  All budgets are tried on the same data sets, and with the same seeds of
 * noise: what differs between them is the budget. */
#define _POSIX_C_SOURCE 200809L
#include "infer/plan-study.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "fit/draws.h"
#include "model/proper.h"

enum { SIMULATIONS = 8 };

static dp_status check_options(const dp_plan_opts *o, dp_error *err)
{
    if (o->fit.mode != DP_PRIVATE)
        return dpi_fail(err, DP_EINVAL,
                        "a plan is of a fit with privacy; leave mode DP_PRIVATE and give epsilon "
                        "and delta");
    if (o->fit.ledger != NULL || o->fit.ledger_data != NULL || o->fit.ledger_label != NULL)
        return dpi_fail(err, DP_EINVAL, "a plan spends nothing; leave the ledger out");
    if (o->simulations > 1000)
        return dpi_fail(err, DP_EDOMAIN, "simulations is %llu; it must be at most 1000",
                        (unsigned long long)o->simulations);
    if (o->around > DPI_PLAN_AROUND)
        return dpi_fail(err, DP_EDOMAIN, "around is %llu; it must be at most %d",
                        (unsigned long long)o->around, DPI_PLAN_AROUND);
    return DP_OK;
}

static bool make_answers(dpi_plan_study *s, dpi_plan_answers *a)
{
    size_t n = s->simulations;
    double **to[] = {&a->mean, &a->sd, &a->low, &a->high};
    for (int k = 0; k < 4; k++)
        if ((*to[k] = dpi_arena_alloc(&s->arena, n, s->d * sizeof **to[k])) == NULL)
            return false;
    a->seconds = dpi_arena_alloc(&s->arena, n, sizeof *a->seconds);
    a->hopeless = dpi_arena_alloc(&s->arena, n, sizeof *a->hopeless);
    return a->seconds != NULL && a->hopeless != NULL;
}

static dp_status make_room(dpi_plan_study *s, dp_error *err)
{
    const dpi_objective *o = &s->view.objective;
    size_t n = s->simulations;
    for (size_t l = 0; l < o->n_latents; l++)
        s->d += o->latents[l].size;
    s->truth = dpi_arena_alloc(&s->arena, n, s->d * sizeof *s->truth);
    s->outcomes = dpi_arena_alloc(&s->arena, n, s->opts->records * sizeof *s->outcomes);
    s->seed = dpi_arena_alloc(&s->arena, n, sizeof *s->seed);
    s->summary = dpi_arena_alloc(&s->arena, s->d, sizeof *s->summary);
    s->room = dpi_arena_alloc(&s->arena, n, sizeof *s->room);
    s->plan = dpi_alloc(1, sizeof *s->plan);
    const bool room = s->truth != NULL && s->outcomes != NULL && s->seed != NULL &&
                      s->summary != NULL && s->room != NULL && s->plan != NULL &&
                      make_answers(s, &s->open) && make_answers(s, &s->closed);
    return room ? DP_OK : dpi_fail_nomem(err);
}

dp_status dpi_plan_study_latents(const dpi_plan_study *s, double *to, dp_error *err)
{
    const dpi_objective *o = &s->view.objective;
    dp_status status = DP_OK;
    for (size_t l = 0; l < o->n_latents && status == DP_OK; to += o->latents[l].size, l++)
        status = dp_simulated(s->sim, o->latents[l].name, o->latents[l].size, to, err);
    return status;
}

/* Truths and outcomes of all simulations; what a plan compares is fitted to the same ones. */
static dp_status simulate(dpi_plan_study *s, dp_error *err)
{
    size_t n = s->opts->records;
    const dp_model *from = s->opts->expected != NULL ? s->opts->expected : s->model;
    dp_status status = dp_simulator_new(from, s->invented.data, &s->sim, err);
    for (size_t k = 0; k < s->simulations && status == DP_OK; k++) {
        status = dp_simulate_prior(s->sim, s->rng, err);
        if (status == DP_OK)
            status = dpi_plan_study_latents(s, s->truth + k * s->d, err);
        if (status == DP_OK)
            status = dp_simulate_records(s->sim, s->view.seen->name, s->rng, n, s->outcomes + k * n,
                                         err);
        if (status == DP_OK)
            status = dp_rng_below(s->rng, UINT64_MAX - 1, 1, &s->seed[k], err);
        s->seed[k]++;
    }
    return status;
}

/* ---- fits ---- */

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool says_hopeless(const dp_fit *fit)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(d[k].name, "information") == 0)
            return d[k].bad;
    return false;
}

static dp_status keep(dpi_plan_study *s, const dp_fit *fit, dpi_plan_answers *a, size_t k,
                      dp_error *err)
{
    const dpi_objective *o = &s->view.objective;
    dp_status status = DP_OK;
    size_t at = k * s->d;
    for (size_t l = 0; l < o->n_latents && status == DP_OK; l++) {
        size_t size = o->latents[l].size;
        status = dp_fit_summary(fit, o->latents[l].name, size, s->summary, err);
        for (size_t e = 0; e < size; e++, at++) {
            a->mean[at] = s->summary[e].mean;
            a->sd[at] = s->summary[e].sd;
            a->low[at] = s->summary[e].q05;
            a->high[at] = s->summary[e].q95;
        }
    }
    a->hopeless[k] = says_hopeless(fit);
    return status;
}

/* Tells the caller's watch how far the plan is when a fit tells how far it is. */
static int watch(void *user, const dp_fit_progress *at)
{
    dpi_plan_study *s = user;
    dp_fit_progress told = {.phase = s->made < s->simulations ? "without privacy" : "with privacy",
                            .made = s->made,
                            .planned = s->planned};
    s->fraction = fmax(s->fraction, ((double)s->made + at->fraction) / (double)s->planned);
    told.fraction = s->fraction;
    return s->opts->fit.watch(s->opts->fit.watch_user, &told);
}

/* Fits simulation k.  What keeps a data set from being fitted keeps it out of the study. */
static dp_status fit_one(dpi_plan_study *s, const dp_fit_opts *opts, dpi_plan_answers *a, size_t k,
                         dp_error *err)
{
    dp_fit_opts o = *opts;
    dp_dataset *data;
    dp_fit *fit = NULL;
    dp_error found = {0};
    o.seed = s->seed[k];
    o.journal = NULL;
    o.resume = false;
    o.watch = s->opts->fit.watch != NULL ? watch : NULL;
    o.watch_user = s;
    a->seconds[k] = NAN;
    dp_status status = dpi_invented_with(&s->invented, s->view.seen->name,
                                         s->outcomes + k * s->opts->records, &data, err);
    if (status != DP_OK)
        return status;
    const double begun = now();
    status = dp_fit_private(s->model, data, &o, &fit, &found);
    s->made++;
    dp_dataset_free(data);
    for (size_t e = 0; e < s->d && status != DP_OK; e++)
        a->mean[k * s->d + e] = a->sd[k * s->d + e] = NAN;
    if (status == DP_OK)
        a->seconds[k] = now() - begun;
    if (status == DP_OK)
        status = keep(s, fit, a, k, &found);
    dp_fit_free(fit);
    if (status == DP_OK)
        return DP_OK;
    s->last = found;
    return dpi_plan_study_ends(status) ? dpi_fail(err, status, "%s", found.text) : DP_OK;
}

dp_status dpi_plan_study_fit(dpi_plan_study *s, const dp_fit_opts *opts, dpi_plan_answers *a,
                             size_t n, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < n && status == DP_OK; k++)
        status = fit_one(s, opts, a, k, err);
    return status;
}

bool dpi_plan_study_ends(dp_status status)
{
    return status == DP_ENOMEM || status == DP_EENTROPY || status == DP_ESTOPPED;
}

bool dpi_plan_study_has(const dpi_plan_study *s, size_t k)
{
    return isfinite(s->open.mean[k * s->d]) && isfinite(s->closed.mean[k * s->d]);
}

/* ---- the whole of it ---- */

dp_status dpi_plan_study_init(dpi_plan_study *s, const dp_dataset *columns, dp_error *err)
{
    const dp_fit_opts *o = &s->opts->fit;
    s->simulations = s->opts->simulations != 0 ? (size_t)s->opts->simulations : SIMULATIONS;
    dp_status status = check_options(s->opts, err);
    if (status == DP_OK)
        status = dpi_need_proper(s->model, "no truth can be drawn from", err);
    if (status == DP_OK)
        status = dpi_model_view_init(&s->view, s->model, err);
    if (status == DP_OK)
        status = dpi_budget_init(&s->budget, o, err);
    if (status == DP_OK)
        status = o->seed != 0 ? dp_rng_new(o->seed, &s->rng, err)
                              : dp_rng_new_random(&s->rng, NULL, err);
    if (status == DP_OK)
        status = dpi_invent(&s->invented, &s->view, columns, s->opts->records, s->rng, err);
    if (status == DP_OK)
        status = make_room(s, err);
    return status == DP_OK ? simulate(s, err) : status;
}

void dpi_plan_study_free(dpi_plan_study *s)
{
    dp_simulator_free(s->sim);
    dpi_invented_free(&s->invented);
    dp_rng_free(s->rng);
    dpi_model_view_free(&s->view);
    dpi_arena_free(&s->arena);
}
