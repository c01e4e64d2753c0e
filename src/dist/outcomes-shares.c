/* Quadrature for the beta-binomial law: y successes in n trials, whose chance is Beta(a, b),
 * a = m k, b = (1 - m) k.
 *
 * Few trials, or counts within reach, are listed.  Else the law is taken in t = log(y / (n - y)),
 * in which it has one top and falls at least exponentially, by panels in w, t = centre + scale sinh
 * w, as in outcomes-counts.c; where it reaches 0 or n with more than e^-25 of its top, the counts
 * there are listed, with the correction of Euler and Maclaurin next to them.  Laws that reach
 * neither, and whose steps are narrow beside their standard deviation, are every step-th count.
 *
 * With N = n + k, d = y - n m and phi(e) = (1 + e) log(1 + e) - e, by Stirling's formula
 *
 *   log mass = m N phi(d / (m N)) + (1 - m) N phi(-d / ((1 - m) N)) - n m phi(d / (n m))
 *              - n (1 - m) phi(-d / (n (1 - m))) - log(y (n - y) (y + a) (n - y + b)) / 2
 *              + rest(y + a) + rest(n - y + b) - rest(y) - rest(n - y) + constant,
 *
 * in which nothing of the size of n log n is left. */
#include <math.h>
#include <stdbool.h>

#include "dist/outcomes.h"
#include "dist/panels.h"
#include "num/special.h"

enum { MOST = DPI_MOST_OUTCOMES, BISECTIONS = 50 };

static const double fallen = 25, most_trials = 0x1p53; /* outcomes.c */

typedef struct share_law {
    double n, m, k, a, b;
    double centre, scale;
    size_t listed; /* counts of an end that the law reaches */
} share_law;

/* log mass(y + 1) - log mass(y) */
static double log_ratio(const share_law *l, double y)
{
    return log((l->n - y) / (y + 1)) + log((l->a + y) / (l->b + (l->n - y - 1)));
}

static double log_mass(const share_law *l, double y)
{
    double d = y - l->n * l->m, m = l->m, q = 1 - m, all = l->n + l->k, rest = l->n - y;
    double up = y + l->a, down = rest + l->b;
    double wide =
        m * all * dpi_saddle_phi(d / (m * all)) + q * all * dpi_saddle_phi(-d / (q * all));
    double narrow =
        l->n * m * dpi_saddle_phi(d / (l->n * m)) + l->n * q * dpi_saddle_phi(-d / (l->n * q));
    double ends = 0.5 * (log(y) + log(rest) + log(up) + log(down));
    return wide - narrow - ends + dpi_stirling_rest(up) + dpi_stirling_rest(down) -
           dpi_stirling_rest(y) - dpi_stirling_rest(rest);
}

/* Of a unit of t. */
static double log_mass_of_t(const share_law *l, double y)
{
    return log_mass(l, y) + log(y) + log(l->n - y);
}

static double to_t(const share_law *l, double y)
{
    return log(y) - log(l->n - y);
}

static double to_w(const share_law *l, double y)
{
    return asinh((to_t(l, y) - l->centre) / l->scale);
}

static void at_node(const void *law, double w, double *y, double *mass)
{
    const share_law *l = law;
    double t = l->centre + l->scale * sinh(w);
    *y = l->n * dpi_logistic(t);
    *mass = l->scale * cosh(w) * exp(log_mass_of_t(l, *y)) / l->n;
}

/* From the top towards `end`, where the law of t has fallen by e^-25; `end` where it has not. */
static double fallen_at(const share_law *l, double top, double end)
{
    double high = log_mass_of_t(l, top), from = to_t(l, top), to = to_t(l, end);
    if (log_mass_of_t(l, end) > high - fallen)
        return end;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (from + to);
        if (log_mass_of_t(l, l->n * dpi_logistic(middle)) > high - fallen)
            from = middle;
        else
            to = middle;
    }
    return l->n * dpi_logistic(to);
}

/* Counts low ... high, at most MOST of them. */
static size_t put_all(const share_law *l, double low, double high, double y[], double mass[])
{
    size_t n = (size_t)(high - low) + 1;
    double log_m = 0, top = 0;
    for (size_t j = 0; j < n; j++) {
        y[j] = low + (double)j;
        mass[j] = log_m;
        top = fmax(top, log_m);
        log_m += j + 1 < n ? log_ratio(l, y[j]) : 0;
    }
    for (size_t j = 0; j < n; j++)
        mass[j] = exp(mass[j] - top);
    return n;
}

