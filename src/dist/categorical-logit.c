/* Categories 0 ... K - 1 with the vector of unnormalised log probabilities as the parameter.
 *
 * y is one number (of each record): picking reads the vector at y, so y must lie in the support
 * before the graph runs, which the binding of index columns checks. */
#include <math.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id chosen = dpi_apply(g, &dpi_op_pick, arg[0], y, NULL);
    return dpi_sub(g, chosen, dpi_unary(g, &dpi_op_log_sum_exp, arg[0]));
}

/* By inversion.  Rounding may leave something at the end, for the last category that is possible.
 * A logit of -infinity is a category that never comes; infinity, NaN, or nothing but -infinity
 * leaves no distribution. */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    const double *logits = arg[0];
    double top = -INFINITY, total = 0;
    for (size_t k = 0; k < arg_size; k++)
        top = logits[k] > top || isnan(logits[k]) ? logits[k] : top;
    if (!isfinite(top))
        return NAN;
    for (size_t k = 0; k < arg_size; k++)
        total += exp(logits[k] - top);
    double left = gsl_rng_uniform(rng) * total;
    size_t possible = 0;
    for (size_t k = 0; k < arg_size && left >= 0; k++) {
        double share = exp(logits[k] - top);
        possible = share > 0 ? k : possible;
        left -= share;
    }
    return (double)possible;
}

/* The probability of each category. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id top = dpi_spread_over(g, dpi_unary(g, &dpi_op_log_sum_exp, arg[0]), arg[0]);
    return dpi_unary(g, &dpi_op_exp, dpi_sub(g, arg[0], top));
}

/* e^(logit - the largest), p[arg_size], and their sum; NaN as in draw. */
static double shares(const double *logits, size_t size, double p[])
{
    double top = -INFINITY, total = 0;
    for (size_t k = 0; k < size; k++)
        top = logits[k] > top || isnan(logits[k]) ? logits[k] : top;
    for (size_t k = 0; k < size; k++)
        total += p[k] = exp(logits[k] - top);
    return isfinite(top) ? total : NAN;
}

/* 1 for the category that y is, less the chance of each. */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    for (size_t j = 0; j < n; j++) {
        double *row = s + j * arg_size, total = shares(arg[0], arg_size, row), others = 0;
        for (size_t k = 0; k < arg_size; k++)
            others += (double)k == y[j] ? 0 : row[k];
        for (size_t k = 0; k < arg_size; k++)
            row[k] = ((double)k == y[j] ? others : -row[k]) / total;
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    if (arg_size > DPI_MOST_OUTCOMES)
        return 0;
    double total = shares(arg[0], arg_size, mass);
    for (size_t k = 0; k < arg_size; k++) {
        y[k] = (double)k;
        mass[k] /= total;
    }
    return isfinite(total) ? arg_size : 0;
}

const dpi_family dpi_categorical_logit = {
    .name = "categorical_logit",
    .formula = "logits[y] - log sum_k e^logits[k]",
    .n_args = 1,
    .arg_name = {"logits"},
    .arg_domain = {DPI_ANY},
    .support = DPI_CATEGORY,
    .vector_arg = true,
    .log_density = log_density,
    .draw = draw,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
