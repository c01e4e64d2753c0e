/* A plan is a small simulation study of the fit itself, so that it knows all of it: approach,
 * metric, shrinkage, the sampler, the prior.
 *
 *   truths and outcomes    S data sets of the planned size, from the prior and invented columns
 *   without privacy        S fits: mean and sd of each number
 *   with the budget        S fits: what is reported
 *   around it              2^-k ... 2^k times epsilon, S fits each, where that is asked for
 *   with larger budgets    2, 4 ... 32 times epsilon, S / 2 fits each, until noise is below one sd
 *                          and wishes are granted
 *   where wishes point     one or two budgets more, S fits each
 *
 * What would suffice is read off between these (plan-curve.c).  doc/design/plan.md has what this
 * was compared with. */
#include "infer/plan.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "data/dataset.h"
#include "fit/draws.h"
#include "infer/answer.h"
#include "infer/plan-study.h"

enum { PRIOR_DRAWS = 400, MATRICES = 16 };

/* ---- one budget ---- */

/* The median over the first n simulations of what both fits of them have; NaN of none. */
static double median_of(const dpi_plan_study *s, size_t n, const double *of, const double *over,
                        size_t e)
{
    size_t m = 0;
    for (size_t k = 0; k < n; k++) {
        size_t at = k * s->d + e;
        double x = of[at] / (over != NULL ? over[at] : 1);
        if (isfinite(x) && isfinite(s->open.mean[at]) && isfinite(s->closed.mean[at]))
            s->room[m++] = x;
    }
    gsl_sort(s->room, 1, m);
    return m > 0 ? (s->room[(m - 1) / 2] + s->room[m / 2]) / 2 : NAN;
}

static double noise_of(double width)
{
    return sqrt(fmax(width * width - 1, 0));
}

/* A place for a point with that mu. */
static size_t insert(dp_plan *p, double mu)
{
    size_t k = p->n_points++;
    for (; k > 0 && p->noises[k - 1].mu > mu; k--) {
        p->noises[k] = p->noises[k - 1];
        p->points[k] = p->points[k - 1];
    }
    return k;
}

