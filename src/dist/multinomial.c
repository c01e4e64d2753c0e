/* Counts of K categories in n trials, a row of K numbers that sum to n with one density between
 * them: multinomial, and with chances that vary as Dirichlet.
 *
 *   multinomial            log n! - sum_k log x_k! + sum_k x_k (logit_k - log sum_j e^logit_j)
 *   Dirichlet-multinomial  log n! - sum_k log x_k! + sum_k rising(c_k, x_k) - rising(sum_k c_k, n)
 *
 * rising(c, x) being log Gamma(c + x) - log Gamma(c), which keeps its digits for large c
 * (num/rising.h; Mosimann 1962, Biometrika 49, 65).  That a row sums to n is checked where data are
 * bound. */
#include <math.h>

#include "dist/family.h"

/* log x! */
static dpi_id log_factorial(dpi_graph *g, dpi_id x)
{
    return dpi_unary(g, &dpi_op_lgamma, dpi_add(g, x, dpi_constant(g, 1)));
}

/* log n! - sum_k log x_k!, and what is added to it. */
static dpi_id with_ways(dpi_graph *g, dpi_id x, dpi_id n, dpi_id rest)
{
    dpi_id each = dpi_unary(g, &dpi_op_sum_last, log_factorial(g, x));
    return dpi_add(g, dpi_sub(g, log_factorial(g, n), each), rest);
}

/* Logits less the logarithm of the sum of their exponentials. */
static dpi_id log_chances(dpi_graph *g, dpi_id logits)
{
    dpi_id top = dpi_unary(g, &dpi_op_log_sum_exp, logits);
    return dpi_sub(g, logits, dpi_spread_over(g, top, logits));
}

static dpi_id multinomial_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id terms = dpi_times(g, x, log_chances(g, arg[1]));
    return with_ways(g, x, arg[0], dpi_unary(g, &dpi_op_sum_last, terms));
}

static double log_sum(const double *logits, size_t n)
{
    double top = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, logits[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(logits[i] - top);
    return top + log(sum);
}

/* Category by category, each a binomial number of what is left, against all that come after.  `out`
 * may be `logits`. */
static void draw_counts(gsl_rng *rng, double trials, const double *logits, size_t k, double *out)
{
    for (size_t i = 0; i + 1 < k; i++) {
        double odds = logits[i] - log_sum(logits + i + 1, k - i - 1);
        const double *const arg[] = {&trials, &odds};
        out[i] = dpi_binomial_logit.draw(rng, arg, 1);
        trials -= out[i];
    }
    out[k - 1] = trials;
}

static void multinomial_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],
                             size_t n, double *out)
{
    (void)arg_size;
    draw_counts(rng, *arg[0], arg[1], n, out);
}

static dpi_id multinomial_mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_times(g, arg[0], dpi_unary(g, &dpi_op_exp, log_chances(g, arg[1])));
}

const dpi_family dpi_multinomial_logit = {
    .name = "multinomial_logit",
    .formula = "log trials! - sum_k log x_k! + sum_k x_k (logits_k - log sum_j e^logits_j)",
    .n_args = 2,
    .arg_name = {"trials", "logits"},
    .arg_domain = {DPI_NOT_NEGATIVE, DPI_ANY},
    .arg_kind = {DPI_ONE, DPI_EACH},
    .takes = "trials, one number, and logits [K]",
    .support = DPI_COUNT_TO,
    .log_density = multinomial_log_density,
    .draw_joint = multinomial_draw,
    .mean = multinomial_mean,
};

static dpi_id varying_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id n = arg[0], c = arg[1], whole = dpi_unary(g, &dpi_op_sum_last, c);
    dpi_id each = dpi_unary(g, &dpi_op_sum_last, dpi_rising_node(g, 0, c, x));
    return with_ways(g, x, n, dpi_sub(g, each, dpi_rising_node(g, 0, whole, n)));
}

/* Logarithms of Gamma numbers are the logits. */
static void varying_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                         double *out)
{
    (void)arg_size;
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_draw_log_gamma(rng, arg[1][k]);
    draw_counts(rng, *arg[0], out, n, out);
}

static dpi_id varying_mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id whole = dpi_unary(g, &dpi_op_sum_last, arg[1]);
    return dpi_times(g, arg[0], dpi_div(g, arg[1], dpi_spread_over(g, whole, arg[1])));
}

const dpi_family dpi_dirichlet_multinomial = {
    .name = "dirichlet_multinomial",
    .formula = "log trials! - sum_k log x_k! + sum_k rising(concentration_k, x_k) "
               "- rising(sum_k concentration_k, trials)",
    .n_args = 2,
    .arg_name = {"trials", "concentration"},
    .arg_domain = {DPI_NOT_NEGATIVE, DPI_POSITIVE},
    .arg_kind = {DPI_ONE, DPI_EACH},
    .takes = "trials, one number, and a concentration [K]",
    .support = DPI_COUNT_TO,
    .log_density = varying_log_density,
    .draw_joint = varying_draw,
    .mean = varying_mean,
};
