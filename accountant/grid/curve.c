/* Window of the composed privacy loss and what is read off it.
 *
 * With t the tilted masses of one step (mass.c), sum e^K before scaling, and D^ their composition
 * by circular convolution as computed, every entry within beta of the true one (fft.c), the mass of
 * the composed loss at knot k of the window is at most
 *     a_k = max(D^_k + beta, 0) exp(sum T K - c k dx),
 * as wrapping around only adds.  Mass above the window is at most exp(sum T K(c') - c' (high+1) dx)
 * (Chernoff), and at most the sum of the masses cut off in every step is infinite; both count
 * whole.  So
 *     delta(eps) <= cut + tail + sum_{k: l_k > eps} a_k (1 - e^(eps - l_k)),
 * summed from the top by a recurrence in which all terms are positive: with U = sum a_j
 * e^(eps-l_j),
 *     delta(eps - t) = delta(eps) + (1 - e^-t) U  between knots.
 *
 * From below, with the lower masses (lower.c), D^_k - beta takes the place of D^_k + beta, what
 * lies above the window is left out, and what wraps around is taken off: k lengths Lam below the
 * window it is at most e^(-k c Lam) in all, above at most exp(sum T K(c') - c' (eps + k Lam) + c k
 * Lam).
 *
 * Rounding: T mass_error + T log_error + 8 u N + (rounding of the exponents) in log delta, and
 * T loss_error + 8 u (sum T |base| + |k dx|) in epsilon, to the safe side; and 2u of every partial
 * sum over the terms of a list. */
#include "accountant/grid/curve.h"

#include <float.h>
#include <math.h>

#include "accountant/grid/blend.h"
#include "accountant/grid/fft.h"
#include "base/alloc.h"
#include "base/error.h"

enum { AGAIN = 64 }; /* knots over which a factor is carried: 4u each */

static const double FAINT = 1e-200; /* factors below are not carried: they may have underflowed */
static const double LOST = 1e-40;   /* tilted mass lost to underflow, mass.c */

/* delta and U, of the masses and of the noise in them, at the present epsilon. */
typedef struct curve_sums {
    double delta, above, noise_delta, noise_above;
} curve_sums;

static void go_down(curve_sums *s, double t)
{
    double part = -expm1(-t), rest = exp(-t);
    s->delta += part * s->above;
    s->noise_delta += part * s->noise_above;
    s->above *= rest;
    s->noise_above *= rest;
}

static dpi_reading read_at(const curve_sums *s, double epsilon, bool reached)
{
    return (dpi_reading){.reached = reached,
                         .epsilon = epsilon,
                         .delta = s->delta,
                         .slope = s->delta > 0 ? s->above / s->delta : INFINITY,
                         .noise = s->noise_delta};
}

double dpi_mass_at(const dpi_curve *c, int64_t k)
{
    double noise = c->side == DPI_UPPER ? c->noise : -c->noise;
    double mass = c->mass[(size_t)k & (c->grid.size - 1)] + noise;
    return mass < 0 ? 0 : mass;
}

/* The factor that takes the tilt off. */
static double scale_at(const dpi_curve *c, int64_t k)
{
    return exp(c->log_scale - c->grid.tilt * (double)k * c->grid.spacing);
}

/* Distance below the present knot at which the query is answered; INFINITY when further than dx. */
static double distance(curve_sums s, dpi_question query, double epsilon, double dx)
{
    double t = INFINITY;
    if (query.ask == DPI_ASK_DELTA)
        t = epsilon - query.given;
    else if (query.given - s.delta < s.above)
        t = -log1p(-(query.given - s.delta) / s.above);
    return t <= dx ? fmax(t, 0) : INFINITY;
}