/* Fits the first n simulations with one budget and keeps what they show. */
static dp_status look(dpi_plan_study *s, double epsilon, size_t n, dp_error *err)
{
    dp_plan *p = s->plan;
    dp_fit_opts o = s->opts->fit;
    dpi_budget b;
    o.epsilon = epsilon;
    o.hopeless_allowed = true;
    double *noise = dpi_arena_alloc(&p->arena, s->d, sizeof *noise);
    double *sd = dpi_arena_alloc(&p->arena, s->d, sizeof *sd);
    if (noise == NULL || sd == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_budget_init(&b, &o, err);
    if (status == DP_OK)
        status = dpi_plan_study_fit(s, &o, &s->closed, n, err);
    if (status != DP_OK)
        return status;
    for (size_t e = 0; e < s->d && p->n_points == 0; e++)
        p->numbers[e].sd = median_of(s, n, s->open.sd, NULL, e);
    dp_plan_point point = {.epsilon = epsilon, .sd_private = sd};
    for (size_t k = 0; k < n; k++)
        if (dpi_plan_study_has(s, k)) {
            point.fitted++;
            point.hopeless += s->closed.hopeless[k];
        }
    point.hopeless /= (double)point.fitted;
    for (size_t e = 0; e < s->d; e++) {
        const double width = median_of(s, n, s->closed.sd, s->open.sd, e);
        noise[e] = noise_of(width);
        sd[e] = p->numbers[e].sd * width;
    }
    const size_t at = insert(p, 1 / b.sigma);
    p->points[at] = point;
    p->noises[at] = (dpi_plan_point){.mu = 1 / b.sigma, .noise = noise};
    return DP_OK;
}

/* ---- what is told ---- */

static void tell_error(const dpi_plan_study *s, size_t e)
{
    dp_plan_number *to = &s->plan->numbers[e];
    double square = 0, covered = 0;
    for (size_t k = 0; k < s->simulations; k++) {
        size_t at = k * s->d + e;
        double off = (s->closed.mean[at] - s->open.mean[at]) / s->open.sd[at];
        if (!isfinite(off))
            continue;
        square += off * off;
        covered += s->truth[at] >= s->closed.low[at] && s->truth[at] <= s->closed.high[at];
    }
    to->error = sqrt(square / (double)s->plan->fitted);
    to->covered = covered / (double)s->plan->fitted;
}

/* Columns, and draws three times: of theta, of latents, and in the fit; some matrices are as large
 * as the information. */
static double find_bytes(const dpi_plan_study *s)
{
    const double d = (double)s->view.objective.n_theta;
    const size_t draws = s->opts->fit.draws != 0 ? s->opts->fit.draws : DPI_KEPT_DRAWS;
    double record = sizeof(double); /* the outcome */
    for (size_t k = 0; k < s->invented.data->n_columns; k++) {
        const dpi_column *c = &s->invented.data->columns[k];
        record += (double)c->size * (c->real != NULL    ? sizeof *c->real
                                     : c->index != NULL ? sizeof *c->index
                                                        : 1);
    }
    return (double)s->opts->records * record +
           sizeof(double) * (3 * (double)draws * d + MATRICES * d * d);
}

static void tell_cost(dpi_plan_study *s)
{
    size_t m = 0;
    for (size_t k = 0; k < s->simulations; k++)
        if (isfinite(s->closed.seconds[k]))
            s->room[m++] = s->closed.seconds[k];
    gsl_sort(s->room, 1, m);
    s->plan->cost = (dp_plan_cost){.seconds = (s->room[(m - 1) / 2] + s->room[m / 2]) / 2,
                                   .slowest = s->room[m - 1],
                                   .bytes = find_bytes(s)};
}

/* What is told of the budget asked for, in all simulations. */
static dp_status tell(dpi_plan_study *s, dp_error *err)
{
    dp_plan *plan = s->plan;
    for (size_t k = 0; k < s->simulations; k++)
        if (dpi_plan_study_has(s, k)) {
            plan->fitted++;
            plan->hopeless += s->closed.hopeless[k];
        }
    if (plan->fitted == 0)
        return dpi_fail(err, s->last.status, "no invented data set could be fitted: %.160s",
                        s->last.text);
    for (size_t e = 0; e < s->d; e++) {
        dp_plan_number *to = &plan->numbers[e];
        to->sd_private = plan->points[0].sd_private[e];
        to->noise = plan->noises[0].noise[e];
        to->width = median_of(s, s->simulations, s->closed.sd, s->open.sd, e);
        tell_error(s, e);
        to->visible = dp_plan_visible(plan, e, to->sd_private);
    }
    tell_cost(s);
    return DP_OK;
}

static void find_budgets(dpi_plan_study *s)
{
    for (size_t e = 0; e < s->d; e++) {
        dp_plan_number *to = &s->plan->numbers[e];
        const double wanted = dpi_plan_mu(s->plan, e, 1), times = wanted / s->plan->mu;
        to->epsilon = dpi_plan_epsilon(s->plan, wanted);
        to->records = (double)s->opts->records * times * times;
    }
}

/* ---- the search ---- */

static size_t find_number(const dp_plan *plan, const char *name)
{
    size_t e = 0;
    while (e < plan->n && strcmp(plan->numbers[e].name, name) != 0)
        e++;
    return e;
}

static dp_status check_wishes(const dpi_plan_study *s, dp_error *err)
{
    for (size_t k = 0; k < s->opts->n_wishes; k++) {
        const dp_plan_wish *w = &s->opts->wishes[k];
        if (find_number(s->plan, w->name) == s->plan->n)
            return dpi_fail(err, DP_ENAME,
                            "a wish is of '%.80s', and the model has no such number; its first is "
                            "'%.80s'",
                            w->name, s->plan->numbers[0].name);
        if (!(w->sd > 0))
            return dpi_fail(err, DP_EDOMAIN,
                            "the wish of '%.80s' is an sd of %g; it must be above 0", w->name,
                            w->sd);
    }
    return DP_OK;
}

/* mu that grants the wishes that some budget grants; whether that is all of them. */
static double wished_mu(const dpi_plan_study *s, bool *all)
{
    const dp_plan *p = s->plan;
    double most = 0;
    *all = true;
    for (size_t k = 0; k < s->opts->n_wishes; k++) {
        const dp_plan_wish *w = &s->opts->wishes[k];
        const size_t e = find_number(p, w->name);
        const double width = w->sd / p->numbers[e].sd;
        const bool grantable = width > 1;
        *all = *all && grantable;
        most = fmax(most, grantable ? dpi_plan_mu(p, e, noise_of(width)) : 0);
    }
    return most;
}

static bool beyond_reach(const dpi_plan_study *s)
{
    bool all;
    return isinf(wished_mu(s, &all));
}

static bool all_are_quiet(const dp_plan *p)
{
    const double *noise = p->noises[p->n_points - 1].noise;
    for (size_t e = 0; e < p->n; e++)
        if (noise[e] > 1)
            return false;
    return true;
}

/* Greater budgets may be beyond the accountant; then they are left. */
static dp_status look_if(dpi_plan_study *s, double epsilon, size_t n, bool *found, dp_error *err)
{
    dp_error beyond = {0};
    if (s->planned < s->made + n)
        s->planned = s->made + n;
    dp_status status = look(s, epsilon, n, &beyond);
    *found = status == DP_OK;
    return dpi_plan_study_ends(status) ? dpi_fail(err, status, "%s", beyond.text) : DP_OK;
}

static dp_status look_around(dpi_plan_study *s, dp_error *err)
{
    const double epsilon = s->opts->fit.epsilon;
    const size_t some = (s->simulations + 1) / 2;
    bool more = true;
    dp_status status = DP_OK;
    int k = 1;
    for (; k <= (int)s->opts->around && status == DP_OK; k++) {
        status = look_if(s, ldexp(epsilon, -k), s->simulations, &more, err);
        if (status == DP_OK)
            status = look_if(s, ldexp(epsilon, k), s->simulations, &more, err);
    }
    for (; k <= DPI_PLAN_AROUND && status == DP_OK && more &&
           (!all_are_quiet(s->plan) || beyond_reach(s));
         k++)
        status = look_if(s, ldexp(epsilon, k), some, &more, err);
    return status;
}

/* Whether a budget was tried that is as good as one of mu. */
static bool was_tried(const dp_plan *p, double mu)
{
    for (size_t k = 0; k < p->n_points; k++)
        if (fabs(log(p->noises[k].mu / mu)) < log(1.05))
            return true;
    return false;
}

/* Reads off what grants the wishes, tries that, and reads it off again. */
static dp_status look_at_wishes(dpi_plan_study *s, dp_error *err)
{
    dp_plan *p = s->plan;
    bool all, more = true;
    double mu = wished_mu(s, &all);
    dp_status status = DP_OK;
    for (int k = 0; k < DPI_PLAN_REFINED && more && mu > 0 && isfinite(mu) && !was_tried(p, mu) &&
                    status == DP_OK;
         k++) {
        status = look_if(s, dpi_plan_epsilon(p, mu), s->simulations, &more, err);
        mu = wished_mu(s, &all);
    }
    p->granted = s->opts->n_wishes == 0 ? NAN : all ? dpi_plan_epsilon(p, mu) : INFINITY;
    return status;
}

static dp_status search(dpi_plan_study *s, dp_error *err)
{
    const dp_fit_opts open = {.mode = DP_NO_PRIVACY,
                              .method = DP_METHOD_ROUNDS,
                              .draws = s->opts->fit.draws,
                              .threads = s->opts->fit.threads};
    s->planned = 2 * s->simulations * (1 + s->opts->around);
    dp_status status = check_wishes(s, err);
    if (status == DP_OK)
        status = dpi_plan_study_fit(s, &open, &s->open, s->simulations, err);
    if (status == DP_OK)
        status = look(s, s->opts->fit.epsilon, s->simulations, err);
    if (status == DP_OK)
        status = tell(s, err);
    if (status == DP_OK)
        status = look_around(s, err);
    if (status == DP_OK)
        status = look_at_wishes(s, err);
    if (status == DP_OK)
        find_budgets(s);
    return status;
}

/* ---- names, priors ---- */

static dp_status name_numbers(dpi_plan_study *s, dp_error *err)
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
static dp_status spread_prior(dpi_plan_study *s, dp_error *err)
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
            status = dpi_plan_study_latents(s, x, err);
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

/* Marks the numbers that cannot be 0: those have no least visible effect. */
static void mark_positive(dpi_plan_study *s)
{
    const dpi_objective *o = &s->view.objective;
    dp_plan_number *to = s->plan->numbers;
    for (size_t l = 0; l < o->n_latents; l++) {
        const dpi_site *site = dpi_find_site(s->model, o->latents[l].name);
        const bool real = site->family == NULL || site->family->support == DPI_REAL;
        for (size_t e = 0; e < o->latents[l].size; e++, to++)
            to->visible = real ? 0 : NAN;
    }
}

static dp_status make(dpi_plan_study *s, const dp_dataset *columns, dp_error *err)
{
    const dp_fit_opts *o = &s->opts->fit;
    dp_status status = dpi_plan_study_init(s, columns, err);
    if (status == DP_OK)
        status = name_numbers(s, err);
    if (status == DP_OK)
        status = spread_prior(s, err);
    if (status != DP_OK)
        return status;
    dp_plan *p = s->plan;
    p->n = s->d;
    p->records = s->opts->records;
    p->simulations = s->simulations;
    p->epsilon = o->epsilon;
    p->delta = o->delta;
    p->accounted = s->budget.accounted;
    p->mu = 1 / s->budget.sigma;
    mark_positive(s);
    return search(s, err);
}

dp_status dp_fit_plan(const dp_model *model, const dp_dataset *columns, const dp_plan_opts *opts,
                      dp_plan **plan, dp_error *err)
{
    if (model == NULL || opts == NULL || plan == NULL)
        dpi_misuse(__func__, "NULL model, options or result");
    dpi_plan_study s = {.model = model, .opts = opts};
    *plan = NULL;
    dp_status status = make(&s, columns, err);
    if (status == DP_OK)
        *plan = s.plan;
    else
        dp_plan_free(s.plan);
    dpi_plan_study_free(&s);
    return status;
}
