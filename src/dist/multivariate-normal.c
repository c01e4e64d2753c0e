/* Rows of K numbers that are jointly normal, by what is known of their covariance:
 *
 *   L, of L L'                    |L^-1 e|^2 and sum log L_ii
 *   U, of the precision U U'      |U' e|^2 and -sum log U_ii
 *   W W' + diag(v), W [K][r]      by Woodbury's identity: with C = I + W' V^-1 W = M M' and
 *                                 m = C^-1 W' V^-1 e,  |V^(-1/2) (e - W m)|^2 + |m|^2 and
 *                                 sum log M_ii + sum log v_k / 2
 *
 * e being x less loc.  The two squares of the third are those of the residual and of the factors at
 * their conditional mean: the textbook's e' V^-1 e less another square loses its digits where v is
 * small. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "dist/matrix-rows.h"

/* -square / 2 - half_log_det - K log(2 pi) / 2 */
static dpi_id normal_of(dpi_graph *g, dpi_id e, dpi_id square, dpi_id half_log_det)
{
    dpi_id norm = dpi_constant(g, 0.5 * log(2 * M_PI) * dpi_row_size(g, e));
    return dpi_sub(g, dpi_scale(g, -0.5, square), dpi_add(g, half_log_det, norm));
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[0];
}

static double loc_at(const double *const arg[], const size_t arg_size[], size_t k)
{
    return arg[0][arg_size[0] == 1 ? 0 : k];
}

/* ---- by the factor of the covariance ---- */

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id e = dpi_sub(g, x, arg[0]);
    dpi_id square = dpi_rows_squared(g, dpi_rows_solved(g, arg[1], false, e));
    return normal_of(g, e, square, dpi_log_diagonal(g, arg[1]));
}

static dpi_id stretch(dpi_graph *g, dpi_id z, dpi_id mask, const dpi_id arg[], dpi_id *volume)
{
    return dpi_rows_stretched(g, z, mask, arg[0], arg[1], volume);
}

static bool is_factor(const double *l, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!(l[k * n + k] > 0))
            return false;
    return true;
}

/* loc + L z: from the last number up, so that z may stand where they go. */
static void draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                 double *out)
{
    if (!is_factor(arg[1], n))
        return;
    for (size_t k = 0; k < n; k++)
        out[k] = gsl_ran_gaussian(rng, 1);
    for (size_t k = n; k-- > 0;) {
        double sum = 0;
        for (size_t j = 0; j <= k; j++)
            sum += arg[1][k * n + j] * out[j];
        out[k] = dpi_into_real(loc_at(arg, arg_size, k) + sum);
    }
}

const dpi_family dpi_multivariate_normal = {
    .name = "multivariate_normal",
    .formula = "-|factor^-1 (x - loc)|^2 / 2 - sum_k log factor_kk - K log(2 pi) / 2",
    .n_args = 2,
    .arg_name = {"loc", "factor"},
    .arg_domain = {DPI_ANY, DPI_ANY},
    .arg_kind = {DPI_EACH, DPI_SQUARE},
    .takes = "a loc that is a number or [K] and a factor [K][K]",
    .support = DPI_REAL,
    .log_density = log_density,
    .draw_joint = draw,
    .stretch = stretch,
    .mean = mean,
};

/* ---- by the factor of the precision ---- */

static dpi_id precision_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id e = dpi_sub(g, x, arg[0]);
    dpi_id lower = dpi_apply(g, &dpi_op_lower, arg[1], DPI_NONE, &(dpi_attr){.value = 1});
    dpi_id square = dpi_rows_squared(g, dpi_rows_times(g, e, lower, false));
    return normal_of(g, e, square, dpi_unary(g, &dpi_op_neg, dpi_log_diagonal(g, arg[1])));
}

/* loc + U'^-1 z */
static void precision_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],
                           size_t n, double *out)
{
    const double *u = arg[1];
    if (!is_factor(u, n))
        return;
    for (size_t k = n; k-- > 0;) {
        double rest = gsl_ran_gaussian(rng, 1);
        for (size_t j = k + 1; j < n; j++)
            rest -= u[j * n + k] * out[j];
        out[k] = rest / u[k * n + k];
    }
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_into_real(loc_at(arg, arg_size, k) + out[k]);
}

