/* Dirichlet on the simplex: K numbers above 0 that sum to 1.
 *
 * The concentration is a number for all K, or a vector [K].  A number's constant is
 * log Gamma(K a) - K log Gamma(a), which is folded when a is constant. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id a = arg[0], one_less = dpi_sub(g, a, dpi_constant(g, 1));
    dpi_id terms = dpi_times(g, one_less, dpi_unary(g, &dpi_op_log, x));
    dpi_id kernel = dpi_unary(g, &dpi_op_sum_last, terms), each = dpi_unary(g, &dpi_op_lgamma, a);
    if (kernel == DPI_NONE || each == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, x)->shape;
    double k = (double)shape.dim[shape.n_dims - 1];
    bool is_number = dpi_get(g, a)->shape.n_dims == 0;
    dpi_id sum = is_number ? dpi_scale(g, k, a) : dpi_unary(g, &dpi_op_sum_last, a);
    dpi_id rest = is_number ? dpi_scale(g, k, each) : dpi_unary(g, &dpi_op_sum_last, each);
    return dpi_add(g, kernel, dpi_sub(g, dpi_unary(g, &dpi_op_lgamma, sum), rest));
}

/* Below this, log(u) / a overflows.  Concentrations as small as this put all mass on one number. */
static const double least = 1e-300;

/* Gamma numbers over their sum, kept in logarithms, where those of small shapes do not vanish
 * together: Gamma(a) is Gamma(a + 1) u^(1/a) with u uniform (Stuart 1962, J. Roy. Statist. Soc. B
 * 24, 401). */
static void draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                 double *out)
{
    double top = -INFINITY, total = 0;
    for (size_t k = 0; k < n; k++) {
        double a = fmax(arg[0][arg_size[0] == 1 ? 0 : k], least);
        out[k] = log(gsl_ran_gamma(rng, a + 1, 1)) + log(gsl_rng_uniform_pos(rng)) / a;
        top = fmax(top, out[k]);
    }
    for (size_t k = 0; k < n; k++)
        total += exp(out[k] - top);
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_into_unit(exp(out[k] - top) / total);
}

/* Of a vector of concentrations; a number for all does not tell how many there are. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    if (arg[0] == DPI_NONE || dpi_get(g, arg[0])->shape.n_dims == 0)
        return DPI_NONE;
    dpi_id sum = dpi_unary(g, &dpi_op_sum_last, arg[0]);
    return dpi_div(g, arg[0], dpi_spread_over(g, sum, arg[0]));
}

const dpi_family dpi_dirichlet = {
    .name = "dirichlet",
    .formula = "sum_k ((concentration_k - 1) log x_k - log Gamma(concentration_k)) "
               "+ log Gamma(sum_k concentration_k)",
    .n_args = 1,
    .arg_name = {"concentration"},
    .arg_domain = {DPI_POSITIVE},
    .support = DPI_SIMPLEX,
    .log_density = log_density,
    .draw_joint = draw,
    .mean = mean,
};
