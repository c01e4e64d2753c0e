/* Quadrature for laws of counts with long tails: negative binomial.
 *
 * Laws of at most DPI_MOST_OUTCOMES counts are listed.  Of wider ones that are smooth down to 0,
 * every step-th count is (outcomes.c).  Of others the first counts are listed: a mass like y^(f -
 * 1) is not smooth there.  Beyond them the sum over counts is the integral over y, from half a
 * count below the first, plus (F(k) - F(k - 1)) / 24 (Euler and Maclaurin, midpoint form; k the
 * first count not listed).  It is taken by panels of Gauss's rule in w, y = s log(1 + e^v) and v =
 * centre + scale sinh w: below s, in which the tail falls by e, the law is smooth in log y, and
 * above in y.  The mass of a node goes to the two counts about it, in shares that keep its mean;
 * the variance gains at most 1/4 of the mass beyond the listed counts. */
#include <math.h>
#include <stdbool.h>

#include "dist/outcomes.h"
#include "dist/panels.h"
#include "num/special.h"

enum { MOST = DPI_MOST_OUTCOMES, FEWEST_PANELS = 3, MOST_PANELS = 6 };

/* Masses below e^-25 of the law are left out (outcomes.c). */
static const double fallen = 25;

typedef struct wide_law {
    double mean, f, s; /* f is the dispersion; the tail falls by e in s */
    double centre, scale;
} wide_law;

/* mass(y + 1) / mass(y) */
static double ratio(const wide_law *l, double y)
{
    return (l->f + y) / (y + 1) * (l->mean / (l->mean + l->f));
}

/* log mass but for a constant, by the saddle point form of outcomes.c: the chance of y successes in
 * n = f + y trials, times f / n. */
static double log_mass(const wide_law *l, double y)
{
    double n = l->f + y, p = l->mean / (l->mean + l->f), q = l->f / (l->mean + l->f);
    double away = (y - l->mean) / n;
    double up = away * l->f / l->mean,
           fall = n * p * dpi_saddle_phi(up) + (q > 0 ? n * q * dpi_saddle_phi(-away) : 0);
    return -fall - 0.5 * (log(y) + log(n)) - dpi_stirling_rest(y) + dpi_stirling_rest(n);
}

static double to_line(const wide_law *l, double y)
{
    double x = y / l->s, v = x > 30 ? x : log(expm1(x));
    return asinh((v - l->centre) / l->scale);
}

static void at_node(const void *law, double w, double *y, double *mass)
{
    const wide_law *l = law;
    double v = l->centre + l->scale * sinh(w);
    *y = l->s * dpi_softplus(v);
    *mass = l->scale * cosh(w) * l->s * dpi_logistic(v) * exp(log_mass(l, *y));
}

/* The first counts, and what the integral from `listed` - 1/2 lacks. */
static size_t put_first(const wide_law *l, size_t listed, double y[], double mass[])
{
    double m = exp(log_mass(l, (double)listed));
    y[listed] = (double)listed;
    mass[listed] = m / 24;
    for (size_t k = listed; k-- > 0;) {
        m /= ratio(l, (double)k);
        y[k] = (double)k;
        mass[k] = m;
    }
    mass[listed - 1] *= 23.0 / 24;
    return listed + 1;
}

static size_t put_all(const wide_law *l, double low, double high, double y[], double mass[])
{
    size_t n = (size_t)(high - low) + 1;
    double m = 1;
    for (size_t k = 0; k < n; k++) {
        y[k] = low + (double)k;
        mass[k] = m;
        m *= ratio(l, y[k]);
    }
    return n;
}

static size_t put_steps(const wide_law *l, double low, double high, double step, double y[],
                        double mass[])
{
    double from = fmax(low, 1);
    size_t n = (size_t)((high - from) / step) + 1;
    for (size_t k = 0; k < n; k++) {
        y[k] = from + step * (double)k;
        mass[k] = exp(log_mass(l, y[k]));
    }
    return n;
}

/* Where few counts are off by one, more of them are listed. */
static size_t put_listed_and_panels(wide_law *l, double sd, double high, double y[], double mass[])
{
    double x = l->mean / l->s;
    size_t panels = sd < 40 ? FEWEST_PANELS : sd < 80 ? FEWEST_PANELS + 1 : MOST_PANELS;
    size_t listed = MOST - 1 - DPI_PANEL_NODES * panels;
    l->centre = (x > 30 ? x : log(expm1(x))) + log1p(0.5 / l->f);
    l->scale = fmax(1, sd / l->s);
    size_t n = put_first(l, listed, y, mass);
    const dpi_panels p = {.law = l,
                          .at = at_node,
                          .from = to_line(l, (double)listed - 0.5),
                          .to = to_line(l, high),
                          .n = panels};
    return n + dpi_put_panels(&p, y + n, mass + n);
}

/* From this dispersion up, what the sum by steps misses of the law near 0, where it is like
 * y^(f - 1), is below 1e-7 of the whole; so is the chance of 0 below this exponent. */
static const double smooth_from = 8, none_below = -20;

static const double least_steps = 2.5; /* in a standard deviation: the error is e^-(2 pi^2 2.5^2) */

/* A law with variance v and mgf finite up to 1 / c is within sqrt(2 v x) + c x above its mean, and
 * sqrt(2 v x) below, but for e^-x (Boucheron, Lugosi and Massart 2013, Concentration Inequalities,
 * 2.4, for c a third greater, as for Poisson, whose mgf is finite everywhere). */
size_t dpi_outcomes_negative_binomial(double mean, double f, double y[], double mass[])
{
    wide_law l = {.mean = mean, .f = f, .s = fmin(1 + mean / f, 1e300)};
    if (!isfinite(mean))
        return 0;
    double sd = sqrt(mean) * sqrt(l.s), reach = sqrt(2 * fallen) * sd;
    double tail = fmin(fallen * (1 / log1p(f / mean) + 1.0 / 3), 1e302);
    double low = fmax(0, floor(mean - reach)), high = ceil(mean + reach + tail);
    double step = ceil((high - low) / (MOST - 1));
    bool smooth = f >= smooth_from && -f * log1p(mean / f) < none_below;
    size_t n = high - low < MOST                    ? put_all(&l, low, high, y, mass)
               : smooth && sd >= least_steps * step ? put_steps(&l, low, high, step, y, mass)
                                                    : put_listed_and_panels(&l, sd, high, y, mass);
    dpi_normalise_masses(n, mass);
    return n;
}
