/* Looking for faults in a ledger.  Reads everything, changes nothing. */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "ledger/compose.h"
#include "ledger/data.h"
#include "ledger/known.h"
#include "ledger/overlap.h"

typedef struct checker {
    dp_ledger *ledger;
    FILE *out; /* nullable */
    size_t faults;
    dpi_contents contents;
    dp_error *err;
} checker;

static void found(checker *c, const char *format, ...) DPI_PRINTF(2, 3);

static void found(checker *c, const char *format, ...)
{
    c->faults++;
    if (c->out == NULL)
        return;
    va_list args;
    va_start(args, format);
    (void)vfprintf(c->out, format, args);
    va_end(args);
    (void)fputc('\n', c->out);
}

/* A fault of the file is a finding; running out of memory ends the check. */
static dp_status noted(checker *c, dp_status status, const dp_error *err, const char *about)
{
    if (status == DP_ENOMEM)
        return dpi_fail_nomem(c->err);
    if (status != DP_OK)
        found(c, "%s: %s", about, err->text);
    return DP_OK;
}

/* SQLite's own checks: pages, indices, and rows that refer to nothing. */
static dp_status check_file(checker *c)
{
    dp_error err = {.status = DP_OK};
    dpi_query q = dpi_query_new(c->ledger, "PRAGMA integrity_check");
    while (dpi_query_row(&q)) {
        const char *text = dpi_row_text(&q, 0);
        if (text != NULL && strcmp(text, "ok") != 0)
            found(c, "file: %.200s", text);
    }
    dp_status status = noted(c, dpi_query_end(&q, &err), &err, "file");
    if (status != DP_OK)
        return status;
    err = (dp_error){.status = DP_OK};
    q = dpi_query_new(c->ledger, "PRAGMA foreign_key_check");
    while (dpi_query_row(&q)) {
        const char *text = dpi_row_text(&q, 0);
        found(c, "a row of table '%.60s' belongs to nothing", text != NULL ? text : "");
    }
    return noted(c, dpi_query_end(&q, &err), &err, "file");
}

static dp_status check_numbers(checker *c, const char *table)
{
    dp_error err = {.status = DP_OK};
    return noted(c, dpi_contents_count(c->ledger, table, &err), &err, "file");
}

static dp_status check_columns(checker *c, const dpi_data *data)
{
    dp_error err = {.status = DP_OK};
    unsigned char hash[DPI_HASH], all[DPI_HASH];
    crypto_generichash_state h;
    dpi_hash_begin(&h, c->ledger, "columns");
    dpi_query q =
        dpi_query_new(c->ledger, "SELECT hash FROM data_column WHERE data = ? ORDER BY place");
    dpi_bind_number(&q, data->id);
    while (dpi_query_row(&q)) {
        (void)dpi_row_bytes(&q, 0, hash, sizeof hash);
        dpi_hash_bytes(&h, hash, sizeof hash);
    }
    dpi_hash_end(&h, all);
    if (memcmp(all, data->hash, sizeof all) != 0)
        found(c, "data set '%s': its columns are not as they were written", data->name);
    return noted(c, dpi_query_end(&q, &err), &err, data->name);
}

/* What takes long, composing and hashing files, outside the transaction. */
static dp_status check_data(checker *c, const dpi_data *data)
{
    dp_error err = {.status = DP_OK};
    dp_interval spent;
    dp_status status = noted(c, dpi_compose(data, NULL, 0, &spent, &err), &err, data->name);
    if (status != DP_OK)
        return status;
    if (err.status == DP_OK && spent.upper > data->budget.epsilon)
        found(c, "data set '%s': epsilon %.6g is spent of a budget of %.6g", data->name,
              spent.upper, data->budget.epsilon);
    if (data->path == NULL)
        return DP_OK;
    err = (dp_error){.status = DP_OK};
    return noted(c, dpi_data_verify(c->ledger, data, NULL, NULL, 0, &err), &err, data->name);
}

dp_status dp_ledger_check(dp_ledger *ledger, FILE *out, size_t *faults, dp_error *err)
{
    dp_error reading = {.status = DP_OK};
    checker c = {.ledger = ledger, .out = out, .err = err};
    *faults = SIZE_MAX;
    dp_status status = dpi_store_begin(ledger, err);
    if (status != DP_OK)
        return status;
    status = check_file(&c);
    if (status == DP_OK)
        status = check_numbers(&c, "data");
    if (status == DP_OK)
        status = check_numbers(&c, "entry");
    if (status == DP_OK)
        status = check_numbers(&c, "sketch");
    if (status == DP_OK)
        status = check_numbers(&c, "former");
    if (status == DP_OK)
        status = noted(&c, dpi_overlap_survey(ledger, &reading), &reading, "file");
    reading = (dp_error){.status = DP_OK};
    if (status == DP_OK)
        status = noted(&c, dpi_known_survey(ledger, &reading), &reading, "file");
    reading = (dp_error){.status = DP_OK};
    if (status == DP_OK)
        status = noted(&c, dpi_contents_survey(ledger, &c.contents, out, &c.faults, &reading),
                       &reading, "file");
    for (size_t i = 0; status == DP_OK && i < c.contents.n; i++)
        if (c.contents.data[i].path == NULL)
            status = check_columns(&c, &c.contents.data[i]);
    status = dpi_store_end(ledger, status, err);
    for (size_t i = 0; status == DP_OK && i < c.contents.n; i++)
        status = check_data(&c, &c.contents.data[i]);
    dpi_contents_free(&c.contents);
    if (status == DP_OK)
        *faults = c.faults;
    return status;
}
