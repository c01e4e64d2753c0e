/* Asymmetric Laplace(loc, scale, quantile) on the real line: loc is the quantile of that level, and
 * its likelihood that of quantile regression (Yu and Moyeed 2001, Stat. Prob. Lett. 54, 437).
 *
 * With z = (x - loc) / scale the density is p (1 - p) / scale e^-r, where r = p z above loc and
 * -(1 - p) z below.  Each side has its own term, so that nothing cancels.  The derivative at
 * x = loc is taken as 0. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

/* p of the numbers are below loc. */
typedef struct sides {
    dpi_id z, p, q; /* q = 1 - p */
} sides;

static sides sides_of(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
    return (sides){z, arg[2], dpi_sub(g, dpi_constant(g, 1), arg[2])};
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    sides s = sides_of(g, x, arg);
    dpi_id up = dpi_times(g, s.p, dpi_unary(g, &dpi_op_relu, s.z));
    dpi_id down = dpi_unary(g, &dpi_op_relu, dpi_unary(g, &dpi_op_neg, s.z));
    dpi_id kernel = dpi_add(g, up, dpi_times(g, s.q, down));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, s.p),
                          dpi_unary(g, &dpi_op_log1p, dpi_unary(g, &dpi_op_neg, s.p)));
    return dpi_sub(g, dpi_sub(g, norm, dpi_unary(g, &dpi_op_log, arg[1])), kernel);
}

/* With share p below: log p - q |z| for z <= 0, log(p - q (e^-(p z) - 1)) above, a sum of two parts
 * > 0.  The other tail is that of -z with p and q changed over.  At 0 the slope is that of both
 * sides, as in laplace.c. */
static dpi_id log_below(dpi_graph *g, sides s)
{
    dpi_id back = dpi_unary(g, &dpi_op_neg, s.z);
    dpi_id down = dpi_apply(g, &dpi_op_max, dpi_constant(g, 0), back, NULL);
    dpi_id up = dpi_times(g, s.p, dpi_unary(g, &dpi_op_relu, s.z));
    dpi_id rest = dpi_unary(g, &dpi_op_expm1, dpi_unary(g, &dpi_op_neg, up));
    dpi_id share = dpi_sub(g, s.p, dpi_times(g, s.q, rest));
    return dpi_sub(g, dpi_unary(g, &dpi_op_log, share), dpi_times(g, s.q, down));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_below(g, sides_of(g, x, arg));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    sides s = sides_of(g, x, arg);
    return log_below(g, (sides){dpi_unary(g, &dpi_op_neg, s.z), s.q, s.p});
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double p = *arg[2], e = gsl_ran_exponential(rng, 1);
    double z = gsl_rng_uniform(rng) < p ? -e / (1 - p) : e / p;
    return dpi_into_real(*arg[0] + *arg[1] * z);
}

/* loc + scale (1 - 2 p) / (p (1 - p)) */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id one = dpi_constant(g, 1), p = arg[2], q = dpi_sub(g, one, p);
    dpi_id away = dpi_sub(g, dpi_div(g, one, p), dpi_div(g, one, q));
    return dpi_add(g, arg[0], dpi_times(g, arg[1], away));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double scale = *arg[1], p = *arg[2], q = 1 - p;
    for (size_t j = 0; j < n; j++) {
        double z = (y[j] - *arg[0]) / scale, slope = z > 0 ? p : z < 0 ? -q : z;
        s[3 * j] = slope / scale;
        s[3 * j + 1] = (z * slope - 1) / scale;
        s[3 * j + 2] = 1 / p - 1 / q - z;
    }
}

/* Half of the nodes on each side. */
static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    double p = *arg[2], q = 1 - p;
    size_t half = dpi_outcomes_exponential(DPI_SMOOTH_OUTCOMES / 2, y, mass);
    for (size_t j = 0; j < half; j++) {
        double e = y[j], m = mass[j];
        y[j] = dpi_into_real(*arg[0] + *arg[1] * (e / p));
        y[half + j] = dpi_into_real(*arg[0] - *arg[1] * (e / q));
        mass[j] = q * m;
        mass[half + j] = p * m;
    }
    return 2 * half;
}

const dpi_family dpi_asymmetric_laplace = {
    .name = "asymmetric_laplace",
    .formula = "log(quantile (1 - quantile) / scale) - z (quantile - (1 for z < 0, else 0)), "
               "z = (x - loc) / scale",
    .n_args = 3,
    .arg_name = {"loc", "scale", "quantile"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE, DPI_FRACTION},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SCALE, DPI_SHAPE},
};