dpi_reading dpi_read(const dpi_curve *c, dpi_question query)
{
    if (c->normal_mu > 0)
        return dpi_blend_read(c, query);
    double dx = c->grid.spacing;
    const curve_sums none = {.delta = c->side == DPI_UPPER ? c->cut + c->tail : -c->alias};
    if (query.ask == DPI_ASK_EPSILON && !(none.delta <= query.given))
        return read_at(&none, INFINITY, false);
    curve_sums s = none;
    double part = -expm1(-dx), rest = exp(-dx), up = exp(c->grid.tilt * dx), scale = 0;
    for (int64_t k = c->high; k >= c->grid.low; k--) {
        double l = (double)k * dx;
        bool afresh = (c->high - k) % AGAIN == 0 || scale < FAINT;
        scale = afresh ? scale_at(c, k) : scale * up;
        s.above += dpi_mass_at(c, k) * scale;
        s.noise_above += c->noise * scale;
        double t = distance(s, query, c->base + l, dx);
        if (t < INFINITY) {
            curve_sums there = s; /* s itself stays in registers */
            go_down(&there, t);
            dpi_reading r = read_at(&there, c->base + l - t, true);
            r.local = (dpi_mass_at(c, k) + dpi_mass_at(c, k - 1)) * scale / there.delta;
            return r;
        }
        s.delta += part * s.above;
        s.noise_delta += part * s.noise_above;
        s.above *= rest;
        s.noise_above *= rest;
    }
    curve_sums all = s;
    bool known = all.delta == all.delta; /* else no epsilon is enough */
    return read_at(&all, known ? c->base + (double)c->grid.low * dx - dx : INFINITY, false);
}

double dpi_upper_answer(const dpi_curve *c, dpi_question query, dpi_reading *reading)
{
    bool for_epsilon = query.ask == DPI_ASK_EPSILON;
    query.given = for_epsilon ? query.given * exp(-c->log_slack) : query.given - c->loss_slack;
    *reading = dpi_read(c, query);
    if (for_epsilon)
        return reading->epsilon + c->loss_slack;
    /* Below the window delta is larger than what was read at its bottom. */
    double bound = reading->delta * exp(c->log_slack);
    return reading->reached && bound < 1 ? bound : 1;
}

/* Bound on a geometric series, by the logs of its first term and of its ratio. */
static double geometric(double log_first, double log_ratio)
{
    return log_ratio < 0 ? exp(fmin(log_first, 700)) / -expm1(log_ratio) : INFINITY;
}

/* Bound on what wraps around to losses from `loss` on. */
static double alias_at(const dpi_curve *c, double loss)
{
    const dpi_knots *g = &c->grid;
    double length = (double)g->size * g->spacing, offset = loss - c->start;
    double alias = geometric(-g->tilt * length, -g->tilt * length);
    if (c->top > (double)c->high)
        alias += geometric(c->log_tail_sum + c->log_normal - g->tail_tilt * (offset + length) +
                               g->tilt * length,
                           -(g->tail_tilt - g->tilt) * length);
    /* It is not scaled with delta: the slack of delta is in it twice. */
    return alias * (1 + 1e-6) * exp(2 * c->log_slack);
}

double dpi_lower_answer(dpi_curve *c, dpi_question query, double near)
{
    bool for_epsilon = query.ask == DPI_ASK_EPSILON;
    double bottom = c->base + (double)c->grid.low * c->grid.spacing;
    double from = fmax(for_epsilon ? near : fmin(near, query.given), bottom);
    if (!(c->log_scale > -INFINITY))
        return 0;
    c->alias = alias_at(c, from);
    query.given = for_epsilon ? query.given * exp(c->log_slack) : query.given + c->loss_slack;
    dpi_reading r = dpi_read(c, query);
    double answer = for_epsilon ? r.epsilon - c->loss_slack : r.delta * exp(-c->log_slack);
    return r.reached && r.epsilon >= from && answer > 0 ? answer : 0;
}

static void clear(double *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = 0;
}

/* Adds what one term says; c->top and c->cut are of knots and masses. */
static void add_term(dpi_curve *c, const dpi_mass *m, double times)
{
    const double base = c->base, scale = c->log_scale;
    c->base += times * m->shift;
    c->log_scale += times * m->log_sum;
    /* Of sums of many terms. */
    c->loss_slack += c->base != base ? DBL_EPSILON * fabs(c->base) : 0;
    c->log_slack += scale != 0 ? DBL_EPSILON * fabs(c->log_scale) : 0;
    c->log_tail_sum += times * m->log_tail_sum;
    c->cut += times * m->infinite;
    c->top += times * (double)m->top;
    c->least += times * (double)m->bottom;
    c->gap += times * m->gap;
    c->log_slack += times * (m->mass_error + m->log_error);
    c->loss_slack += times * (m->loss_error + 4 * DBL_EPSILON * fabs(m->shift));
}

