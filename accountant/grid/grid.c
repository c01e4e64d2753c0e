/* The grid engine: plan, compose, read, sharpen, until the answer is good enough.
 *
 * A curve (curve.c) gives a bound whatever the plan was.  The excess of the upper answer over the
 * exact value is measured term by term (struct excess); while it is too large, or while upper and
 * lower answer lie too far apart, the plan is made finer.  Where that runs out and an interval is
 * wanted, all begins anew with a plan for a narrower one, a power of the root of 10: where it ends
 * depends on the first plan, and a wider interval is not refused where such a narrower one is
 * answered.  When that runs out, too, the answer is DP_EACCURACY. */
#include "accountant/grid/grid.h"

#include <float.h>
#include <math.h>

#include "accountant/grid/plan.h"
#include "base/alloc.h"
#include "base/error.h"

enum { ROUNDS = 10 };

static const double ACCEPT = 1e-3;        /* relative excess of epsilon accepted */
static const double MOST_WORK = 0x1.6p26; /* of one query, in points times terms: some seconds */
static const double NARROWEST = 9e-5;     /* interval that is planned for where a wider one fails */
static const double NO_MATTER = 1e-5;     /* excess of log delta that is always accepted */

/* What lies between the answer and the exact value, in log delta.  Spacing: each step raises
 * E_P e^(cL) by gap c(c+1) / 2 relative; and where few steps leave the loss rough, the chord in the
 * answer's own bin lies above the curve by at most a quarter of the bin's mass times dx. */
typedef struct excess {
    double spacing, alias, cut, rest;
} excess;

static excess measure(const dpi_curve *c, const dpi_reading *r)
{
    double tilt = c->grid.tilt, length = (double)c->grid.size * c->grid.spacing;
    double slope = fmin(r->slope, 1e9);
    double log_delta = log(r->delta);
    double right = c->log_tail_sum + c->log_normal -
                   c->grid.tail_tilt * (r->epsilon - c->base + length) + tilt * length - log_delta;
    bool has_right = c->top * c->grid.spacing > r->epsilon - c->base + length;
    return (excess){
        .spacing = c->gap * slope * (slope + 1) / 2 + r->local * c->grid.spacing / 4,
        .alias = exp(-tilt * length - log_delta) + (has_right ? exp(fmin(right, 600)) : 0),
        .cut = c->cut / r->delta,
        .rest = (c->tail + r->noise) / r->delta + c->log_slack + slope * c->loss_slack,
    };
}

typedef struct engine {
    dpi_loss_law law;
    dpi_question query;
    const dpi_wish *wish;
    double interval;  /* that is planned for; at most the wish's */
    bool stuck;       /* finer plans do not help */
    double log_cut;   /* P-mass given up per step at either end */
    double anchor;    /* epsilon to plan for; negative: from the query */
    bool measured;    /* anchor is what a round has found */
    double noise;     /* excess.rest of the last round that suffered from it */
    double log_delta; /* what delta is there, once it is known */
    dpi_saddle saddle;
    dpi_aim aim;
    double margin;
    dpi_bounds found;
    double work;   /* done so far, as MOST_WORK */
    double proved; /* lower bound of the round before */
} engine;

/* Nodes and saddle for the present cut. */
static dp_status look(engine *e, dp_error *err)
{
    if (!dpi_loss_law_look(&e->law, e->log_cut))
        return dpi_fail_nomem(err);
    double epsilon = e->query.ask == DPI_ASK_DELTA ? e->query.given : e->anchor;
    if (epsilon < 0) {
        e->saddle = dpi_saddle_for_delta(&e->law, log(e->query.given));
        if (e->saddle.epsilon >= 0)
            return DP_OK;
        epsilon = 0;
    }
    e->saddle = dpi_saddle_for_epsilon(&e->law, epsilon);
    if (e->log_delta < 0)
        e->saddle.log_delta = e->log_delta;
    return DP_OK;
}

/* Cut that costs less than a part in 4e5 of a delta. */
static double cut_for(double log_delta, double steps)
{
    return fmax(fmin(log_delta, 0), -550) - log(steps) - 13;
}

/* Which delta is to be expected decides the cut, and the cut decides what is expected: a few rounds
 * settle it, and `measure` has the last word. */
static dp_status look_around(engine *e, dp_error *err)
{
    bool known = e->query.ask == DPI_ASK_EPSILON;
    e->log_cut = cut_for(known ? log(e->query.given) : -INFINITY, e->law.steps);
    dp_status status = look(e, err);
    for (int i = 0; i < ROUNDS && !known && status == DP_OK; i++) {
        double cut = cut_for(e->saddle.log_delta, e->law.steps);
        known = fabs(cut - e->log_cut) < 1;
        e->log_cut = cut;
        status = look(e, err);
    }
    return status;
}

