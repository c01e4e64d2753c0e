/* Truncation: the base's law given that low < X <= high,
 *
 *   log p(x) = log f(x) - log P(low < X <= high).
 *
 * The probability is a difference of two numbers near 1 in one tail or the other.  It is taken in
 * logarithms from the tail that the lower bound is in: with d = log F(high) - log F(low) it is
 * log F(high) + log(1 - e^-d), and the same with survival functions above the median.  Both are
 * made and one is chosen; a floor keeps the other one's d, which may round to 0, off the pole.
 * Between bounds so near that d has few digits left, as under a large scale, it is the density in
 * the middle times the width; of counts it is not.
 *
 * A bound at or beyond the end of the base's support cuts nothing off: then the term is one
 * distribution or survival function's logarithm, which is exact.
 *
 * Draws are the base's own, up to 64, and after that by inversion: bisection of the logarithm of
 * the probability up to x, over all doubles in their order (64 steps) or the whole numbers below
 * 2^53. */
#include "dist/form.h"

#include <float.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Far below any difference of logarithms that is not 0. */
static const double least_difference = 0x1p-1000;

/* Differences of which rounding leaves fewer digits than a density has in its middle: both err by
 * about 1e-8, the density most where it has a kink. */
static const double narrow = 1e-7;

dpi_id dpi_log_one_less(dpi_graph *g, dpi_id d)
{
    dpi_id kept = dpi_apply(g, &dpi_op_max, d, dpi_constant(g, least_difference), NULL);
    return dpi_unary(g, &dpi_op_log1mexp, dpi_unary(g, &dpi_op_neg, kept));
}

/* log of the density in the middle times the width. */
static dpi_id log_of_middle(dpi_graph *g, const dpi_family *base, dpi_id low, dpi_id high,
                            const dpi_id arg[])
{
    dpi_id half = dpi_sub(g, dpi_scale(g, 0.5, high), dpi_scale(g, 0.5, low));
    dpi_id kept = dpi_apply(g, &dpi_op_max, half, dpi_constant(g, least_difference), NULL);
    dpi_id width = dpi_add(g, dpi_unary(g, &dpi_op_log, kept), dpi_constant(g, M_LN2));
    return dpi_add(g, width, dpi_family_log_density(base, g, dpi_add(g, low, half), arg));
}

dpi_id dpi_log_between(dpi_graph *g, const dpi_family *base, dpi_id low, dpi_id high,
                       const dpi_id arg[])
{
    dpi_id below[2] = {dpi_family_log_cdf(base, g, low, arg),
                       dpi_family_log_cdf(base, g, high, arg)};
    dpi_id above[2] = {dpi_family_log_survival(base, g, low, arg),
                       dpi_family_log_survival(base, g, high, arg)};
    dpi_id by_lower = dpi_sub(g, below[1], below[0]), by_upper = dpi_sub(g, above[0], above[1]);
    dpi_id in_lower = dpi_apply(g, &dpi_op_step, above[0], below[0], NULL);
    dpi_id between = dpi_choose(g, in_lower, dpi_add(g, below[1], dpi_log_one_less(g, by_lower)),
                                dpi_add(g, above[0], dpi_log_one_less(g, by_upper)));
    if (dpi_supports[base->support].discrete)
        return between;
    dpi_id is_wide = dpi_apply(g, &dpi_op_step, dpi_choose(g, in_lower, by_lower, by_upper),
                               dpi_constant(g, narrow), NULL);
    return dpi_choose(g, is_wide, between, log_of_middle(g, base, low, high, arg));
}

static bool cuts_below(dpi_form_code code)
{
    return code != DPI_TRUNCATED_ABOVE && code != DPI_TRUNCATED_END;
}

static bool cuts_above(dpi_form_code code)
{
    return code != DPI_TRUNCATED_BELOW && code != DPI_TRUNCATED_START;
}

/* ---- the row ---- */

static const char *refuses(const dpi_family *base)
{
    if (base->form != NULL)
        return "a truncation is of a family, not of another form; put the other form around it";
    if (!dpi_has_tails(base))
        return "the family has no distribution function here; dp_normal, for one, does";
    if (base->support == DPI_INTERVAL)
        return "give the family the narrower bounds instead";
    return NULL;
}

static void fill(const dpi_family *base, dpi_family *row)
{
    const dpi_form_code code = row->form->code;
    const bool counts = base->support == DPI_COUNT || base->support == DPI_COUNT_TO;
    row->bound_at = 0;
    row->no_mean = "a truncated distribution has none in closed form";
    if (row->form->n_args == 2)
        row->support = counts ? DPI_COUNT_BETWEEN : DPI_INTERVAL;
    else if (code == DPI_TRUNCATED_BELOW)
        row->support = counts ? DPI_COUNT_ABOVE : DPI_FROM;
    else
        row->support = counts ? DPI_COUNT_TO : DPI_UP_TO;
}

static dpi_id log_mass(const dpi_family *row, dpi_graph *g, const dpi_id arg[])
{
    const dpi_form_code code = row->form->code;
    const int own = row->form->n_args;
    if (!cuts_below(code))
        return dpi_family_log_cdf(row->base, g, arg[own - 1], arg + own);
    if (!cuts_above(code))
        return dpi_family_log_survival(row->base, g, arg[0], arg + own);
    return dpi_log_between(g, row->base, arg[0], arg[1], arg + own);
}

