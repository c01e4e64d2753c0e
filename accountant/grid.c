/* The grid engine: window of the T-fold privacy loss and what is read off it.
 *
 * With t the tilted masses of one step (mass.c), sum e^(K) before scaling, and D^ their T-fold
 * circular convolution as computed, every entry within beta of the true one (fft.c), the mass of the
 * composed loss at knot k of the window is at most
 *     a_k = max(D^_k + beta, 0) exp(T K - c k dx),
 * as wrapping around only adds.  Mass above the window is at most exp(T K(c') - c' (high+1) dx)
 * (Chernoff), and at most T times the mass cut off in one step is infinite; both count whole.  So
 *     delta(eps) <= cut + tail + sum_{k: l_k > eps} a_k (1 - e^(eps - l_k)),
 * summed from the top by a recurrence in which all terms are positive: with U = sum a_j e^(eps-l_j),
 *     delta(eps - t) = delta(eps) + (1 - e^-t) U  between knots.
 *
 * Rounding: T mass_error + T log_error + 8 u N + (rounding of the exponents) is added to log delta,
 * and T loss_error + 8 u (|T base| + |k dx|) to epsilon.
 *
 * The excess of the answer over the exact value is measured term by term (struct excess); while it
 * is too large the plan is made finer, and when that runs out the answer is DP_EACCURACY. */
#include "accountant/grid.h"

#include <float.h>
#include <math.h>

#include "accountant/fft.h"
#include "accountant/plan.h"
#include "base/alloc.h"
#include "base/error.h"

enum { ROUNDS = 8 };

static const double ACCEPT = 1e-3;    /* relative excess of epsilon accepted */
static const double NO_MATTER = 1e-5; /* excess of log delta that is always accepted */
static const double LOST = 1e-40;     /* tilted mass lost to underflow, mass.c */

/* The composed loss, ready to be read from the top. */
typedef struct curve {
    const double *mass; /* [size], circular */
    dpi_grid grid;
    int64_t high;      /* highest knot */
    double log_scale;  /* T K */
    double noise;      /* beta */
    double cut, tail;  /* mass beyond */
    double base;       /* T base */
    double log_slack;  /* rounding, in log delta */
    double loss_slack; /* rounding, in epsilon */
} curve;

/* Where reading stopped. */
typedef struct reading {
    bool reached;   /* the answer lies in the window */
    double epsilon; /* without loss_slack */
    double delta;   /* without log_slack */
    double slope;   /* -d log delta / d epsilon */
    double noise;   /* part of delta due to beta */
    double local;   /* mass on the knots around epsilon / delta */
} reading;

/* delta and U, of the masses and of the noise in them, at the present epsilon. */
typedef struct sums {
    double delta, above, noise_delta, noise_above;
} sums;

static void go_down(sums *s, double t)
{
    double part = -expm1(-t), rest = exp(-t);
    s->delta += part * s->above;
    s->noise_delta += part * s->noise_above;
    s->above *= rest;
    s->noise_above *= rest;
}

static reading read_at(const sums *s, double epsilon, bool reached)
{
    return (reading){.reached = reached,
                     .epsilon = epsilon,
                     .delta = s->delta,
                     .slope = s->delta > 0 ? s->above / s->delta : INFINITY,
                     .noise = s->noise_delta};
}

/* Tilted mass at knot k, and the factor that takes the tilt off. */
static double mass_at(const curve *c, int64_t k)
{
    return fmax(c->mass[(size_t)k & (c->grid.size - 1)] + c->noise, 0);
}

static double scale_at(const curve *c, int64_t k)
{
    return exp(c->log_scale - c->grid.tilt * (double)k * c->grid.spacing);
}

/* Distance below the present knot at which the query is answered; INFINITY when further than dx. */
static double distance(const sums *s, dpi_query query, double epsilon, double dx)
{
    double t = INFINITY;
    if (query.ask == DPI_ASK_DELTA)
        t = epsilon - query.given;
    else if (query.given - s->delta < s->above)
        t = -log1p(-(query.given - s->delta) / s->above);
    return t <= dx ? fmax(t, 0) : INFINITY;
}