const dpi_family dpi_multivariate_normal_precision = {
    .name = "multivariate_normal_precision",
    .formula = "-|factor' (x - loc)|^2 / 2 + sum_k log factor_kk - K log(2 pi) / 2",
    .n_args = 2,
    .arg_name = {"loc", "factor"},
    .arg_domain = {DPI_ANY, DPI_ANY},
    .arg_kind = {DPI_EACH, DPI_SQUARE},
    .takes = "a loc that is a number or [K] and a precision [K][K]",
    .support = DPI_REAL,
    .log_density = precision_log_density,
    .draw_joint = precision_draw,
    .mean = mean,
};

/* ---- of low rank beside a diagonal ---- */

/* M, the factor of I + W' V^-1 W, from V^(-1/2) W. */
static dpi_id inner_factor(dpi_graph *g, dpi_id scaled)
{
    if (scaled == DPI_NONE)
        return DPI_NONE;
    const dpi_shape ones = {.n_dims = 1, .dim = {dpi_get(g, scaled)->shape.dim[1]}};
    dpi_id one = dpi_unary(g, &dpi_op_diagonal_matrix, dpi_expand(g, dpi_constant(g, 1), ones));
    dpi_id square =
        dpi_apply(g, &dpi_op_matmul, scaled, scaled, &(dpi_attr){.transpose = {true, false}});
    return dpi_unary(g, &dpi_op_cholesky, dpi_add(g, square, one));
}

static dpi_id low_rank_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id w = arg[1], variance = arg[2];
    if (w == DPI_NONE || variance == DPI_NONE)
        return DPI_NONE;
    const dpi_shape of_w = dpi_get(g, w)->shape, row = {.n_dims = 1, .dim = {of_w.dim[0]}};
    dpi_id scale = dpi_expand(g, dpi_unary(g, &dpi_op_sqrt, variance), row);
    dpi_id scaled = dpi_div(g, w, dpi_spread_over(g, scale, w)); /* V^(-1/2) W */
    dpi_id m = inner_factor(g, scaled), e = dpi_div(g, dpi_sub(g, x, arg[0]), scale);
    dpi_id inner = dpi_rows_solved(g, m, false, dpi_rows_times(g, e, scaled, false));
    dpi_id factors = dpi_rows_solved(g, m, true, inner);
    dpi_id rest = dpi_sub(g, e, dpi_rows_times(g, factors, scaled, true));
    dpi_id square = dpi_add(g, dpi_rows_squared(g, rest), dpi_rows_squared(g, factors));
    dpi_id logs = dpi_unary(g, &dpi_op_sum_last, dpi_unary(g, &dpi_op_log, scale));
    return normal_of(g, e, square, dpi_add(g, dpi_log_diagonal(g, m), logs));
}

/* loc + W z + sqrt(v) z' */
static void low_rank_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],
                          size_t n, double *out)
{
    size_t rank = arg_size[1] / n;
    for (size_t k = 0; k < n; k++)
        out[k] = loc_at(arg, arg_size, k) +
                 gsl_ran_gaussian(rng, sqrt(arg[2][arg_size[2] == 1 ? 0 : k]));
    for (size_t j = 0; j < rank; j++) {
        double z = gsl_ran_gaussian(rng, 1);
        for (size_t k = 0; k < n; k++)
            out[k] += arg[1][k * rank + j] * z;
    }
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_into_real(out[k]);
}

const dpi_family dpi_multivariate_normal_low_rank = {
    .name = "multivariate_normal_low_rank",
    .formula = "log density of a normal row with covariance factor factor' + diag(variance)",
    .n_args = 3,
    .arg_name = {"loc", "factor", "variance"},
    .arg_domain = {DPI_ANY, DPI_ANY, DPI_POSITIVE},
    .arg_kind = {DPI_EACH, DPI_TALL, DPI_ROW},
    .takes = "a loc that is a number or [K], a factor [K][r] and a variance that is a number or "
             "[K]",
    .support = DPI_REAL,
    .log_density = low_rank_log_density,
    .draw_joint = low_rank_draw,
    .mean = mean,
};

