/* Outcomes with zeros of their own: a zero comes with chance q = 1 / (1 + e^-logit), and else
 *
 *   zero-inflated  what the base gives, which may be 0 too:
 *                  p(0) = q + (1 - q) f(0),  p(y) = (1 - q) f(y)
 *   hurdle         what the base gives above 0:
 *                  p(0) = q,  p(y) = (1 - q) f(y) / (1 - f(0))
 *   (of numbers)   p(0) = q,  p(y) = (1 - q) f(y), f a density above 0
 *
 * (Lambert 1992, Technometrics 34, 1; Mullahy 1986, J. Econometrics 33, 341.)  Everything is in
 * logarithms: log(e^a + e^b) is taken from the larger one, and log(1 - f(0)) from log f(0), which
 * counts of tiny means have to all digits. */
#include "dist/form.h"

#include <math.h>

enum { MOST_COUNT = 100000 }; /* that a draw above 0 looks at */

/* log q and log(1 - q). */
static dpi_id log_chance(dpi_graph *g, dpi_id logit)
{
    return dpi_unary(g, &dpi_op_neg,
                     dpi_unary(g, &dpi_op_softplus, dpi_unary(g, &dpi_op_neg, logit)));
}

static dpi_id log_rest(dpi_graph *g, dpi_id logit)
{
    return dpi_unary(g, &dpi_op_neg, dpi_unary(g, &dpi_op_softplus, logit));
}

/* 1 for outcomes above 0. */
static dpi_id is_above(dpi_graph *g, dpi_id x)
{
    return dpi_apply(g, &dpi_op_step, x, dpi_constant(g, 0), NULL);
}

static double chance(double logit)
{
    return logit < 0 ? exp(logit) / (1 + exp(logit)) : 1 / (1 + exp(-logit));
}

/* (1 - q) times a mean of what is no zero of its own. */
static dpi_id rest_of_mean(dpi_graph *g, dpi_id logit, dpi_id mean)
{
    return mean == DPI_NONE ? DPI_NONE
                            : dpi_times(g, dpi_unary(g, &dpi_op_exp, log_rest(g, logit)), mean);
}

static const char *refuses(const dpi_family *base)
{
    const bool counts = base->support == DPI_COUNT || base->support == DPI_COUNT_TO;
    return base->form == NULL && counts && base->draw != NULL
               ? NULL
               : "it is for families of counts, such as dp_poisson_log";
}

/* ---- zero-inflated ---- */

/* f(y) is f(0) where y is 0.  Where that is nothing beside q its logarithm may be -infinity, with
 * derivatives to match, and a number stands for it. */
static dpi_id inflated(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id own = dpi_family_log_density(row->base, g, x, arg + 1), is = is_above(g, x);
    dpi_id below = dpi_apply(g, &dpi_op_step, dpi_sub(g, arg[0], own), dpi_constant(g, 800), NULL);
    dpi_id nothing = dpi_times(g, below, dpi_sub(g, dpi_constant(g, 1), is));
    own = dpi_choose(g, nothing, dpi_constant(g, -1e30), own);
    dpi_id either = dpi_choose(g, is, own, dpi_log_sum(g, arg[0], own));
    return dpi_add(g, log_rest(g, arg[0]), either);
}

static double draw_inflated(const dpi_family *row, gsl_rng *rng, const double *const arg[])
{
    return gsl_rng_uniform(rng) < chance(*arg[0]) ? 0 : dpi_draw(row->base, rng, arg + 1, 1);
}

static dpi_id mean_inflated(const dpi_family *row, dpi_graph *g, const dpi_id arg[],
                            const char **why)
{
    return rest_of_mean(g, arg[0], dpi_base_mean(row, g, arg, why));
}

/* A zero is its own with chance r = q / (q + (1 - q) f(0)): the scores are r - q and 1 - r times
 * the base's. */