static dp_status too_loose(engine *e, dp_error *err)
{
    e->stuck = true;
    return dpi_fail(err, DP_EACCURACY,
                    "the bound stays looser than %g for %.0f releases; ask for a larger delta, a "
                    "greater width, fewer steps or more noise",
                    e->wish->interval > 0 ? e->wish->interval : ACCEPT, e->law.steps);
}

/* Makes finer what the excess says is too coarse. */
static dp_status sharpen(engine *e, const excess *x, const dpi_reading *r, double allowed,
                         dp_error *err)
{
    if (!(r->epsilon < INFINITY)) { /* delta is exceeded above the window */
        e->aim.alias *= 1e-6;
        e->aim.width *= 0.1;
        e->aim.widest *= 0.1;
        e->log_cut -= 6;
        return look(e, err);
    }
    if (x->spacing > 0.5 * allowed) {
        double factor = fmin(0.5, 0.4 * allowed / x->spacing);
        e->aim.width *= factor;
        e->aim.slack *= factor;
        e->aim.widest *= factor;
    }
    if (x->alias > 0.25 * allowed)
        e->aim.alias *= fmax(1e-60, fmin(1e-2, 0.05 * allowed / x->alias));
    bool noisy = x->rest > 0.25 * allowed;
    if (!noisy && !(x->cut > 0.1 * allowed))
        return DP_OK;
    if (noisy && e->noise > 0 && x->rest > 0.7 * e->noise)
        return too_loose(e, err); /* the last round did not help */
    if (noisy) {
        e->noise = e->measured ? x->rest : 0;
        e->measured = true;
        e->aim.noise *= fmax(1e-60, fmin(1e-1, 0.05 * allowed / x->rest));
        e->anchor = fmax(0, r->epsilon);
        e->log_delta = log(r->delta);
    }
    /* Rare large losses hold the tilt down: cut as much of them as is affordable. */
    e->log_cut = log(r->delta) + log((noisy ? 0.1 : 0.01) * allowed) - log(e->law.steps);
    return look(e, err);
}

/* The interval is too wide: finer by as much as an error of second order needs.  `rest` is the
 * upper bound's relative excess from rounding; the lower one has as much again. */
static void narrow(engine *e, double width, double rest)
{
    double factor = fmin(0.6, fmax(0.7 * e->interval / width, 0.02));
    /* Of a small term beside larger ones nothing is proved until the spacing resolves it. */
    bool several = e->law.n > 1 || e->law.normal_mu > 0;
    if (several && !(e->found.lower > e->proved))
        factor = 0.02;
    e->proved = e->found.lower;
    e->aim.width *= factor;
    e->aim.slack *= factor;
    e->aim.widest *= factor;
    e->aim.alias *= fmin(factor, 0.1);
    if (rest > 0.1 * e->interval)
        e->aim.noise *= 0.1;
}

/* From below, on the same grid; `upper` has been read and serves as scratch. */
static dp_status read_lower(engine *e, const dpi_curve *above, double *upper, double *lower,
                            dp_error *err)
{
    dpi_curve below;
    dp_status status = dpi_compose_lower(&e->law, above, e->log_cut, lower, upper, &below, err);
    if (status != DP_OK)
        return status;
    bool for_epsilon = e->query.ask == DPI_ASK_EPSILON;
    double near = for_epsilon ? e->found.upper * (1 - 3 * e->wish->interval) : e->query.given;
    double answer = dpi_lower_answer(&below, e->query, near);
    if (for_epsilon && !(answer > 0))
        answer = dpi_lower_answer(&below, e->query, -INFINITY);
    e->found.lower = fmax(e->found.lower, answer);
    return DP_OK;
}

