/* Regularised incomplete gamma functions, P(a, x) and Q(a, x), and their derivatives in a.
 *
 * With f = x^a e^-x / Gamma(a + 1), P is f times a power series whose terms are all positive, and Q
 * is f a times Legendre's continued fraction (Abramowitz and Stegun 6.5.29 and 6.5.31).  Both are
 * carried out in Taylor polynomials of a, as by Moore (1982, Algorithm AS 187: Derivatives of the
 * incomplete gamma integral, Applied Statistics 31, 330).  Each is used on its own side of x = a +
 * 1, where it converges fast and the probability is no difference; the other one is 1 less it.  Of
 * a large shape, which takes sqrt a terms, each is f times an integral: t e^-t t^a / Gamma(a) of
 * log t is log-concave, and falls off from x as e^h with h = (a - x) v - x (e^v - 1 - v), v = log t
 * / x. */
#include <gsl/gsl_math.h>
#include <stdbool.h>

#include "num/decay.h"
#include "num/jet.h"
#include "num/special.h"
#include "num/tail.h"

static const double large = 1000, largest_shape = 1e150;
enum { MOST_TERMS = 10000 };

/* log f of a large shape; its derivative is log(x / a) + log a - psi(a + 1), of which the second
 * part is the first terms of its series. */
static dpi_jet log_front_large(double a, double x)
{
    const bool far = fabs(x - a) > 0.2 * a;
    double off = (x - a) / a, ratio = far ? log(x) - log(a) : log1p(off);
    double deficit = far ? off - ratio : dpi_log1p_deficit(off), s = 1 / a;
    double value = -a * deficit - 0.5 * log(2 * M_PI * a) - dpi_stirling_rest(a);
    double rest = s * (0.5 - s * (1 / 12.0 - s * s / 120));
    return (dpi_jet){{value, ratio - rest, -0.5 * dpi_polygamma(1, a + 1)}};
}

/* log f as above, whose large terms cancel around x = a. */
static dpi_jet log_front(double a, double x)
{
    if (a > large)
        return log_front_large(a, x);
    double value = a < 20 ? a * log(x) - x - dpi_lgamma(a + 1)
                          : -a * dpi_log1p_deficit((x - a) / a) - 0.5 * log(2 * M_PI * a) -
                                dpi_stirling_rest(a);
    return (dpi_jet){{value, log(x) - dpi_polygamma(0, a + 1), -0.5 * dpi_polygamma(1, a + 1)}};
}

/* 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ... */
static dpi_jet series(double a, double x)
{
    dpi_jet sum = dpi_jet_linear(1, 0), term = sum;
    for (int k = 1; k < MOST_TERMS; k++) {
        term = dpi_jet_div(dpi_jet_scale(x, term), dpi_jet_linear(a + k, 1));
        sum = dpi_jet_add(sum, term);
        bool small = term.v[0] < 1e-17 * sum.v[0] && -term.v[1] <= -1e-17 * sum.v[1] &&
                     term.v[2] <= 1e-17 * sum.v[2];
        if (small && x < a + k)
            return sum;
    }
    return dpi_jet_linear(NAN, NAN);
}

/* 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), by Lentz's method. */
static dpi_jet fraction(double a, double x)
{
    const dpi_jet one = dpi_jet_linear(1, 0);
    dpi_jet b = dpi_jet_linear(x + 1 - a, -1), c = b, d = dpi_jet_div(one, b), value = d;
    for (int i = 1; i < MOST_TERMS; i++) {
        dpi_jet n = dpi_jet_linear(i * (a - i), i);
        b.v[0] += 2;
        d = dpi_jet_div(one, dpi_jet_add(b, dpi_jet_mul(n, d)));
        c = i == 1 ? b : dpi_jet_add(b, dpi_jet_div(n, c));
        dpi_jet change = dpi_jet_mul(c, d);
        value = dpi_jet_mul(value, change);
        if (fabs(change.v[0] - 1) < 4e-16 && fabs(change.v[1]) < 1e-16 && fabs(change.v[2]) < 1e-16)
            return value;
    }
    return dpi_jet_linear(NAN, NAN);
}

typedef struct gamma_place {
    double a, x, direction;
} gamma_place;

static dpi_height height(double u, const void *of)
{
    const gamma_place *p = of;
    double v = p->direction * u;
    return (dpi_height){(p->a - p->x) * v - p->x * dpi_expm1_excess(v), v, 0};
}

/* log of what f is to be multiplied by. */
static dpi_jet by_integral(bool upper, double a, double x)
{
    const gamma_place p = {a, x, upper ? 1 : -1};
    dpi_decay d = dpi_decay_integral(dpi_decay_scale(upper ? x - a : a - x, x), height, &p);
    dpi_jet whole = dpi_jet_log(dpi_jet_linear(a, 1), log(a));
    return dpi_jet_add(whole, (dpi_jet){{log(d.mass), d.mean, 0.5 * d.variance}});
}

/* log of what f is to be multiplied by for the tail on the side of x that `above` says. */
static dpi_jet log_rest(bool above, double a, double x)
{
    if (a > large)
        return by_integral(above, a, x);
    dpi_jet sum = above ? dpi_jet_mul(dpi_jet_linear(a, 1), fraction(a, x)) : series(a, x);
    return dpi_jet_log(sum, log(sum.v[0]));
}

/* log of the tail, and of the density f a / x over it; far out both f are left out. */
typedef struct gamma_tail {
    dpi_jet tail, log_slope;
} gamma_tail;

static gamma_tail tail_at(bool upper, double a, double x)
{
    bool above = x > a + 1 || (a < 0.1 && x > 0.5);
    dpi_jet front = log_front(a, x), rest = log_rest(above, a, x);
    dpi_jet tail = dpi_jet_add(front, rest);
    dpi_jet over = dpi_jet_log(dpi_jet_linear(a, 1), log(a) - log(x));
    if (upper == above)
        return (gamma_tail){tail, dpi_jet_add(over, dpi_jet_scale(-1, rest))};
    tail = dpi_jet_log1mexp(tail);
    dpi_jet density = dpi_jet_add(front, over);
    return (gamma_tail){tail, dpi_jet_add(density, dpi_jet_scale(-1, tail))};
}

double dpi_log_gamma_tail(dpi_tail_of of, double a, double x)
{
    bool upper = of.side == DPI_UPPER;
    if (of.first + of.second >= DPI_JET || of.side == DPI_WITHIN)
        return NAN;
    if (!(a > 0 && a < largest_shape) || !(x >= 0))
        return NAN;
    if (x == 0 || isinf(x)) {
        double here = upper == (x == 0) ? 0 : -INFINITY;
        return of.first + of.second == 0 ? here : NAN;
    }
    gamma_tail here = tail_at(upper, a, x);
    if (of.second == 0)
        return dpi_jet_derivative(here.tail, of.first);
    dpi_jet slope = dpi_jet_exp(here.log_slope);
    slope = dpi_jet_scale(upper ? -1 : 1, slope);
    if (of.second == 1)
        return dpi_jet_derivative(slope, of.first);
    return slope.v[0] * ((a - 1) / x - 1 - slope.v[0]);
}
