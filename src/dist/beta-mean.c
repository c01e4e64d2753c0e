/* Beta on (0, 1) by its mean m and its precision k: Beta(m k, (1 - m) k), and made of it.  The
 * variance is m (1 - m) / (1 + k) (Ferrari and Cribari-Neto 2004, J. Appl. Stat. 31, 799). */
#include <float.h>

#include "dist/family.h"

dpi_id dpi_shape_of(dpi_graph *g, dpi_id share, dpi_id precision)
{
    dpi_id least = dpi_constant(g, DBL_MIN);
    return dpi_apply(g, &dpi_op_max, dpi_times(g, share, precision), least, NULL);
}

static void shape_nodes(dpi_graph *g, const dpi_id arg[], dpi_id shape[2])
{
    dpi_id rest = dpi_sub(g, dpi_constant(g, 1), arg[0]);
    shape[0] = dpi_shape_of(g, arg[0], arg[1]);
    shape[1] = dpi_shape_of(g, rest, arg[1]);
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id shapes[2];
    shape_nodes(g, arg, shapes);
    return dpi_beta.log_density(g, x, shapes);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id shapes[2];
    shape_nodes(g, arg, shapes);
    return dpi_beta.log_cdf(g, x, shapes);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id shapes[2];
    shape_nodes(g, arg, shapes);
    return dpi_beta.log_survival(g, x, shapes);
}

/* The shapes; small means and precisions may have a product that is none. */
static void shapes_of(const double *const arg[], double shape[2])
{
    shape[0] = dpi_into_positive(*arg[0] * *arg[1]);
    shape[1] = dpi_into_positive((1 - *arg[0]) * *arg[1]);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double shape[2];
    shapes_of(arg, shape);
    return dpi_beta.draw(rng, (const double *const[]){&shape[0], &shape[1]}, arg_size);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[0];
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    double shape[2], of[2], m = *arg[0];
    shapes_of(arg, shape);
    for (size_t j = 0; j < n; j++) {
        dpi_beta.score(1, &y[j], (const double *const[]){&shape[0], &shape[1]}, arg_size, of);
        s[2 * j] = *arg[1] * (of[0] - of[1]);
        s[2 * j + 1] = m * of[0] + (1 - m) * of[1];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    double shape[2];
    shapes_of(arg, shape);
    return dpi_beta.outcomes((const double *const[]){&shape[0], &shape[1]}, arg_size, y, mass);
}

const dpi_family dpi_beta_mean = {
    .name = "beta_mean",
    .formula = "(a - 1) log x + (b - 1) log(1 - x) - log B(a, b), a = mean precision, "
               "b = (1 - mean) precision",
    .n_args = 2,
    .arg_name = {"mean", "precision"},
    .arg_domain = {DPI_FRACTION, DPI_POSITIVE},
    .support = DPI_UNIT,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
