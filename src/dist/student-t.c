/* Student's t on the real line, with df degrees of freedom, shifted by loc and scaled by scale. 
 * Its normalising constant is that of graph/student-density.c.
 *
 * A constant df costs nothing when running: constants are folded.  The square of z overflows for
 * |z| > 1e154; the log density is then -INFINITY. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[1]), arg[2]);
    return dpi_sub(g, dpi_log_student_density(g, arg[0], z), dpi_unary(g, &dpi_op_log, arg[2]));
}

/* The probability of the tail that x lies in, or what is left of 1: one fraction for both sides. */
static dpi_id log_side(dpi_graph *g, bool upper, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[1]), arg[2]), back = dpi_unary(g, &dpi_op_neg, z);
    dpi_id below = dpi_apply(g, &dpi_op_step, back, dpi_constant(g, 0), NULL);
    dpi_id size = dpi_choose(g, below, back, z);
    dpi_id tail = dpi_tail_node(g, &dpi_op_log_student_tail, DPI_UPPER, arg[0], size);
    dpi_id rest = dpi_unary(g, &dpi_op_log1mexp, tail);
    return upper ? dpi_choose(g, below, rest, tail) : dpi_choose(g, below, tail, rest);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_side(g, false, x, arg);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_side(g, true, x, arg);
}

/* A normal number over the root of chi-square / df, half of which is Gamma(df / 2).  GSL's own
 * sampler rejects nearly everything where df is a little above 2.  A Gamma of very small shape may
 * be 0. */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double half = 0.5 * *arg[0], normal = gsl_ran_gaussian(rng, 1);
    double share = half > 0 ? gsl_ran_gamma(rng, half, 1) / half : 0;
    return dpi_into_real(*arg[1] + *arg[2] * (normal / sqrt(share)));
}

/* loc for df > 1; NaN below, where the integral is none. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id more = dpi_unary(g, &dpi_op_log, dpi_sub(g, arg[0], dpi_constant(g, 1)));
    return dpi_add(g, arg[1], dpi_scale(g, 0, more));
}

/* With r = z^2 / (df + z^2), the derivatives are (df + 1) z / (df + z^2) / scale in loc,
 * ((df + 1) r - 1) / scale in scale, and in df
 *   (psi((df + 1) / 2) - psi(df / 2) - 1 / df + log(1 - r) + (df + 1) / df r) / 2,
 * of which 16 digits less log10 df^2 are right: it is of the size 1 / df^2 for large df. */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double df = *arg[0], scale = *arg[2];
    double level = dpi_polygamma(0, 0.5 * (df + 1)) - dpi_polygamma(0, 0.5 * df) - 1 / df;
    for (size_t j = 0; j < n; j++) {
        double z = (y[j] - *arg[1]) / scale, ratio = z * z / df, r = 1 / (1 + 1 / ratio);
        s[3 * j] = 0.5 * (level - log1p(ratio) + (df + 1) / df * r);
        s[3 * j + 1] = z == 0 ? 0 : (df + 1) / (z + df / z) / scale;
        s[3 * j + 2] = ((df + 1) * r - 1) / scale;
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_student_t(*arg[0], y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_real(*arg[1] + *arg[2] * y[j]);
    return n;
}

const dpi_family dpi_student_t = {
    .name = "student_t",
    .formula = "-(df + 1) / 2 log(1 + ((x - loc) / scale)^2 / df) - log scale "
               "+ log Gamma((df + 1) / 2) - log Gamma(df / 2) - log(df pi) / 2",
    .n_args = 3,
    .arg_name = {"df", "loc", "scale"},
    .arg_domain = {DPI_POSITIVE, DPI_ANY, DPI_POSITIVE},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_SHAPE, DPI_LOCATION, DPI_SCALE},
    .odd_in = 2,
};
