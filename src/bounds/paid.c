/* Order of a call that is paid: options and names are checked, sigma is calibrated, the steps are
 * reserved; only then are values looked at.  A value that is not finite ends it before the first
 * count, without saying where it stands, and gives the reservation back. */
#include "bounds/paid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "random/failure.h"
#include "svi/options.h"

enum { COLUMNS_TEXT = 1000 };

dp_status dpi_paid_check(const dpi_paid *p, dp_error *err)
{
    dp_status status = dpi_options_budget(p->epsilon, p->delta, p->sigma, err);
    if (status != DP_OK)
        return status;
    status = dpi_options_ledger(p->ledger, p->ledger_data, p->ledger_label, err);
    if (status != DP_OK)
        return status;
    if (p->ledger != NULL && p->ledger_data == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a ledger is given and no ledger_data; name the data set as the ledger "
                        "knows it");
    if (p->ledger != NULL && p->seed != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "a seeded answer has no guarantee that a ledger could count; leave ledger "
                        "NULL, or seed 0");
    return DP_OK;
}

dp_status dpi_paid_calibrate(dpi_paid *p, uint64_t steps, const char *what, dp_error *err)
{
    p->accounted = dpi_release_delta(p->delta);
    p->mechanism =
        (dp_mechanism){.sampling = DP_SAMPLING_FULL, .sigma = p->sigma, .rate = 1, .steps = steps};
    dp_status status = DP_OK;
    if (p->sigma == 0)
        status = dp_approximate_sigma(p->epsilon, p->accounted, 1, steps, DP_SAMPLING_FULL,
                                      &p->mechanism.sigma, err);
    const double sigma = p->mechanism.sigma;
    if (status == DP_OK && !(sigma >= DPI_COUNT_LEAST_SIGMA && sigma <= DPI_COUNT_MOST_SIGMA))
        return dpi_fail(err, DP_EDOMAIN,
                        "sigma is %g (%llu counts); noise of %g to %g is drawn here: change "
                        "epsilon, or the number of %s",
                        sigma, (unsigned long long)steps, DPI_COUNT_LEAST_SIGMA,
                        DPI_COUNT_MOST_SIGMA, what);
    return status != DP_OK ? status : dp_epsilon(&p->mechanism, p->accounted, &p->upper, err);
}

dp_status dpi_paid_reserve(dpi_paid *p, dpi_arena *arena, const dp_dataset *data,
                           const char *purpose,
                           bool (*is_used)(const void *user, const dpi_column *column),
                           const void *user, dp_error *err)
{
    dpi_purpose what = {.spending = {.data = p->ledger_data,
                                     .label = p->ledger_label,
                                     .list = &p->mechanism,
                                     .n = 1,
                                     .records = data}};
    if (p->ledger == NULL)
        return DP_OK;
    const char **names = dpi_arena_alloc(arena, data->n_columns + 1, sizeof *names);
    char *text = dpi_arena_alloc(arena, COLUMNS_TEXT + 1, 1);
    if (names == NULL || text == NULL)
        return dpi_fail_nomem(err);
    size_t length = (size_t)snprintf(text, COLUMNS_TEXT, "%s", purpose);
    for (size_t i = 0; i < data->n_columns; i++) {
        const dpi_column *column = &data->columns[i];
        bool is_unit = data->unit != NULL && column->index == data->unit;
        if (is_unit)
            what.spending.unit = column->name;
        if (!is_unit && !is_used(user, column))
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
    return dpi_reserve(p->ledger, &what, &p->reservation, err);
}

dp_status dpi_paid_values(const dp_dataset *data,
                          bool (*is_used)(const void *user, const dpi_column *column),
                          const void *user, dp_error *err)
{
    for (size_t i = 0; i < data->n_columns; i++) {
        const dpi_column *column = &data->columns[i];
        bool finite = true;
        if (column->real == NULL || !is_used(user, column))
            continue;
        for (size_t k = 0; k < data->n * column->size; k++)
            finite = finite && isfinite(column->real[k]);
        if (!finite)
            return dpi_fail(
                err, DP_EDATA,
                "the data have values that are missing or not finite; their owner leaves "
                "such records out, or mends them by a fixed rule, beforehand");
    }
    return DP_OK;
}

void dpi_paid_settle(dpi_paid *p)
{
    if (p->reservation != NULL)
        (void)!dp_reservation_settle(p->reservation, &p->begun, NULL);
    dp_reservation_free(p->reservation);
    p->reservation = NULL;
}

dp_status dpi_paid_noise(const dpi_paid *p, dp_noise **noise, dp_error *err)
{
    return p->seed != 0 ? dp_noise_new_seeded(p->seed, noise, err) : dp_noise_new(noise, err);
}

dp_privacy dpi_paid_guarantee(const dpi_paid *p, const dp_dataset *data, size_t units, double drawn)
{
    const bool grouped = data->unit != NULL;
    return (dp_privacy){
        .is_private = p->seed == 0,
        .why_not = p->seed != 0 ? "seeded: the noise can be computed again" : NULL,
        .warning = p->delta * (double)units >= 1
                       ? "delta is not below 1 / (number of units): publishing all of one unit "
                         "would be allowed; take a smaller delta"
                       : NULL,
        .adjacency = grouped ? "add or remove one unit (all rows with one value in the unit column)"
                             : "add or remove one record",
        .epsilon = p->upper,
        .delta = dpi_release_whole_delta(p->delta, p->accounted, drawn, p->upper),
        .sigma = p->mechanism.sigma,
        .clip = 1,
        .rate = 1,
        .sampling = DP_SAMPLING_FULL,
        .steps = p->begun};
}

dp_privacy dpi_paid_nothing(void)
{
    return (dp_privacy){.why_not = "the call failed, and nothing was released",
                        .adjacency = "add or remove one record",
                        .epsilon = INFINITY,
                        .delta = 1};
}
