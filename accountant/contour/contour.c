/* Exact privacy losses by numerical inversion.
 *
 * With K(z) = sum over terms of times * log E_P e^(zL) and any c > 0,
 *     delta(eps) = (1 / 2 pi) int e^(K(z) - z eps) k(z) du,  z = c + iu,  k(z) = 1 / (z (z + 1))
 * (Alghamdi et al., ICML 2023).
 * path.c chooses c, the step h and the number of frequencies; here the values of e^K are computed
 * by rotation (phase.c), and Newton's method finds eps over the same values: it enters by e^(-z
 * eps) alone, and a derivative is a factor -z.
 *
 * Accuracy: aliases e^-30 of delta by proof, quadrature of K checked by doubling, rounding about
 * steps * 1e-16 and the cancellation that is measured here.  The truncation in u has no proof: an
 * envelope of the integrand has fallen to e^-30 (path.c), and the last tenth of the values computed
 * is checked here.
 *
 * Cost: (frequencies) x (nodes) rotations, 30 x 60 for thousands of steps, more for few. */
#include "accountant/contour/contour.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/contour/once.h"
#include "accountant/contour/path.h"
#include "base/alloc.h"
#include "base/error.h"

static const double EPSILON_ERROR = 1e-9; /* relative error of epsilon that is accepted */
static const double DELTA_ERROR = 1e-8;   /* the same of delta */
static const double VISIBLE = 1e-2;
static const double FAR = 2;  /* planned and found values differ by no more, in log delta */
static const double NEAR = 1; /* and in epsilon, times the tilt */

enum { NEWTON = 60, PLANS = 8, RESEED = 64 };

typedef struct complex_number {
    double re, im;
} complex_number;

typedef struct integral {
    dpi_path path;
    complex_number *value; /* [count]: e^(K(z) - K(c) - iu K'(c)), owned */
} integral;

/* The trapezoidal sum and what belongs to it. */
typedef struct total {
    double log_value;
    double slope; /* -d log_value / d epsilon */
    double error; /* of log_value: truncation and rounding, as far as can be seen */
} total;

static void integral_free(integral *g)
{
    dpi_path_free(&g->path);
    dpi_free(g->value);
    *g = (integral){0};
}

/* log(1 + a + ib), accurate near 0 and near -1. */
static complex_number log_one_plus(double a, double b)
{
    double square = a * (2 + a) + b * b;
    double re = square > -0.5 ? 0.5 * log1p(square) : log(hypot(1 + a, b));
    return (complex_number){re, atan2(b, 1 + a)};
}

/* Adds times * log phi of one part to the logs in value[first ...]. */
static void add_part(const integral *g, const dpi_path_term *part, size_t first, size_t count)
{
    double re[DPI_PHASES], im[DPI_PHASES], mu = part->pair->normal_mu;
    if (mu == 0)
        dpi_phases(&part->tilted, g->path.h, first, re, im);
    for (size_t k = 0; k < count; k++) {
        complex_number *v = &g->value[first + k];
        double u = (double)(first + k) * g->path.h;
        if (mu > 0) {
            v->re -= part->times * mu * mu * u * u / 2;
            continue;
        }
        complex_number l = log_one_plus(re[k], im[k]);
        v->re += part->times * l.re;
        v->im += part->times * l.im;
    }
}

static void fill_values(integral *g)
{
    for (size_t first = 0; first < g->path.count; first += DPI_PHASES) {
        size_t left = g->path.count - first, count = left < DPI_PHASES ? left : DPI_PHASES;
        for (size_t i = 0; i < g->path.n; i++)
            add_part(g, &g->path.part[i], first, count);
        for (size_t k = first; k < first + count; k++) {
            double size = exp(g->value[k].re), angle = g->value[k].im;
            g->value[k] = (complex_number){size * cos(angle), size * sin(angle)};
        }
    }
}

