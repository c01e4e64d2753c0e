/* Beta-binomial: successes in n trials whose chance is Beta with mean m and precision k (Skellam
 * 1948, J. Roy. Statist. Soc. B 10, 257).
 *
 *   log C(n, y) + log B(a + y, b + n - y) - log B(a, b),   a = m k, b = (1 - m) k
 *
 * as three rising factorials (num/rising.h), in which nothing cancels for large k, where it tends
 * to the binomial. */
#include <math.h>

#include "dist/family.h"
#include "num/rising.h"

/* log n! */
static dpi_id log_factorial(dpi_graph *g, dpi_id n)
{
    return dpi_unary(g, &dpi_op_lgamma, dpi_add(g, n, dpi_constant(g, 1)));
}

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id n = arg[0], m = arg[1], k = arg[2], fail = dpi_sub(g, n, y);
    dpi_id a = dpi_shape_of(g, m, k), b = dpi_shape_of(g, dpi_sub(g, dpi_constant(g, 1), m), k);
    dpi_id ways = dpi_add(g, log_factorial(g, y), log_factorial(g, fail));
    dpi_id both = dpi_add(g, dpi_rising_node(g, 0, a, y), dpi_rising_node(g, 0, b, fail));
    dpi_id kernel = dpi_sub(g, both, dpi_rising_node(g, 0, k, n));
    return dpi_add(g, dpi_sub(g, log_factorial(g, n), ways), kernel);
}

/* The log odds of the chance are the difference of two logarithms of Gamma numbers. */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double m = *arg[1], k = *arg[2];
    double logit = dpi_draw_log_gamma(rng, m * k);
    logit -= dpi_draw_log_gamma(rng, (1 - m) * k);
    const double *const of_logit[] = {arg[0], &logit};
    return dpi_binomial_logit.draw(rng, of_logit, arg_size);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_times(g, arg[0], arg[1]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double trials = *arg[0], m = *arg[1], k = *arg[2];
    double a = dpi_into_positive(m * k), b = dpi_into_positive((1 - m) * k);
    double whole = dpi_rising(1, k, trials);
    for (size_t j = 0; j < n; j++) {
        double up = dpi_rising(1, a, y[j]), down = dpi_rising(1, b, trials - y[j]);
        s[3 * j] = 0;
        s[3 * j + 1] = k * (up - down);
        s[3 * j + 2] = m * (up - whole) + (1 - m) * (down - whole);
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_beta_binomial(*arg[0], *arg[1], *arg[2], y, mass);
}

const dpi_family dpi_beta_binomial = {
    .name = "beta_binomial",
    .formula = "log C(trials, y) + log B(a + y, b + trials - y) - log B(a, b), "
               "a = mean precision, b = (1 - mean) precision",
    .n_args = 3,
    .arg_name = {"trials", "mean", "precision"},
    .arg_domain = {DPI_NOT_NEGATIVE, DPI_FRACTION, DPI_POSITIVE},
    .support = DPI_COUNT_TO,
    .log_density = log_density,
    .draw = draw,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
