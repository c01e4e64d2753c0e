/* A plan is a small simulation study of the fit itself, so that it knows all of it: approach,
 * metric, shrinkage, the sampler, the prior.
 *
 *   truths and outcomes    S data sets of the planned size, from the prior and invented columns
 *   without privacy        S fits: mean and sd of each number
 *   with the budget        S fits: what is reported
 *   with larger budgets    2, 4 ... 32 times epsilon, a few fits each, until noise is below one sd
 *
 * The budget that would suffice is found between two of these on a line through log noise against
 * log mu, mu = 1 / sigma; below the least by noise ~ 1 / mu.  Noise depends on mu sqrt n (clip.h),
 * which gives the number of records.  doc/design/plan.md has what this was compared with. */
#include "infer/plan.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include <tacit/simulate.h>

#include "fit/draws.h"
#include "infer/invent.h"
#include "model/proper.h"

enum { SIMULATIONS = 8, PROBES = 6, PRIOR_DRAWS = 400 };

/* Budgets below a quarter of the one asked for are not spoken of. */
static const double least_noise = 0.25;

/* ---- the study ---- */

/* Posterior of each number in each simulation, [simulations][d]; NaN where there is none. */
typedef struct answers {
    double *mean, *sd, *low, *high;
    bool *hopeless; /* [simulations] */
} answers;

/* What fits at one budget show. */
typedef struct probe {
    double mu;
    double *noise; /* [d] */
} probe;

typedef struct study {
    const dp_model *model;
    const dp_plan_opts *opts;
    dpi_arena arena;
    dpi_model_view view;
    dpi_budget budget;
    dpi_invented invented;
    dp_rng *rng;
    dp_simulator *sim;
    size_t d, simulations;
    double *truth;       /* [simulations][d] */
    double *outcomes;    /* [simulations][records] */
    uint64_t *seed;      /* [simulations] */
    dp_summary *summary; /* [d] scratch */
    answers open, closed;
    probe probes[PROBES];
    size_t n_probes;
    dp_error last; /* why a simulation could not be fitted */
    dp_plan *plan;
} study;

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
    return DP_OK;
}

static bool make_answers(study *s, answers *a)
{
    size_t n = s->simulations;
    double **to[] = {&a->mean, &a->sd, &a->low, &a->high};
    for (int k = 0; k < 4; k++)
        if ((*to[k] = dpi_arena_alloc(&s->arena, n, s->d * sizeof **to[k])) == NULL)
            return false;
    a->hopeless = dpi_arena_alloc(&s->arena, n, sizeof *a->hopeless);
    return a->hopeless != NULL;
}

static dp_status make_room(study *s, dp_error *err)
{
    const dpi_objective *o = &s->view.objective;
    size_t n = s->simulations;
    for (size_t l = 0; l < o->n_latents; l++)
        s->d += o->latents[l].size;
    s->truth = dpi_arena_alloc(&s->arena, n, s->d * sizeof *s->truth);
    s->outcomes = dpi_arena_alloc(&s->arena, n, s->opts->records * sizeof *s->outcomes);
    s->seed = dpi_arena_alloc(&s->arena, n, sizeof *s->seed);
    s->summary = dpi_arena_alloc(&s->arena, s->d, sizeof *s->summary);
    s->plan = dpi_alloc(1, sizeof *s->plan);
    bool room = s->truth != NULL && s->outcomes != NULL && s->seed != NULL && s->summary != NULL &&
                s->plan != NULL && make_answers(s, &s->open) && make_answers(s, &s->closed);
    for (int k = 0; k < PROBES; k++)
        room = room && (s->probes[k].noise =
                            dpi_arena_alloc(&s->arena, s->d, sizeof *s->probes[k].noise)) != NULL;
    return room ? DP_OK : dpi_fail_nomem(err);
}

static dp_status read_latents(const study *s, double *to, dp_error *err)
{
    const dpi_objective *o = &s->view.objective;
    dp_status status = DP_OK;
    for (size_t l = 0; l < o->n_latents && status == DP_OK; to += o->latents[l].size, l++)
        status = dp_simulated(s->sim, o->latents[l].name, o->latents[l].size, to, err);
    return status;
}

