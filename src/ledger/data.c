/* Data sets of a ledger.  Columns in memory are hashed one by one, so that a run that uses some of
 * them can be compared; the data set's hash is that of the columns' hashes. */
#define _XOPEN_SOURCE 700
#include "ledger/data.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ledger/compose.h"
#include "ledger/known.h"
#include "ledger/overlap.h"
#include "ledger/survey.h"

dp_status dpi_check_text(const char *what, const char *text, size_t most, dp_error *err)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 32 || text[i] == 127)
            return dpi_fail(err, DP_EINVAL, "%s holds a control character; leave it out", what);
    if (length == 0 || length > most)
        return dpi_fail(err, DP_EINVAL, "%s has %zu bytes; give 1 to %zu", what, length, most);
    return DP_OK;
}

/* ---- identity ---- */

static dp_status write_column(dp_ledger *ledger, int64_t data, size_t place, const char *name,
                              const unsigned char hash[DPI_HASH], dp_error *err)
{
    dpi_query q = dpi_query_new(ledger, "INSERT INTO data_column VALUES (?, ?, ?, ?)");
    dpi_bind_number(&q, data);
    dpi_bind_number(&q, (int64_t)place);
    dpi_bind_text(&q, name);
    dpi_bind_bytes(&q, hash, DPI_HASH);
    return dpi_query_run(&q, err);
}

/* Writes the columns of `records` as those of the data set with this id. */
static dp_status write_columns(dp_ledger *ledger, int64_t data, const dp_dataset *records,
                               dp_error *err)
{
    dpi_query q = dpi_query_new(ledger, "DELETE FROM data_column WHERE data = ?");
    dpi_bind_number(&q, data);
    dp_status status = dpi_query_run(&q, err);
    for (size_t i = 0; records != NULL && status == DP_OK && i < records->n_columns; i++) {
        unsigned char hash[DPI_HASH];
        dpi_hash_column(ledger, &records->columns[i], records->n, hash);
        status = write_column(ledger, data, i, records->columns[i].name, hash, err);
    }
    return status;
}

/* Sets hash and path of *data; the path is allocated by realpath. */
static dp_status identify(dp_ledger *ledger, const dp_ledger_source *source, dpi_data *data,
                          char **path, dp_error *err)
{
    *path = NULL;
    if ((source->path == NULL) == (source->records == NULL))
        return dpi_fail(err, DP_EINVAL,
                        "a data set is a file or columns in memory; give path or records, one of "
                        "them");
    if (source->path != NULL) {
        dp_status status = dpi_hash_file(ledger, source->path, data->hash, err);
        if (status != DP_OK)
            return status;
        *path = realpath(source->path, NULL);
        data->path = *path;
        return *path != NULL ? DP_OK : dpi_fail_nomem(err);
    }
    const dp_dataset *r = source->records;
    if (r->err.status != DP_OK)
        return dpi_fail(err, r->err.status, "%s", r->err.text);
    if (r->n_columns == 0)
        return dpi_fail(err, DP_EINVAL, "the data set has no columns; add them first");
    crypto_generichash_state h;
    dpi_hash_begin(&h, ledger, "columns");
    for (size_t i = 0; i < r->n_columns; i++) {
        unsigned char hash[DPI_HASH];
        dpi_hash_column(ledger, &r->columns[i], r->n, hash);
        dpi_hash_bytes(&h, hash, sizeof hash);
    }
    dpi_hash_end(&h, data->hash);
    return DP_OK;
}

