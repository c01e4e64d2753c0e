/* Ordered categories 0 ... K - 1: a hidden number, logistic or normal about 0, between cutpoints
 * (McCullagh 1980, J. Roy. Statist. Soc. B 42, 109).
 *
 * The one argument is the vector of the K - 1 cutpoints, less the predictor: with F the hidden
 * number's distribution function, P(y) = F(cut[y]) - F(cut[y - 1]), F being 0 before the first and
 * 1 behind the last.  A difference of two numbers near 1 or near 0 would lose its digits; instead
 *
 *   logistic  log P = -log(1 + e^-high) - log(1 + e^low) + log(1 - e^(low - high))
 *   probit    log P = log Phi(b) + log(1 - Phi(a) / Phi(b)),
 *
 * where (a, b) is (low, high) or its mirror image (-high, -low), whichever lies lower: log Phi has
 * its digits there.
 *
 * Far from the cutpoints low and high round to one number, which has no mass.  high - low is hence
 * taken of the cutpoints themselves, before the predictor is taken off them.  Of w = high - low and
 * b = -t, t > 10^4, log Phi(b) - log Phi(b - w) is t w + w^2 / 2 + log(1 + w / t), by the first two
 * terms of Mills' ratio, but for a share of 2 / t^4.
 *
 * Draws and scores, which are made of numbers, are given the shifted cutpoints alone.  Those that
 * rounding has made one lie apart by less than a step of double there, and are taken to lie a step
 * apart.  The fall is also the integral of phi / Phi from b - w to b, in which nothing cancels
 * however small w is.
 *
 * y is one number (of each record) and picks one of K log chances, so it must lie in the support
 * before the graph runs, which the binding of index columns checks.  Cutpoints that decrease leave
 * no distribution: the density is NaN, and so are draws. */
#include <gsl/gsl_math.h>
#include <math.h>

#include "dist/family.h"
#include "num/special.h"
#include "num/tail.h"

typedef struct link {
    dpi_id (*below)(dpi_graph *g, dpi_id high);
    dpi_id (*above)(dpi_graph *g, dpi_id low);
    dpi_id (*between)(dpi_graph *g, dpi_id low, dpi_id high, dpi_id width);
    /* log P and F'(high) / P of low < high, which may be infinite. */
    double (*log_chance)(double low, double high);
    double (*slope)(double low, double high);
} link;

/* ---- logistic ---- */

static dpi_id logistic_above(dpi_graph *g, dpi_id low)
{
    return dpi_unary(g, &dpi_op_neg, dpi_unary(g, &dpi_op_softplus, low));
}

static dpi_id logistic_below(dpi_graph *g, dpi_id high)
{
    return logistic_above(g, dpi_unary(g, &dpi_op_neg, high));
}

static dpi_id logistic_between(dpi_graph *g, dpi_id low, dpi_id high, dpi_id width)
{
    dpi_id outside = dpi_add(g, logistic_below(g, high), logistic_above(g, low));
    dpi_id less = dpi_unary(g, &dpi_op_neg, width);
    return dpi_add(g, outside, dpi_unary(g, &dpi_op_log1mexp, less));
}

static double logistic_log_chance(double low, double high)
{
    return dpi_log1mexp(low - high) - dpi_softplus(-high) - dpi_softplus(low);
}

static double logistic_slope(double low, double high)
{
    return exp(dpi_softplus(low) - dpi_softplus(high) - dpi_log1mexp(low - high));
}

static const link logistic = {logistic_below, logistic_above, logistic_between, logistic_log_chance,
                              logistic_slope};

/* ---- probit ---- */

static dpi_id probit_below(dpi_graph *g, dpi_id high)
{
    return dpi_log_normal_cdf_node(g, 0, high);
}

static dpi_id probit_above(dpi_graph *g, dpi_id low)
{
    return probit_below(g, dpi_unary(g, &dpi_op_neg, low));
}

/* t w + w^2 / 2 + log(1 + w / t) */
static dpi_id far_fall(dpi_graph *g, dpi_id t, dpi_id w)
{
    dpi_id middle = dpi_add(g, t, dpi_scale(g, 0.5, w));
    return dpi_add(g, dpi_times(g, middle, w), dpi_unary(g, &dpi_op_log1p, dpi_div(g, w, t)));
}

