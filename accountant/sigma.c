/* Calibration of the noise.
 *
 * The bound falls with sigma.  A bracket [low, high] is kept with bound(high) <= epsilon < bound(low);
 * the search ends when high <= low (1 + WITHIN) and returns high, so its end is certified whatever
 * happened on the way.  Where to look: first where the saddle-point estimate is epsilon, then where
 * estimate times (bound / estimate) of the last point is, then by secants in log sigma and log bound.
 * A guess aims at the middle of the last bracket's width on the safe side, so that one bound there
 * and one just below it end the search: four bounds in all as a rule. */
#include "accountant/sigma.h"

#include <math.h>
#include <stdbool.h>

#include "accountant/bound.h"
#include "base/error.h"

enum { MAX_BOUNDS = 60, BISECTIONS = 60 };

static const double WITHIN = 5e-5;
static const double NUDGE = 2e-5; /* how far guesses stay on the safe side */
static const double LEAST = 0.1, MOST = 1e5;

typedef struct search {
    dp_mechanism m;
    double epsilon, delta;
    double low, high; /* in sigma */
} search;

static dp_status bound_at(search *s, double sigma, double *bound, dp_error *err)
{
    s->m.sigma = sigma;
    dp_status status = dpi_bound(&s->m, (dpi_query){DPI_ASK_EPSILON, s->delta}, bound, err);
    if (status != DP_OK)
        return status;
    if (*bound <= s->epsilon)
        s->high = fmin(s->high, sigma);
    else
        s->low = fmax(s->low, sigma);
    return DP_OK;
}

/* Sigma in [LEAST, MOST] at which the estimate is `target`. */
static double sigma_for_estimate(const search *s, double target)
{
    dp_mechanism m = s->m;
    double low = LEAST, high = MOST;
    for (int i = 0; i < BISECTIONS && high > low * (1 + 1e-6); i++) {
        m.sigma = sqrt(low * high);
        if (dpi_estimate_epsilon(&m, s->delta) > target)
            low = m.sigma;
        else
            high = m.sigma;
    }
    return high;
}

/* Next sigma to try: the guess, held inside the bracket; bisects in every fourth step. */
static double next_sigma(const search *s, double guess, int i)
{
    double low = s->low, high = s->high;
    bool closed = low > 0 && high < INFINITY;
    if (closed && i % 4 == 3)
        return sqrt(low * high);
    if (high < INFINITY && guess > high / (1 + WITHIN / 2))
        guess = high / (1 + 0.9 * WITHIN);
    if (low > 0 && guess < low * (1 + WITHIN / 2))
        guess = low * (1 + 0.9 * WITHIN);
    if (closed && !(guess > low && guess < high))
        guess = sqrt(low * high);
    return fmin(fmax(guess, LEAST), MOST);
}

static dp_status outside(const search *s, dp_error *err)
{
    return dpi_fail(err, DP_EACCURACY,
                    "epsilon %g at delta %g asks for noise outside [%g, %g] clipping norms; change "
                    "epsilon, the rate or the number of steps",
                    s->epsilon, s->delta, LEAST, MOST);
}

/* One closed-form bound costs less than an estimate: plain bisection. */
static dp_status bisect(search *s, dp_error *err)
{
    double bound;
    s->low = LEAST;
    s->high = MOST;
    while (s->high > s->low * (1 + 1e-10)) {
        dp_status status = bound_at(s, sqrt(s->low * s->high), &bound, err);
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}

/* One point of the search. */
typedef struct point {
    double sigma, bound;
} point;

/* Where the line through two points in log-log meets epsilon; NaN when that makes no sense. */
static double secant(const search *s, point a, point b)
{
    double slope = log(a.bound / b.bound) / log(a.sigma / b.sigma);
    if (!(slope < -0.1 && slope > -1000))
        return NAN;
    return b.sigma * exp(log(s->epsilon / b.bound) / slope);
}

static double guess_from(const search *s, point before, point now)
{
    double guess = before.sigma > 0 ? secant(s, before, now) : NAN;
    if (guess > now.sigma / 2 && guess < now.sigma * 2)
        return guess * (1 + NUDGE);
    double estimate = dpi_estimate_epsilon(&s->m, s->delta); /* s->m has now.sigma */
    return sigma_for_estimate(s, s->epsilon * estimate / now.bound) * (1 + NUDGE);
}

static dp_status follow_estimate(search *s, dp_error *err)
{
    double guess = sigma_for_estimate(s, s->epsilon);
    point before = {0}, now = {0};
    for (int i = 0; i < MAX_BOUNDS && !(s->high <= s->low * (1 + WITHIN)); i++) {
        if (s->low >= MOST || s->high <= LEAST)
            return outside(s, err);
        now.sigma = next_sigma(s, guess, i);
        dp_status status = bound_at(s, now.sigma, &now.bound, err);
        if (status != DP_OK)
            return status;
        guess = now.bound > 0 ? guess_from(s, before, now) : now.sigma / 2;
        before = now.bound > 0 ? now : (point){0};
    }
    return DP_OK;
}

dp_status dpi_sigma_search(const dp_mechanism *m, double epsilon, double delta, double *sigma,
                           dp_error *err)
{
    search s = {.m = *m, .epsilon = epsilon, .delta = delta, .low = 0, .high = INFINITY};
    dp_status status = m->rate == 1 ? bisect(&s, err) : follow_estimate(&s, err);
    if (status != DP_OK)
        return status;
    if (m->rate == 1 && (s.high >= MOST || s.low <= LEAST))
        return outside(&s, err);
    if (!(s.high <= s.low * 1.0001))
        return dpi_fail(err, DP_EACCURACY,
                        "the search for the noise did not close in on epsilon %g at delta %g; "
                        "change epsilon a little",
                        epsilon, delta);
    *sigma = s.high;
    return DP_OK;
}