static dp_status verify_column(dp_ledger *ledger, const dpi_data *data, const dp_dataset *records,
                               const dpi_column *column, dp_error *err)
{
    unsigned char hash[DPI_HASH], written[DPI_HASH];
    dpi_query q = dpi_query_new(ledger, "SELECT hash FROM data_column WHERE data = ? AND name = ?");
    dpi_bind_number(&q, data->id);
    dpi_bind_text(&q, column->name);
    bool known = dpi_query_row(&q) && dpi_row_bytes(&q, 0, written, sizeof written);
    dp_status status = dpi_query_end(&q, err);
    if (status != DP_OK)
        return status;
    dpi_hash_column(ledger, column, records->n, hash);
    if (known && memcmp(hash, written, sizeof hash) == 0)
        return DP_OK;
    return dpi_fail(err, DP_EDATA,
                    "column '%.100s' is %s the ledger knows as '%.100s'; take the right data set, "
                    "or, if these are still the same people, call dp_ledger_update_data",
                    column->name, known ? "not what" : "not in what", data->name);
}

static bool among(const char *name, const char *const *used, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, used[i]) == 0)
            return true;
    return false;
}

dp_status dpi_data_verify(dp_ledger *ledger, const dpi_data *data, const dp_dataset *records,
                          const char *const *used, size_t n_used, dp_error *err)
{
    unsigned char hash[DPI_HASH];
    dp_status status = DP_OK;
    if (data->path != NULL) {
        status = dpi_hash_file(ledger, data->path, hash, err);
        if (status != DP_OK || memcmp(hash, data->hash, sizeof hash) == 0)
            return status;
        return dpi_fail(err, DP_EDATA,
                        "%.200s is not what the ledger knows as '%.100s'; restore it, or, if these "
                        "are still the same people, run tacit ledger update",
                        data->path, data->name);
    }
    if (records != NULL && records->err.status != DP_OK)
        return dpi_fail(err, records->err.status, "%s", records->err.text);
    for (size_t i = 0; records != NULL && status == DP_OK && i < records->n_columns; i++)
        if (used == NULL || among(records->columns[i].name, used, n_used))
            status = verify_column(ledger, data, records, &records->columns[i], err);
    return status;
}

/* ---- public ---- */

static dp_status check_new(const dpi_data *data, const dpi_contents *present, dp_error *err)
{
    for (size_t i = 0; i < present->n; i++) {
        const dpi_data *other = &present->data[i];
        if (other->id == data->id)
            continue;
        if (strcmp(other->name, data->name) == 0)
            return dpi_fail(err, DP_ENAME,
                            "the ledger has a data set '%.100s' already, and its budget stays; "
                            "take another name for other data",
                            data->name);
        if (memcmp(other->hash, data->hash, DPI_HASH) == 0)
            return dpi_fail(err, DP_ENAME,
                            "these data are in the ledger already, as '%.100s'; use that name",
                            other->name);
    }
    return DP_OK;
}

/* Writes what a data set is known by, and looks whether another is known by it, too. */
static dp_status write_known(dp_ledger *ledger, const dpi_data *data,
                             const dp_ledger_source *source, dpi_sketches *sketches, dp_error *err)
{
    dp_status status = write_columns(ledger, data->id, source->records, err);
    if (status == DP_OK)
        status = dpi_known_check(ledger, data, source->overlap_allowed, err);
    if (status == DP_OK && !source->overlap_allowed)
        status = dpi_overlap_check(ledger, data->id, sketches, err);
    return status == DP_OK ? dpi_overlap_write(ledger, data->id, sketches, err) : status;
}

