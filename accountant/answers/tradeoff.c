/* Trade-off curves from certified privacy profiles.
 *
 * A test of membership that rejects on the event S has true positive rate P(S) and false positive
 * rate Q(S) = a, where P saw the record.  With D(e) = sup_S P(S) - e^e Q(S), the profile of one
 * direction,
 *     P(S) <= D(e) + e^e a = g(e)          for every real e,
 * and the best test's rate is the least g, for D is convex in x = e^e and the best rate is its
 * concave conjugate (Dong, Roth and Su 2022, Proposition 6).  For e < 0, D(e) = 1 - e^e (1 -
 * D'(-e)) with D' of the other direction: the complements of S.
 *
 * From above: the least certified g among a few e near the minimum; any e would be right.  Every
 * attacker is covered, and the greater of both directions counts.
 *
 * From below: the best rate is min over x of g, convex in x and known at some points (convex.c).
 * At x = 0, g is exactly 1; from x = 1/a on it is at least 1.  A test of rate a, tossing a coin,
 * has P(S) = a.
 *
 * mu: the curve of mu-Gaussian DP, T(a) = Phi(Phi^-1(a) + mu), is concave, so a line that is below
 * T at both ends of an interval is below it all over.  Lines of the symmetrised profile, their
 * reflections among them, form a broken line above all tests; where it is below T at its corners
 * within [least_fpr, 1/2] and at both ends, it is everywhere.
 *
 * A Gaussian without sampling needs none of this: the curve is T itself. */
#include "accountant/answers/tradeoff.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "accountant/answers/convex.h"
#include "accountant/contour/contour.h"
#include "accountant/grid/grid.h"
#include "base/error.h"

enum { N_POINTS = 5, ROUNDS = 4, COARSE_STEPS = 14, FINE_STEPS = 28 };
static const double LARGEST_LOSS = 60, SMALLEST_STEP = 1e-6; /* where minima are looked for */
static const double ROUNDING = 1e-13; /* relative, of the few operations on certified figures */
static const double CDF = 1e-12;      /* assumed of GSL's normal distribution, relative */

/* ---- pairs ---- */

/* Whether one pair is both a bound and reached, to the last digit. */
static bool exact(const dp_mechanism *m)
{
    return (m->sampling == DP_SAMPLING_POISSON || m->sampling == DP_SAMPLING_FULL) &&
           (m->noise == DP_NOISE_GAUSSIAN || m->noise == DP_NOISE_LAPLACE ||
            m->noise == DP_NOISE_RANDOMISED_RESPONSE) &&
           m->rows <= 1 && m->n_jumps == 0;
}

dp_status dpi_trade_new(const dp_mechanism *list, size_t n, dpi_trade *trade, dp_error *err)
{
    *trade = (dpi_trade){.one_sided = true};
    for (size_t i = 0; i < n; i++)
        trade->one_sided = trade->one_sided && exact(&list[i]);
    dp_status status = DP_OK;
    for (int d = 0; d < 2 && status == DP_OK; d++)
        for (int s = 0; s < 2 && status == DP_OK; s++)
            if (s == DPI_UPPER || !trade->one_sided)
                status = dpi_composition_new(list, n, (dpi_direction)d, (dpi_side)s,
                                             &trade->of[d][s], err);
    if (status != DP_OK) {
        dpi_trade_free(trade);
        return status;
    }
    trade->normal_mu = trade->one_sided ? trade->of[DPI_REMOVE][DPI_UPPER].normal_mu : 0;
    return DP_OK;
}

void dpi_trade_free(dpi_trade *trade)
{
    for (int d = 0; d < 2; d++)
        for (int s = 0; s < 2; s++)
            dpi_composition_free(&trade->of[d][s]);
    *trade = (dpi_trade){0};
}

/* ---- the profile at a point ---- */

static const dpi_composition *terms_of(const dpi_trade *trade, int direction, dpi_side side)
{
    return &trade->of[direction][trade->one_sided ? DPI_UPPER : side];
}

/* Certified bounds on D(e) of one direction and side, e of either sign. */
static dp_status measure(const dpi_trade *trade, int direction, dpi_side side, double e,
                         const dpi_wish *wish, dpi_bounds *d, dp_error *err)
{
    const dpi_composition *t = terms_of(trade, e >= 0 ? direction : !direction, side);
    dpi_question query = {DPI_ASK_DELTA, fabs(e)};
    dp_status status = dpi_grid_solve(t->term, t->n, query, wish, d, err);
    d->upper = fmin(d->upper, 1);
    if (e < 0) {
        d->upper = 1 - exp(e) * (1 - d->upper) * (1 - ROUNDING);
        d->lower = 1 - exp(e) * (1 - d->lower) * (1 + ROUNDING);
    }
    return status;
}

