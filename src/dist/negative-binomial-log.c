/* Negative binomial by the logarithm of its mean and its dispersion f: variance mean + mean^2 / f.
 *
 * A Poisson count whose mean is a Gamma number of shape f (Greenwood and Yule 1920, J. Roy.
 * Statist. Soc. 83, 255).  With t = log mean - log f the chance of y is
 *
 *   Gamma(f + y) / (Gamma(f) y!) p^y q^f,   p = 1 / (1 + e^-t), q = 1 / (1 + e^t),
 *
 * whose powers are taken as -y log(1 + e^-t) - f log(1 + e^t).  For large f they come to e^-mean
 * mean^y / f^y, and the rising factorial to f^y: digits cancel as in log y! and no more, since the
 * latter is no difference (num/rising.h). */
#include <math.h>

#include "dist/family.h"
#include "num/rising.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id f = arg[1], t = dpi_sub(g, arg[0], dpi_log_of(g, f));
    dpi_id less = dpi_unary(g, &dpi_op_softplus, dpi_unary(g, &dpi_op_neg, t));
    dpi_id kernel =
        dpi_add(g, dpi_times(g, y, less), dpi_times(g, f, dpi_unary(g, &dpi_op_softplus, t)));
    dpi_id ways = dpi_unary(g, &dpi_op_lgamma, dpi_add(g, y, dpi_constant(g, 1)));
    return dpi_sub(g, dpi_sub(g, dpi_rising_node(g, 0, f, y), ways), kernel);
}

/* That y + 1 failures come after f successes: an incomplete beta function of both. */
static dpi_id log_cdf(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1)), t = dpi_sub(g, dpi_log_of(g, arg[1]), arg[0]);
    return dpi_beta_tail_node(g, arg[1], next, t);
}

static dpi_id log_survival(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1)), t = dpi_sub(g, arg[0], dpi_log_of(g, arg[1]));
    return dpi_beta_tail_node(g, next, arg[1], t);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double f = *arg[1], log_mean = *arg[0] - log(f) + dpi_draw_log_gamma(rng, f);
    return dpi_poisson_log.draw(rng, (const double *const[]){&log_mean}, arg_size);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_exp, arg[0]);
}

/* y q - f p in the logarithm of the mean, which is (y - mean) / (1 + mean / f). */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double f = *arg[1], t = *arg[0] - log(f), level = dpi_softplus(t);
    double p = dpi_logistic(t), q = dpi_logistic(-t);
    for (size_t j = 0; j < n; j++) {
        s[2 * j] = y[j] * q - f * p;
        s[2 * j + 1] = dpi_rising(1, f, y[j]) - level - s[2 * j] / f;
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_negative_binomial(exp(*arg[0]), *arg[1], y, mass);
}

const dpi_family dpi_negative_binomial_log = {
    .name = "negative_binomial_log",
    .formula = "log Gamma(dispersion + y) - log Gamma(dispersion) - log y! - y log(1 + e^-t) "
               "- dispersion log(1 + e^t), t = log_mean - log dispersion",
    .n_args = 2,
    .arg_name = {"log_mean", "dispersion"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_COUNT,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