/* ---- Student's t ---- */

/* log Gamma((df + K) / 2) - log Gamma(df / 2) - K log(df) / 2: what is left of K over 2 of them is
 * the ratio of student-density.c, and the product of df + 2 j over the others. */
static dpi_id log_gamma_ratio(dpi_graph *g, dpi_id df, size_t n)
{
    dpi_id product = dpi_constant(g, 1), one = dpi_constant(g, 1);
    for (size_t j = 1; j < n / 2; j++)
        product =
            dpi_times(g, product, dpi_add(g, one, dpi_div(g, dpi_constant(g, 2 * (double)j), df)));
    dpi_id sum =
        dpi_sub(g, dpi_unary(g, &dpi_op_log, product), dpi_constant(g, M_LN2 * (double)(n / 2)));
    if (n % 2 == 0)
        return sum;
    dpi_id more = dpi_constant(g, (double)(n - 1));
    dpi_id grown = dpi_unary(g, &dpi_op_log1p, dpi_div(g, more, df));
    return dpi_add(
        g, sum, dpi_add(g, dpi_log_gamma_ratio(g, dpi_add(g, df, more)), dpi_scale(g, 0.5, grown)));
}

static dpi_id student_t_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id df = arg[0], e = dpi_sub(g, x, arg[1]);
    if (df == DPI_NONE || e == DPI_NONE)
        return DPI_NONE;
    double n = dpi_row_size(g, e);
    dpi_id square = dpi_rows_squared(g, dpi_rows_solved(g, arg[2], false, e));
    dpi_id power = dpi_scale(g, 0.5, dpi_add(g, df, dpi_constant(g, n)));
    dpi_id kernel = dpi_times(g, power, dpi_unary(g, &dpi_op_log1p, dpi_div(g, square, df)));
    dpi_id norm = dpi_sub(g, log_gamma_ratio(g, df, (size_t)n), dpi_log_diagonal(g, arg[2]));
    return dpi_sub(g, dpi_sub(g, norm, dpi_constant(g, 0.5 * n * log(M_PI))), kernel);
}

/* A normal row over the root of one chi-square / df, as in student-t.c. */
static void student_t_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],
                           size_t n, double *out)
{
    static const double zero = 0;
    double half = 0.5 * *arg[0], share = half > 0 ? gsl_ran_gamma(rng, half, 1) / half : 0;
    draw(rng, (const double *[]){&zero, arg[2]}, (const size_t[]){1, arg_size[2]}, n, out);
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_into_real(loc_at(arg + 1, arg_size + 1, k) + out[k] / sqrt(share));
}

static dpi_id student_t_stretch(dpi_graph *g, dpi_id z, dpi_id mask, const dpi_id arg[],
                                dpi_id *volume)
{
    return dpi_rows_stretched(g, z, mask, arg[1], arg[2], volume);
}

/* loc for df > 1; NaN below, where the integral is none. */
static dpi_id student_t_mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_student_t.mean(g, arg);
}

const dpi_family dpi_multivariate_student_t = {
    .name = "multivariate_student_t",
    .formula = "-(df + K) / 2 log(1 + |factor^-1 (x - loc)|^2 / df) - sum_k log factor_kk "
               "+ log Gamma((df + K) / 2) - log Gamma(df / 2) - K log(df pi) / 2",
    .n_args = 3,
    .arg_name = {"df", "loc", "factor"},
    .arg_domain = {DPI_POSITIVE, DPI_ANY, DPI_ANY},
    .arg_kind = {DPI_ONE, DPI_EACH, DPI_SQUARE},
    .takes = "a df that is a number, a loc that is a number or [K] and a factor [K][K]",
    .support = DPI_REAL,
    .log_density = student_t_log_density,
    .draw_joint = student_t_draw,
    .stretch = student_t_stretch,
    .mean = student_t_mean,
};
