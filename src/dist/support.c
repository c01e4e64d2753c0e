/* Bijectors and membership. */
#include "dist/support-rows.h"

#include <float.h>
#include <gsl/gsl_math.h>
#include <math.h>

static dpi_id real_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)g;
    (void)arg;
    return z;
}

/* e^z rounds to 0 below z = -745: the smallest normal number, added, keeps x inside.  It changes no
 * x above 1e-292 and no derivative. */
static dpi_id positive_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    return dpi_add(g, dpi_unary(g, &dpi_op_exp, z), dpi_constant(g, DBL_MIN));
}

static dpi_id positive_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)g;
    (void)arg;
    return z;
}

/* The logistic function rounds to 1 above z = 37, where log(1 - x) is infinite, and to 0 below
 * -745: the factor, one step below 1, and the smallest normal number keep x inside. */
static dpi_id unit_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    dpi_id below_one = dpi_scale(g, 1 - DBL_EPSILON / 2, dpi_unary(g, &dpi_op_logistic, z));
    (void)arg;
    return dpi_add(g, below_one, dpi_constant(g, DBL_MIN));
}

static dpi_id unit_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    dpi_id both = dpi_add(g, dpi_unary(g, &dpi_op_softplus, z),
                          dpi_unary(g, &dpi_op_softplus, dpi_unary(g, &dpi_op_neg, z)));
    return dpi_unary(g, &dpi_op_neg, both);
}

static dpi_id interval_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    dpi_id share = dpi_unary(g, &dpi_op_logistic, z);
    return dpi_add(g, arg[0], dpi_times(g, share, dpi_sub(g, arg[1], arg[0])));
}

static dpi_id interval_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    dpi_id width = dpi_unary(g, &dpi_op_log, dpi_sub(g, arg[1], arg[0]));
    return dpi_add(g, unit_log_jacobian(g, z, arg), width);
}

/* No more than pi, since the hyperbolic tangent is no more than 1. */
static dpi_id circle_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    return dpi_scale(g, M_PI, dpi_unary(g, &dpi_op_tanh, dpi_scale(g, 0.5, z)));
}

static dpi_id circle_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    return dpi_add(g, unit_log_jacobian(g, z, arg), dpi_constant(g, M_LN2 + M_LNPI));
}

/* The lower bound itself, which it is for far z, belongs to it. */
static dpi_id from_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    return dpi_add(g, arg[0], dpi_unary(g, &dpi_op_exp, z));
}

static dpi_id up_to_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    return dpi_sub(g, arg[0], dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_neg, z)));
}

static dpi_id up_to_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    return dpi_unary(g, &dpi_op_neg, z);
}

static bool real_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return isfinite(x);
}

static bool positive_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return x > 0 && isfinite(x);
}

static bool unit_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return x > 0 && x < 1;
}

static bool circle_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return fabs(x) <= M_PI;
}

static bool interval_contains(double x, double low, double high)
{
    return x >= low && x <= high;
}

static bool from_contains(double x, double low, double high)
{
    (void)high;
    return x >= low && isfinite(x);
}

static bool binary_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return x == 0 || x == 1;
}

static bool chance_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return x >= 0 && x <= 1;
}

static bool count_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return x >= 0 && x == floor(x) && isfinite(x);
}

static bool count_to_contains(double x, double low, double high)
{
    return count_contains(x, low, high) && x <= low;
}

static bool up_to_contains(double x, double low, double high)
{
    (void)high;
    return x <= low && isfinite(x);
}

static bool count_above_contains(double x, double low, double high)
{
    return count_contains(x, low, high) && x > low;
}

static bool count_between_contains(double x, double low, double high)
{
    return count_above_contains(x, low, high) && x <= high;
}

static bool not_below_zero_contains(double x, double low, double high)
{
    (void)low;
    (void)high;
    return x >= 0 && isfinite(x);
}

static bool category_contains(double x, double low, double high)
{
    return count_contains(x, low, high) && x < low;
}