/* D(e), not certified; *contour is cleared when only a coarse grid could tell. */
static double guess(const dpi_trade *trade, int direction, dpi_side side, double e, bool *contour)
{
    const dpi_composition *t = terms_of(trade, e >= 0 ? direction : !direction, side);
    double log_delta = NAN, delta;
    if (*contour)
        *contour = dpi_contour_log_delta(t->term, t->n, fabs(e), &log_delta, NULL) == DP_OK;
    if (*contour)
        delta = exp(log_delta);
    else {
        dpi_bounds d;
        dpi_wish wish = {.width = 0.05, .enough = -1};
        dpi_question query = {DPI_ASK_DELTA, fabs(e)};
        dp_status status = dpi_grid_solve(t->term, t->n, query, &wish, &d, NULL);
        delta = status == DP_OK ? d.upper : 0;
    }
    return e >= 0 ? delta : 1 - exp(e) * (1 - delta);
}

/* ---- the true positive rate of one direction and side ---- */

typedef struct rate_minimum {
    double e, rate; /* where g is least, and g there; estimates */
    double bend;    /* its second derivative there, about */
    bool contour;
} rate_minimum;

/* g at the e that the search looks at. */
typedef struct slope_search {
    const dpi_trade *trade;
    int direction;
    dpi_side side;
    double fpr;
    bool contour;
} slope_search;

static double rate_at(slope_search *s, double e)
{
    return guess(s->trade, s->direction, s->side, e, &s->contour) + exp(e) * s->fpr;
}

/* Where a first step from 0 leads to losses that matter. */
static double first_step(const slope_search *s)
{
    const dpi_composition *t = terms_of(s->trade, s->direction, s->side);
    double e;
    bool known = dpi_contour_epsilon(t->term, t->n, log(s->fpr) - 1, &e, NULL) == DP_OK;
    return known && e < 4 * LARGEST_LOSS ? fmax(e / 4, SMALLEST_STEP) : 0.05;
}

/* Steps of growing size from 0 downhill until g rises; false, with *to the last e, when it does not
 * before the largest loss that matters. */
static void bracket(slope_search *s, double *from, double *to)
{
    double step = first_step(s), most = fmin(-log(s->fpr), LARGEST_LOSS), last = 0;
    double at_last = rate_at(s, 0), here = fmin(step, most), at_here = rate_at(s, here);
    if (at_here > at_last) { /* the least lies below `here`; perhaps below 0 */
        *to = here;
        step = -step;
        most = LARGEST_LOSS;
        here = step;
        at_here = rate_at(s, here);
    } else
        *to = -here;
    double before = *to;
    while (at_here <= at_last && fabs(here) < most) {
        before = last, last = here, at_last = at_here;
        step *= 2;
        here = copysign(fmin(fabs(here + step), most), step);
        at_here = rate_at(s, here);
    }
    *from = fmin(before, here);
    *to = fmax(before, here);
}

/* Golden section: g falls, then rises. */
static rate_minimum find_least(const dpi_trade *trade, int direction, dpi_side side, double fpr)
{
    const double golden = 0.6180339887498949;
    slope_search s = {trade, direction, side, fpr, true};
    double from, to;
    bracket(&s, &from, &to);
    double reach = (to - from) / 16;
    double a = to - golden * (to - from), b = from + golden * (to - from);
    double at_a = rate_at(&s, a), at_b = rate_at(&s, b);
    for (int i = 0; i < (s.contour ? FINE_STEPS : COARSE_STEPS); i++) {
        if (at_a <= at_b) {
            to = b, b = a, at_b = at_a;
            a = to - golden * (to - from);
            at_a = rate_at(&s, a);
        } else {
            from = a, a = b, at_a = at_b;
            b = from + golden * (to - from);
            at_b = rate_at(&s, b);
        }
    }
    rate_minimum p = {.e = at_a <= at_b ? a : b, .rate = fmin(at_a, at_b)};
    double left = rate_at(&s, p.e - reach), right = rate_at(&s, p.e + reach);
    p.bend = fmax(left + right - 2 * p.rate, 0) / (reach * reach);
    p.contour = s.contour;
    return p;
}

/* Lower bound on the least g, from certified points in order. */
static double least_of(const dpi_point *inner, double fpr)
{
    dpi_point p[N_POINTS + 2];
    size_t n = 0;
    p[n++] = (dpi_point){0, 1, 1};
    for (int i = 0; i < N_POINTS; i++)
        if (inner[i].low > -INFINITY)
            p[n++] = inner[i];
    p[n++] = (dpi_point){1 / fpr, 1, 2};
    return fmin(dpi_convex_least(p, n), 1);
}

