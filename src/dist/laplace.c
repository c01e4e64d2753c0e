/* Laplace(loc, scale) on the real line; the derivative at x = loc is taken as 0. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id distance = dpi_unary(g, &dpi_op_abs, dpi_sub(g, x, arg[0]));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, arg[1]), dpi_constant(g, M_LN2));
    return dpi_unary(g, &dpi_op_neg, dpi_add(g, dpi_div(g, distance, arg[1]), norm));
}

/* log P(Z <= z): z - log 2 below 0, log(1 - e^-z / 2) above.  At 0, where the two meet, the slope
 * is that of both: max gives it to its second number, relu to neither. */
static dpi_id log_below(dpi_graph *g, dpi_id z)
{
    dpi_id back = dpi_unary(g, &dpi_op_neg, z);
    dpi_id down = dpi_apply(g, &dpi_op_max, dpi_constant(g, 0), back, NULL);
    dpi_id up = dpi_unary(g, &dpi_op_neg, dpi_unary(g, &dpi_op_relu, z));
    dpi_id half = dpi_scale(g, -0.5, dpi_unary(g, &dpi_op_exp, up));
    return dpi_sub(g, dpi_unary(g, &dpi_op_log1p, half), down);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_below(g, dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_below(g, dpi_div(g, dpi_sub(g, arg[0], x), arg[1]));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_real(*arg[0] + gsl_ran_laplace(rng, *arg[1]));
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[0];
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = (y[j] - *arg[0]) / *arg[1];
        s[2 * j] = (z > 0 ? 1 : z < 0 ? -1 : z) / *arg[1];
        s[2 * j + 1] = (fabs(z) - 1) / *arg[1];
    }
}

/* Half of the nodes on each side. */
static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t half = dpi_outcomes_exponential(DPI_SMOOTH_OUTCOMES / 2, y, mass);
    for (size_t j = 0; j < half; j++) {
        double away = *arg[1] * y[j];
        y[j] = dpi_into_real(*arg[0] + away);
        y[half + j] = dpi_into_real(*arg[0] - away);
        mass[j] = mass[half + j] = 0.5 * mass[j];
    }
    return 2 * half;
}

const dpi_family dpi_laplace = {
    .name = "laplace",
    .formula = "-|x - loc| / scale - log(2 scale)",
    .n_args = 2,
    .arg_name = {"loc", "scale"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SCALE},
    .odd_in = 1,
};
