/* Draws of the posterior between rounds and at their end. */
#include "infer/walks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/laplace.h"
#include "infer/prior.h"
#include "model/model.h"

enum { WALK_WARM = 10, PRIOR_DRAWS = 1000 };

/* Of the logarithm of r->ratio. */
static const double most_ratio = 3;

static size_t dimension(const dpi_rounds *r)
{
    return r->view->objective.n_theta;
}

void dpi_walk_mean(const dpi_rounds *r, double *mean)
{
    const size_t d = dimension(r);
    memset(mean, 0, d * sizeof *mean);
    for (size_t k = 0; k < DPI_WALK; k++)
        for (size_t i = 0; i < d; i++)
            mean[i] += r->walk[k * d + i] / (double)DPI_WALK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The draw whose numbers, members of plates aside, are nearest to their medians.  Members go with
 * it: were they at their medians too, a walk would take their scale for 0 and stay there. */
static size_t most_usual(const dpi_rounds *r, size_t n, const double *all)
{
    size_t d = dimension(r), best = 0;
    double least = INFINITY;
    for (size_t k = 0; k < n; k++) {
        double away = 0;
        for (size_t i = 0; i < d; i++) {
            double x = (all[k * d + i] - r->z[i]) / r->spread[i];
            for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
                if (a->members > 0 && i - a->block->offset < a->block->size)
                    x = 0;
            away += x * x;
        }
        if (away < least) {
            least = away;
            best = k;
        }
    }
    return best;
}

/* Cutpoints of levels begin where all levels are as likely at a predictor of 0, and not at the
 * prior's medians, which may be beyond all outcomes: records would tell nothing there. */
static void spread_levels(dpi_rounds *r)
{
    const dpi_objective *o = &r->view->objective;
    double cut[DPI_READ_MOST];
    if (r->view->seen->family->support != DPI_LEVEL)
        return;
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++) {
        const dpi_site *site = dpi_find_site(r->model, b->name);
        if (site == NULL || site->family->support != DPI_ORDERED || b->size > DPI_READ_MOST)
            continue;
        for (size_t k = 0; k < b->size; k++)
            cut[k] = log((double)(k + 1) / (double)(b->size - k));
        dpi_supports[DPI_ORDERED].rows->free(b->size, cut, r->z + b->offset);
    }
}

