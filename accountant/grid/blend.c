/* A Gaussian release without sampling is not put on the grid.
 *
 * All such releases of a list are one, with the root of the sum of their mu^2 (composition.c), and
 * its profile is known at every real e (Balle and Wang 2018): with x1 = e / mu - mu / 2 and
 * x2 = x1 + mu,
 *     d(e) = A - B,   A = Phi(-x1),   B = e^e Phi(-x2) = phi(x1) M(x2),   M = Phi(-x) / phi(x).
 * The profile of a composition is the mean of one factor's profile over the other's losses (Zhu,
 * Dong and Wang 2022), so with a_k the masses of the rest on its grid (curve.c)
 *     delta(eps) <= cut + tail + sum a_k d(eps - l_k) + d(eps - l),
 * where the last term is of the mass, at most 1, below the loss l at which the sum is given up: at
 * the end of the window, or where it no longer matters.  From below the same sum, of lower masses,
 * less what wraps around: mass m from k lengths below arrives as m e^(-k c Lam), and d <= 1; mass
 * from above as m e^(c k Lam), and by d(e) <= exp(K_G(c') - c' e) it counts at most
 *     exp(sum T K(c') + K_G(c') - c' (eps + k Lam) + c k Lam),   K_G(c) = mu^2 c (c + 1) / 2:
 * the bounds of curve.c with K_G among the terms.
 *
 * The grid then need not hold the wide loss of a full batch at the fine spacing that a rarely
 * sampled one needs.
 *
 * Rounding, relative: A and B err by at most R = 4e-12 + 16 u (1 + x1^2)(1 + mu) each: erfc as
 * assumed in doc/design/accountant.md, x1 by 2u (|e| / mu + mu), whose effect on log Phi is |x1| +
 * 1 at most, exponents up to 400.  Beyond x2 = 26, M lies between the partial sums of its
 * asymptotic series, x M = 1 - 1/x^2 + 3/x^4 - 15/x^6 + 105/x^8 - ...  Where A is below e^-150 it
 * counts whole from above, and nothing from below.  eps - l_k is within the curve's loss_slack.
 *
 * Epsilon is sought by Newton's method on log delta inside a bracket; what is answered satisfies
 * the bound at that very epsilon.  A sum that is not a number satisfies neither. */
#include "accountant/grid/blend.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { STEPS = 80 };
static const double FAR = 17;      /* x1 beyond which A < e^-150 */
static const double SERIES = 26;   /* x2 from which the series is taken */
static const double PLAIN = 5;     /* x2 up to which B is a plain product */
static const double IGNORE = 1e-9; /* part of delta that is given up at the lower end */
static const double NEAR = 1e-9;   /* relative, of epsilon */

double dpi_blend_reach(double mu, double log_delta)
{
    return mu * (mu / 2 + sqrt(-2 * log_delta));
}

/* Bound on M(x), x > PLAIN. */
static double mills(double x, dpi_side side)
{
    if (x < SERIES)
        return sqrt(M_PI / 2) * erfc(x * M_SQRT1_2) * exp(x * x / 2);
    double s = 1 / (x * x), sum = 1 - s * (1 - 3 * s * (1 - 5 * s));
    return (side == DPI_UPPER ? sum + 105 * s * s * s * s : sum) / x;
}

/* A, a bound on B from the given side, and R. */
typedef struct parts {
    double a, b, error;
} parts;

static parts parts_at(double mu, double e, dpi_side side)
{
    double x1 = e / mu - mu / 2, x2 = e / mu + mu / 2;
    parts p = {.a = erfc(x1 * M_SQRT1_2) / 2,
               .error = 4e-12 + 8 * DBL_EPSILON * (1 + x1 * x1) * (1 + mu)};
    if (x2 <= PLAIN)
        p.b = exp(e) * erfc(x2 * M_SQRT1_2) / 2;
    else
        p.b = exp(-x1 * x1 / 2) / sqrt(2 * M_PI) * mills(x2, side);
    return p;
}

/* Losses so far off that d(e) is next to 0 or 1. */
static bool is_far(double mu, double e, dpi_side side, double *profile)
{
    double x1 = e / mu - mu / 2;
    if (x1 > FAR)
        *profile = side == DPI_UPPER ? 5e-65 : 0; /* Phi(-17) is below */
    else if (x1 < -2 * FAR && e < -60)
        *profile = side == DPI_UPPER ? 1 : 1 - DBL_EPSILON; /* 1 - Phi(-34) - e^-60 at least */
    else
        return false;
    return true;
}