/* Counts from the end at 0 (or n, `up` -1) with what the integral beyond them lacks. */
static size_t put_end(const share_law *l, int up, double y[], double mass[])
{
    const double last = (double)l->listed;
    double log_m = log_mass(l, up > 0 ? last : l->n - last);
    for (size_t k = l->listed + 1; k-- > 0;) {
        y[k] = up > 0 ? (double)k : l->n - (double)k;
        mass[k] = exp(log_m) * (k == l->listed ? 1.0 / 24 : k == l->listed - 1 ? 23.0 / 24 : 1);
        if (k > 0)
            log_m += up > 0 ? -log_ratio(l, y[k] - 1) : log_ratio(l, y[k]);
    }
    return l->listed + 1;
}

static size_t put_steps(const share_law *l, double low, double high, double step, double y[],
                        double mass[])
{
    size_t n = (size_t)((high - low) / step) + 1;
    for (size_t j = 0; j < n; j++) {
        y[j] = low + step * (double)j;
        mass[j] = exp(log_mass(l, y[j]));
    }
    return n;
}

/* Panels from low to high, and the counts of the ends that these reach. */
static size_t put_ends_and_panels(const share_law *l, double low, double high, bool from_0,
                                  bool to_n, double y[], double mass[])
{
    size_t n = from_0 ? put_end(l, 1, y, mass) : 0;
    n += to_n ? put_end(l, -1, y + n, mass + n) : 0;
    const dpi_panels p = {.law = l,
                          .at = at_node,
                          .from = to_w(l, low),
                          .to = to_w(l, high),
                          .n = (MOST - n) / DPI_PANEL_NODES};
    return n + dpi_put_panels(&p, y + n, mass + n);
}

static const double least_steps = 2.5; /* as in outcomes-counts.c */

/* Of each end, where both are reached; of one it is twice as many and one.  A narrow law feels it
 * more that counts are off by one, so more of them are listed. */
static size_t listed_for(double sd)
{
    return sd < 40 ? 39 : sd < 80 ? 31 : 23;
}

/* A law that has fallen by this at its end is as good as without one: what the sum by steps misses
 * there is of the size of the masses there. */
static const double as_good_as_fallen = 16;

static double end_of(const share_law *l, double top, double first, double last)
{
    double high = log_mass_of_t(l, top);
    return log_mass_of_t(l, last) < high - as_good_as_fallen ? last : fallen_at(l, top, first);
}

static size_t put_wide(share_law *l, double y[], double mass[])
{
    const double n = l->n, q = 1 - l->m;
    const double spread = sqrt((n + l->k) / (l->k + 1)), each = sqrt(n) * sqrt(l->m * q);
    l->listed = listed_for(each * spread);
    const double first = (double)l->listed - 0.5, top = fmin(fmax(n * l->m, first), n - first);
    double low = fallen_at(l, top, first), high = fallen_at(l, top, n - first);
    low = low == first ? end_of(l, top, first, 1) : low;
    high = high == n - first ? end_of(l, top, n - first, n - 1) : high;
    const bool from_0 = low == first, to_n = high == n - first;
    const double least = from_0 ? 0 : floor(low), most = to_n ? n : ceil(high);
    const double step = ceil((most - least) / (MOST - 1));
    if (most - least < MOST)
        return put_all(l, least, most, y, mass);
    if (!from_0 && !to_n && each * spread >= least_steps * step)
        return put_steps(l, least, most, step, y, mass);
    l->listed = from_0 && to_n ? l->listed : 2 * l->listed + 1;
    low = from_0 ? (double)l->listed - 0.5 : low;
    high = to_n ? n - ((double)l->listed - 0.5) : high;
    l->centre = to_t(l, fmin(fmax(n * l->m, 0.5), n - 0.5)) + log1p(0.5 / l->a) - log1p(0.5 / l->b);
    l->scale = fmin(1, spread / each);
    return put_ends_and_panels(l, low, high, from_0, to_n, y, mass);
}

/* Beyond, shapes are taken for this: the law is at its ends. */
static const double least_shape = 1e-250;

size_t dpi_outcomes_beta_binomial(double trials, double m, double k, double y[], double mass[])
{
    share_law l = {.n = trials, .m = m, .k = k};
    l.a = fmax(m * k, least_shape);
    l.b = fmax((1 - m) * k, least_shape);
    if (!(trials <= most_trials))
        return 0;
    size_t n = trials < MOST ? put_all(&l, 0, trials, y, mass) : put_wide(&l, y, mass);
    dpi_normalise_masses(n, mass);
    return n;
}