/* Truths and outcomes of all simulations; what a plan compares is fitted to the same ones. */
static dp_status simulate(study *s, dp_error *err)
{
    size_t n = s->opts->records;
    const dp_model *from = s->opts->expected != NULL ? s->opts->expected : s->model;
    dp_status status = dp_simulator_new(from, s->invented.data, &s->sim, err);
    for (size_t k = 0; k < s->simulations && status == DP_OK; k++) {
        status = dp_simulate_prior(s->sim, s->rng, err);
        if (status == DP_OK)
            status = read_latents(s, s->truth + k * s->d, err);
        if (status == DP_OK)
            status = dp_simulate_records(s->sim, s->view.seen->name, s->rng, n, s->outcomes + k * n,
                                         err);
        if (status == DP_OK)
            status = dp_rng_below(s->rng, UINT64_MAX - 1, 1, &s->seed[k], err);
        s->seed[k]++;
    }
    return status;
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

static dp_status keep(study *s, const dp_fit *fit, answers *a, size_t k, dp_error *err)
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

/* Fits simulation k.  What keeps a data set from being fitted keeps it out of the study. */
static dp_status fit_one(study *s, const dp_fit_opts *opts, answers *a, size_t k, dp_error *err)
{
    dp_fit_opts o = *opts;
    dp_dataset *data;
    dp_fit *fit = NULL;
    dp_error found = {0};
    o.seed = s->seed[k];
    dp_status status = dpi_invented_with(&s->invented, s->view.seen->name,
                                         s->outcomes + k * s->opts->records, &data, err);
    if (status != DP_OK)
        return status;
    status = dp_fit_private(s->model, data, &o, &fit, &found);
    dp_dataset_free(data);
    for (size_t e = 0; e < s->d && status != DP_OK; e++)
        a->mean[k * s->d + e] = a->sd[k * s->d + e] = NAN;
    if (status == DP_OK)
        status = keep(s, fit, a, k, &found);
    dp_fit_free(fit);
    if (status == DP_OK)
        return DP_OK;
    s->last = found;
    return status == DP_ENOMEM || status == DP_EENTROPY ? dpi_fail(err, status, "%s", found.text)
                                                        : DP_OK;
}

static dp_status fit_all(study *s, const dp_fit_opts *opts, answers *a, size_t n, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < n && status == DP_OK; k++)
        status = fit_one(s, opts, a, k, err);
    return status;
}

/* ---- what is told ---- */

/* The median over the first n simulations of what both fits of them have; NaN of none. */
static double median_of(const study *s, size_t n, const double *of, const double *over, size_t e,
                        double *room)
{
    size_t m = 0;
    for (size_t k = 0; k < n; k++) {
        size_t at = k * s->d + e;
        double x = of[at] / (over != NULL ? over[at] : 1);
        if (isfinite(x) && isfinite(s->open.mean[at]) && isfinite(s->closed.mean[at]))
            room[m++] = x;
    }
    gsl_sort(room, 1, m);
    return m > 0 ? (room[(m - 1) / 2] + room[m / 2]) / 2 : NAN;
}

static double noise_of(double width)
{
    return sqrt(fmax(width * width - 1, 0));
}

/* Looks at one budget, in the first n simulations. */
static dp_status look(study *s, double epsilon, size_t n, double *room, dp_error *err)
{
    probe *p = &s->probes[s->n_probes];
    dp_fit_opts o = s->opts->fit;
    dpi_budget b;
    o.epsilon = epsilon;
    o.hopeless_allowed = true;
    dp_status status = dpi_budget_init(&b, &o, err);
    if (status == DP_OK)
        status = fit_all(s, &o, &s->closed, n, err);
    if (status != DP_OK)
        return status;
    p->mu = 1 / b.sigma;
    for (size_t e = 0; e < s->d; e++)
        p->noise[e] = noise_of(median_of(s, n, s->closed.sd, s->open.sd, e, room));
    s->n_probes++;
    return DP_OK;
}

