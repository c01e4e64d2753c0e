/* Gaussian processes by sines.
 *
 * With t = -1 ... 1 over the range, held there beyond it, and the boundary b,
 *
 *   phi_j(t) = sin(omega_j (t + b)) / sqrt(b),   omega_j = pi j / (2 b),   j = 1 ... m,
 *
 * and the coefficient of phi_j has the variance S(omega_j), the kernel's spectral density: with the
 * length l in the units of t and q = (l omega)^2,
 *
 *   squared exponential   sd^2 sqrt(2 pi) l e^(-q / 2)
 *   Matern 3/2            sd^2 12 sqrt(3) l / (3 + q)^2
 *   Matern 5/2            sd^2 (400 sqrt(5) / 3) l / (5 + q)^3 */
#include <gsl/gsl_math.h>
#include <stdio.h>

#include <tacit/smooth.h>

#include "model/declare.h"

enum { FUNCTIONS = 30, FUNCTIONS_MOST = 200, NAME = 256 };
static const double boundary = 2, median = 0.15, spread = 0.4;

static dp_gp_opts with_defaults(const dp_gp_opts *opts)
{
    dp_gp_opts o = *opts;
    o.functions = o.functions == 0 ? FUNCTIONS : o.functions;
    o.boundary = o.boundary == 0 ? boundary : o.boundary;
    o.sd_scale = o.sd_scale == 0 ? 1 : o.sd_scale;
    o.length = o.length == 0 ? median : o.length;
    return o;
}

/* NULL, or what is wrong with options after their defaults. */
static const char *wrong_options(const dp_gp_opts *o)
{
    if (!(isfinite(o->low) && isfinite(o->high) && o->low < o->high && isfinite(o->high - o->low)))
        return "give a public range, low < high";
    if (o->functions < 2 || o->functions > FUNCTIONS_MOST)
        return "a process is made of 2 to 200 functions";
    if (!(o->boundary >= 1.1 && o->boundary <= 10))
        return "the boundary is 1.1 to 10 halves of the range";
    if (!(o->sd_scale > 0 && o->length > 0 && isfinite(o->sd_scale + o->length)))
        return "scales of priors are above 0; 0 means the default";
    return o->kernel > DP_GP_MATERN_52 ? "the kernel is one of dp_gp_kernel" : NULL;
}

/* False, with an error, for options that are none and operands that are not one number. */
static bool is_sound(dp_model *m, const char *call, const dp_gp_opts *o, dp_expr a, dp_expr b)
{
    const dp_expr operands[] = {a, b};
    const char *why = wrong_options(o);
    for (int k = 0; k < 2 && why == NULL && m->err.status == DP_OK; k++)
        if (operands[k].model != NULL &&
            dpi_get(&m->graph, dpi_expr_id(m, operands[k]))->shape.n_dims > 0) {
            (void)dpi_fail(&m->err, DP_ESHAPE, "%s: each operand must be one number", call);
            return false;
        }
    if (why != NULL && m->err.status == DP_OK)
        (void)dpi_fail(&m->err, DP_EDOMAIN, "%s: %s", call, why);
    return m->err.status == DP_OK;
}

static void frequencies(const dp_gp_opts *o, double omega[FUNCTIONS_MOST])
{
    for (size_t j = 0; j < o->functions; j++)
        omega[j] = M_PI * (double)(j + 1) / (2 * o->boundary);
}

dp_expr dp_hilbert_basis(dp_expr x, const dp_gp_opts *opts)
{
    dp_model *m = dpi_expr_model(x, x, __func__);
    const dp_gp_opts o = with_defaults(opts);
    double omega[FUNCTIONS_MOST];
    if (!is_sound(m, __func__, &o, x, x))
        return dpi_expression(m, DPI_NONE);
    frequencies(&o, omega);
    dp_expr u = dp_scale(2 / (o.high - o.low), dp_sub(x, dp_num(o.low)));
    dp_expr held = dp_sub(dp_relu(u), dp_relu(dp_sub(u, dp_num(2)))); /* 0 ... 2 */
    dp_expr at = dp_add(held, dp_num(o.boundary - 1));
    dp_expr angles = dp_mul(at, dp_constant(m, o.functions, omega));
    return dp_scale(1 / sqrt(o.boundary), dp_sin(angles));
}

dp_expr dp_hilbert_scales(dp_expr sd, dp_expr length, const dp_gp_opts *opts)
{
    dp_model *m = dpi_expr_model(sd, length, __func__);
    const dp_gp_opts o = with_defaults(opts);
    double omega[FUNCTIONS_MOST];
    if (!is_sound(m, __func__, &o, sd, length))
        return dpi_expression(m, DPI_NONE);
    frequencies(&o, omega);
    dp_expr l = dp_scale(2, length); /* in halves of the range */
    dp_expr q = dp_square(dp_mul(l, dp_constant(m, o.functions, omega)));
    double factor = sqrt(sqrt(2 * M_PI));
    dp_expr shape;
    if (o.kernel == DP_GP_SQUARED_EXPONENTIAL)
        shape = dp_exp(dp_scale(-0.25, q));
    else if (o.kernel == DP_GP_MATERN_32) {
        factor = sqrt(12 * sqrt(3));
        shape = dp_div(dp_num(1), dp_add(q, dp_num(3)));
    } else {
        dp_expr base = dp_add(q, dp_num(5));
        factor = sqrt(400 * sqrt(5) / 3);
        shape = dp_div(dp_num(1), dp_mul(base, dp_sqrt(base)));
    }
    return dp_mul(dp_scale(factor, dp_mul(sd, dp_sqrt(l))), shape);
}

/* "<name>_<part>" */
static const char *part_of(char text[NAME], const char *name, const char *part)
{
    (void)snprintf(text, NAME, "%s_%s", name, part);
    return text;
}

dp_expr dp_hilbert_gp_at(dp_expr x, const char *name, const dp_gp_opts *opts, const char *file,
                         int line)
{
    dp_model *m = dpi_expr_model(x, x, __func__);
    const dp_gp_opts o = with_defaults(opts);
    char text[NAME];
    if (!dpi_enter(m, name, file, line) || !dpi_name_is_good(m, name) ||
        !is_sound(m, "dp_hilbert_gp", &o, x, x))
        return dpi_expression(m, DPI_NONE);
    dp_expr sd =
        dp_sample_at(m, part_of(text, name, "sd"), 1, dp_half_normal(o.sd_scale), file, line);
    dp_expr length = dp_sample_at(m, part_of(text, name, "length"), 1,
                                  dp_log_normal(log(o.length), spread), file, line);
    dp_expr scales = dp_hilbert_scales(sd, length, &o);
    dp_expr weight =
        dp_sample_at(m, part_of(text, name, "weight"), o.functions, dp_normal(0, 1), file, line);
    return dp_dot(dp_hilbert_basis(x, &o), dp_mul(scales, weight));
}
