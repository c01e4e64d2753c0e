/* Quadrature for the laws of outcomes.
 *
 * Continuous laws: the trapezoidal rule in v, where x = centre + scale sinh v and x is a variable
 * in which the law is smooth and its tails fall at least exponentially: the number itself for the
 * normal, its logarithm for Gamma, its log odds for Beta, asinh(z / sqrt df) for Student's t.  The
 * rule converges exponentially there (Trefethen and Weideman 2014, SIAM Review 56, 385); sinh puts
 * nodes where the mass is and lets the far ones reach the ends of the tails, where the density is
 * e^-25 of its largest.  For a law with the density e^-fall(u) these ends are closed forms (below).
 *
 * The exponential law has an edge.  With x = -2 log w its mean of f is the integral of 2 w f over
 * (0, 1): equal steps in w would make kinks of f cost the same everywhere, 4 / (12 n^2) for a kink
 * of one unit; w = t - sin(2 pi t) / (2 pi) (Sidi 1993, ISNM 112, 359) makes the rule fit for both
 * edges, with an error of order n^-6 for smooth f, and costs a factor 4 in the former.
 *
 * Counts: all of them where they are few.  Else every step-th one, which is the trapezoidal rule
 * on a law that is smooth at that scale: with steps of a fifth of a standard deviation its error
 * is far below rounding.  Masses are relative to that of the mode, by the ratios of neighbours, or
 * beyond 256 counts by the saddle point form (Loader 2000, "Fast and accurate computation of
 * binomial probabilities"): with a = n p, b = n q and phi(e) = (1 + e) log(1 + e) - e,
 *
 *   log mass(y) = -a phi((y - a) / a) - b phi(-(y - a) / b) - log(y (1 - y / n)) / 2
 *                 - 1 / (12 y) - 1 / (12 (n - y)) + constant,
 *
 * b being infinite for Poisson. */
#include "dist/outcomes.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdbool.h>

#include "num/map.h"
#include "num/special.h"

enum { N = DPI_SMOOTH_OUTCOMES, HALF = N / 2, MOST = DPI_MOST_OUTCOMES };

/* Where a law ends: e^-25 is 1e-11. */
static const double fallen = 25;

static void normalise(size_t n, double mass[])
{
    double total = 0;
    for (size_t j = 0; j < n; j++)
        total += mass[j];
    for (size_t j = 0; j < n; j++)
        mass[j] /= total;
}

/* ---- continuous laws ---- */

typedef struct smooth_law {
    /* log density at its top, u = 0, less that at u */
    double (*fall)(const struct smooth_law *l, double u);
    double a, b;          /* its shape */
    double left, right;   /* ends: -left and right, where it has fallen by `fallen` or more */
    double centre, scale; /* of the nodes */
} smooth_law;

/* Beyond, shapes are taken for these: the law is at the ends of its support, or nearly a point that
 * the falls, in which terms of the size of the root of the shape cancel, could not resolve. */
static const double least_shape = 1e-100, greatest_shape = 1e20;

static double usual(double shape)
{
    return fmin(fmax(shape, least_shape), greatest_shape);
}

static size_t nodes_of(const smooth_law *l, double u[], double mass[])
{
    double from = asinh((-l->left - l->centre) / l->scale);
    double step = (asinh((l->right - l->centre) / l->scale) - from) / N;
    double e = exp(from + 0.5 * step), growth = exp(step), jacobian[N];
    for (size_t j = 0; j < N; j++, e *= growth) {
        double inverse = 1 / e;
        u[j] = l->centre + l->scale * (0.5 * (e - inverse));
        jacobian[j] = 0.5 * (e + inverse);
        mass[j] = -fmax(0, l->fall(l, u[j]));
    }
    dpi_map_double(DPI_MAP_EXP, N, mass, mass);
    for (size_t j = 0; j < N; j++)
        mass[j] *= jacobian[j];
    normalise(N, mass);
    return N;
}

/* n nodes above 0 of a law that is even; `reach` is that of the last, in scales. */
static void upper_nodes(size_t n, double scale, double reach, double z[], double jacobian[])
{
    double step = asinh(reach) / (double)n, e = exp(0.5 * step), growth = exp(step);
    for (size_t j = 0; j < n; j++, e *= growth) {
        double inverse = 1 / e;
        z[j] = scale * (0.5 * (e - inverse));
        jacobian[j] = 0.5 * (e + inverse);
    }
}