static dp_status check_budget(const dp_budget *b, dp_error *err)
{
    if (!(b->epsilon > 0 && isfinite(b->epsilon)) || !(b->delta > 0 && b->delta < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "the budget has epsilon %g and delta %g; epsilon must be above 0 and "
                        "finite, delta in (0, 1), well below one over the number of records",
                        b->epsilon, b->delta);
    if (b->adjacency != DP_ADD_REMOVE && b->adjacency != DP_REPLACE_ONE)
        return dpi_fail(err, DP_EDOMAIN,
                        "the budget does not say which data sets are neighbours; set adjacency to "
                        "DP_ADD_REMOVE or DP_REPLACE_ONE");
    return b->unit != NULL ? dpi_check_text("the unit column", b->unit, DPI_MOST_NAME, err) : DP_OK;
}

dp_status dp_ledger_add_data(dp_ledger *ledger, const char *name, const dp_ledger_source *source,
                             const dp_budget *budget, dp_error *err)
{
    dpi_contents present = {.n = 0};
    dpi_data data = {.id = -1,
                     .name = name,
                     .budget = *budget,
                     .added = (int64_t)time(NULL),
                     .overlap_allowed = source->overlap_allowed};
    dpi_sketches sketches = {.n = 0};
    char *path = NULL;
    dp_status status = dpi_check_text("the data set's name", name, DPI_MOST_NAME, err);
    if (status == DP_OK)
        status = check_budget(budget, err);
    if (status == DP_OK)
        status = identify(ledger, source, &data, &path, err);
    if (status == DP_OK)
        status = dpi_survey(ledger, source, &sketches, err);
    if (status == DP_OK && (status = dpi_store_begin(ledger, err)) == DP_OK) {
        status = dpi_contents_read(ledger, NULL, &present, err);
        if (status == DP_OK)
            status = check_new(&data, &present, err);
        if (status == DP_OK)
            status = dpi_data_insert(ledger, &data, err);
        if (status == DP_OK)
            status = write_known(ledger, &data, source, &sketches, err);
        status = dpi_store_end(ledger, status, err);
    }
    dpi_contents_free(&present);
    dpi_sketches_free(&sketches);
    free(path);
    return status;
}

static dpi_data *find(dpi_contents *contents, const char *name)
{
    for (size_t i = 0; i < contents->n; i++)
        if (strcmp(contents->data[i].name, name) == 0)
            return &contents->data[i];
    return NULL;
}

dp_status dp_ledger_update_data(dp_ledger *ledger, const char *name, const dp_ledger_source *source,
                                dp_error *err)
{
    dpi_contents present = {.n = 0};
    dpi_data found = {.id = -1};
    dpi_sketches sketches = {.n = 0};
    char *path = NULL;
    dp_status status = identify(ledger, source, &found, &path, err);
    if (status == DP_OK)
        status = dpi_survey(ledger, source, &sketches, err);
    if (status == DP_OK && (status = dpi_store_begin(ledger, err)) == DP_OK) {
        status = dpi_contents_read(ledger, NULL, &present, err);
        dpi_data *data = find(&present, name);
        if (status == DP_OK && data == NULL)
            status =
                dpi_fail(err, DP_ENAME,
                         "the ledger has no data set '%.100s'; tacit ledger show lists them", name);
        if (status == DP_OK && memcmp(data->hash, found.hash, sizeof data->hash) != 0)
            status = dpi_known_keep(ledger, data, err);
        if (status == DP_OK) {
            memcpy(data->hash, found.hash, sizeof data->hash);
            data->path = path;
            data->updated = (int64_t)time(NULL);
            data->overlap_allowed = data->overlap_allowed || source->overlap_allowed;
            status = check_new(data, &present, err);
        }
        if (status == DP_OK)
            status = dpi_data_update(ledger, data, err);
        if (status == DP_OK)
            status = write_known(ledger, data, source, &sketches, err);
        status = dpi_store_end(ledger, status, err);
    }
    dpi_contents_free(&present);
    dpi_sketches_free(&sketches);
    free(path);
    return status;
}

dp_status dp_ledger_spent(dp_ledger *ledger, const char *name, dp_interval *epsilon, dp_error *err)
{
    dpi_contents present = {.n = 0};
    *epsilon = (dp_interval){.upper = INFINITY, .estimate = NAN};
    dp_status status = dpi_store_begin(ledger, err);
    if (status != DP_OK)
        return status;
    status = dpi_contents_read(ledger, name, &present, err);
    status = dpi_store_end(ledger, status, err);
    if (status == DP_OK)
        status = dpi_compose(&present.data[0], NULL, 0, epsilon, err);
    dpi_contents_free(&present);
    return status;
}