dp_status dpi_walks_start(dpi_rounds *r, dp_error *err)
{
    size_t d = dimension(r), n = PRIOR_DRAWS;
    double *all = dpi_alloc(n, (d + 1) * sizeof *all), *one = all + n * d;
    if (all == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_prior_draw(r->model, d, n, r->rng, all, err);
    for (size_t i = 0; i < d && status == DP_OK; i++) {
        for (size_t k = 0; k < n; k++) {
            all[k * d + i] = isfinite(all[k * d + i]) ? all[k * d + i] : 0;
            one[k] = all[k * d + i];
        }
        qsort(one, n, sizeof *one, ascending);
        r->z[i] = one[n / 2];
        r->spread[i] = fmin(fmax((one[n * 3 / 4] - one[n / 4]) / 1.35, 1e-6), 1e6);
    }
    if (status == DP_OK)
        memcpy(r->place, all + most_usual(r, n, all) * d, d * sizeof *all);
    spread_levels(r);
    dpi_free(all);
    return status;
}

/* The scale in mean[d] of the last walk is where it looks to be; how much smaller or larger that of
 * errors is, squared. */
static void see_scale(dpi_rounds *r, double *mean)
{
    dpi_surrogate *s = &r->posterior;
    size_t d = dimension(r), scale = s->excess.scale;
    double looks = 0;
    if (scale == d)
        return;
    for (size_t k = 0; k < DPI_WALK; k++) {
        for (size_t i = 0; i < d; i++)
            s->away[i] = r->walk[k * d + i] - s->centre[i];
        looks += dpi_excess_at(&s->excess, s->away, s->tilt) / DPI_WALK;
    }
    double whole = 2 * s->excess.power * (mean[scale] - s->centre[scale]);
    r->ratio = exp(fmin(fmax(whole, -most_ratio), most_ratio));
    mean[scale] = s->centre[scale] + looks;
}

dp_status dpi_walk(dpi_rounds *r, double *mean, dp_error *err)
{
    size_t d = dimension(r);
    dpi_target target;
    double *factor = dpi_alloc(d + 1, d * sizeof *factor);
    if (factor == NULL)
        return dpi_fail_nomem(err);
    double *from = factor + d * d;
    memcpy(from, r->place, d * sizeof *from);
    dpi_surrogate_loosen(&r->posterior, from);
    dpi_surrogate_drawn(&r->posterior, from);
    target = dpi_surrogate_target(&r->posterior);
    dpi_hmc_opts o = {.chains = 1,
                      .warmup = WALK_WARM,
                      .draws = DPI_WALK,
                      .depth = 6,
                      .start = from,
                      .factor = factor};
    dp_status status = dpi_laplace_factor(&r->posterior, from, r->spread, factor, err);
    dpi_progress_begin_walk(r->progress);
    if (status == DP_OK)
        status = dpi_hmc(&target, &o, r->rng, r->walk, &r->report, err);
    dpi_progress_end_walk(r->progress, WALK_WARM + DPI_WALK);
    for (size_t k = 0; k < DPI_WALK && status == DP_OK; k++)
        dpi_surrogate_tied(&r->posterior, r->walk + k * d);
    if (status == DP_OK)
        dpi_walk_mean(r, mean);
    if (status == DP_OK)
        see_scale(r, mean);
    if (status == DP_OK)
        memcpy(r->place, r->walk + (DPI_WALK - 1) * d, d * sizeof *mean);
    dpi_free(factor);
    return status;
}

static dp_status draw(dpi_rounds *r, dpi_hmc_opts *o, double *factor, double *draws, dp_error *err)
{
    size_t most = r->scan->pool != NULL ? r->scan->threads : 1;
    size_t n = (most < o->chains ? most : o->chains) - 1, made = 0;
    dpi_surrogate *twins = dpi_alloc(n + 1, sizeof *twins);
    dpi_target *targets = dpi_alloc(n + 1, sizeof *targets), target;
    dp_status status = twins != NULL && targets != NULL ? DP_OK : dpi_fail_nomem(err);
    for (; made < n && status == DP_OK; made += status == DP_OK) {
        status = dpi_surrogate_twin(&r->posterior, &twins[made], err);
        if (status == DP_OK)
            targets[made] = dpi_surrogate_target(&twins[made]);
    }
    if (status == DP_OK)
        status = dpi_laplace_factor(&r->posterior, o->start, r->spread, factor, err);
    target = dpi_surrogate_target(&r->posterior);
    o->factor = factor;
    o->pool = r->scan->pool;
    o->twins = targets;
    o->n_twins = n;
    o->progress = r->progress;
    dpi_progress_draw(r->progress);
    if (status == DP_OK)
        status = dpi_hmc(&target, o, r->rng, draws, &r->report, err);
    while (made > 0)
        dpi_surrogate_free(&twins[--made]);
    dpi_free(targets);
    dpi_free(twins);
    return status;
}

dp_status dpi_rounds_draw(dpi_rounds *r, size_t chains, size_t n, double *draws, dp_error *err)
{
    size_t d = dimension(r);
    double *factor = dpi_alloc(d + chains, d * sizeof *factor);
    if (factor == NULL)
        return dpi_fail_nomem(err);
    double *from = factor + d * d;
    dpi_surrogate_loosen(&r->posterior, r->place);
    for (size_t c = 0; c < chains; c++) {
        memcpy(from + c * d, r->walk + (DPI_WALK - 1 - c % DPI_WALK) * d, d * sizeof *from);
        dpi_surrogate_drawn(&r->posterior, from + c * d);
    }
    dpi_hmc_opts o = {
        .chains = chains, .warmup = DPI_FINAL_WARM, .draws = n, .start = from, .adapt = true};
    dp_status status = draw(r, &o, factor, draws, err);
    for (size_t k = 0; k < chains * n && status == DP_OK; k++)
        dpi_surrogate_tied(&r->posterior, draws + k * d);
    dpi_free(factor);
    return status;
}