/* Reads from the top down to the query, or to the bottom. */
static reading read_curve(const curve *c, dpi_query query)
{
    double dx = c->grid.spacing;
    sums s = {.delta = c->cut + c->tail};
    if (query.ask == DPI_ASK_EPSILON && !(s.delta <= query.given))
        return read_at(&s, INFINITY, false);
    double part = -expm1(-dx), rest = exp(-dx);
    for (int64_t k = c->high; k >= c->grid.low; k--) {
        double l = (double)k * dx;
        double scale = scale_at(c, k);
        s.above += mass_at(c, k) * scale;
        s.noise_above += c->noise * scale;
        double t = distance(&s, query, c->base + l, dx);
        if (t < INFINITY) {
            go_down(&s, t);
            reading r = read_at(&s, c->base + l - t, true);
            r.local = (mass_at(c, k) + mass_at(c, k - 1)) * scale / s.delta;
            return r;
        }
        s.delta += part * s.above;
        s.noise_delta += part * s.noise_above;
        s.above *= rest;
        s.noise_above *= rest;
    }
    return read_at(&s, c->base + (double)c->grid.low * dx - dx, false);
}

/* Composes on the grid; data has room for g->size + 2. */
static dp_status compose(const dpi_pair *pair, double steps, const dpi_grid *g, double log_cut,
                         double *data, curve *c, dpi_mass *mass, dp_error *err)
{
    double beta;
    dpi_mass_fill(pair, g, log_cut, data, mass);
    if (!(mass->log_sum > -INFINITY && mass->log_sum < INFINITY))
        return dpi_fail(err, DP_EACCURACY, "the tilted loss overflows; ask for a larger delta");
    if (!dpi_fft_power(data, g->size, steps, &beta))
        return dpi_fail_nomem(err);
    *c = (curve){.mass = data, .grid = *g, .noise = beta + LOST, .base = steps * pair->base};
    c->high = g->low + (int64_t)g->size - 1;
    c->log_scale = steps * mass->log_sum;
    c->cut = steps * mass->infinite;
    double top = steps * (double)mass->top;
    if (top <= (double)c->high)
        c->high = (int64_t)top;
    else
        c->tail =
            exp(steps * mass->log_tail_sum - g->tail_tilt * (double)(c->high + 1) * g->spacing);
    double reach = fmax(fabs((double)g->low), fabs((double)c->high)) * g->spacing;
    c->log_slack = steps * (mass->mass_error + mass->log_error) +
                   4 * DBL_EPSILON * (double)g->size +
                   4 * DBL_EPSILON * (fabs(c->log_scale) + g->tilt * reach + 16);
    c->loss_slack = steps * mass->loss_error + 4 * DBL_EPSILON * (fabs(c->base) + reach);
    return DP_OK;
}

/* What lies between the answer and the exact value, in log delta.  Spacing: each step raises
 * E_P e^(cL) by gap c(c+1) / 2 relative; and where few steps leave the loss rough, the chord in the
 * answer's own bin lies above the curve by at most a quarter of the bin's mass times dx. */
typedef struct excess {
    double spacing, alias, cut, rest;
} excess;

static excess measure(const curve *c, const dpi_mass *mass, double steps, const reading *r)
{
    double tilt = c->grid.tilt, length = (double)c->grid.size * c->grid.spacing;
    double slope = fmin(r->slope, 1e9);
    double log_delta = log(r->delta);
    double right = steps * mass->log_tail_sum -
                   c->grid.tail_tilt * (r->epsilon - c->base + length) + tilt * length - log_delta;
    bool has_right = steps * (double)mass->top * c->grid.spacing > r->epsilon - c->base + length;
    return (excess){
        .spacing = steps * mass->gap * slope * (slope + 1) / 2 + r->local * c->grid.spacing / 4,
        .alias = exp(-tilt * length - log_delta) + (has_right ? exp(fmin(right, 600)) : 0),
        .cut = c->cut / r->delta,
        .rest = (c->tail + r->noise) / r->delta + c->log_slack + slope * c->loss_slack,
    };
}

