/* The public calls: check, bound, and the worst value on every error. */
#include <tacit/accountant.h>

#include <math.h>
#include <string.h>

#include "accountant/answers/bound.h"
#include "accountant/answers/check.h"
#include "accountant/answers/composition.h"
#include "base/error.h"

static const double DEFAULT_WIDTH = 1e-3;

static dp_status check_query(dpi_question query, dp_error *err)
{
    return query.ask == DPI_ASK_EPSILON ? dpi_check_delta(query.given, err)
                                        : dpi_check_epsilon(query.given, true, err);
}

static dp_status check(const dp_mechanism *list, size_t n, dpi_question query, dp_error *err)
{
    dp_status status = dpi_check_list(list, n, err);
    return status == DP_OK ? check_query(query, err) : status;
}

static dp_status interval(const dp_mechanism *list, size_t n, dpi_question query, double width,
                          dp_interval *answer, dp_error *err)
{
    *answer = (dp_interval){
        .upper = query.ask == DPI_ASK_EPSILON ? INFINITY : 1, .estimate = NAN, .method = "none"};
    dp_status status = check(list, n, query, err);
    if (status != DP_OK)
        return status;
    if (!(width >= 0 && width < 1))
        return dpi_fail(
            err, DP_EDOMAIN,
            "width is %g; give the relative width of the interval, above 0 and below 1, "
            "or 0 for %g",
            width, DEFAULT_WIDTH);
    return dpi_bound_interval(list, n, query, width > 0 ? width : DEFAULT_WIDTH, answer, err);
}

dp_status dp_account_epsilon(const dp_mechanism *list, size_t n, double delta, double width,
                             dp_interval *epsilon, dp_error *err)
{
    return interval(list, n, (dpi_question){DPI_ASK_EPSILON, delta}, width, epsilon, err);
}

dp_status dp_account_delta(const dp_mechanism *list, size_t n, double epsilon, double width,
                           dp_interval *delta, dp_error *err)
{
    return interval(list, n, (dpi_question){DPI_ASK_DELTA, epsilon}, width, delta, err);
}

dp_status dp_contour_epsilon(const dp_mechanism *list, size_t n, double delta, double *epsilon,
                             dp_error *err)
{
    dpi_question query = {DPI_ASK_EPSILON, delta};
    *epsilon = NAN;
    dp_status status = check(list, n, query, err);
    return status == DP_OK ? dpi_bound_contour(list, n, query, epsilon, err) : status;
}

dp_status dp_contour_delta(const dp_mechanism *list, size_t n, double epsilon, double *delta,
                           dp_error *err)
{
    dpi_question query = {DPI_ASK_DELTA, epsilon};
    *delta = NAN;
    dp_status status = check(list, n, query, err);
    return status == DP_OK ? dpi_bound_contour(list, n, query, delta, err) : status;
}

dp_status dp_epsilon(const dp_mechanism *m, double delta, double *epsilon, dp_error *err)
{
    dpi_question query = {DPI_ASK_EPSILON, delta};
    *epsilon = INFINITY;
    dp_status status = check(m, 1, query, err);
    return status == DP_OK ? dpi_bound_upper(m, 1, query, epsilon, err) : status;
}

dp_status dp_delta(const dp_mechanism *m, double epsilon, double *delta, dp_error *err)
{
    dpi_question query = {DPI_ASK_DELTA, epsilon};
    *delta = 1;
    dp_status status = check(m, 1, query, err);
    return status == DP_OK ? dpi_bound_upper(m, 1, query, delta, err) : status;
}
