/* Content that was replaced is still the same people's, so its hashes stay: of the whole (a row
 * without a name) and of each column.  Updates of a data set are counted by `change`, from 1. */
#include "ledger/known.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A row of the table `former`. */
typedef struct former {
    int64_t data, change;
    const char *name; /* NULL: of the whole */
    unsigned char hash[DPI_HASH];
} former;

static void seal_of(const dp_ledger *ledger, const former *f, unsigned char seal[DPI_HASH])
{
    crypto_generichash_state h;
    dpi_hash_begin(&h, ledger, "row of former");
    dpi_hash_number(&h, (uint64_t)f->data);
    dpi_hash_number(&h, (uint64_t)f->change);
    dpi_hash_text(&h, f->name);
    dpi_hash_bytes(&h, f->hash, sizeof f->hash);
    dpi_hash_end(&h, seal);
}

static dp_status write_row(dp_ledger *ledger, const former *f, dp_error *err)
{
    unsigned char seal[DPI_HASH];
    seal_of(ledger, f, seal);
    dpi_query q = dpi_query_new(
        ledger, "INSERT INTO former (data, change, name, hash, seal) VALUES (?, ?, ?, ?, ?)");
    dpi_bind_number(&q, f->data);
    dpi_bind_number(&q, f->change);
    dpi_bind_text(&q, f->name);
    dpi_bind_bytes(&q, f->hash, sizeof f->hash);
    dpi_bind_bytes(&q, seal, sizeof seal);
    return dpi_query_run(&q, err);
}

static dp_status next_change(dp_ledger *ledger, int64_t data, int64_t *change, dp_error *err)
{
    dpi_query q =
        dpi_query_new(ledger, "SELECT coalesce(max(change), 0) + 1 FROM former WHERE data = ?");
    dpi_bind_number(&q, data);
    *change = dpi_query_row(&q) ? dpi_row_number(&q, 0) : 1;
    return dpi_query_end(&q, err);
}

dp_status dpi_known_keep(dp_ledger *ledger, const dpi_data *data, dp_error *err)
{
    former f = {.data = data->id};
    dp_status status = next_change(ledger, data->id, &f.change, err);
    memcpy(f.hash, data->hash, sizeof f.hash);
    if (status == DP_OK)
        status = write_row(ledger, &f, err);
    if (status != DP_OK)
        return status;
    dpi_query q =
        dpi_query_new(ledger, "SELECT name, hash FROM data_column WHERE data = ? ORDER BY place");
    dpi_bind_number(&q, data->id);
    while (status == DP_OK && dpi_query_row(&q)) {
        f.name = dpi_row_text(&q, 0);
        if (f.name == NULL || !dpi_row_bytes(&q, 1, f.hash, sizeof f.hash))
            status = dpi_fail(err, DP_EDATA,
                              "a column of data set %lld of the ledger is not as it was written; "
                              "put back an intact copy",
                              (long long)data->id);
        else
            status = write_row(ledger, &f, err);
    }
    dp_status ended = dpi_query_end(&q, status == DP_OK ? err : NULL);
    return status != DP_OK ? status : ended;
}

/* Reads all rows; *whose is the other data set that once was `hash` as a whole, or 0.  For a NULL
 * hash the rows are only compared with their seals. */
static dp_status read_rows(dp_ledger *ledger, int64_t data, const unsigned char *hash,
                           int64_t *whose, dp_error *err)
{
    dp_status status = DP_OK;
    *whose = 0;
    dpi_query q = dpi_query_new(ledger, "SELECT data, change, name, hash, seal FROM former");
    while (status == DP_OK && dpi_query_row(&q)) {
        unsigned char seal[DPI_HASH], written[DPI_HASH];
        former f = {.data = dpi_row_number(&q, 0),
                    .change = dpi_row_number(&q, 1),
                    .name = dpi_row_text(&q, 2)};
        bool good = dpi_row_bytes(&q, 3, f.hash, sizeof f.hash);
        seal_of(ledger, &f, seal);
        if (!dpi_row_bytes(&q, 4, written, sizeof written) || !good ||
            memcmp(seal, written, sizeof seal) != 0)
            status = dpi_fail(err, DP_EDATA,
                              "what data set %lld of the ledger was before an update is not as it "
                              "was written; put back an intact copy",
                              (long long)f.data);
        else if (hash != NULL && f.name == NULL && f.data != data &&
                 memcmp(f.hash, hash, sizeof f.hash) == 0)
            *whose = f.data;
    }
    dp_status ended = dpi_query_end(&q, status == DP_OK ? err : NULL);
    return status != DP_OK ? status : ended;
}

/* The other data set whose columns these are, or (`before` an update) were, or 0. */
static dp_status find_columns(dp_ledger *ledger, int64_t data, bool before, int64_t *whose,
                              dp_error *err)
{
    dpi_query q = dpi_query_new(
        ledger, "WITH known AS (SELECT data, 0 AS change, name, hash FROM data_column"
                " UNION ALL SELECT data, change, name, hash FROM former WHERE name IS NOT NULL)"
                " SELECT o.data FROM data_column n JOIN known o"
                " ON o.name = n.name AND o.hash = n.hash AND o.data <> n.data WHERE n.data = ?"
                " AND (? OR o.change = 0)"
                " GROUP BY o.data, o.change HAVING count(*) IN ((SELECT count(*) FROM known k WHERE"
                " k.data = o.data AND k.change = o.change),"
                " (SELECT count(*) FROM data_column WHERE data = ?))");
    dpi_bind_number(&q, data);
    dpi_bind_number(&q, before);
    dpi_bind_number(&q, data);
    *whose = dpi_query_row(&q) ? dpi_row_number(&q, 0) : 0;
    return dpi_query_end(&q, err);
}

static dp_status refuse(dp_ledger *ledger, int64_t whose, bool columns, dp_error *err)
{
    char name[DPI_MOST_NAME + 1];
    dpi_query q = dpi_query_new(ledger, "SELECT name FROM data WHERE id = ?");
    dpi_bind_number(&q, whose);
    const char *text = dpi_query_row(&q) ? dpi_row_text(&q, 0) : NULL;
    (void)snprintf(name, sizeof name, "%s", text != NULL ? text : "");
    dp_status status = dpi_query_end(&q, err);
    if (status != DP_OK)
        return status;
    return dpi_fail(err, DP_ENAME,
                    columns ? "columns of these data are, or were before an update, the ledger's "
                              "data set '%.100s'; use that name, and dp_ledger_update_data for "
                              "further columns of the same people"
                            : "these data were in the ledger before an update, as '%.100s', which "
                              "has their budget; use that name, or, if these are other people, "
                              "overlap_allowed (--overlap-allowed)",
                    name);
}

dp_status dpi_known_check(dp_ledger *ledger, const dpi_data *data, bool overlap_allowed,
                          dp_error *err)
{
    int64_t whose;
    dp_status status =
        read_rows(ledger, data->id, overlap_allowed ? NULL : data->hash, &whose, err);
    if (status == DP_OK && whose != 0)
        return refuse(ledger, whose, false, err);
    if (status == DP_OK)
        status = find_columns(ledger, data->id, !overlap_allowed, &whose, err);
    return status == DP_OK && whose != 0 ? refuse(ledger, whose, true, err) : status;
}

dp_status dpi_known_survey(dp_ledger *ledger, dp_error *err)
{
    int64_t whose;
    return read_rows(ledger, 0, NULL, &whose, err);
}
