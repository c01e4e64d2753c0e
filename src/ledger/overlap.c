/* Looking for data sets that share values.
 *
 * Every sketch of the new data set is compared with every one of the others.  All comparisons
 * together refuse data that have nothing to do with those of the ledger with a chance of at most
 * 1e-9: each has an equal share of it. */
#include "ledger/overlap.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ledger/contents.h"
#include "ledger/hash.h"

static const double least_chance = 1e-9;

static void seal_of(const dp_ledger *ledger, int64_t data, const unsigned char *bytes, size_t size,
                    unsigned char seal[DPI_HASH])
{
    crypto_generichash_state h;
    dpi_hash_begin(&h, ledger, "row of sketch");
    dpi_hash_number(&h, (uint64_t)data);
    dpi_hash_bytes(&h, bytes, size);
    dpi_hash_end(&h, seal);
}

dp_status dpi_overlap_write(dp_ledger *ledger, int64_t data, dpi_sketches *sketches, dp_error *err)
{
    unsigned char *bytes, seal[DPI_HASH];
    size_t size;
    if (sketches->n == 0)
        return DP_OK;
    dp_status status = dpi_sketches_write(sketches, &bytes, &size, err);
    if (status != DP_OK)
        return status;
    seal_of(ledger, data, bytes, size, seal);
    dpi_query q = dpi_query_new(ledger, "INSERT INTO sketch (data, bytes, seal) VALUES (?, ?, ?)");
    dpi_bind_number(&q, data);
    dpi_bind_bytes(&q, bytes, size);
    dpi_bind_bytes(&q, seal, sizeof seal);
    return dpi_query_run(&q, err);
}

/* The sketches in columns 0 to 2 of the row: data, bytes, seal. */
static dp_status read_row(dp_ledger *ledger, dpi_query *q, dpi_sketches *sketches, dp_error *err)
{
    unsigned char seal[DPI_HASH], written[DPI_HASH];
    const unsigned char *bytes = sqlite3_column_blob(q->statement, 1);
    size_t size = (size_t)sqlite3_column_bytes(q->statement, 1);
    *sketches = (dpi_sketches){.n = 0};
    seal_of(ledger, dpi_row_number(q, 0), bytes, bytes != NULL ? size : 0, seal);
    if (bytes == NULL || !dpi_row_bytes(q, 2, written, sizeof written) ||
        memcmp(seal, written, sizeof seal) != 0)
        return dpi_fail(err, DP_EDATA,
                        "the sketches of data set %lld of the ledger are not as they were written; "
                        "put back an intact copy",
                        (long long)dpi_row_number(q, 0));
    return dpi_sketches_read(bytes, size, sketches, err);
}

/* The least of all pairs. */
static double log_chance(const dpi_sketches *a, const dpi_sketches *b)
{
    double least = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            least = fmin(least, dpi_sketch_log_chance(&a->list[i], &b->list[k]));
    return least;
}

static dp_status refuse(const char *name, dp_error *err)
{
    return dpi_fail(
        err, DP_EPRIVACY,
        "these data share records or a column with '%.100s': the same people would have "
        "two budgets; use that name (and update it for more columns), or, if that is "
        "meant, overlap_allowed (--overlap-allowed)",
        name);
}

/* Calls of the row: all rows of sketches of other data sets, and how many there are. */
static const char others[] = "SELECT data, bytes, seal, (SELECT name FROM data WHERE id = s.data),"
                             " (SELECT count(*) FROM sketch) FROM sketch s WHERE data <> ?";

dp_status dpi_overlap_check(dp_ledger *ledger, int64_t data, const dpi_sketches *sketches,
                            dp_error *err)
{
    dp_status status = DP_OK;
    char name[DPI_MOST_NAME + 1] = "";
    bool found = false;
    dpi_query q = dpi_query_new(ledger, others);
    dpi_bind_number(&q, data);
    while (status == DP_OK && !found && dpi_query_row(&q)) {
        dpi_sketches other;
        status = read_row(ledger, &q, &other, err);
        double pairs = (double)sketches->n * (double)other.n * (double)dpi_row_number(&q, 4);
        found = status == DP_OK &&
                log_chance(sketches, &other) + log(fmax(1, pairs)) <= log(least_chance);
        const char *text = found ? dpi_row_text(&q, 3) : NULL;
        (void)snprintf(name, sizeof name, "%s", text != NULL ? text : "");
        dpi_sketches_free(&other);
    }
    dp_status ended = dpi_query_end(&q, status == DP_OK ? err : NULL);
    status = status != DP_OK ? status : ended;
    return status == DP_OK && found ? refuse(name, err) : status;
}

dp_status dpi_overlap_survey(dp_ledger *ledger, dp_error *err)
{
    dp_status status = DP_OK;
    dpi_query q = dpi_query_new(ledger, "SELECT data, bytes, seal FROM sketch");
    while (status == DP_OK && dpi_query_row(&q)) {
        dpi_sketches sketches;
        status = read_row(ledger, &q, &sketches, err);
        dpi_sketches_free(&sketches);
    }
    dp_status ended = dpi_query_end(&q, status == DP_OK ? err : NULL);
    return status != DP_OK ? status : ended;
}