/* One round on a grid; *done when the answer is to be kept. */
static dp_status round_on(engine *e, const dpi_knots *grid, double *upper, double *lower,
                          bool *done, dp_error *err)
{
    dpi_curve above = {0};
    dpi_reading r;
    dp_status status = dpi_compose_upper(&e->law, grid, e->log_cut, upper, &above, err);
    if (status != DP_OK)
        return status;
    bool for_epsilon = e->query.ask == DPI_ASK_EPSILON;
    above.around = for_epsilon ? fmax(e->saddle.epsilon, 0) : e->query.given;
    double answer = dpi_upper_answer(&above, e->query, &r);
    e->found.upper = fmin(e->found.upper, answer);
    e->found.points = grid->size > e->found.points ? grid->size : e->found.points;
    if (lower != NULL && (status = read_lower(e, &above, upper, lower, err)) != DP_OK)
        return status;
    double width = (e->found.upper - e->found.lower) / e->found.upper;
    excess x = measure(&above, &r);
    double allowed = fmax(ACCEPT * r.slope * fmax(0, r.epsilon), for_epsilon ? NO_MATTER : ACCEPT);
    bool tight = r.reached && x.spacing + x.alias + x.cut + x.rest <= allowed;
    *done = answer <= e->wish->enough || answer <= 0 ||
            (lower == NULL ? tight : r.reached && width <= e->wish->interval);
    if (*done)
        return DP_OK;
    if (for_epsilon && !r.reached && r.epsilon < INFINITY) {
        e->margin *= 4; /* epsilon lies below the window */
        return DP_OK;
    }
    if (!tight)
        return sharpen(e, &x, &r, allowed, err);
    narrow(e, width, x.rest / fmax(r.slope * fmax(r.epsilon, 1e-300), 1));
    return DP_OK;
}

/* Before a round is begun. */
static dp_status count_work(engine *e, const dpi_knots *grid, dp_error *err)
{
    double sides = e->wish->interval > 0 ? 2 : 1;
    e->work += (double)grid->size * (double)(e->law.n + 1) * sides;
    if (e->work <= MOST_WORK)
        return DP_OK;
    return dpi_fail(err, DP_EACCURACY,
                    "%zu different mechanisms on %zu points are more work than the accountant "
                    "takes on; ask for a greater width or a larger delta, or make the mechanisms "
                    "alike so that fewer are different",
                    e->law.n + (e->law.normal_mu > 0), grid->size);
}

static dp_status attempt(engine *e, bool *done, dp_error *err)
{
    dpi_knots grid;
    if (!dpi_plan_grid(&e->law, &e->saddle, &e->aim, e->margin, e->log_cut, &grid))
        return dpi_fail(
            err, DP_EACCURACY,
            "no grid of %d points resolves %.0f releases; ask for a larger delta, fewer "
            "steps, more noise or a greater width",
            DPI_MAX_POINTS, e->law.steps);
    dp_status status = count_work(e, &grid, err);
    if (status != DP_OK)
        return status;
    double *upper = dpi_alloc(grid.size + 2, sizeof *upper), *lower = NULL;
    bool both = e->wish->interval > 0;
    if (both)
        lower = dpi_alloc(grid.size + 2, sizeof *lower);
    status = upper == NULL || (both && lower == NULL) ? dpi_fail_nomem(err)
                                                      : round_on(e, &grid, upper, lower, done, err);
    dpi_free(upper);
    dpi_free(lower);
    return status;
}

/* Plans for an answer that is known about. */
static void take_hint(engine *e)
{
    bool for_epsilon = e->query.ask == DPI_ASK_EPSILON;
    if (!(e->wish->hint > 0))
        return;
    if (for_epsilon)
        e->anchor = e->wish->hint;
    e->log_delta = log(for_epsilon ? e->query.given : e->wish->hint);
}

/* Looks and rounds for e->interval, from the start. */
static dp_status solve(engine *e, bool *done, dp_error *err)
{
    const dpi_wish *wish = e->wish;
    const bool for_epsilon = e->query.ask == DPI_ASK_EPSILON;
    const double width =
        wish->interval > 0 ? wish->width * e->interval / wish->interval : wish->width;
    e->anchor = -1, e->measured = false, e->noise = e->log_delta = e->proved = 0, e->stuck = false;
    e->margin = for_epsilon ? 3 : 1e-3;
    e->aim = (dpi_aim){.width = width,
                       .alias = wish->interval > 0 ? 0.01 : 0.1,
                       .noise = 0.1,
                       .widest = fmax(width, 0.4 * ACCEPT),
                       .slack = for_epsilon ? 0.4 * NO_MATTER : width};
    take_hint(e);
    dp_status status = look_around(e, err);
    for (int i = 0; i < ROUNDS && status == DP_OK && !*done; i++)
        status = attempt(e, done, err);
    return status == DP_OK && !*done && !wish->best ? too_loose(e, err) : status;
}

/* The next power of the root of 10 below an interval. */
static double narrower(double interval)
{
    return pow(10, (ceil(2 * log10(interval) - 1e-6) - 1) / 2);
}

