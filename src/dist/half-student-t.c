/* |Student's t| with df degrees of freedom and location 0, scaled by scale: the density of
 * student-t.c, doubled. */
#include <gsl/gsl_math.h>

#include "dist/family.h"

static dpi_id doubled(dpi_graph *g, dpi_id x, dpi_id df, dpi_id scale)
{
    const dpi_id of_t[] = {df, dpi_constant(g, 0), scale};
    return dpi_add(g, dpi_student_t.log_density(g, x, of_t), dpi_constant(g, M_LN2));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return doubled(g, x, arg[0], arg[1]);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_tail_node(g, &dpi_op_log_student_tail, DPI_WITHIN, arg[0], dpi_div(g, x, arg[1]));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id half =
        dpi_tail_node(g, &dpi_op_log_student_tail, DPI_UPPER, arg[0], dpi_div(g, x, arg[1]));
    return dpi_add(g, half, dpi_constant(g, M_LN2));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    const double middle = 0;
    const double *const of_t[] = {arg[0], &middle, arg[1]};
    return dpi_into_positive(fabs(dpi_student_t.draw(rng, of_t, arg_size)));
}

/* With the density p at 0 for scale 1, p scale df / (df - 1) for df > 1, else infinite. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id zero = dpi_constant(g, 0), one = dpi_constant(g, 1);
    dpi_id top = dpi_unary(g, &dpi_op_exp, doubled(g, zero, arg[0], one));
    dpi_id more = dpi_apply(g, &dpi_op_max, dpi_sub(g, arg[0], one), zero, NULL);
    return dpi_times(g, dpi_times(g, top, arg[1]), dpi_div(g, arg[0], more));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    const double middle = 0;
    const double *const of_t[] = {arg[0], &middle, arg[1]};
    double all[3];
    for (size_t j = 0; j < n; j++) {
        dpi_student_t.score(1, &y[j], of_t, arg_size, all);
        s[2 * j] = all[0];
        s[2 * j + 1] = all[2];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_half_student_t(*arg[0], y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(*arg[1] * y[j]);
    return n;
}

const dpi_family dpi_half_student_t = {
    .name = "half_student_t",
    .formula = "-(df + 1) / 2 log(1 + (x / scale)^2 / df) - log scale + log 2 "
               "+ log Gamma((df + 1) / 2) - log Gamma(df / 2) - log(df pi) / 2",
    .n_args = 2,
    .arg_name = {"df", "scale"},
    .arg_domain = {DPI_POSITIVE, DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_SHAPE, DPI_SCALE},
};