/* An even law from its upper half, which is in the first HALF elements. */
static size_t mirrored(double z[], double mass[])
{
    for (size_t j = 0; j < HALF; j++) {
        mass[j] *= 0.5;
        z[HALF + j] = -z[j];
        mass[HALF + j] = mass[j];
    }
    return N;
}

/* Kinks near 0, 1, 2 and 3 cost the same by this scale, 3e-4 for one of one unit. */
static const double normal_scale = 1.5, normal_end = 6.4;

size_t dpi_outcomes_half_normal(double z[], double mass[])
{
    double jacobian[HALF];
    upper_nodes(HALF, normal_scale, normal_end / normal_scale, z, jacobian);
    for (size_t j = 0; j < HALF; j++)
        mass[j] = -0.5 * z[j] * z[j];
    dpi_map_double(DPI_MAP_EXP, HALF, mass, mass);
    for (size_t j = 0; j < HALF; j++)
        mass[j] *= jacobian[j];
    normalise(HALF, mass);
    return HALF;
}

size_t dpi_outcomes_normal(double z[], double mass[])
{
    dpi_outcomes_half_normal(z, mass);
    return mirrored(z, mass);
}

size_t dpi_outcomes_exponential(size_t n, double x[], double mass[])
{
    for (size_t j = 0; j < n; j++) {
        double t = ((double)j + 0.5) / (double)n, turn = 2 * M_PI * t;
        double w = t - sin(turn) / (2 * M_PI);
        x[j] = -2 * log(w);
        mass[j] = w * (1 - cos(turn));
    }
    normalise(n, mass);
    return n;
}

/* a (e^u - 1 - u).  With s = -u > 0, e^-s - 1 + s >= s^2 / (2 + s); with e^u = 1 + L + sqrt(2 L),
 * e^u - 1 - u >= L. */
static double log_gamma_fall(const smooth_law *l, double u)
{
    return l->a * (expm1(u) - u);
}

size_t dpi_outcomes_log_gamma(double a, double u[], double mass[])
{
    a = usual(a);
    double end = fallen / a;
    smooth_law l = {.fall = log_gamma_fall, .a = a};
    l.left = 0.5 * (end + sqrt(end) * sqrt(end + 8));
    l.right = log1p(end + sqrt(2 * end));
    /* Where a is small, the numbers that matter are below 1 by far more than they are above. */
    l.centre = log1p(0.5 / a);
    l.scale = 1 / sqrt(fmax(a, 1));
    return nodes_of(&l, u, mass);
}

/* (a + b) log(q + p e^u) - a u, p = a / (a + b): at most linear in |u|.  Of two forms the one whose
 * terms are small; neither where e^|u| might overflow. */
static double logit_beta_fall(const smooth_law *l, double u)
{
    double n = l->a + l->b, p = l->a / n, q = l->b / n;
    if (fabs(u) > 500)
        return u < 0 ? n * log(q + p * exp(u)) - l->a * u : n * log(p + q * exp(-u)) + l->b * u;
    return p < q ? n * log1p(p * expm1(u)) - l->a * u : n * log1p(q * expm1(-u)) + l->b * u;
}

/* n (p e^u / (q + p e^u) - p) is n p q (e^u - 1) / (q + p e^u). */
static double logit_beta_slope(const smooth_law *l, double u)
{
    double n = l->a + l->b, p = l->a / n, q = l->b / n;
    return u < 0 ? l->a * q * expm1(u) / (q + p * exp(u))
                 : -l->b * p * expm1(-u) / (p + q * exp(-u));
}

/* Newton's method on a convex function lands beyond the end, and stays there.  It starts where a
 * parabola would end, or at the end of the line below the law's tail. */
static double logit_beta_end(const smooth_law *l, double sign)
{
    double n = l->a + l->b, near = sign < 0 ? l->b : l->a, slope = sign < 0 ? l->a : l->b;
    double parabola = sqrt(2 * fallen / (l->a / (1 + l->a / l->b)));
    double u = sign * fmin(parabola, (fallen - n * log(near / n)) / slope);
    for (int i = 0; i < 5; i++)
        u -= (logit_beta_fall(l, u) - fallen) / logit_beta_slope(l, u);
    return sign * u;
}

