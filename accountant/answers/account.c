/* The public calls: check, bound, and the worst value on every error. */
#include <tacit/accountant.h>

#include <math.h>
#include <string.h>

#include "accountant/answers/bound.h"
#include "accountant/answers/check.h"
#include "accountant/answers/composition.h"
#include "accountant/answers/rare.h"
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

static double worst(dpi_question query)
{
    return query.ask == DPI_ASK_EPSILON ? INFINITY : 1;
}

static dp_status common(const dp_mechanism *list, size_t n, dpi_question query, double width,
                        dp_interval *answer, dp_error *err)
{
    *answer = (dp_interval){.upper = worst(query), .estimate = NAN, .method = "none"};
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

static dp_status rest_epsilon(const dpi_rare *r, double delta, double width, dp_interval *answer,
                              dp_error *err)
{
    const double down = dpi_rare_left(r, delta, DPI_UPPER), up = dpi_rare_left(r, delta, DPI_LOWER);
    dp_interval lower = {.lower = 0};
    dp_status status = dpi_check_delta(delta, err);
    if (status == DP_OK && !(down > 0))
        return dpi_fail(err, DP_EACCURACY,
                        "all is told with a probability of up to %g, which leaves nothing of delta "
                        "%g; ask for a larger one",
                        r->most, delta);
    if (status != DP_OK || r->n == 0) {
        if (status == DP_OK)
            *answer = (dp_interval){.estimate = NAN, .method = "closed form"};
        return status;
    }
    status = common(r->rest, r->n, (dpi_question){DPI_ASK_EPSILON, down}, width, answer, err);
    if (status == DP_OK && up < 1)
        status = common(r->rest, r->n, (dpi_question){DPI_ASK_EPSILON, up}, width, &lower, err);
    answer->lower = lower.lower;
    return status;
}

static dp_status rest_delta(const dpi_rare *r, double epsilon, double width, dp_interval *answer,
                            dp_error *err)
{
    dp_status status = dpi_check_epsilon(epsilon, true, err);
    *answer = (dp_interval){.method = "closed form"};
    if (status == DP_OK && r->n > 0)
        status = common(r->rest, r->n, (dpi_question){DPI_ASK_DELTA, epsilon}, width, answer, err);
    answer->lower = dpi_rare_whole(r, answer->lower, DPI_LOWER);
    answer->upper = dpi_rare_whole(r, answer->upper, DPI_UPPER);
    return status;
}

static dp_status interval(const dp_mechanism *list, size_t n, dpi_question query, double width,
                          dp_interval *answer, dp_error *err)
{
    dpi_rare r;
    if (!dpi_rare_any(list, n))
        return common(list, n, query, width, answer, err);
    dp_status status = dpi_rare_take(list, n, &r, err);
    *answer = (dp_interval){.upper = worst(query), .estimate = NAN, .method = "none"};
    if (status == DP_OK)
        status = query.ask == DPI_ASK_EPSILON ? rest_epsilon(&r, query.given, width, answer, err)
                                              : rest_delta(&r, query.given, width, answer, err);
    answer->estimate = NAN; /* of the rest */
    if (status != DP_OK)
        *answer = (dp_interval){.upper = worst(query), .estimate = NAN, .method = "none"};
    dpi_rare_free(&r);
    return status;
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

static dp_status upper(const dp_mechanism *m, dpi_question query, double *answer, dp_error *err)
{
    dp_interval found;
    *answer = worst(query);
    if (dpi_rare_any(m, 1)) {
        dp_status status = interval(m, 1, query, 0, &found, err);
        *answer = found.upper;
        return status;
    }
    dp_status status = check(m, 1, query, err);
    return status == DP_OK ? dpi_bound_upper(m, 1, query, answer, err) : status;
}

dp_status dp_epsilon(const dp_mechanism *m, double delta, double *epsilon, dp_error *err)
{
    return upper(m, (dpi_question){DPI_ASK_EPSILON, delta}, epsilon, err);
}

dp_status dp_delta(const dp_mechanism *m, double epsilon, double *delta, dp_error *err)
{
    return upper(m, (dpi_question){DPI_ASK_DELTA, epsilon}, delta, err);
}
