/* Student's t on the real line, with df degrees of freedom, shifted by loc and scaled by scale.
 *
 * The normalising constant holds lgamma((df + 1) / 2) - lgamma(df / 2) - log(df) / 2, in which all
 * digits cancel when df is large (at df = 1e12 each term is about 1e13).  Instead, with a = df / 2
 * shifted up n times by Gamma(y + 1) = y Gamma(y), and w = a + n - 1/4,
 *
 *   log Gamma(a + 1/2) - log Gamma(a)
 *     = log(w) / 2 + sum_k c_k / w^(2k) - sum_{j < n} log(1 + 1 / (2 (a + j))).
 *
 * The series is that of log Gamma(w + 3/4) - log Gamma(w + 1/4), in which the odd powers vanish by
 * symmetry (Tricomi and Erdelyi 1951, Pacific J. Math. 1, 133; Fields 1966, Proc. Edinburgh Math.
 * Soc. 15, 43): c_k = -E_2k / (k 4^(2k+1)) with the Euler numbers E_2k.  With n = 10 and six terms
 * the first term left out, c_7 / w^14, is below 4e-16 for every df > 0.  log(w) - log(2 a) is taken
 * as log(1 + (n - 1/4) / a) - log 2, so that derivatives in df keep their digits too.
 *
 * A constant df costs nothing when running: constants are folded.  The square of z overflows for
 * |z| > 1e154; the log density is then -INFINITY. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/special.h"

enum { SHIFTS = 10, TERMS = 6 };

/* c_1 ... c_6, from E_2 ... E_12 = -1, 5, -61, 1385, -50521, 2702765. */
static const double series[TERMS] = {
    1.0 / 64,          -5.0 / 2048,        61.0 / 49152,
    -1385.0 / 1048576, 50521.0 / 20971520, -2702765.0 / 402653184,
};

/* sum_k c_k v^k with v = w^-2, by Horner's rule. */
static dpi_id series_at(dpi_graph *g, dpi_id w)
{
    dpi_id v = dpi_div(g, dpi_constant(g, 1), dpi_unary(g, &dpi_op_square, w));
    dpi_id sum = dpi_constant(g, series[TERMS - 1]);
    for (int k = TERMS - 2; k >= 0; k--)
        sum = dpi_add(g, dpi_times(g, sum, v), dpi_constant(g, series[k]));
    return dpi_times(g, sum, v);
}

dpi_id dpi_log_gamma_ratio(dpi_graph *g, dpi_id df)
{
    dpi_id a = dpi_scale(g, 0.5, df);
    dpi_id w = dpi_add(g, a, dpi_constant(g, SHIFTS - 0.25));
    dpi_id grown = dpi_unary(g, &dpi_op_log1p, dpi_div(g, dpi_constant(g, SHIFTS - 0.25), a));
    dpi_id product = dpi_constant(g, 1);
    for (int j = 0; j < SHIFTS; j++) {
        dpi_id factor = dpi_div(g, dpi_constant(g, 0.5), dpi_add(g, a, dpi_constant(g, j)));
        product = dpi_times(g, product, dpi_add(g, factor, dpi_constant(g, 1)));
    }
    dpi_id top = dpi_add(g, dpi_scale(g, 0.5, grown), series_at(g, w));
    dpi_id rest = dpi_add(g, dpi_unary(g, &dpi_op_log, product), dpi_constant(g, 0.5 * M_LN2));
    return dpi_sub(g, top, rest);
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id df = arg[0], scale = arg[2];
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[1]), scale);
    dpi_id share = dpi_div(g, dpi_unary(g, &dpi_op_square, z), df);
    dpi_id power = dpi_scale(g, 0.5, dpi_add(g, df, dpi_constant(g, 1)));
    dpi_id kernel = dpi_times(g, power, dpi_unary(g, &dpi_op_log1p, share));
    dpi_id norm = dpi_sub(g, dpi_log_gamma_ratio(g, df), dpi_unary(g, &dpi_op_log, scale));
    return dpi_sub(g, dpi_sub(g, norm, dpi_constant(g, 0.5 * log(M_PI))), kernel);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[1]), arg[2]);
    return dpi_tail_node(g, &dpi_op_log_student_tail, DPI_LOWER, arg[0], z);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[1]), arg[2]);
    return dpi_tail_node(g, &dpi_op_log_student_tail, DPI_UPPER, arg[0], z);
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