/* Bounds on g at e, within width of it if they can be had.  Close to a corner of the curve the
 * profile is near 0 and its lower bound may fail: p->low is -INFINITY then.  The upper one does
 * without. */
static dp_status bound_point(const dpi_trade *trade, int direction, dpi_side side, double fpr,
                             const rate_minimum *at, double e, double width, dpi_point *p,
                             size_t *points, dp_error *err)
{
    double x = exp(e), room = width * at->rate; /* what the profile may be off */
    bool contour = at->contour;
    double likely = guess(trade, direction, side, e, &contour);
    dpi_bounds d;
    dpi_wish wish = {.width = fmin(room / (4 * likely), 1e-3), .enough = room / 8};
    if (likely > 2 * room) /* else 0 will do as a lower bound */
        wish.interval = room / likely;
    dp_status status =
        measure(trade, direction, side, e, &wish, &d, wish.interval > 0 ? NULL : err);
    bool one_bound = status == DP_EACCURACY && wish.interval > 0;
    if (one_bound) {
        wish.interval = 0;
        status = measure(trade, direction, side, e, &wish, &d, err);
    }
    if (status != DP_OK)
        return status == DP_ENOMEM ? dpi_fail_nomem(err) : status;
    double low = d.lower + x * fpr - ROUNDING * (fabs(d.lower) + x * fpr);
    *p = (dpi_point){x, one_bound ? -INFINITY : low, (d.upper + x * fpr) * (1 + ROUNDING)};
    *points = d.points > *points ? d.points : *points;
    return DP_OK;
}

/* One round: points spread by `step` around the minimum; *missing: some have no lower bound. */
static dp_status bound_rate(const dpi_trade *trade, int direction, dpi_side side, double fpr,
                            const rate_minimum *at, double step, double width, dpi_bounds *rate,
                            bool *missing, dp_error *err)
{
    static const double offset[N_POINTS] = {-3, -1, 0, 1,
                                            3}; /* the outer ones rise above the noise */
    dpi_point p[N_POINTS];
    *rate = (dpi_bounds){0, 1, 0};
    *missing = false;
    for (int i = 0; i < N_POINTS; i++) {
        double e = fmin(at->e + offset[i] * step, -log(fpr) - 1e-9 * (N_POINTS - i));
        dp_status status =
            bound_point(trade, direction, side, fpr, at, e, width, &p[i], &rate->points, err);
        if (status != DP_OK)
            return status;
        rate->upper = fmin(rate->upper, p[i].high);
        *missing = *missing || p[i].low == -INFINITY;
    }
    rate->lower = fmax(least_of(p, fpr), fpr);
    return DP_OK;
}

/* Both bounds for one direction and side, as narrow as asked. */
static dp_status narrow_rate(const dpi_trade *trade, int direction, dpi_side side, double fpr,
                             double width, const rate_minimum *at, dpi_bounds *rate, dp_error *err)
{
    double step = sqrt(width * at->rate / (2 * at->bend + 1e-3 * at->rate)), fine = width / 6;
    step = fmax(fmin(step, 0.5), 1e-5);
    for (int i = 0; i < ROUNDS; i++) {
        bool missing;
        dp_status status =
            bound_rate(trade, direction, side, fpr, at, step, fine, rate, &missing, err);
        if (status != DP_OK)
            return status;
        if (rate->upper - rate->lower <= width * rate->upper)
            return DP_OK;
        step = missing ? fmin(16 * step, 0.3) : 0.6 * step; /* away from the corner, or closer */
        fine = missing ? fine : fine / 4;
    }
    return dpi_fail(err, DP_EACCURACY,
                    "the true positive rate at %g lies in [%.6g, %.6g], wider than %g; allow a "
                    "greater width",
                    fpr, rate->lower, rate->upper, width);
}

/* Adds what one direction gives to *tpr.  A direction that by the estimate is not the worse one
 * needs only be shown to lie below. */