static void tell(study *s, double *room)
{
    dp_plan *plan = s->plan;
    for (size_t k = 0; k < s->simulations; k++) {
        bool fitted = isfinite(s->open.mean[k * s->d]) && isfinite(s->closed.mean[k * s->d]);
        plan->fitted += fitted;
        plan->hopeless += fitted && s->closed.hopeless[k];
    }
    for (size_t e = 0; e < s->d; e++) {
        dp_plan_number *to = &plan->numbers[e];
        double square = 0, covered = 0;
        to->sd = median_of(s, s->simulations, s->open.sd, NULL, e, room);
        to->sd_private = median_of(s, s->simulations, s->closed.sd, NULL, e, room);
        to->width = median_of(s, s->simulations, s->closed.sd, s->open.sd, e, room);
        to->noise = noise_of(to->width);
        for (size_t k = 0; k < s->simulations; k++) {
            size_t at = k * s->d + e;
            double off = (s->closed.mean[at] - s->open.mean[at]) / s->open.sd[at];
            if (!isfinite(off))
                continue;
            square += off * off;
            covered += s->truth[at] >= s->closed.low[at] && s->truth[at] <= s->closed.high[at];
        }
        to->error = sqrt(square / (double)plan->fitted);
        to->covered = covered / (double)plan->fitted;
    }
}

/* mu with which the noise of number e would be 1. */
static double find_mu(const study *s, size_t e)
{
    const probe *p = s->probes;
    size_t k = 0;
    while (k < s->n_probes && !(p[k].noise[e] <= 1))
        k++;
    if (k == s->n_probes)
        return INFINITY;
    double noise = fmax(p[k].noise[e], least_noise);
    if (k == 0 || !isfinite(p[k - 1].noise[e]))
        return p[k].mu * noise;
    double share = log(noise) / log(noise / p[k - 1].noise[e]);
    return p[k].mu * pow(p[k - 1].mu / p[k].mu, share);
}

static void find_budgets(study *s)
{
    double mu = 1 / s->budget.sigma;
    for (size_t e = 0; e < s->d; e++) {
        dp_plan_number *to = &s->plan->numbers[e];
        double wanted = find_mu(s, e);
        dp_mechanism one = {
            .sampling = DP_SAMPLING_FULL, .sigma = 1 / wanted, .rate = 1, .steps = 1};
        dp_interval spent = {.upper = INFINITY};
        if (isinf(wanted) ||
            dp_account_epsilon(&one, 1, s->budget.accounted, 0, &spent, NULL) != DP_OK)
            spent.upper = INFINITY;
        to->epsilon = spent.upper;
        to->records = (double)s->opts->records * (wanted / mu) * (wanted / mu);
    }
}

static bool all_are_quiet(const study *s)
{
    const probe *p = &s->probes[s->n_probes - 1];
    for (size_t e = 0; e < s->d; e++)
        if (p->noise[e] > 1)
            return false;
    return true;
}

/* The budget asked for in all simulations, then larger ones in some. */
static dp_status search(study *s, dp_error *err)
{
    double epsilon = s->opts->fit.epsilon;
    double *room = dpi_arena_alloc(&s->arena, s->simulations, sizeof *room);
    size_t some = (s->simulations + 1) / 2;
    if (room == NULL)
        return dpi_fail_nomem(err);
    dp_status status = fit_all(s,
                               &(dp_fit_opts){.mode = DP_NO_PRIVACY,
                                              .method = DP_METHOD_ROUNDS,
                                              .draws = s->opts->fit.draws,
                                              .threads = s->opts->fit.threads},
                               &s->open, s->simulations, err);
    if (status == DP_OK)
        status = look(s, epsilon, s->simulations, room, err);
    if (status != DP_OK)
        return status;
    tell(s, room);
    if (s->plan->fitted == 0)
        return dpi_fail(err, s->last.status, "no invented data set could be fitted: %.160s",
                        s->last.text);
    while (s->n_probes < PROBES && !all_are_quiet(s) && status == DP_OK) {
        dp_error beyond = {0};
        epsilon *= 2;
        status = look(s, epsilon, some, room, &beyond);
        if (status == DP_ENOMEM || status == DP_EENTROPY)
            return dpi_fail(err, status, "%s", beyond.text);
    }
    find_budgets(s);
    return DP_OK;
}

/* ---- names, priors ---- */

