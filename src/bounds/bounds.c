/* Private quantiles: options, the account, the ledger and the answers of quantile.c's search.
 *
 * Order of a call: options and names are checked, sigma is calibrated, the steps are reserved; only
 * then are values looked at, and copied unit after unit.  A value that is not finite ends the call
 * before the first count, without saying where it stands, and gives the reservation back. */
#include <tacit/bounds.h>

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/float.h"
#include "bounds/quantile.h"
#include "data/dataset.h"
#include "ledger/reserve.h"
#include "random/failure.h"
#include "svi/options.h"

static const uint64_t default_levels = 12, most_levels = 52;
enum { MOST_ASKED = 10000, COLUMNS_TEXT = 1000 };

typedef struct bounds_search {
    dpi_arena arena;
    const dp_dataset *data;
    const dp_quantile_opts *opts;
    dp_mechanism mechanism;
    double accounted, epsilon; /* delta that the accountant is given, and what it says */
    uint64_t levels, begun;
    dpi_units units;
    double *x; /* [rows] values of the quantile at hand */
    dp_noise *noise;
    dp_reservation *reservation;
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

static dp_status check_noise(const dp_quantile_opts *o, dp_error *err)
{
    dp_status status = dpi_options_budget(o->epsilon, o->delta, o->sigma, err);
    if (status != DP_OK)
        return status;
    status = dpi_options_ledger(o->ledger, o->ledger_data, o->ledger_label, err);
    if (status != DP_OK)
        return status;
    if (o->ledger != NULL && o->ledger_data == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a ledger is given and no ledger_data; name the data set as the ledger "
                        "knows it");
    if (o->ledger != NULL && o->seed != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "a seeded answer has no guarantee that a ledger could count; leave ledger "
                        "NULL, or seed 0");
    return DP_OK;
}

static dp_status check_number(const dp_quantile_opts *o, size_t most, dp_error *err)
{
    if (o->asked != NULL && o->n > 0 && o->n <= most)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL, "%zu are asked for in one call; ask for 1 to %zu", o->n, most);
}

static dp_status check_options(const dp_dataset *data, const dp_quantile_opts *o, dp_error *err)
{
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    if (o->levels > most_levels)
        return dpi_fail(err, DP_EDOMAIN, "levels is %llu; a range is halved at most %llu times",
                        (unsigned long long)o->levels, (unsigned long long)most_levels);
    dp_status status = check_number(o, MOST_ASKED, err);
    if (status == DP_OK)
        status = check_noise(o, err);
    for (size_t k = 0; k < o->n && status == DP_OK; k++)
        status = check_asked(data, &o->asked[k], err);
    return status;
}

static dp_status set_mechanism(bounds_search *s, dp_error *err)
{
    const dp_quantile_opts *o = s->opts;
    s->levels = o->levels != 0 ? o->levels : default_levels;
    s->accounted = dpi_release_delta(o->delta);
    s->mechanism = (dp_mechanism){
        .sampling = DP_SAMPLING_FULL, .sigma = o->sigma, .rate = 1, .steps = s->levels * o->n};
    dp_status status = DP_OK;
    if (o->sigma == 0)
        status = dp_approximate_sigma(o->epsilon, s->accounted, 1, s->mechanism.steps,
                                      DP_SAMPLING_FULL, &s->mechanism.sigma, err);
    double sigma = s->mechanism.sigma;
    if (status == DP_OK && !(sigma >= DPI_QUANTILE_LEAST_SIGMA && sigma <= DPI_QUANTILE_MOST_SIGMA))
        return dpi_fail(err, DP_EDOMAIN,
                        "sigma is %g (%llu counts); noise of %g to %g is drawn here: change "
                        "epsilon, or the number of levels or quantiles",
                        sigma, (unsigned long long)s->mechanism.steps, DPI_QUANTILE_LEAST_SIGMA,
                        DPI_QUANTILE_MOST_SIGMA);
    return status != DP_OK ? status : dp_epsilon(&s->mechanism, s->accounted, &s->epsilon, err);
}

/* ---- the ledger ---- */

static bool is_asked(const bounds_search *s, const dpi_column *column)
{
    for (size_t k = 0; k < s->opts->n; k++)
        if (strcmp(s->opts->asked[k].column, column->name) == 0)
            return true;
    return false;
}

static dp_status reserve(bounds_search *s, dp_error *err)
{
    const dp_dataset *data = s->data;
    dpi_purpose what = {.spending = {.data = s->opts->ledger_data,
                                     .label = s->opts->ledger_label,
                                     .list = &s->mechanism,
                                     .n = 1,
                                     .records = data}};
    const char **names = dpi_arena_alloc(&s->arena, data->n_columns + 1, sizeof *names);
    char *text = dpi_arena_alloc(&s->arena, COLUMNS_TEXT + 1, 1);
    if (names == NULL || text == NULL)
        return dpi_fail_nomem(err);
    size_t length = (size_t)snprintf(text, COLUMNS_TEXT, "quantiles of ");
    for (size_t i = 0; i < data->n_columns; i++) {
        const dpi_column *column = &data->columns[i];
        bool is_unit = data->unit != NULL && column->index == data->unit;
        if (is_unit)
            what.spending.unit = column->name;
        if (!is_unit && !is_asked(s, column))
            continue;
        names[what.n_used++] = column->name;
        if (length + strlen(column->name) + 3 < COLUMNS_TEXT)
            length += (size_t)snprintf(text + length, COLUMNS_TEXT - length, "%s%s",
                                       what.n_used > 1 ? ", " : "", column->name);
    }
    for (size_t i = 0; i < length;
         i++) /* names are the caller's, and the ledger takes plain text */
        if ((unsigned char)text[i] < 32 || text[i] == 127)
            text[i] = '?';
    what.used = names;
    what.spending.columns = text;
    return dpi_reserve(s->opts->ledger, &what, &s->reservation, err);
}

