/* Gumbel(loc, scale) on the real line: the law of the largest of many values.
 *
 * With z = (x - loc) / scale the density is e^(-z - e^-z) / scale, the mean loc + 0.5772 scale
 * (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2, 2nd ed., chapter 22). */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id standardised(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
}

/* z where e^-z is a number.  Below, all is less likely than e^-(e^700) and has no slope; what is
 * infinite would be no number in a product with 0, which is how a form leaves a term out. */
static dpi_id bounded(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_apply(g, &dpi_op_max, standardised(g, x, arg), dpi_constant(g, -700), NULL);
}

/* -(z + decay) - log scale, decay being e^-z or its mean. */
static dpi_id density(dpi_graph *g, dpi_id z, dpi_id decay, const dpi_id arg[])
{
    dpi_id sum = dpi_add(g, z, decay);
    return dpi_unary(g, &dpi_op_neg, dpi_add(g, sum, dpi_unary(g, &dpi_op_log, arg[1])));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = bounded(g, x, arg);
    return density(g, z, dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_neg, z)), arg);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id back = dpi_unary(g, &dpi_op_neg, bounded(g, x, arg));
    return dpi_unary(g, &dpi_op_neg, dpi_unary(g, &dpi_op_exp, back));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id back = dpi_unary(g, &dpi_op_neg, bounded(g, x, arg));
    return dpi_unary(g, &dpi_op_cloglog, back);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_real(*arg[0] + *arg[1] * gsl_ran_gumbel1(rng, 1, 1));
}

/* z is normal, too, and e^-z a moment of its exponential. */
static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id z = standardised(g, loc, arg), spread = dpi_div(g, scale, arg[1]);
    return density(g, z, dpi_log_normal_moment(g, -1, z, spread), arg);
}

/* loc + gamma scale, gamma being Euler's constant. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_add(g, arg[0], dpi_scale(g, M_EULER, arg[1]));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = (y[j] - *arg[0]) / *arg[1], rise = -expm1(-z);
        s[2 * j] = rise / *arg[1];
        s[2 * j + 1] = (z * rise - 1) / *arg[1];
    }
}

/* e^-z is exponential. */
static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_log_gamma(1, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_real(*arg[0] - *arg[1] * y[j]);
    return n;
}

const dpi_family dpi_gumbel = {
    .name = "gumbel",
    .formula = "-z - e^-z - log scale, z = (x - loc) / scale",
    .n_args = 2,
    .arg_name = {"loc", "scale"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .expected = expected,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SCALE},
};