/* clang-format off */
const dpi_support dpi_supports[DPI_N_SUPPORTS] = {
    [DPI_REAL] = {"real", "a finite number", false, NULL, real_constrain, NULL, real_contains},
    [DPI_ABOVE_ZERO] = {"positive", "a number above 0", false, NULL,
                        positive_constrain, positive_log_jacobian, positive_contains},
    [DPI_UNIT] = {"unit", "a number strictly between 0 and 1", false, NULL,
                  unit_constrain, unit_log_jacobian, unit_contains},
    [DPI_CIRCLE] = {"circle", "an angle from -pi to pi", false, NULL,
                    circle_constrain, circle_log_jacobian, circle_contains},
    [DPI_INTERVAL] = {"interval", "a number between the given bounds", false, NULL,
                      interval_constrain, interval_log_jacobian, interval_contains},
    [DPI_FROM] = {"from", "a number from the given minimum up", false, NULL,
                  from_constrain, positive_log_jacobian, from_contains},
    [DPI_SIMPLEX] = {"simplex", "numbers above 0 that sum to 1", false, &dpi_simplex_row,
                     dpi_simplex_constrain, dpi_simplex_log_jacobian, unit_contains},
    [DPI_ORDERED] = {"ordered", "numbers in increasing order", false, &dpi_ordered_row,
                     dpi_ordered_constrain, dpi_ordered_log_jacobian, real_contains},
    [DPI_UNIT_VECTOR] = {"unit_vector", "numbers whose squares sum to 1", false,
                         &dpi_unit_vector_row, dpi_unit_vector_constrain,
                         dpi_unit_vector_log_jacobian, real_contains},
    [DPI_CORRELATION_FACTOR] = {"correlation_factor", "a Cholesky factor of correlations", false,
                                &dpi_correlation_factor_row, dpi_correlation_factor_constrain,
                                dpi_correlation_factor_log_jacobian, real_contains},
    [DPI_COVARIANCE_FACTOR] = {"covariance_factor", "a Cholesky factor of a covariance", false,
                               &dpi_covariance_factor_row, dpi_covariance_factor_constrain,
                               dpi_covariance_factor_log_jacobian, real_contains},
    [DPI_BINARY] = {"binary", "0 or 1", true, NULL, NULL, NULL, binary_contains},
    [DPI_CHANCE] = {"chance", "a number from 0 to 1", true, NULL, NULL, NULL, chance_contains},
    [DPI_COUNT] = {"count", "a whole number from 0 up", true, NULL, NULL, NULL, count_contains},
    [DPI_COUNT_TO] = {"count_to", "a whole number from 0 to the number of trials", true, NULL,
                      NULL, NULL, count_to_contains},
    [DPI_UP_TO] = {"up_to", "a number up to the given maximum", false, NULL,
                   up_to_constrain, up_to_log_jacobian, up_to_contains},
    [DPI_COUNT_ABOVE] = {"count_above", "a whole number from 0 up and above the given bound", true,
                         NULL, NULL, NULL, count_above_contains},
    [DPI_COUNT_BETWEEN] = {"count_between", "a whole number from 0 up and between the given bounds",
                           true, NULL, NULL, NULL, count_between_contains},
    [DPI_NOT_BELOW_ZERO] = {"not_below_zero", "a number from 0 up", true, NULL, NULL, NULL,
                            not_below_zero_contains},
    [DPI_CATEGORY] = {"category", "a category number, 0 to the number of categories less one", true,
                      NULL, NULL, NULL, category_contains},
    [DPI_LEVEL] = {"level", "a level number, 0 to the number of cutpoints", true,
                   NULL, NULL, NULL, count_to_contains},
};
/* clang-format on */

int dpi_support_bounds(dpi_support_kind kind)
{
    return kind == DPI_INTERVAL ? 2 : kind == DPI_FROM || kind == DPI_UP_TO ? 1 : 0;
}

static double into(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

double dpi_into_real(double x)
{
    return into(x, -DBL_MAX, DBL_MAX);
}

double dpi_into_positive(double x)
{
    return into(x, DBL_MIN, DBL_MAX);
}

double dpi_into_unit(double x)
{
    return into(x, DBL_MIN, 1 - DBL_EPSILON / 2);
}