static void score_inflated(const dpi_family *row, size_t n, const double y[],
                           const double *const arg[], double s[])
{
    const size_t width = (size_t)row->n_args;
    const double q = chance(*arg[0]),
                 r = chance(*arg[0] - dpi_log_density_at(row->base, 0, arg + 1));
    for (size_t j = 0; j < n; j++) {
        double *mine = s + j * width, left = y[j] > 0 ? 1 : 1 - r;
        dpi_family_score(row->base, 1, &y[j], arg + 1, 1, mine + 1);
        mine[0] = (y[j] > 0 ? 0 : r) - q;
        for (size_t k = 1; k < width; k++)
            mine[k] = left > 0 ? left * mine[k] : 0;
    }
}

/* The masses at 0 and of what is above it become q more and 1 - q times what they were. */
static size_t add_zero(double q, size_t n, double y[], double mass[])
{
    size_t zero = 0;
    while (zero < n && y[zero] > 0)
        zero++;
    for (size_t j = 0; j < n; j++)
        mass[j] *= 1 - q;
    if (zero == n && n == DPI_MOST_OUTCOMES) { /* no room: the last two are made one */
        mass[n - 2] += mass[n - 1];
        zero = --n;
    }
    if (zero == n) {
        for (size_t j = n++; j > 0; j--) {
            y[j] = y[j - 1];
            mass[j] = mass[j - 1];
        }
        y[zero = 0] = mass[0] = 0;
    }
    mass[zero] += q;
    return n;
}

static size_t outcomes_inflated(const dpi_family *row, const double *const arg[], double y[],
                                double mass[])
{
    size_t n = dpi_outcomes(row->base, arg + 1, 1, y, mass);
    return n == 0 ? 0 : add_zero(chance(*arg[0]), n, y, mass);
}

/* ---- hurdles ---- */

/* log(1 - f(0)) */
static dpi_id log_above(const dpi_family *base, dpi_graph *g, const dpi_id arg[])
{
    dpi_id none = dpi_family_log_density(base, g, dpi_constant(g, 0), arg);
    return dpi_log_one_less(g, dpi_unary(g, &dpi_op_neg, none));
}

static dpi_id hurdle(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id own = dpi_sub(g, dpi_family_log_density(row->base, g, x, arg + 1),
                         log_above(row->base, g, arg + 1));
    dpi_id above = dpi_add(g, log_rest(g, arg[0]), own);
    return dpi_choose(g, is_above(g, x), above, log_chance(g, arg[0]));
}

/* The base's count given that it is above 0: up to 64 draws, then, where means are small, the first
 * count at which the sum of probabilities passes a uniform number.  NaN where the base is 0. */
static double draw_above(const dpi_family *base, gsl_rng *rng, const double *const arg[])
{
    for (int tries = 0; tries < 64; tries++) {
        double x = dpi_draw(base, rng, arg, 1);
        if (x != 0)
            return x;
    }
    double left = gsl_rng_uniform_pos(rng) * -expm1(dpi_log_density_at(base, 0, arg));
    double most = base->support == DPI_COUNT_TO ? fmin(*arg[0], MOST_COUNT) : MOST_COUNT;
    for (double x = 1; x <= most && left > 0; x++) {
        left -= exp(dpi_log_density_at(base, x, arg));
        if (left <= 0 || (x == most && base->support == DPI_COUNT_TO))
            return x;
    }
    return NAN;
}

static double draw_hurdle(const dpi_family *row, gsl_rng *rng, const double *const arg[])
{
    return gsl_rng_uniform(rng) < chance(*arg[0]) ? 0 : draw_above(row->base, rng, arg + 1);
}

static dpi_id mean_hurdle(const dpi_family *row, dpi_graph *g, const dpi_id arg[], const char **why)
{
    dpi_id whole = dpi_base_mean(row, g, arg, why);
    if (whole == DPI_NONE)
        return DPI_NONE;
    dpi_id above = dpi_unary(g, &dpi_op_exp, log_above(row->base, g, arg + 1));
    return rest_of_mean(g, arg[0], dpi_div(g, whole, above));
}