/* -b is the larger of low and -high, and -a that of high and -low.  Where low is -high both take
 * the right one, so that they are bounds of one interval still. */
static dpi_id probit_between(dpi_graph *g, dpi_id low, dpi_id high, dpi_id width)
{
    dpi_id minus_low = dpi_unary(g, &dpi_op_neg, low), minus_high = dpi_unary(g, &dpi_op_neg, high);
    dpi_id near = dpi_apply(g, &dpi_op_max, low, minus_high, NULL);
    dpi_id b = probit_above(g, near);
    dpi_id a = probit_above(g, dpi_apply(g, &dpi_op_max, high, minus_low, NULL));
    dpi_id far = dpi_apply(g, &dpi_op_step, near, dpi_constant(g, 1e4), NULL);
    dpi_id fall = dpi_choose(g, far, far_fall(g, near, width), dpi_sub(g, b, a));
    dpi_id less = dpi_unary(g, &dpi_op_neg, fall);
    return dpi_add(g, b, dpi_unary(g, &dpi_op_log1mexp, less));
}

/* log Phi(b) - log Phi(b - w): the difference, and where w is small the integral, by three points
 * of Gauss and Legendre.  w / t = 0.03 leaves either 12 digits. */
static double probit_fall(double b, double w)
{
    const double aside = 0.5 * sqrt(0.6) * w, middle = b - 0.5 * w;
    const double whole = dpi_log_normal_cdf(0, b);
    if (!(w < 0.03 * fmax(1, -b)))
        return isinf(whole) ? INFINITY : whole - dpi_log_normal_cdf(0, b - w);
    double ends = dpi_log_normal_cdf(1, middle - aside) + dpi_log_normal_cdf(1, middle + aside);
    return w * (5 * ends + 8 * dpi_log_normal_cdf(1, middle)) / 18;
}

static double probit_log_chance(double low, double high)
{
    double b = fmin(high, -low), whole = dpi_log_normal_cdf(0, b);
    return isinf(whole) ? whole : whole + dpi_log1mexp(-probit_fall(b, high - low));
}

static double probit_slope(double low, double high)
{
    double fall = probit_fall(fmin(high, -low), high - low);
    return high <= -low ? dpi_log_normal_cdf(1, high) / -expm1(-fall)
                        : dpi_log_normal_cdf(1, -high) / expm1(fall);
}

static const link probit = {probit_below, probit_above, probit_between, probit_log_chance,
                            probit_slope};

/* ---- for both ---- */

static dpi_id some(dpi_graph *g, dpi_id cut, size_t from, size_t count)
{
    return dpi_apply(g, &dpi_op_slice, cut, DPI_NONE, &(dpi_attr){.number = from, .rows = count});
}

/* The differences of neighbours, of what one number is taken off where the argument is such. */
static dpi_id widths(dpi_graph *g, dpi_id cut, size_t n)
{
    cut = dpi_unshifted(g, cut);
    return dpi_sub(g, some(g, cut, 1, n - 1), some(g, cut, 0, n - 1));
}

/* Log chances of `count` categories from `from` on, and 0 for the others. */
static dpi_id place(dpi_graph *g, dpi_id part, size_t from, size_t count, size_t categories)
{
    dpi_attr attr = {.number = from, .inner = count, .shape = {.n_dims = 1, .dim = {categories}}};
    return dpi_apply(g, &dpi_op_pad, part, DPI_NONE, &attr);
}

/* The log chances [K]. */
static dpi_id log_chances(const link *l, dpi_graph *g, dpi_id cut)
{
    if (cut == DPI_NONE)
        return DPI_NONE;
    size_t n = dpi_get(g, cut)->shape.dim[0];
    dpi_id first = place(g, l->below(g, some(g, cut, 0, 1)), 0, 1, n + 1);
    dpi_id last = place(g, l->above(g, some(g, cut, n - 1, 1)), n, 1, n + 1);
    dpi_id ends = dpi_add(g, first, last);
    if (n == 1)
        return ends;
    dpi_id inner = l->between(g, some(g, cut, 0, n - 1), some(g, cut, 1, n - 1), widths(g, cut, n));
    return dpi_add(g, ends, place(g, inner, 1, n - 1, n + 1));
}