/* What does not depend on single terms. */
static void close_curve(dpi_curve *c)
{
    const dpi_knots *g = &c->grid;
    c->high = g->low + (int64_t)g->size - 1;
    if (c->top <= (double)c->high)
        c->high = (int64_t)c->top;
    else if (c->side == DPI_UPPER)
        c->tail = exp(c->log_tail_sum - g->tail_tilt * (double)(c->high + 1) * g->spacing);
    double reach = fmax(fabs((double)g->low), fabs((double)c->high)) * g->spacing;
    c->noise += LOST;
    c->log_slack += 4 * DBL_EPSILON * (double)g->size +
                    4 * DBL_EPSILON * (fabs(c->log_scale) + g->tilt * reach + 16 + AGAIN);
    /* Of epsilon less a loss: as far as blend.c looks. */
    double beside = c->normal_mu * (17 + c->normal_mu / 2);
    c->loss_slack += 4 * DBL_EPSILON * (fmax(fabs(c->base), c->base_size) + reach + beside);
}

/* Masses of one term on the curve's side. */
static dp_status fill(const dpi_curve *c, const dpi_pair *pair, double log_cut, double *data,
                      double *work, dpi_mass *mass, dp_error *err)
{
    if (c->side == DPI_UPPER) {
        dpi_mass_upper(pair, &c->grid, log_cut, data, mass);
    } else {
        clear(work, c->grid.size);
        dpi_mass_lower(pair, &c->grid, log_cut, data, work, mass);
    }
    if (c->side == DPI_LOWER || (mass->log_sum > -INFINITY && mass->log_sum < INFINITY))
        return DP_OK;
    return dpi_fail(err, DP_EACCURACY, "the tilted loss overflows; ask for a larger delta");
}

static dp_status compose(const dpi_loss_law *law, double log_cut, double *data, double *work,
                         dpi_curve *c, dp_error *err)
{
    dpi_convolution *product = NULL;
    dp_status status = DP_OK;
    if (law->steps > 1 && (product = dpi_convolution_new(c->grid.size, data, law->n)) == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; status == DP_OK && i < law->n && c->log_scale > -INFINITY; i++) {
        dpi_mass mass;
        if (i > 0)
            clear(data, c->grid.size + 2);
        status = fill(c, law->term[i].pair, log_cut, data, work, &mass, err);
        if (status == DP_OK)
            add_term(c, &mass, law->term[i].times);
        if (status == DP_OK && product != NULL && c->log_scale > -INFINITY)
            dpi_convolution_multiply(product, law->term[i].times);
    }
    if (status == DP_OK && product != NULL && c->log_scale > -INFINITY)
        c->noise = dpi_convolution_finish(product);
    dpi_convolution_free(product);
    return status;
}

/* The Gaussian that is kept apart; the root of a sum of squares (composition.c), outward. */
static void add_normal(dpi_curve *c, const dpi_loss_law *law)
{
    double t = c->grid.tail_tilt;
    c->normal_mu = law->normal_mu * (c->side == DPI_UPPER ? 1 + 0x1p-40 : 1 - 0x1p-40);
    c->log_normal = law->normal_mu * law->normal_mu * t * (t + 1) / 2 * (1 + 0x1p-38);
}

dp_status dpi_compose_upper(const dpi_loss_law *law, const dpi_knots *grid, double log_cut,
                            double *data, dpi_curve *curve, dp_error *err)
{
    *curve = (dpi_curve){.mass = data,
                         .grid = *grid,
                         .side = DPI_UPPER,
                         .base = law->base,
                         .base_size = law->base_size};
    add_normal(curve, law);
    dp_status status = compose(law, log_cut, data, NULL, curve, err);
    close_curve(curve);
    return status;
}

/* The window of the lower curve covers the same losses; its knots may lie elsewhere. */
dp_status dpi_compose_lower(const dpi_loss_law *law, const dpi_curve *upper, double log_cut,
                            double *data, double *work, dpi_curve *curve, dp_error *err)
{
    *curve = (dpi_curve){.mass = data,
                         .grid = upper->grid,
                         .side = DPI_LOWER,
                         .base = law->base,
                         .base_size = law->base_size};
    add_normal(curve, law);
    curve->around = upper->around;
    dp_status status = compose(law, log_cut, data, work, curve, err);
    double moved = floor((curve->base - law->base) / upper->grid.spacing);
    if (status != DP_OK || !(fabs(moved) < 0x1p52))
        return status == DP_OK ? dpi_fail(err, DP_EACCURACY, "the lower bound has no grid")
                               : status;
    curve->grid.low -= (int64_t)moved;
    close_curve(curve);
    curve->start = law->base;
    curve->log_tail_sum = upper->log_tail_sum;
    return status;
}
