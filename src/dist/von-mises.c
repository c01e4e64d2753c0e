/* Von Mises on the circle, numbers from -pi to pi: the normal law's place among angles (Mardia and
 * Jupp 2000, Directional Statistics, section 3.5).
 *
 * With d = x - loc the log density is k cos d - log(2 pi I_0(k)), in which all digits cancel for a
 * large concentration k; here it is -2 k sin(d / 2)^2 - log(2 pi) - log(I_0(k) e^-k).  loc is any
 * number and stands for its angle.  Draws are rejections from a wrapped Cauchy law (Best and Fisher
 * 1979, J. Roy. Statist. Soc. C 28, 152), in sines of half angles, so that angles near loc keep
 * their digits. */
#include <gsl/gsl_math.h>
#include <math.h>

#include "dist/family.h"
#include "num/bessel.h"

/* sin(d / 2)^2 twice, which is 1 - cos d */
static double versine(double d)
{
    double s = sin(0.5 * d);
    return 2 * s * s;
}

/* The angle of a number, from -pi to pi. */
static double angle(double x)
{
    return remainder(x, 2 * M_PI);
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id half = dpi_scale(g, 0.5, dpi_sub(g, x, arg[0]));
    dpi_id square = dpi_unary(g, &dpi_op_square, dpi_unary(g, &dpi_op_sin, half));
    dpi_id kernel = dpi_times(g, dpi_scale(g, -2, arg[1]), square);
    dpi_id norm = dpi_add(g, dpi_log_bessel_node(g, 0, arg[1]), dpi_constant(g, M_LN2 + M_LNPI));
    return dpi_sub(g, kernel, norm);
}

/* Below, the law is that of a uniform angle to all digits. */
static const double least_concentration = 1e-300;

/* With s = 1 / (2 k) the envelope's r is s + sqrt(1 + s^2). */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double k = fmax(*arg[1], least_concentration), s = 0.5 / k, rest = s * (s / (1 + hypot(1, s)));
    (void)arg_size;
    for (;;) {
        double turn = M_PI * gsl_rng_uniform(rng), below = versine(turn), above = 1 + cos(turn);
        double apart = (s + rest) * below / (s + rest + above); /* 1 - cos of the angle */
        double c = k * (s + rest + apart), u = gsl_rng_uniform_pos(rng);
        if (!(c * (2 - c) > u) && !(log(c / u) + 1 - c >= 0))
            continue;
        double d = 2 * asin(fmin(1, sqrt(0.5 * apart)));
        return angle(*arg[0] + (gsl_rng_uniform(rng) < 0.5 ? -d : d));
    }
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    double k = *arg[1], slope = dpi_log_bessel(1, k);
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double d = y[j] - *arg[0];
        s[2 * j] = 2 * k * sin(0.5 * d) * cos(0.5 * d);
        s[2 * j + 1] = -versine(d) - slope;
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_circle(*arg[1], y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = angle(*arg[0] + y[j]);
    return n;
}

const dpi_family dpi_von_mises = {
    .name = "von_mises",
    .formula = "concentration cos(x - loc) - log(2 pi I_0(concentration))",
    .n_args = 2,
    .arg_name = {"loc", "concentration"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_CIRCLE,
    .log_density = log_density,
    .draw = draw,
    .no_mean = "the mean of an angle depends on where the circle is cut; its direction is loc",
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SHAPE},
    .odd_in = 1,
};
