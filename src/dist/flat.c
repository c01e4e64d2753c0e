/* Flat: density 1 on the real line, or on the numbers above 0 (there in x, so that the Jacobian of
 * its logarithm counts).  No distribution: it has no total, so nothing can be drawn from it, and
 * where records leave a number open its posterior is none either.  The constant is 0.
 *
 * What is drawn here are starts for Markov chains: standard normal numbers, and e to them. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "dist/family.h"

/* One number for each element of x, although it depends on none. */
static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    (void)arg;
    if (x == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, x)->shape;
    dpi_id zero = dpi_constant(g, 0);
    if (shape.n_dims > 0)
        zero = dpi_expand(g, zero, shape);
    return zero;
}

static double start(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg;
    (void)arg_size;
    return gsl_ran_gaussian(rng, 1);
}

static double start_above_zero(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    return exp(start(rng, arg, arg_size));
}

#define NO_MEAN "it is flat without end and has no mean"

const dpi_family dpi_flat = {
    .name = "flat",
    .formula = "0",
    .support = DPI_REAL,
    .improper = true,
    .log_density = log_density,
    .draw = start,
    .no_mean = NO_MEAN,
};

const dpi_family dpi_flat_positive = {
    .name = "flat_positive",
    .formula = "0",
    .support = DPI_ABOVE_ZERO,
    .improper = true,
    .log_density = log_density,
    .draw = start_above_zero,
    .no_mean = NO_MEAN,
};