/* One run: plan, compose, read, sharpen, until the answer is good enough. */
typedef struct engine {
    const dpi_pair *pair;
    double steps;
    dpi_query query;
    double enough;
    double log_cut;   /* P-mass given up per step at either end */
    double anchor;    /* epsilon to plan for; negative: from the query */
    double noise;     /* excess.rest of the last round that suffered from it */
    double log_delta; /* what delta is there, once it is known */
    dpi_nodes nodes;
    dpi_saddle saddle;
    dpi_aim aim;
    double margin;
} engine;

/* Nodes and saddle for the present cut. */
static dp_status look(engine *e, dp_error *err)
{
    dpi_nodes_free(&e->nodes);
    if (!dpi_nodes_new(e->pair, e->log_cut, &e->nodes))
        return dpi_fail_nomem(err);
    double epsilon = e->query.ask == DPI_ASK_DELTA ? e->query.given : e->anchor;
    if (epsilon < 0) {
        e->saddle = dpi_saddle_for_delta(e->pair, &e->nodes, e->steps, log(e->query.given));
        if (e->saddle.epsilon >= 0)
            return DP_OK;
        epsilon = 0;
    }
    e->saddle = dpi_saddle_for_epsilon(e->pair, &e->nodes, e->steps, epsilon);
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
    e->log_cut = cut_for(known ? log(e->query.given) : -INFINITY, e->steps);
    dp_status status = look(e, err);
    for (int i = 0; i < ROUNDS && !known && status == DP_OK; i++) {
        double cut = cut_for(e->saddle.log_delta, e->steps);
        known = fabs(cut - e->log_cut) < 1;
        e->log_cut = cut;
        status = look(e, err);
    }
    return status;
}

static dp_status too_loose(const engine *e, dp_error *err)
{
    return dpi_fail(err, DP_EACCURACY,
                    "the bound stays looser than %g for sigma %g, rate %g, %.0f steps; ask for a "
                    "larger delta, fewer steps or more noise",
                    ACCEPT, e->pair->sigma, e->pair->q, e->steps);
}

/* Makes finer what the excess says is too coarse. */
static dp_status sharpen(engine *e, const excess *x, const reading *r, double allowed,
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
        e->noise = e->anchor >= 0 ? x->rest : 0;
        e->aim.noise *= fmax(1e-60, fmin(1e-1, 0.05 * allowed / x->rest));
        e->anchor = fmax(0, r->epsilon);
        e->log_delta = log(r->delta);
    }
    /* Rare large losses hold the tilt down: cut as much of them as is affordable. */
    e->log_cut = log(r->delta) + log((noisy ? 0.1 : 0.01) * allowed) - log(e->steps);
    return look(e, err);
}

/* One round on a grid; *done when the answer is to be kept. */
static dp_status round_on(engine *e, const dpi_grid *grid, double *data, double *answer, bool *done,
                          dp_error *err)
{
    curve c = {0};
    dpi_mass mass;
    dp_status status = compose(e->pair, e->steps, grid, e->log_cut, data, &c, &mass, err);
    if (status != DP_OK)
        return status;
    dpi_query inner = e->query;
    bool for_epsilon = inner.ask == DPI_ASK_EPSILON;
    inner.given = for_epsilon ? inner.given * exp(-c.log_slack) : inner.given - c.loss_slack;
    reading r = read_curve(&c, inner);
    *answer = for_epsilon ? r.epsilon + c.loss_slack : r.delta * exp(c.log_slack);
    excess x = measure(&c, &mass, e->steps, &r);
    double allowed = fmax(ACCEPT * r.slope * fmax(0, r.epsilon), for_epsilon ? NO_MATTER : ACCEPT);
    *done = *answer <= e->enough || *answer <= 0 ||
            (r.reached && x.spacing + x.alias + x.cut + x.rest <= allowed);
    if (*done)
        return DP_OK;
    if (!for_epsilon || r.reached || !(r.epsilon < INFINITY))
        return sharpen(e, &x, &r, allowed, err);
    e->margin *= 4; /* epsilon lies below the window */
    return DP_OK;
}