typedef struct interval {
    double low, high;
} interval;

/* Of category k.  Bounds that are one number are moved apart by a step towards 0, which is finite
 * for all of them. */
static interval interval_of(const double *cut, size_t n, size_t k)
{
    interval i = {k > 0 ? cut[k - 1] : -INFINITY, k < n ? cut[k] : INFINITY};
    if (i.low == i.high && i.low > 0)
        i.low = nextafter(i.low, -INFINITY);
    else if (i.low == i.high)
        i.high = nextafter(i.high, INFINITY);
    return i;
}

static double chance(const link *l, const double *cut, size_t n, size_t k)
{
    interval i = interval_of(cut, n, k);
    return exp(l->log_chance(i.low, i.high));
}

/* Whether they are finite and do not decrease. */
static bool in_order(const double *cut, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(cut[k]) || (k > 0 && cut[k - 1] > cut[k]))
            return false;
    return true;
}

/* By inversion, with a chance at a time.  Rounding may leave something at the end, for the last
 * category that is possible. */
static double draw_of(const link *l, gsl_rng *rng, const double *cut, size_t n)
{
    double left = gsl_rng_uniform(rng);
    size_t possible = 0;
    if (!in_order(cut, n))
        return NAN;
    for (size_t k = 0; k <= n && left >= 0; k++) {
        double p = chance(l, cut, n, k);
        possible = p > 0 ? k : possible;
        left -= p;
    }
    return (double)possible;
}

static void score_of(const link *l, size_t n, const double y[], const double *cut, size_t size,
                     double s[])
{
    for (size_t j = 0; j < n; j++) {
        double *row = s + j * size;
        size_t k = (size_t)y[j];
        interval i = interval_of(cut, size, k);
        for (size_t e = 0; e < size; e++)
            row[e] = 0;
        if (k > 0)
            row[k - 1] = -l->slope(-i.high, -i.low);
        if (k < size)
            row[k] = l->slope(i.low, i.high);
    }
}

static size_t outcomes_of(const link *l, const double *cut, size_t n, double y[], double mass[])
{
    if (n + 1 > DPI_MOST_OUTCOMES || !in_order(cut, n))
        return 0;
    for (size_t k = 0; k <= n; k++) {
        y[k] = (double)k;
        mass[k] = chance(l, cut, n, k);
    }
    return n + 1;
}

/* clang-format off */
#define ORDINAL(of)                                                                                \
    static dpi_id of##_log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])                     \
    {                                                                                              \
        return dpi_apply(g, &dpi_op_pick, log_chances(&of, g, arg[0]), y, NULL);                   \
    }                                                                                              \
    static double of##_draw(gsl_rng *rng, const double *const arg[], size_t arg_size)              \
    {                                                                                              \
        return draw_of(&of, rng, arg[0], arg_size);                                                \
    }                                                                                              \
    static dpi_id of##_mean(dpi_graph *g, const dpi_id arg[])                                      \
    {                                                                                              \
        return dpi_unary(g, &dpi_op_exp, log_chances(&of, g, arg[0]));                             \
    }                                                                                              \
    static void of##_score(size_t n, const double y[], const double *const arg[], size_t arg_size, \
                           double s[])                                                             \
    {                                                                                              \
        score_of(&of, n, y, arg[0], arg_size, s);                                                  \
    }                                                                                              \
    static size_t of##_outcomes(const double *const arg[], size_t arg_size, double y[],            \
                                double mass[])                                                     \
    {                                                                                              \
        return outcomes_of(&of, arg[0], arg_size, y, mass);                                        \
    }                                                                                              \
    const dpi_family dpi_ordered_##of = {                                                          \
        .name = "ordered_" #of, .formula = "log(F(cutpoints[y]) - F(cutpoints[y - 1])), F " #of,   \
        .n_args = 1, .arg_name = {"cutpoints"}, .arg_domain = {DPI_ANY}, .support = DPI_LEVEL,     \
        .vector_arg = true, .log_density = of##_log_density, .draw = of##_draw, .mean = of##_mean, \
        .score = of##_score, .outcomes = of##_outcomes}

ORDINAL(logistic);
ORDINAL(probit);
/* clang-format on */