static dp_status add_direction(const dpi_trade *trade, int direction, double fpr, double width,
                               const rate_minimum at[2], bool worse, dp_interval *tpr,
                               dp_error *err)
{
    dpi_bounds above, below;
    if (!worse) {
        double x = exp(at[DPI_UPPER].e);
        dpi_wish wish = {.width = 1e-3, .enough = -1};
        if (at[DPI_UPPER].e >= 0)
            wish.enough = tpr->upper / (1 + 2 * ROUNDING) - x * fpr;
        dp_status status =
            measure(trade, direction, DPI_UPPER, at[DPI_UPPER].e, &wish, &above, err);
        if (status != DP_OK)
            return status;
        if ((above.upper + x * fpr) * (1 + ROUNDING) <= tpr->upper)
            return DP_OK;
    }
    dp_status status =
        narrow_rate(trade, direction, DPI_UPPER, fpr, width, &at[DPI_UPPER], &above, err);
    below = above;
    if (status == DP_OK && !trade->one_sided)
        status = narrow_rate(trade, direction, DPI_LOWER, fpr, width, &at[DPI_LOWER], &below, err);
    if (status != DP_OK)
        return status;
    if (above.upper > tpr->upper)
        tpr->worse = direction == DPI_REMOVE ? DP_WORSE_REMOVE : DP_WORSE_ADD;
    tpr->upper = fmax(tpr->upper, above.upper);
    tpr->lower = fmax(tpr->lower, below.lower);
    tpr->grid = above.points > tpr->grid ? above.points : tpr->grid;
    return DP_OK;
}

static dp_interval normal_tpr(double mu, double fpr)
{
    double rate = gsl_cdf_ugaussian_P(gsl_cdf_ugaussian_Pinv(fpr) + mu);
    /* Relative error of the rate: that of its argument times the argument's size, and a margin. */
    double error = 64 * CDF * (1 + mu * mu + log(fpr) * log(fpr));
    return (dp_interval){.lower = fmax(rate * (1 - error), fpr),
                         .upper = fmin(rate * (1 + error), 1),
                         .estimate = rate,
                         .worse = DP_WORSE_EITHER,
                         .method = "closed form"};
}

/* Where hardly anything is hidden: the test {L > -log a} has a false positive rate of at most a and
 * a true one of at least D(-log a).  True when that is so close to 1 that no more need be known. */
static bool nearly_all(const dpi_trade *trade, double fpr, double width, dp_interval *tpr)
{
    for (int d = 0; d < 2; d++) {
        bool contour = true;
        double e = -log(fpr) * (1 + ROUNDING);
        if (!(guess(trade, d, DPI_LOWER, e, &contour) > 1 - width / 2))
            continue;
        dpi_bounds rate;
        dpi_wish wish = {.width = width / 8, .enough = 1, .interval = width / 2};
        if (measure(trade, d, DPI_LOWER, e, &wish, &rate, NULL) == DP_OK &&
            rate.lower >= 1 - width) {
            *tpr = (dp_interval){fmax(rate.lower, fpr), 1, NAN, (dp_worse)d, "grid", rate.points};
            return true;
        }
    }
    return false;
}

dp_status dpi_trade_tpr(const dpi_trade *trade, double fpr, double width, dp_interval *tpr,
                        dp_error *err)
{
    *tpr = (dp_interval){0, 1, NAN, DP_WORSE_EITHER, "grid", 0};
    if (trade->normal_mu > 0) {
        *tpr = normal_tpr(trade->normal_mu, fpr);
        return DP_OK;
    }
    if (nearly_all(trade, fpr, width, tpr))
        return DP_OK;
    rate_minimum at[2][2];
    dp_interval found = {0, 0, NAN, DP_WORSE_EITHER, "grid", 0};
    for (int d = 0; d < 2; d++)
        for (int s = 0; s < 2; s++)
            at[d][s] = s == DPI_LOWER && trade->one_sided ? (rate_minimum){0}
                                                          : find_least(trade, d, (dpi_side)s, fpr);
    int worse = at[DPI_ADD][DPI_UPPER].rate > at[DPI_REMOVE][DPI_UPPER].rate ? DPI_ADD : DPI_REMOVE;
    dp_status status = add_direction(trade, worse, fpr, width, at[worse], true, &found, err);
    if (status == DP_OK)
        status = add_direction(trade, !worse, fpr, width, at[!worse], false, &found, err);
    if (status != DP_OK)
        return status;
    const rate_minimum *best = &at[worse][DPI_UPPER];
    if (best->contour && trade->one_sided) {
        found.estimate = best->rate;
        found.method = "grid and contour";
        if (best->rate < found.lower * (1 - 1e-8) || best->rate > found.upper * (1 + 1e-8))
            return dpi_fail(err, DP_EACCURACY,
                            "the engines disagree on the true positive rate at %g: grid [%.9g, "
                            "%.9g], contour %.9g; please report the mechanism",
                            fpr, found.lower, found.upper, best->rate);
    }
    *tpr = found;
    return DP_OK;
}

