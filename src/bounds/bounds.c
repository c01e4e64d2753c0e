/* Private quantiles: options and the answers of quantile.c's search, paid by paid.c.  Values are
 * looked at when they are paid for, and copied unit after unit. */
#include <tacit/bounds.h>

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/float.h"
#include "bounds/paid.h"
#include "bounds/quantile.h"
#include "data/dataset.h"

static const uint64_t default_levels = 12, most_levels = 52;
enum { MOST_ASKED = 10000 };

typedef struct bounds_search {
    dpi_arena arena;
    const dp_dataset *data;
    const dp_quantile_opts *opts;
    dpi_paid paid;
    uint64_t levels;
    dpi_units units;
    double *x; /* [rows] values of the quantile at hand */
    dp_noise *noise;
} bounds_search;

/* ---- options ---- */

static dp_status check_asked(const dp_dataset *data, const dp_quantile *q, dp_error *err)
{
    const dpi_column *column = q->column != NULL ? dpi_dataset_find(data, q->column) : NULL;
    if (column == NULL || column->real == NULL)
        return dpi_fail(err, DP_ENAME, "there is no real column '%s'; add it with dp_dataset_real",
                        q->column != NULL ? q->column : "(NULL)");
    if (q->element != DP_NORM && q->element >= column->size)
        return dpi_fail(err, DP_ESHAPE,
                        "element %zu of column '%s' is asked for, which has %zu a record; count "
                        "from 0, or ask for DP_NORM",
                        q->element, q->column, column->size);
    if (!(q->low < q->high) || !isfinite(q->high - q->low))
        return dpi_fail(err, DP_EDOMAIN,
                        "column '%s' is to be searched from %g to %g; give a range that is "
                        "public, finite, the lower end first",
                        q->column, q->low, q->high);
    if (!(q->share > 0 && q->share < 1))
        return dpi_fail(err, DP_EDOMAIN, "share is %g for column '%s'; it must be in (0, 1)",
                        q->share, q->column);
    return DP_OK;
}

static dp_status check_number(const dp_quantile_opts *o, size_t most, dp_error *err)
{
    if (o->asked != NULL && o->n > 0 && o->n <= most)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL, "%zu are asked for in one call; ask for 1 to %zu", o->n, most);
}

static dp_status check_options(const bounds_search *s, dp_error *err)
{
    const dp_dataset *data = s->data;
    const dp_quantile_opts *o = s->opts;
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    if (o->levels > most_levels)
        return dpi_fail(err, DP_EDOMAIN, "levels is %llu; a range is halved at most %llu times",
                        (unsigned long long)o->levels, (unsigned long long)most_levels);
    dp_status status = check_number(o, MOST_ASKED, err);
    if (status == DP_OK)
        status = dpi_paid_check(&s->paid, err);
    for (size_t k = 0; k < o->n && status == DP_OK; k++)
        status = check_asked(data, &o->asked[k], err);
    return status;
}

static bool is_asked(const void *user, const dpi_column *column)
{
    const dp_quantile_opts *o = user;
    for (size_t k = 0; k < o->n; k++)
        if (strcmp(o->asked[k].column, column->name) == 0)
            return true;
    return false;
}

/* ---- the search ---- */

static double value_of(const dpi_column *column, size_t row, size_t element)
{
    const double *numbers = column->real + row * column->size;
    double sum = 0;
    if (element != DP_NORM)
        return numbers[element];
    for (size_t j = 0; j < column->size; j++)
        sum += numbers[j] * numbers[j];
    return sqrt(sum);
}

static dp_status find_one(bounds_search *s, const dp_quantile *asked, dp_quantile_answer *answer,
                          dp_error *err)
{
    const dpi_column *column = dpi_dataset_find(s->data, asked->column);
    const dpi_quantile q = {.x = s->x,
                            .units = &s->units,
                            .below = dpi_quantile_parts(asked->share),
                            .low = asked->low,
                            .high = asked->high};
    double low, high;
    for (size_t k = 0; k < s->data->n; k++)
        s->x[k] = value_of(column, s->units.row != NULL ? s->units.row[k] : k, asked->element);
    dp_status status = dpi_quantile_search(&q, s->paid.mechanism.sigma, s->levels, s->noise, &low,
                                           &high, &s->paid.begun, err);
    if (status == DP_OK)
        *answer = (dp_quantile_answer){.value = low + (high - low) / 2,
                                       .within = (high - low) / 2,
                                       .noise = dpi_quantile_noise(&q, s->paid.mechanism.sigma)};
    return status;
}