size_t dpi_outcomes_logit_beta(double a, double b, double u[], double mass[])
{
    a = usual(a);
    b = usual(b);
    smooth_law l = {.fall = logit_beta_fall, .a = a, .b = b};
    l.left = logit_beta_end(&l, -1);
    l.right = logit_beta_end(&l, 1);
    l.centre = log1p(0.5 / a) - log1p(0.5 / b);
    l.scale = 1 / sqrt(fmax(a / (1 + a / b), 1));
    return nodes_of(&l, u, mass);
}

/* Steps around the circle are this much longer opposite the top than midway, and as much shorter at
 * it, where the kinks are. */
static const double stretch = 0.6;

/* exp(-2 k sin(t / 2)^2).  Where it falls by less than `fallen` the rule goes around the circle, in
 * s with t = s - stretch sin s, which is as smooth; else over the arc up to where it has fallen. */
static void upper_circle(double k, double t[], double jacobian[])
{
    if (2 * k > fallen) {
        double end = 2 * asin(sqrt(fallen / (2 * k))), scale = normal_scale / sqrt(k);
        upper_nodes(HALF, scale, end / scale, t, jacobian);
        return;
    }
    for (size_t j = 0; j < HALF; j++) {
        double s = M_PI * ((double)j + 0.5) / HALF;
        t[j] = s - stretch * sin(s);
        jacobian[j] = 1 - stretch * cos(s);
    }
}

size_t dpi_outcomes_circle(double k, double t[], double mass[])
{
    double jacobian[HALF];
    upper_circle(k, t, jacobian);
    for (size_t j = 0; j < HALF; j++) {
        double half = sin(0.5 * t[j]);
        mass[j] = -2 * k * half * half;
    }
    dpi_map_double(DPI_MAP_EXP, HALF, mass, mass);
    for (size_t j = 0; j < HALF; j++)
        mass[j] *= jacobian[j];
    normalise(HALF, mass);
    return mirrored(t, mass);
}

/* log cosh t */
static double log_cosh(double t)
{
    double s = sinh(t);
    return fabs(t) < 1 ? 0.5 * log1p(s * s) : fabs(t) + log1p(exp(-2 * fabs(t))) - M_LN2;
}

/* With z = sqrt(df) sinh t the density of t falls by df log cosh t. */
static size_t upper_student_t(size_t n, double df, double z[], double mass[])
{
    df = usual(df);
    double jacobian[N], end = fallen / df;
    double reach = end + log1p(sqrt(-expm1(-2 * end))), scale = 1 / sqrt(fmax(df, 1));
    upper_nodes(n, scale, reach / scale, z, jacobian);
    for (size_t j = 0; j < n; j++)
        mass[j] = -df * log_cosh(z[j]);
    dpi_map_double(DPI_MAP_EXP, n, mass, mass);
    for (size_t j = 0; j < n; j++) {
        mass[j] *= jacobian[j];
        z[j] = sqrt(df) * sinh(z[j]);
    }
    normalise(n, mass);
    return n;
}

/* As many nodes as the whole law: clipped scores have their kinks on one side. */
size_t dpi_outcomes_half_student_t(double df, double z[], double mass[])
{
    return upper_student_t(N, df, z, mass);
}

size_t dpi_outcomes_student_t(double df, double z[], double mass[])
{
    upper_student_t(HALF, df, z, mass);
    return mirrored(z, mass);
}

/* ---- counts ---- */

size_t dpi_outcomes_binary(double logit, double y[], double mass[])
{
    y[0] = 0;
    y[1] = 1;
    mass[0] = dpi_logistic(-logit);
    mass[1] = dpi_logistic(logit);
    return 2;
}

typedef struct count_law {
    double trials, odds, mean,
        rest; /* n, p / q, n p and n q; Poisson: INFINITY, mean, mean, INFINITY */
    double mode, low, high, step;
} count_law;

/* mass(y + 1) / mass(y) */
static double ratio(const count_law *l, double y)
{
    return isinf(l->trials) ? l->mean / (y + 1) : (l->trials - y) / (y + 1) * l->odds;
}