/* ---- the curve as a whole, and mu ---- */

/* Delta at e >= 0 of the worse direction, from above. */
static dp_status bound_both(const dpi_trade *trade, double e, double *delta, dp_error *err)
{
    dpi_bounds d[2];
    dpi_wish wish = {.width = 2e-4, .enough = -1};
    *delta = 1;
    dp_status status = measure(trade, DPI_REMOVE, DPI_UPPER, e, &wish, &d[0], err);
    wish.enough = d[0].upper;
    if (status == DP_OK)
        status = measure(trade, DPI_ADD, DPI_UPPER, e, &wish, &d[1], err);
    if (status == DP_OK)
        *delta = fmin(fmax(d[0].upper, d[1].upper), 1);
    return status;
}

/* Lines by falling slope, at e up to `most`. */
static dp_status find_lines(const dpi_trade *trade, double most, dpi_trade_lines *l, dp_error *err)
{
    dp_status failed = DP_OK;
    for (int i = 0; i < DPI_TRADE_LINES; i++) {
        double e = most * i / (DPI_TRADE_LINES - 1), delta;
        dp_status status = bound_both(trade, e, &delta, err);
        failed = status == DP_OK ? failed : status;
        int steep = DPI_TRADE_LINES - 1 - i, flat = DPI_TRADE_LINES - 1 + i;
        l->slope[steep] = exp(e) * (1 + ROUNDING);
        l->height[steep] = delta;
        l->slope[flat] = exp(-e) * (1 + ROUNDING);
        l->height[flat] = 1 - exp(-e) * (1 - delta) * (1 - ROUNDING);
        if (status == DP_ENOMEM)
            break;
    }
    return failed;
}

dp_status dpi_trade_lines_new(const dpi_trade *trade, double least_fpr, dpi_trade_lines *l,
                              dp_error *err)
{
    *l = (dpi_trade_lines){.normal_mu = trade->normal_mu};
    if (trade->normal_mu > 0)
        return DP_OK;
    double steepest = 1e-3;
    for (int d = 0; d < 2; d++)
        steepest = fmax(steepest, find_least(trade, d, DPI_UPPER, least_fpr).e);
    return find_lines(trade, steepest, l, err);
}

double dpi_trade_lines_at(const dpi_trade_lines *l, double a)
{
    double least = 1;
    if (l->normal_mu > 0)
        return normal_tpr(l->normal_mu, a).upper;
    for (int i = 0; i < 2 * DPI_TRADE_LINES - 1; i++)
        least = fmin(least, l->height[i] + l->slope[i] * a);
    return least * (1 + ROUNDING);
}

/* The mu whose curve passes through (a, t). */
static double mu_through(double a, double t)
{
    if (t >= 1)
        return INFINITY;
    double from = gsl_cdf_ugaussian_Pinv(a);
    double to = t < 0.5 ? gsl_cdf_ugaussian_Pinv(t) : gsl_cdf_ugaussian_Qinv(1 - t);
    return fmax(to - from + 8 * CDF * (1 + fabs(to) + fabs(from)), 0);
}

dp_status dpi_trade_mu(const dpi_trade *trade, double least_fpr, double *mu, dp_error *err)
{
    *mu = INFINITY;
    if (trade->normal_mu > 0) {
        *mu = trade->normal_mu * (1 + 0x1p-48);
        return DP_OK;
    }
    dpi_trade_lines l;
    dp_status status = dpi_trade_lines_new(trade, least_fpr, &l, err);
    if (status != DP_OK)
        return status;
    double found = fmax(mu_through(least_fpr, dpi_trade_lines_at(&l, least_fpr)),
                        mu_through(0.5, dpi_trade_lines_at(&l, 0.5)));
    /* Corners of the lower envelope are among the crossings of any two lines. */
    for (int i = 0; i < 2 * DPI_TRADE_LINES - 1; i++)
        for (int j = i + 1; j < 2 * DPI_TRADE_LINES - 1; j++) {
            double a = (l.height[j] - l.height[i]) / (l.slope[i] - l.slope[j]);
            double t = l.height[i] + l.slope[i] * a;
            if (a > least_fpr && a < 0.5 && t <= dpi_trade_lines_at(&l, a) * (1 + 1e-9))
                found = fmax(found, mu_through(a * (1 - 1e-9), t * (1 + 1e-9)));
        }
    if (!isfinite(found))
        return dpi_fail(err, DP_EACCURACY,
                        "no finite mu covers the curve from %g on; take a greater least_fpr",
                        least_fpr);
    *mu = found;
    return DP_OK;
}