static complex_number times(complex_number a, complex_number b)
{
    return (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* 1 / (x + iu) */
static complex_number inverse(double x, double u)
{
    double square = x * x + u * u;
    return (complex_number){x / square, -u / square};
}

/* k(c + iu) */
static complex_number kernel_at(double c, double u)
{
    return times(inverse(c, u), inverse(c + 1, u));
}

static complex_number phase(double angle)
{
    return (complex_number){cos(angle), sin(angle)};
}

/* The sum at epsilon; false when it drowns in what was cut off or in rounding.  On the way to the
 * answer a hundredth will do. */
static bool sum_up(const integral *g, double epsilon, total *t)
{
    const dpi_path *path = &g->path;
    double c = path->at.c, h = path->h, offset = path->at.mean - epsilon;
    double sum = 0, slope = 0, moduli = 0, last = 0;
    complex_number turn = phase(h * offset), at = {1, 0};
    for (size_t i = 0; i < path->count; i++) {
        double u = (double)i * h;
        at = i % RESEED == 0 ? phase(u * offset) : times(at, turn);
        complex_number f = times(times(g->value[i], at), kernel_at(c, u));
        double share = i == 0 ? 0.5 : 1, modulus = share * (fabs(f.re) + fabs(f.im));
        sum += share * f.re;
        slope += share * (c * f.re - u * f.im);
        moduli += modulus;
        if (10 * i >= 9 * path->count)
            last = fmax(last, modulus);
    }
    t->log_value = path->at.cumulant - c * epsilon + log(sum * h / M_PI);
    t->slope = slope / sum;
    t->error = last * (double)path->count / sum + 8 * DBL_EPSILON * moduli / sum;
    return sum > 0 && t->error <= VISIBLE;
}

/* Plans for epsilon, where log delta is about log_goal, and computes the values. */
static dp_status prepare(integral *g, double epsilon, double log_goal, dp_error *err)
{
    dpi_free(g->value);
    g->value = NULL;
    dp_status status = dpi_path_plan(&g->path, epsilon, log_goal, err);
    if (status != DP_OK || g->path.count == 0)
        return status;
    g->value = dpi_alloc(g->path.count, sizeof *g->value);
    if (g->value == NULL)
        return dpi_fail_nomem(err);
    fill_values(g);
    return DP_OK;
}

static dp_status unsettled(dp_error *err)
{
    return dpi_fail(err, DP_EACCURACY,
                    "the inversion integral does not settle: what is asked for drowns in rounding, "
                    "or too few sampled steps; take the certified interval");
}

/* log(e^a + e^b) and log(e^a - e^b). */
static double log_sum(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

static double log_difference(double a, double b)
{
    return a > b ? a + log1p(-exp(b - a)) : -INFINITY;
}

/* ---- log delta ---- */

/* Goes to epsilon; *answer: log delta of finite losses.  A goal that was too high (or low) costs
 * accuracy (or time), so it is corrected until it is right. */
static dp_status settle(integral *g, double epsilon, double log_goal, double *answer, dp_error *err)
{
    for (int i = 0; i < PLANS; i++) {
        total t;
        dp_status status = prepare(g, epsilon, log_goal, err);
        *answer = -INFINITY;
        if (status != DP_OK || g->path.count == 0)
            return status;
        bool seen = sum_up(g, epsilon, &t);
        *answer = t.log_value;
        if (seen && fabs(t.log_value - log_goal) <= FAR && t.error <= DELTA_ERROR)
            return DP_OK;
        if (seen && fabs(t.log_value - log_goal) <= FAR)
            break; /* no other plan will do better */
        log_goal = seen ? fmin(t.log_value, 0) : log_goal - 10;
    }
    return unsettled(err);
}

static bool single(const dpi_pair_times *terms, size_t n)
{
    return n == 1 && terms[0].times == 1 && !(terms[0].pair->normal_mu > 0);
}

static dp_status check_finite(double x, dp_error *err)
{
    if (fabs(x) < INFINITY)
        return DP_OK;
    return dpi_fail(err, DP_EDOMAIN, "epsilon is %g; give a finite number", x);
}

dp_status dpi_contour_log_delta(const dpi_pair_times *terms, size_t n, double epsilon,
                                double *log_delta, dp_error *err)
{
    *log_delta = NAN;
    dp_status status = check_finite(epsilon, err);
    if (status != DP_OK)
        return status;
    if (single(terms, n)) {
        *log_delta = dpi_once(terms[0].pair, epsilon).log_delta;
        return DP_OK;
    }
    integral g = {0};
    double found = NAN;
    status = dpi_path_new(terms, n, &g.path, err);
    if (status == DP_OK)
        status = dpi_path_estimate(&g.path, DPI_GOAL_EPSILON, epsilon, err);
    if (status == DP_OK)
        status = settle(&g, epsilon, g.path.log_goal, &found, err);
    if (status == DP_OK)
        *log_delta = fmin(log_sum(found, g.path.log_infinite), 0);
    integral_free(&g);
    return status;
}

/* ---- epsilon ---- */

/* Newton's method over the values at hand, from the path's epsilon; halves its way back from points
 * too far to the right to be seen.  *error is relative.  False when nothing is found. */
static bool newton(const integral *g, double log_delta, double *epsilon, double *error)
{
    double c = g->path.at.c, x = g->path.epsilon, back = 1 / c;
    bool seen_any = false;
    double seen = x;
    for (int i = 0; i < NEWTON; i++) {
        total t;
        if (!sum_up(g, x, &t) || !(t.slope > 0)) {
            x = seen_any ? (x + seen) / 2 : x - back;
            back *= 2;
            continue;
        }
        seen_any = true;
        seen = x;
        double step = (t.log_value - log_delta) / t.slope;
        x += fmin(fmax(step, -4 / c), 4 / c);
        *epsilon = x;
        if (fabs(step) <= 1e-12 * fabs(x) + 1e-15 / c || fabs(step) * t.slope < 0.1 * t.error) {
            *error = t.error / (t.slope * fmax(fabs(x), 1e-6 / c));
            return true;
        }
    }
    return false;
}

/* Finite losses alone; may be negative, which means 0. */
static dp_status solve(integral *g, double log_delta, double *epsilon, dp_error *err)
{
    dp_status status = dpi_path_estimate(&g->path, DPI_GOAL_LOG_DELTA, log_delta, err);
    if (status == DP_OK && g->path.epsilon < 0) {
        double at_zero = 0;
        status = settle(g, 0, log_delta, &at_zero, err);
        *epsilon = 0;
        if (status != DP_OK || at_zero <= log_delta)
            return status;
    }
    double x = fmax(g->path.epsilon, 0), error;
    for (int i = 0; i < PLANS && status == DP_OK; i++) {
        status = prepare(g, x, log_delta, err);
        if (status != DP_OK || g->path.count == 0 || !newton(g, log_delta, &x, &error))
            break;
        *epsilon = x;
        if (fabs(x - g->path.epsilon) * g->path.at.c <= NEAR)
            return error <= EPSILON_ERROR ? DP_OK : unsettled(err);
    }
    return status == DP_OK ? unsettled(err) : status;
}

dp_status dpi_contour_epsilon(const dpi_pair_times *terms, size_t n, double log_delta,
                              double *epsilon, dp_error *err)
{
    *epsilon = INFINITY;
    if (single(terms, n)) {
        *epsilon = dpi_once_epsilon(terms[0].pair, log_delta);
        return DP_OK;
    }
    integral g = {0};
    double found = INFINITY;
    dp_status status = dpi_path_new(terms, n, &g.path, err);
    if (status == DP_OK && g.path.log_infinite < log_delta)
        status = solve(&g, log_difference(log_delta, g.path.log_infinite), &found, err);
    if (status == DP_OK)
        *epsilon = fmax(found, 0);
    integral_free(&g);
    return status;
}
