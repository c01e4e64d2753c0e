/* Chi-squared with df degrees of freedom: Gamma(df / 2, 1 / 2), and made of it. */
#include "dist/family.h"

/* df / 2 and 1 / 2. */
static void as_gamma(dpi_graph *g, const dpi_id arg[], dpi_id of_gamma[2])
{
    of_gamma[0] = dpi_scale(g, 0.5, arg[0]);
    of_gamma[1] = dpi_constant(g, 0.5);
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id of_gamma[2];
    as_gamma(g, arg, of_gamma);
    return dpi_gamma.log_density(g, x, of_gamma);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id half = dpi_scale(g, 0.5, arg[0]);
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_LOWER, half, dpi_scale(g, 0.5, x));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id half = dpi_scale(g, 0.5, arg[0]);
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_UPPER, half, dpi_scale(g, 0.5, x));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double shape = 0.5 * *arg[0], rate = 0.5;
    return dpi_gamma.draw(rng, (const double *const[]){&shape, &rate}, arg_size);
}

static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id of_gamma[2];
    as_gamma(g, arg, of_gamma);
    return dpi_gamma.expected(g, loc, scale, of_gamma);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[0];
}

/* Half of that in the shape. */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    double shape = 0.5 * *arg[0], rate = 0.5, both[2];
    for (size_t j = 0; j < n; j++) {
        dpi_gamma.score(1, &y[j], (const double *const[]){&shape, &rate}, arg_size, both);
        s[j] = 0.5 * both[0];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    double shape = 0.5 * *arg[0], rate = 0.5;
    return dpi_gamma.outcomes((const double *const[]){&shape, &rate}, arg_size, y, mass);
}

const dpi_family dpi_chi_squared = {
    .name = "chi_squared",
    .formula = "(df / 2 - 1) log x - x / 2 - df / 2 log 2 - log Gamma(df / 2)",
    .n_args = 1,
    .arg_name = {"df"},
    .arg_domain = {DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .expected = expected,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