/* Above 0 the base's score and d log(1 / (1 - f(0))) = f(0) / (1 - f(0)) d log f(0). */
static void score_hurdle(const dpi_family *row, size_t n, const double y[],
                         const double *const arg[], double s[])
{
    const size_t width = (size_t)row->n_args;
    const double q = chance(*arg[0]), none = 0,
                 odds = 1 / expm1(-dpi_log_density_at(row->base, 0, arg + 1));
    double at_zero[DPI_MAX_ARGS];
    dpi_family_score(row->base, 1, &none, arg + 1, 1, at_zero);
    for (size_t j = 0; j < n; j++) {
        double *mine = s + j * width;
        dpi_family_score(row->base, 1, &y[j], arg + 1, 1, mine + 1);
        mine[0] = (y[j] > 0 ? 0 : 1) - q;
        for (size_t k = 1; k < width; k++)
            mine[k] = !(y[j] > 0) ? 0 : odds > 0 ? mine[k] + odds * at_zero[k - 1] : mine[k];
    }
}

static size_t outcomes_hurdle(const dpi_family *row, const double *const arg[], double y[],
                              double mass[])
{
    double above = 0;
    size_t n = dpi_outcomes(row->base, arg + 1, 1, y, mass);
    for (size_t j = 0; j < n; j++) {
        mass[j] = y[j] > 0 ? mass[j] : 0;
        above += mass[j];
    }
    if (!(above > 0))
        return 0;
    for (size_t j = 0; j < n; j++)
        mass[j] /= above;
    return add_zero(chance(*arg[0]), n, y, mass);
}

/* ---- hurdles of numbers ---- */

static const char *refuses_numbers(const dpi_family *base)
{
    return base->form == NULL && base->support == DPI_ABOVE_ZERO && base->draw != NULL
               ? NULL
               : "it is for families of counts or of numbers above 0, such as dp_gamma";
}

static void fill_numbers(const dpi_family *base, dpi_family *row)
{
    (void)base;
    row->support = DPI_NOT_BELOW_ZERO;
}

/* The base is asked at 1 where x is 0. */
static dpi_id hurdle_of_numbers(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id is = is_above(g, x);
    dpi_id inside = dpi_add(g, x, dpi_sub(g, dpi_constant(g, 1), is));
    dpi_id above =
        dpi_add(g, log_rest(g, arg[0]), dpi_family_log_density(row->base, g, inside, arg + 1));
    return dpi_choose(g, is, above, log_chance(g, arg[0]));
}

#define WITH_ZEROS(of_code, of_name)                                                               \
    .code = of_code, .name = of_name, .n_args = 1, .arg_name = {"logit"}, .arg_domain = {DPI_ANY}, \
    .observed = true

const dpi_form dpi_zero_inflated = {
    WITH_ZEROS(DPI_ZERO_INFLATED, "zero-inflated"),
    .formula = "log(q [x = 0] + (1 - q) f(x)), q = 1 / (1 + e^-logit), f of the base",
    .refuses = refuses,
    .log_density = inflated,
    .draw = draw_inflated,
    .mean = mean_inflated,
    .score = score_inflated,
    .outcomes = outcomes_inflated,
};

const dpi_form dpi_hurdle = {
    WITH_ZEROS(DPI_HURDLE, "hurdle"),
    .formula = "log q at 0, else log((1 - q) f(x) / (1 - f(0))), q = 1 / (1 + e^-logit), f of the "
               "base",
    .refuses = refuses,
    .log_density = hurdle,
    .draw = draw_hurdle,
    .mean = mean_hurdle,
    .score = score_hurdle,
    .outcomes = outcomes_hurdle,
};

const dpi_form dpi_hurdle_positive = {
    WITH_ZEROS(DPI_HURDLE_POSITIVE, "hurdle above zero"),
    .formula = "log q at 0, else log((1 - q) f(x)), q = 1 / (1 + e^-logit), f of the base",
    .refuses = refuses_numbers,
    .fill = fill_numbers,
    .log_density = hurdle_of_numbers,
    .draw = draw_inflated,
    .mean = mean_inflated,
};