/* A - B, outward; p has B from the other side, since it is taken off.  What is not a number is 1
 * from above and 0 from below. */
static double profile_of(const parts *p, dpi_side side)
{
    double way = side == DPI_UPPER ? 1 : -1;
    double d = p->a * (1 + way * p->error) - p->b * (1 - way * p->error);
    if (side == DPI_UPPER)
        return d < 1 ? fmax(d, 0) : 1;
    return d > 0 ? fmin(d, 1) : 0;
}

/* What the sum gives at one epsilon. */
typedef struct value {
    double delta, noise, slope; /* slope: of -delta */
} value;

/* Adds the mass at knot k; returns d(epsilon - l_k). */
static double add_knot(const dpi_curve *c, int64_t k, double epsilon, value *v)
{
    dpi_side side = c->side;
    double mu = c->normal_mu, l = (double)k * c->grid.spacing, e = epsilon - (c->base + l), d;
    double scale = exp(c->log_scale - c->grid.tilt * l), mass = dpi_mass_at(c, k) * scale;
    if (!is_far(mu, e, side, &d)) {
        parts p = parts_at(mu, e, side == DPI_UPPER ? DPI_LOWER : DPI_UPPER);
        d = profile_of(&p, side);
        v->slope += mass * p.b;
        v->noise += mass * 2 * p.error * p.a;
    }
    v->delta += mass * d;
    v->noise += c->noise * scale * d;
    return d;
}

static value sum_at(const dpi_curve *c, double epsilon)
{
    bool upper = c->side == DPI_UPPER;
    value v = {.delta = upper ? c->cut + c->tail : -c->alias};
    for (int64_t k = c->high; k >= c->grid.low; k--) {
        double d = add_knot(c, k, epsilon, &v);
        if (d > IGNORE * v.delta && (k > c->grid.low || c->least >= (double)c->grid.low))
            continue;
        v.delta += upper ? d * (1 + 1e-6) : 0; /* what lies further down */
        break;
    }
    return v;
}

static dpi_reading reading_of(const value *v, double epsilon, bool reached)
{
    return (dpi_reading){.reached = reached,
                         .epsilon = epsilon,
                         .delta = v->delta,
                         .slope = v->delta > 0 ? v->slope / v->delta : INFINITY,
                         .noise = v->noise};
}

/* Least epsilon, about, whose sum is at most delta; `high` is one.  Below the window nothing is
 * known of lower curves (their alias), so the search ends at `low`. */
static double seek(const dpi_curve *c, double delta, double low, double high)
{
    double x = fmin(fmax(c->around, low), high);
    for (int i = 0; i < STEPS && high - low > NEAR * fabs(high) + 1e-300; i++) {
        value v = sum_at(c, x);
        if (c->side == DPI_UPPER ? v.delta <= delta : !(v.delta > delta))
            high = x;
        else
            low = x;
        double step = v.delta > 0 && v.slope > 0 ? log(v.delta / delta) * v.delta / v.slope : NAN;
        double to = x + step + (step > 0 ? 0.3 : -0.3) * NEAR * fabs(x);
        bool close = fabs(step) < 0.3 * NEAR * fabs(x);
        if (close) /* cross over, to close the bracket */
            to = high == x ? x - 0.6 * NEAR * fabs(x) : x + 0.6 * NEAR * fabs(x);
        x = to > low && to < high ? to : low + (high - low) / 2;
    }
    return c->side == DPI_UPPER ? high : low;
}

dpi_reading dpi_blend_read(const dpi_curve *c, dpi_question query)
{
    double bottom = c->base + (double)c->grid.low * c->grid.spacing;
    value v;
    if (query.ask == DPI_ASK_DELTA) {
        v = sum_at(c, query.given);
        return reading_of(&v, query.given, true);
    }
    double least = c->side == DPI_UPPER ? -c->loss_slack : bottom;
    v = sum_at(c, least);
    if (v.delta <= query.given) /* epsilon 0, or nothing proved */
        return reading_of(&v, least, c->side == DPI_UPPER);
    double top = c->base + (double)c->high * c->grid.spacing;
    double high = fmax(c->around, top) + dpi_blend_reach(c->normal_mu, log(query.given) - 20);
    v = sum_at(c, high);
    if (!(v.delta <= query.given))
        return reading_of(&v, INFINITY, false);
    double found = seek(c, query.given, least, high);
    v = sum_at(c, found);
    return reading_of(&v, found, true);
}