/* The nodes of one side, up (1) or down (-1), by the ratios of neighbours; ends where nothing is
 * left beside the nearest. */
static size_t walk(const count_law *l, double direction, double y[], double mass[])
{
    double count = direction > 0 ? l->high - l->mode : l->mode - l->low, m = 1, least = 0;
    size_t n = 0, step = (size_t)l->step;
    for (size_t k = 1; k <= (size_t)count; k++) {
        double at = l->mode + direction * (double)k;
        m = direction > 0 ? m * ratio(l, at - 1) : m / ratio(l, at);
        least = k == 1 ? 1e-18 * m : least;
        if (m <= least)
            break;
        if (k % step == 0) {
            y[n] = at;
            mass[n++] = m;
        }
    }
    return n;
}

static size_t by_ratios(const count_law *l, double y[], double mass[])
{
    size_t n = 1;
    y[0] = l->mode;
    mass[0] = 1;
    n += walk(l, 1, y + n, mass + n);
    return n + walk(l, -1, y + n, mass + n);
}

/* (1 + e) log(1 + e) - e; by its series where it cancels. */
static double phi(double e)
{
    if (fabs(e) < 1e-3)
        return e * e * (0.5 - e / 6 + e * e / 12 - e * e * e / 20);
    return (1 + e) * log1p(e) - e;
}

static double saddle_point(const count_law *l, double y)
{
    double away = y - l->mean, rest = l->trials - y;
    double fall = l->mean * phi(away / l->mean) + 0.5 * log(y / l->mean) + 1 / (12 * y);
    if (isinf(rest))
        return -fall;
    return -fall - l->rest * phi(-away / l->rest) - 0.5 * log(rest / l->rest) - 1 / (12 * rest);
}

static size_t by_saddle_point(const count_law *l, double y[], double mass[])
{
    size_t n = 0;
    for (double k = ceil((l->low - l->mode) / l->step); n < MOST; k++) {
        double at = l->mode + k * l->step;
        if (!(at <= l->high))
            break;
        y[n] = at;
        mass[n++] = fmin(1, saddle_point(l, at));
    }
    dpi_map_double(DPI_MAP_EXP, n, mass, mass);
    return n;
}

/* Nodes reach this many standard deviations from the mode, and on the side of the longer tail so
 * many counts more (6.5^2 / 6, as in Cornish and Fisher's expansion, is 7): what is left is below
 * 1e-9 of the variance. */
static const double deviations = 6.5, counts = 8;

/* Where not all counts are nodes, steps are at least this many standard deviations: nearer nodes
 * would win nothing. */
static const double least_step = 0.2;

static const double ratios_to = 256; /* counts; beyond, the least is above 80 */

static size_t count_nodes(count_law *l, double variance, double y[], double mass[])
{
    double sd = sqrt(variance), reach = ceil(deviations * sd);
    l->low = fmax(0, l->mode - reach - (l->rest < l->mean ? counts : 0));
    l->high = fmin(l->trials, l->mode + reach + (l->rest < l->mean ? 0 : counts));
    double width = l->high - l->low + 1;
    l->step = width <= MOST ? 1 : fmax(ceil(width / (MOST - 1)), floor(least_step * sd));
    size_t n = width <= ratios_to ? by_ratios(l, y, mass) : by_saddle_point(l, y, mass);
    normalise(n, mass);
    return n;
}

static const double most_trials = 0x1p53; /* counts beyond are not all doubles */

size_t dpi_outcomes_binomial(double trials, double logit, double y[], double mass[])
{
    if (!(trials <= most_trials))
        return 0;
    double p = dpi_logistic(logit), q = dpi_logistic(-logit);
    count_law l = {.trials = trials, .odds = exp(logit), .mean = trials * p, .rest = trials * q};
    l.mode = fmin(trials, floor(l.mean + p));
    return count_nodes(&l, l.mean * q, y, mass);
}

size_t dpi_outcomes_poisson(double mean, double y[], double mass[])
{
    if (!isfinite(mean))
        return 0;
    count_law l = {.trials = INFINITY, .mean = mean, .rest = INFINITY, .mode = floor(mean)};
    return count_nodes(&l, mean, y, mass);
}