static dpi_id log_density(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id whole = dpi_family_log_density(row->base, g, x, arg + row->form->n_args);
    return dpi_sub(g, whole, log_mass(row, g, arg));
}

/* ---- draws ---- */

/* log F(x) and log(1 - F(x)): the nodes of the graph, folded. */
static void tails_at(const dpi_family *base, const double *const arg[], double x, double tail[2])
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_graph_init(&g, &arena, &err);
    dpi_id at = dpi_constant(&g, x), node[DPI_MAX_ARGS];
    for (int k = 0; k < base->n_args; k++)
        node[k] = dpi_constant(&g, *arg[k]);
    const dpi_id of[2] = {dpi_family_log_cdf(base, &g, at, node),
                          dpi_family_log_survival(base, &g, at, node)};
    for (int k = 0; k < 2; k++) {
        bool number = of[k] != DPI_NONE && dpi_is_number(dpi_get(&g, of[k]));
        tail[k] = number ? dpi_get(&g, of[k])->attr.value : (double)NAN;
    }
    dpi_arena_free(&arena);
}

/* log(e^a - e^b), a >= b. */
static double log_less(double a, double b)
{
    return b == -INFINITY ? a : a + log(-expm1(fmin(b - a, 0)));
}

/* log P(low < X <= x) from the tails at both; low may be where the support starts. */
static double log_up_to(const double from[2], const double to[2])
{
    return from[0] < from[1] ? log_less(to[0], from[0]) : log_less(from[1], to[1]);
}

/* Doubles in their order as whole numbers in theirs, and back. */
static int64_t place_of(double x)
{
    int64_t bits;
    (void)memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double at_place(int64_t place)
{
    int64_t bits = place < 0 ? INT64_MIN - place : place;
    double x;
    (void)memcpy(&x, &bits, sizeof x);
    return x;
}

/* The middle, rounded towards the lower one. */
static double middle(bool counts, double low, double high)
{
    if (counts)
        return low + floor((high - low) / 2);
    int64_t a = place_of(low), b = place_of(high);
    return at_place((a >> 1) + (b >> 1) + (a & b & 1));
}

static double invert(const dpi_family *base, gsl_rng *rng, const double *const arg[], double low,
                     double high)
{
    const bool counts = dpi_supports[base->support].discrete;
    const double least = base->support == DPI_REAL ? -DBL_MAX
                         : counts                  ? -1
                                                   : DBL_MIN,
                 most = counts                      ? 0x1p53
                        : base->support == DPI_UNIT ? 1 - DBL_EPSILON / 2
                                                    : DBL_MAX;
    double from[2] = {-INFINITY, 0}, to[2] = {0, -INFINITY}, here[2];
    if (low > least)
        tails_at(base, arg, low, from);
    if (high < most)
        tails_at(base, arg, high, to);
    double wanted = log(gsl_rng_uniform_pos(rng)) + log_up_to(from, to);
    if (!isfinite(wanted))
        return NAN;
    double left = fmax(low, least), right = fmin(high, most);
    for (double x = middle(counts, left, right); x > left && x < right;
         x = middle(counts, left, right)) {
        tails_at(base, arg, x, here);
        *(log_up_to(from, here) >= wanted ? &right : &left) = x;
    }
    return right;
}

double dpi_draw_between(const dpi_family *base, gsl_rng *rng, const double *const arg[], double low,
                        double high)
{
    for (int tries = 0; tries < 64; tries++) {
        double x = dpi_draw(base, rng, arg, 1);
        if (!(x <= low || x > high)) /* NaN stays NaN */
            return x;
    }
    return invert(base, rng, arg, low, high);
}

static double draw(const dpi_family *row, gsl_rng *rng, const double *const arg[])
{
    const dpi_form_code code = row->form->code;
    const int own = row->form->n_args;
    return dpi_draw_between(row->base, rng, arg + own, cuts_below(code) ? *arg[0] : -INFINITY,
                            cuts_above(code) ? *arg[own - 1] : INFINITY);
}

#define TRUNCATION(of_code, of_name, of_formula, count)                                            \
    .code = of_code, .name = of_name,                                                              \
    .formula = "log f(x) - log P(" of_formula "), f and P of the base", .n_args = count,           \
    .narrows = true, .refuses = refuses, .fill = fill, .log_density = log_density, .draw = draw

const dpi_form dpi_truncated = {TRUNCATION(DPI_TRUNCATED, "truncated", "low < X <= high", 2),
                                .arg_name = {"low", "high"}};
const dpi_form dpi_truncated_below = {
    TRUNCATION(DPI_TRUNCATED_BELOW, "truncated below", "low < X", 1), .arg_name = {"low"}};
const dpi_form dpi_truncated_above = {
    TRUNCATION(DPI_TRUNCATED_ABOVE, "truncated above", "X <= high", 1), .arg_name = {"high"}};
const dpi_form dpi_truncated_start = {
    TRUNCATION(DPI_TRUNCATED_START, "truncated to the end", "low < X", 2),
    .arg_name = {"low", "high"}};
const dpi_form dpi_truncated_end = {
    TRUNCATION(DPI_TRUNCATED_END, "truncated from the start", "X <= high", 2),
    .arg_name = {"low", "high"}};