static dp_status attempt(engine *e, double *answer, bool *done, dp_error *err)
{
    dpi_grid grid;
    if (!dpi_plan_grid(e->pair, &e->nodes, e->steps, &e->saddle, &e->aim, e->margin, e->log_cut,
                       &grid))
        return dpi_fail(err, DP_EACCURACY,
                        "no grid of %d points resolves sigma %g, rate %g, %.0f steps; ask for a "
                        "larger delta, fewer steps or more noise",
                        DPI_MAX_POINTS, e->pair->sigma, e->pair->q, e->steps);
    double *data = dpi_alloc(grid.size + 2, sizeof *data);
    if (data == NULL)
        return dpi_fail_nomem(err);
    dp_status status = round_on(e, &grid, data, answer, done, err);
    dpi_free(data);
    return status;
}

/* The engine from first look to last round. */
static dp_status run(const dpi_pair *pair, uint64_t steps, dpi_query query, double width,
                     double enough, double *answer, dp_error *err)
{
    bool for_epsilon = query.ask == DPI_ASK_EPSILON, done = false;
    double worst = for_epsilon ? INFINITY : 1, found = worst;
    engine e = {.pair = pair, .steps = (double)steps, .query = query, .enough = enough};
    e.anchor = -1;
    e.margin = for_epsilon ? 3 : 1e-3;
    e.aim = (dpi_aim){.width = width,
                      .alias = 0.1,
                      .noise = 0.1,
                      .widest = fmax(width, 0.4 * ACCEPT),
                      .slack = for_epsilon ? 0.4 * NO_MATTER : width};
    *answer = worst;
    dp_status status = look_around(&e, err);
    for (int i = 0; i < ROUNDS && status == DP_OK && !done; i++)
        status = attempt(&e, &found, &done, err);
    dpi_nodes_free(&e.nodes);
    if (status == DP_OK && (!done || !(found == found)))
        return too_loose(&e, err);
    if (status == DP_OK)
        *answer = fmin(worst, fmax(found, 0));
    return status;
}

/* Delta by bisection on epsilon's own query, where the direct one fails: far out in the tails.  The
 * answer is a delta whose epsilon is certified to be at most what was given. */
static dp_status search_delta(const dpi_pair *pair, uint64_t steps, double epsilon, double width,
                              double *answer, dp_error *err)
{
    double low = log(DPI_LEAST_DELTA), high = 0, middle = low;
    while (high - low > 0.5 * ACCEPT) {
        double found;
        dpi_query query = {DPI_ASK_EPSILON, exp(middle)};
        dp_status status = run(pair, steps, query, width, epsilon, &found, err);
        if (status != DP_OK)
            return status;
        if (found <= epsilon)
            high = middle;
        else
            low = middle;
        middle = (low + high) / 2;
    }
    *answer = fmax(exp(high), DPI_LEAST_DELTA);
    return DP_OK;
}

dp_status dpi_grid_solve(const dpi_pair *pair, uint64_t steps, dpi_query query, double width,
                         double enough, double *answer, dp_error *err)
{
    if (query.ask == DPI_ASK_EPSILON)
        return run(pair, steps, query, width, enough, answer, err);
    *answer = 0;
    if (pair->sign < 0 && query.given >= (double)steps * pair->base * (1 + 4 * DBL_EPSILON))
        return DP_OK; /* no loss is that large */
    dp_error first = {0};
    dp_status status = run(pair, steps, query, width, enough, answer, &first);
    if (status == DP_EACCURACY) {
        *answer = 1;
        return search_delta(pair, steps, query.given, width, answer, err);
    }
    if (status != DP_OK)
        return dpi_fail(err, status, "%s", first.text);
    *answer = fmax(*answer, DPI_LEAST_DELTA);
    return DP_OK;
}