/* Steps that were not begun are given back: what ended the call early had nothing to do with a
 * count.  When that cannot be written, all of them stay spent. */
static void settle(bounds_search *s)
{
    if (s->reservation != NULL)
        (void)!dp_reservation_settle(s->reservation, &s->begun, NULL);
    dp_reservation_free(s->reservation);
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

/* All columns that are asked for, whole: whether the call goes on does not depend on the
 * element. */
static dp_status check_values(const bounds_search *s, dp_error *err)
{
    for (size_t i = 0; i < s->data->n_columns; i++) {
        const dpi_column *column = &s->data->columns[i];
        bool finite = true;
        for (size_t k = 0; is_asked(s, column) && k < s->data->n * column->size; k++)
            finite = finite && isfinite(column->real[k]);
        if (!finite)
            return dpi_fail(
                err, DP_EDATA,
                "the data have values that are missing or not finite; their owner leaves "
                "such records out, or mends them by a fixed rule, beforehand");
    }
    return DP_OK;
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
    dp_status status = dpi_quantile_search(&q, s->mechanism.sigma, s->levels, s->noise, &low, &high,
                                           &s->begun, err);
    if (status == DP_OK)
        *answer = (dp_quantile_answer){.value = low + (high - low) / 2,
                                       .within = (high - low) / 2,
                                       .noise = dpi_quantile_noise(&q, s->mechanism.sigma)};
    return status;
}

static dp_status find_all(bounds_search *s, dp_quantile_answer *answers, dp_error *err)
{
    uint64_t seed = s->opts->seed;
    dp_status status = check_values(s, err);
    if (status == DP_OK)
        status = dpi_units_init(&s->units, &s->arena, s->data, err);
    if (status == DP_OK && (s->x = dpi_arena_alloc(&s->arena, s->data->n, sizeof *s->x)) == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status =
            seed != 0 ? dp_noise_new_seeded(seed, &s->noise, err) : dp_noise_new(&s->noise, err);
    for (size_t k = 0; k < s->opts->n && status == DP_OK; k++)
        status = find_one(s, &s->opts->asked[k], &answers[k], err);
    if (s->x != NULL)
        sodium_memzero(s->x, s->data->n * sizeof *s->x);
    dp_noise_free(s->noise);
    return status;
}

static dp_privacy guarantee(const bounds_search *s)
{
    const dp_quantile_opts *o = s->opts;
    bool grouped = s->data->unit != NULL;
    return (dp_privacy){
        .is_private = o->seed == 0,
        .why_not = o->seed != 0 ? "seeded: the noise can be computed again" : NULL,
        .warning = o->delta * (double)s->units.n >= 1
                       ? "delta is not below 1 / (number of units): publishing all of one unit "
                         "would be allowed; take a smaller delta"
                       : NULL,
        .adjacency = grouped ? "add or remove one unit (all rows with one value in the unit column)"
                             : "add or remove one record",
        .epsilon = s->epsilon,
        .delta = dpi_release_whole_delta(o->delta, s->accounted, (double)s->begun, s->epsilon),
        .sigma = s->mechanism.sigma,
        .clip = 1,
        .rate = 1,
        .sampling = DP_SAMPLING_FULL,
        .steps = s->begun};
}

static const dp_privacy nothing = {.why_not = "the call failed, and nothing was released",
                                   .adjacency = "add or remove one record",
                                   .epsilon = INFINITY,
                                   .delta = 1};

dp_status dp_private_quantiles(const dp_dataset *data, const dp_quantile_opts *opts,
                               dp_quantile_answer *answers, dp_privacy *privacy, dp_error *err)
{
    bounds_search s = {.data = data, .opts = opts};
    dp_status status = dpi_float_check(err);
    if (status == DP_OK)
        status = check_options(data, opts, err);
    if (status == DP_OK)
        status = set_mechanism(&s, err);
    if (status == DP_OK && opts->ledger != NULL)
        status = reserve(&s, err);
    if (status == DP_OK)
        status = find_all(&s, answers, err);
    settle(&s);
    for (size_t k = 0; k < opts->n && status != DP_OK; k++)
        answers[k] = (dp_quantile_answer){NAN, NAN, NAN};
    if (privacy != NULL)
        *privacy = status == DP_OK ? guarantee(&s) : nothing;
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
        *privacy = nothing;
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