static dp_status find_all(bounds_search *s, dp_quantile_answer *answers, dp_error *err)
{
    /* Columns whole: whether the call goes on does not depend on the element. */
    dp_status status = dpi_paid_values(s->data, is_asked, s->opts, err);
    if (status == DP_OK)
        status = dpi_units_init(&s->units, &s->arena, s->data, err);
    if (status == DP_OK && (s->x = dpi_arena_alloc(&s->arena, s->data->n, sizeof *s->x)) == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_paid_noise(&s->paid, &s->noise, err);
    for (size_t k = 0; k < s->opts->n && status == DP_OK; k++)
        status = find_one(s, &s->opts->asked[k], &answers[k], err);
    if (s->x != NULL)
        sodium_memzero(s->x, s->data->n * sizeof *s->x);
    dp_noise_free(s->noise);
    return status;
}

dp_status dp_private_quantiles(const dp_dataset *data, const dp_quantile_opts *opts,
                               dp_quantile_answer *answers, dp_privacy *privacy, dp_error *err)
{
    bounds_search s = {.data = data,
                       .opts = opts,
                       .levels = opts->levels != 0 ? opts->levels : default_levels,
                       .paid = {.epsilon = opts->epsilon,
                                .delta = opts->delta,
                                .sigma = opts->sigma,
                                .seed = opts->seed,
                                .ledger = opts->ledger,
                                .ledger_data = opts->ledger_data,
                                .ledger_label = opts->ledger_label}};
    dp_status status = dpi_float_check(err);
    if (status == DP_OK)
        status = check_options(&s, err);
    if (status == DP_OK)
        status = dpi_paid_calibrate(&s.paid, s.levels * opts->n, "levels or quantiles", err);
    if (status == DP_OK)
        status = dpi_paid_reserve(&s.paid, &s.arena, data, "quantiles of ", is_asked, opts, err);
    if (status == DP_OK)
        status = find_all(&s, answers, err);
    dpi_paid_settle(&s.paid);
    for (size_t k = 0; k < opts->n && status != DP_OK; k++)
        answers[k] = (dp_quantile_answer){NAN, NAN, NAN};
    if (privacy != NULL)
        *privacy = status == DP_OK
                       ? dpi_paid_guarantee(&s.paid, data, s.units.n, (double)s.paid.begun)
                       : dpi_paid_nothing();
    dpi_arena_free(&s.arena);
    return status;
}

/* ---- bounds ---- */

static dp_status find_bounds(const dp_dataset *data, const dp_quantile_opts *opts,
                             dp_quantile *asked, dp_quantile_answer *found, dp_privacy *privacy,
                             dp_error *err)
{
    dp_quantile_opts both = *opts;
    for (size_t k = 0; k < opts->n; k++) {
        double share = opts->asked[k].share;
        if (!(share > 0 && share < 1)) /* the share of a quantile need not show it */
            return dpi_fail(err, DP_EDOMAIN, "share is %g for bounds %zu; it must be in (0, 1)",
                            share, k);
        asked[2 * k] = asked[2 * k + 1] = opts->asked[k];
        asked[2 * k].share = (1 - share) / 2;
        asked[2 * k + 1].share = (1 + share) / 2;
    }
    both.asked = asked;
    both.n = 2 * opts->n;
    return dp_private_quantiles(data, &both, found, privacy, err);
}

/* The one that came out lower is the lower bound. */
static dp_bounds_answer bounds_of(const dp_quantile_answer pair[2])
{
    return (dp_bounds_answer){.low = fmin(pair[0].value, pair[1].value) - pair[0].within,
                              .high = fmax(pair[0].value, pair[1].value) + pair[0].within,
                              .within = pair[0].within,
                              .noise = pair[0].noise};
}

dp_status dp_private_bounds(const dp_dataset *data, const dp_quantile_opts *opts,
                            dp_bounds_answer *answers, dp_privacy *privacy, dp_error *err)
{
    dpi_arena arena = {NULL};
    dp_quantile *asked = NULL;
    dp_quantile_answer *found = NULL;
    dp_status status = check_number(opts, MOST_ASKED / 2, err);
    if (privacy != NULL)
        *privacy = dpi_paid_nothing();
    if (status == DP_OK) {
        asked = dpi_arena_alloc(&arena, 2 * opts->n, sizeof *asked);
        found = dpi_arena_alloc(&arena, 2 * opts->n, sizeof *found);
        if (asked == NULL || found == NULL)
            status = dpi_fail_nomem(err);
    }
    if (status == DP_OK)
        status = find_bounds(data, opts, asked, found, privacy, err);
    for (size_t k = 0; k < opts->n; k++)
        answers[k] =
            status == DP_OK ? bounds_of(found + 2 * k) : (dp_bounds_answer){NAN, NAN, NAN, NAN};
    dpi_arena_free(&arena);
    return status;
}