static dp_status name_numbers(study *s, dp_error *err)
{
    const dpi_objective *o = &s->view.objective;
    dp_plan *plan = s->plan;
    dp_plan_number *to = plan->numbers = dpi_arena_alloc(&plan->arena, s->d, sizeof *plan->numbers);
    if (to == NULL)
        return dpi_fail_nomem(err);
    plan->sizes = dpi_arena_alloc(&plan->arena, o->n_latents, sizeof *plan->sizes);
    if (plan->sizes == NULL)
        return dpi_fail_nomem(err);
    for (size_t l = 0; l < o->n_latents; l++) {
        plan->sizes[plan->n_latents++] = o->latents[l].size;
        const char *latent = o->latents[l].name;
        const dpi_site *site = dpi_find_site(s->model, latent);
        const dpi_shape *shape = &dpi_get(&s->model->graph, site->value)->shape;
        size_t room = dpi_number_name_room(latent);
        for (size_t e = 0; e < o->latents[l].size; e++, to++) {
            char *name = dpi_arena_alloc(&plan->arena, room, 1);
            if (name == NULL)
                return dpi_fail_nomem(err);
            dpi_number_name(latent, shape, e, room, name);
            to->name = name;
        }
    }
    return DP_OK;
}

/* Standard deviations of the model's prior. */
static dp_status spread_prior(study *s, dp_error *err)
{
    dp_simulator *expected = s->sim;
    double *x = dpi_arena_alloc(&s->arena, s->d, 3 * sizeof *x);
    if (x == NULL)
        return dpi_fail_nomem(err);
    double *sum = x + s->d, *square = sum + s->d;
    memset(sum, 0, 2 * s->d * sizeof *sum);
    s->sim = NULL;
    dp_status status = dp_simulator_new(s->model, s->invented.data, &s->sim, err);
    for (int k = 0; k < PRIOR_DRAWS && status == DP_OK; k++) {
        status = dp_simulate_prior(s->sim, s->rng, err);
        if (status == DP_OK)
            status = read_latents(s, x, err);
        for (size_t e = 0; e < s->d; e++) {
            sum[e] += x[e] / PRIOR_DRAWS;
            square[e] += x[e] * x[e] / PRIOR_DRAWS;
        }
    }
    for (size_t e = 0; e < s->d; e++)
        s->plan->numbers[e].prior_sd = sqrt(fmax(square[e] - sum[e] * sum[e], 0));
    dp_simulator_free(s->sim);
    s->sim = expected;
    return status;
}

static dp_status study_fit(study *s, const dp_dataset *columns, dp_error *err)
{
    const dp_fit_opts *o = &s->opts->fit;
    s->simulations = s->opts->simulations != 0 ? (size_t)s->opts->simulations : SIMULATIONS;
    dp_status status = dpi_model_view_init(&s->view, s->model, err);
    if (status == DP_OK)
        status = dpi_budget_init(&s->budget, o, err);
    if (status == DP_OK)
        status = o->seed != 0 ? dp_rng_new(o->seed, &s->rng, err)
                              : dp_rng_new_random(&s->rng, NULL, err);
    if (status == DP_OK)
        status = dpi_invent(&s->invented, &s->view, columns, s->opts->records, s->rng, err);
    if (status == DP_OK)
        status = make_room(s, err);
    if (status == DP_OK)
        status = name_numbers(s, err);
    if (status == DP_OK)
        status = simulate(s, err);
    if (status == DP_OK)
        status = spread_prior(s, err);
    if (status != DP_OK)
        return status;
    s->plan->n = s->d;
    s->plan->records = s->opts->records;
    s->plan->simulations = s->simulations;
    s->plan->epsilon = o->epsilon;
    s->plan->delta = o->delta;
    return search(s, err);
}

dp_status dp_fit_plan(const dp_model *model, const dp_dataset *columns, const dp_plan_opts *opts,
                      dp_plan **plan, dp_error *err)
{
    if (model == NULL || opts == NULL || plan == NULL)
        dpi_misuse(__func__, "NULL model, options or result");
    study s = {.model = model, .opts = opts};
    *plan = NULL;
    dp_status status = check_options(opts, err);
    if (status == DP_OK)
        status = dpi_need_proper(model, "no truth can be drawn from", err);
    if (status == DP_OK)
        status = study_fit(&s, columns, err);
    if (status == DP_OK)
        *plan = s.plan;
    else
        dp_plan_free(s.plan);
    dp_simulator_free(s.sim);
    dpi_invented_free(&s.invented);
    dp_rng_free(s.rng);
    dpi_model_view_free(&s.view);
    dpi_arena_free(&s.arena);
    return status;
}