/* The engine from first look to last round. */
static dp_status run(const dpi_pair_times *term, size_t n, dpi_question query, const dpi_wish *wish,
                     dpi_bounds *bounds, dp_error *err)
{
    bool done = false;
    double worst = query.ask == DPI_ASK_EPSILON ? INFINITY : 1;
    engine e = {.query = query, .wish = wish, .interval = wish->interval};
    *bounds = e.found = (dpi_bounds){.upper = worst};
    dp_error stopped = {0}, again;
    dp_status status =
        dpi_loss_law_new(term, n, &e.law) ? solve(&e, &done, &stopped) : dpi_fail_nomem(&stopped);
    while (status == DP_EACCURACY && e.stuck && !wish->best && narrower(e.interval) >= NARROWEST &&
           e.work < 0.75 * MOST_WORK) {
        e.interval = narrower(e.interval);
        again = (dp_error){0};
        const dp_status next = solve(&e, &done, &again);
        if (next != DP_EACCURACY)
            stopped = again, status = next;
    }
    if (status == DP_EACCURACY && wish->best && e.found.upper < worst)
        status = DP_OK;
    else if (status != DP_OK)
        (void)dpi_fail(err, status, "%s", stopped.text);
    if (status == DP_OK)
        *bounds = (dpi_bounds){.lower = fmax(e.found.lower, 0),
                               .upper = fmin(worst, fmax(e.found.upper, 0)),
                               .points = e.found.points};
    dpi_loss_law_free(&e.law);
    return status;
}

/* Delta by bisection on epsilon's own query, where the direct one fails: far out in the tails.  The
 * answer is a delta whose epsilon is certified to be at most what was given, and one whose epsilon
 * is certified to be at least that. */
static dp_status search_delta(const dpi_pair_times *term, size_t n, double epsilon,
                              const dpi_wish *wish, dpi_bounds *bounds, dp_error *err)
{
    dpi_wish inner = *wish;
    inner.enough = wish->interval > 0 ? -1 : epsilon;
    const double least = log(DPI_LEAST_DELTA);
    double low = least, high = 0, middle = low, certain = -INFINITY;
    double width = wish->interval > 0 ? fmin(0.5 * ACCEPT, 0.2 * wish->interval) : 0.5 * ACCEPT;
    while (high - low > width) {
        dpi_bounds found;
        dpi_question query = {DPI_ASK_EPSILON, exp(middle)};
        /* The slope of log delta in log epsilon is at most about 2 log delta. */
        if (wish->interval > 0)
            inner.interval = fmax(1e-6, 0.3 * wish->interval / fmax(1, -2 * middle));
        inner.hint = wish->hint > 0 ? epsilon : 0;
        dp_status status = run(term, n, query, &inner, &found, err);
        if (status != DP_OK)
            return status;
        if (found.lower >= epsilon)
            certain = fmax(certain, middle);
        if (found.upper <= epsilon)
            high = middle;
        else
            low = middle;
        middle = (low + high) / 2;
    }
    *bounds = (dpi_bounds){.lower = exp(certain), .upper = fmax(exp(high), DPI_LEAST_DELTA)};
    if (wish->interval > 0 && high > least &&
        bounds->upper - bounds->lower > wish->interval * bounds->upper)
        return dpi_fail(err, DP_EACCURACY,
                        "delta is known to lie in [%g, %g] only; ask for a greater width",
                        bounds->lower, bounds->upper);
    return DP_OK;
}

/* No loss of the composition is larger. */
static double largest_loss(const dpi_pair_times *term, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += term[i].times * dpi_pair_top(term[i].pair);
    return sum * (1 + 4 * DBL_EPSILON * (double)n);
}

static bool has_infinite(const dpi_pair_times *term, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (term[i].pair->infinite > 0 || term[i].pair->lost > 0)
            return true;
    return false;
}

dp_status dpi_grid_solve(const dpi_pair_times *term, size_t n, dpi_question query,
                         const dpi_wish *wish, dpi_bounds *bounds, dp_error *err)
{
    if (query.ask == DPI_ASK_EPSILON)
        return run(term, n, query, wish, bounds, err);
    *bounds = (dpi_bounds){0};
    if (query.given >= largest_loss(term, n) && !has_infinite(term, n))
        return DP_OK;
    dp_error first = {0};
    dpi_wish answered = *wish; /* whatever lies below the least delta is answered as that */
    answered.enough = fmax(wish->enough, DPI_LEAST_DELTA);
    dp_status status = run(term, n, query, &answered, bounds, &first);
    if (status == DP_EACCURACY) {
        status = search_delta(term, n, query.given, wish, bounds, err);
        if (status != DP_OK)
            *bounds = (dpi_bounds){.upper = 1};
        return status;
    }
    if (status != DP_OK)
        return dpi_fail(err, status, "%s", first.text);
    bounds->upper = fmax(bounds->upper, DPI_LEAST_DELTA);
    return DP_OK;
}
