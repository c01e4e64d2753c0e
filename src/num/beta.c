/* The regularised incomplete beta function I_x(a, b) by the log odds t of x, and its derivatives.
 *
 * In the log odds s the beta density is x^a y^b / B(a, b), y = 1 - x, which is log-concave; I is
 * its integral up to t.  With f for the density at t, I is f times a continued fraction
 * (beta-fraction.h), which takes about sqrt(min(a, b)) steps; of two large shapes it is f times an
 * integral of what the density falls off by (decay.h).  Both are taken on the side of the mode
 * where they are good, the other side is 1 less it.
 *
 * Derivatives in the shapes are along one direction of (a, b), in Taylor polynomials (Boik and
 * Robison-Cox 1998, J. Stat. Software 3(1)) or as moments of the density's own derivatives; the
 * mixed one is made of two directions. */
#include <gsl/gsl_math.h>
#include <stdbool.h>

#include "num/beta-fraction.h"
#include "num/decay.h"
#include "num/rising.h"
#include "num/special.h"
#include "num/tail.h"

/* From here on both shapes are large. */
static const double large = 3000, largest_shape = 1e150;

/* Where the function is asked for, and the direction of its derivatives. */
typedef struct beta_place {
    double a, b, t, x, y, log_x, log_y;
    double of_a, of_b; /* the direction */
    size_t order;
} beta_place;

static beta_place place_at(double a, double b, double t)
{
    return (beta_place){.a = a,
                        .b = b,
                        .t = t,
                        .x = dpi_logistic(t),
                        .y = dpi_logistic(-t),
                        .log_x = -dpi_softplus(-t),
                        .log_y = -dpi_softplus(t)};
}

/* What lies above t is what lies below -t with the shapes exchanged. */
static beta_place mirrored(const beta_place *p)
{
    beta_place q = place_at(p->b, p->a, -p->t);
    q.of_a = p->of_b;
    q.of_b = p->of_a;
    q.order = p->order;
    return q;
}

/* share / n - 1 - log(...), where what is far away has its logarithm taken whole. */
static double deficit(double off, double log_ratio)
{
    return fabs(off) > 0.2 ? off - log_ratio : dpi_log1p_deficit(off);
}

/* log f; of two shapes that are not small by their deviances, as terms that do not cancel. */
static double log_front_value(const beta_place *p)
{
    double a = p->a, b = p->b, n = a + b, less = fmin(a, b), more = fmax(a, b);
    if (less < 20)
        return a * p->log_x + b * p->log_y + (dpi_rising(0, more, less) - dpi_lgamma(less));
    double off = p->x * b - p->y * a;
    double fall =
        a * deficit(off / a, p->log_x - log(a / n)) + b * deficit(-off / b, p->log_y - log(b / n));
    double rest = dpi_stirling_rest(n) - dpi_stirling_rest(a) - dpi_stirling_rest(b);
    return -fall + 0.5 * log(a / (2 * M_PI) * (b / n)) + rest;
}

/* The derivative of log f along the direction. */
static double score(const beta_place *p)
{
    double sum = p->of_a == 0 ? 0 : p->of_a * (p->log_x + dpi_rising(1, p->a, p->b));
    return p->of_b == 0 ? sum : sum + p->of_b * (p->log_y + dpi_rising(1, p->b, p->a));
}

static dpi_jet log_front(const beta_place *p)
{
    dpi_jet front = {{log_front_value(p)}};
    if (p->order > 0)
        front.v[1] = score(p);
    if (p->order > 1) {
        double u = p->of_a, v = p->of_b, both = u * v * dpi_polygamma(1, p->a + p->b);
        double bend = (u == 0 ? 0 : u * u * dpi_rising(2, p->a, p->b)) +
                      (v == 0 ? 0 : v * v * dpi_rising(2, p->b, p->a));
        front.v[2] = 0.5 * bend + both;
    }
    return front;
}

/* The density at t - u over that at t, and how much its score is off from there. */
static dpi_height height(double u, const void *of)
{
    const beta_place *p = of;
    double log_x = -log1p(p->y * expm1(u)), log_y = -log1p(p->x * expm1(-u));
    return (dpi_height){p->a * log_x + p->b * log_y, p->of_a * log_x + p->of_b * log_y, 0};
}

static dpi_jet by_integral(const beta_place *p)
{
    double fall = p->a * p->y - p->b * p->x, bend = (p->a + p->b) * p->x * p->y;
    dpi_decay d = dpi_decay_integral(dpi_decay_scale(fall, bend), height, p);
    return (dpi_jet){{log(d.mass), d.mean, 0.5 * d.variance}};
}

/* log I below the mode, or a little above. */
static dpi_jet log_below(const beta_place *p)
{
    dpi_jet front = log_front(p);
    if (fmin(p->a, p->b) > large)
        return dpi_jet_add(front, by_integral(p));
    dpi_jet a = dpi_jet_linear(p->a, p->of_a), b = dpi_jet_linear(p->b, p->of_b);
    dpi_jet sum = dpi_beta_fraction(p->order, a, b, (dpi_jet){{p->x}}, (dpi_jet){{p->y}});
    return dpi_jet_add(front, dpi_jet_log(sum, log(sum.v[0])));
}

static dpi_jet log_share(const beta_place *p)
{
    const beta_place other = mirrored(p);
    bool below = p->x * (p->b + 1) < p->y * (p->a + 1);
    return below ? log_below(p) : dpi_jet_log1mexp(log_below(&other));
}

/* The derivatives along (a, b) and (a, -b), in which both shapes count alike, differ by four times
 * the mixed one. */
static double mixed(beta_place p)
{
    double second[2];
    p.order = 2;
    p.of_a = p.a;
    for (int k = 0; k < 2; k++) {
        p.of_b = k == 0 ? p.b : -p.b;
        second[k] = dpi_jet_derivative(log_share(&p), 2);
    }
    return (second[0] - second[1]) / 4 / p.a / p.b;
}

double dpi_log_beta_tail(dpi_beta_of of, double a, double b, double t)
{
    if (of.a + of.b + of.t >= DPI_JET || !(a > 0 && a < largest_shape) ||
        !(b > 0 && b < largest_shape) || isnan(t))
        return NAN;
    if (isinf(t))
        return of.a + of.b + of.t > 0 ? NAN : t > 0 ? 0 : -INFINITY;
    beta_place p = place_at(a, b, t);
    if (of.a == 1 && of.b == 1)
        return mixed(p);
    p.order = of.a + of.b;
    p.of_a = of.a > 0;
    p.of_b = of.b > 0;
    dpi_jet share = log_share(&p);
    if (of.t == 0)
        return dpi_jet_derivative(share, p.order);
    dpi_jet slope = dpi_jet_exp(dpi_jet_add(log_front(&p), dpi_jet_scale(-1, share)));
    if (of.t == 1)
        return dpi_jet_derivative(slope, p.order);
    return slope.v[0] * (a * p.y - b * p.x - slope.v[0]);
}
