/* Reading and writing whole data sets and entries.  Entries are few (runs, not steps), so all of a
 * data set's are read for every decision; their seals are checked each time. */
#include "ledger/contents.h"

#include <string.h>

#include "base/error.h"
#include "ledger/rows.h"

/* Where faulty rows go. */
typedef struct contents_reader {
    dp_ledger *ledger;
    dpi_contents *contents;
    FILE *out;      /* nullable */
    size_t *faults; /* NULL: a fault ends the reading */
    dp_error *err;
} contents_reader;

static dp_status fault(contents_reader *r, const char *kind, long long id)
{
    if (r->faults == NULL)
        return dpi_fail(r->err, DP_EDATA,
                        "%s %lld of the ledger is not as it was written; tacit ledger check says "
                        "more; put back an intact copy",
                        kind, id);
    (*r->faults)++;
    if (r->out != NULL)
        (void)fprintf(r->out, "%s %lld is not as it was written\n", kind, id);
    return DP_OK;
}

static dp_status read_parts(contents_reader *r, dpi_entry *entry, bool *good)
{
    char sql[320];
    bool nomem = false;
    void *parts = NULL;
    size_t capacity = 0;
    (void)snprintf(sql, sizeof sql, "SELECT %s FROM mechanism WHERE entry = ? ORDER BY place",
                   dpi_part_columns);
    dpi_query q = dpi_query_new(r->ledger, sql);
    dpi_bind_number(&q, (int64_t)entry->id);
    while (!nomem && *good && dpi_query_row(&q)) {
        *good = entry->n < DPI_MOST_LIST && dpi_row_number(&q, 0) == (int64_t)entry->n;
        nomem = !dpi_arena_grow(&r->contents->arena, &parts, &capacity, entry->n + 1,
                                sizeof *entry->parts);
        entry->parts = parts;
        if (*good && !nomem)
            *good = dpi_entry_part_row(&q, &r->contents->arena, &entry->parts[entry->n++], &nomem);
    }
    dp_status status = dpi_query_end(&q, r->err);
    *good = *good && entry->n > 0;
    return status == DP_OK && nomem ? dpi_fail_nomem(r->err) : status;
}

static dp_status read_entries(contents_reader *r, dpi_data *data)
{
    char sql[320];
    dp_status status = DP_OK;
    bool nomem = false;
    (void)snprintf(sql, sizeof sql, "SELECT %s FROM entry WHERE data = ? ORDER BY id",
                   dpi_entry_columns);
    dpi_query q = dpi_query_new(r->ledger, sql);
    dpi_bind_number(&q, data->id);
    while (status == DP_OK && !nomem && dpi_query_row(&q)) {
        unsigned char seal[DPI_HASH], written[DPI_HASH];
        dpi_entry entry;
        bool good = dpi_entry_row(&q, &r->contents->arena, &entry, &nomem);
        good = dpi_row_bytes(&q, 9, written, sizeof written) && good;
        r->contents->n_entries++;
        if (!nomem && good)
            status = read_parts(r, &entry, &good);
        if (status != DP_OK || nomem)
            break;
        dpi_entry_seal(r->ledger, &entry, seal);
        if (!good || memcmp(seal, written, sizeof seal) != 0) {
            status = fault(r, "entry", (long long)entry.id);
            continue;
        }
        nomem = !dpi_arena_grow(&r->contents->arena, (void **)&data->entries, &data->capacity,
                                data->n + 1, sizeof entry);
        if (!nomem)
            data->entries[data->n++] = entry;
    }
    dp_status ended = dpi_query_end(&q, r->err);
    status = status != DP_OK ? status : ended;
    return status == DP_OK && nomem ? dpi_fail_nomem(r->err) : status;
}

static dp_status read_data(contents_reader *r, const char *name)
{
    char sql[320];
    dp_status status = DP_OK;
    bool nomem = false;
    dpi_contents *c = r->contents;
    (void)snprintf(sql, sizeof sql, "SELECT %s FROM data%s ORDER BY id", dpi_data_columns,
                   name != NULL ? " WHERE name = ?" : "");
    dpi_query q = dpi_query_new(r->ledger, sql);
    if (name != NULL)
        dpi_bind_text(&q, name);
    while (status == DP_OK && !nomem && dpi_query_row(&q)) {
        unsigned char seal[DPI_HASH], written[DPI_HASH];
        dpi_data data;
        bool good = dpi_data_row(&q, &c->arena, &data, &nomem);
        good = dpi_row_bytes(&q, 11, written, sizeof written) && good;
        dpi_data_seal(r->ledger, &data, seal);
        if (!nomem && (!good || memcmp(seal, written, sizeof seal) != 0)) {
            status = fault(r, "data set", (long long)data.id);
            continue;
        }
        nomem = nomem ||
                !dpi_arena_grow(&c->arena, (void **)&c->data, &c->capacity, c->n + 1, sizeof data);
        if (nomem)
            break;
        status = read_entries(r, &data);
        c->data[c->n++] = data;
    }
    dp_status ended = dpi_query_end(&q, r->err);
    status = status != DP_OK ? status : ended;
    return status == DP_OK && nomem ? dpi_fail_nomem(r->err) : status;
}

dp_status dpi_contents_count(dp_ledger *ledger, const char *table, dp_error *err)
{
    char sql[200];
    long long count = 0, most = 0;
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*), max(coalesce(max(id), 0), coalesce((SELECT max(seq) FROM "
                   "sqlite_sequence WHERE name = '%s'), 0)) FROM %s",
                   table, table);
    dpi_query q = dpi_query_new(ledger, sql);
    if (dpi_query_row(&q)) {
        count = dpi_row_number(&q, 0);
        most = dpi_row_number(&q, 1);
    }
    dp_status status = dpi_query_end(&q, err);
    if (status != DP_OK || count == most)
        return status;
    return dpi_fail(
        err, DP_EDATA,
        "rows of table '%s' are missing: %lld were written and %lld are there; what they "
        "spent is spent; put back an intact copy",
        table, most, count);
}

dp_status dpi_contents_read(dp_ledger *ledger, const char *name, dpi_contents *contents,
                            dp_error *err)
{
    *contents = (dpi_contents){.n = 0};
    contents_reader r = {.ledger = ledger, .contents = contents, .err = err};
    dp_status status = dpi_contents_count(ledger, "data", err);
    if (status == DP_OK)
        status = dpi_contents_count(ledger, "entry", err);
    if (status == DP_OK)
        status = read_data(&r, name);
    if (status == DP_OK && name != NULL && contents->n == 0)
        status = dpi_fail(err, DP_ENAME,
                          "the ledger has no data set '%.100s'; tacit ledger show lists them, "
                          "dp_ledger_add_data adds one",
                          name);
    return status;
}

dp_status dpi_contents_find(dp_ledger *ledger, uint64_t id, dpi_contents *present, dpi_data **data,
                            dpi_entry **entry, dp_error *err)
{
    dp_status status = dpi_contents_read(ledger, NULL, present, err);
    for (size_t i = 0; status == DP_OK && i < present->n; i++)
        for (size_t k = 0; k < present->data[i].n; k++)
            if (present->data[i].entries[k].id == id) {
                *data = &present->data[i];
                *entry = &present->data[i].entries[k];
                return DP_OK;
            }
    return status != DP_OK
               ? status
               : dpi_fail(
                     err, DP_EDATA,
                     "the ledger has no entry %llu; an older copy was put back, take the newest",
                     (unsigned long long)id);
}

dp_status dpi_contents_survey(dp_ledger *ledger, dpi_contents *contents, FILE *out, size_t *faults,
                              dp_error *err)
{
    *contents = (dpi_contents){.n = 0};
    contents_reader r = {
        .ledger = ledger, .contents = contents, .out = out, .faults = faults, .err = err};
    return read_data(&r, NULL);
}

void dpi_contents_free(dpi_contents *contents)
{
    dpi_arena_free(&contents->arena);
    *contents = (dpi_contents){.n = 0};
}

/* ---- writing ---- */

dp_status dpi_data_insert(dp_ledger *ledger, dpi_data *data, dp_error *err)
{
    /* The id is in the seal, so the row is written first and sealed after. */
    char epsilon[DPI_REAL_TEXT], delta[DPI_REAL_TEXT];
    dpi_real_text(data->budget.epsilon, epsilon);
    dpi_real_text(data->budget.delta, delta);
    dpi_query q = dpi_query_new(
        ledger, "INSERT INTO data (name, path, hash, epsilon, delta, adjacency, unit, added,"
                " updated, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, zeroblob(32))");
    dpi_bind_text(&q, data->name);
    dpi_bind_text(&q, data->path);
    dpi_bind_bytes(&q, data->hash, sizeof data->hash);
    dpi_bind_text(&q, epsilon);
    dpi_bind_text(&q, delta);
    dpi_bind_number(&q, data->budget.adjacency);
    dpi_bind_text(&q, data->budget.unit);
    dpi_bind_number(&q, data->added);
    dp_status status = dpi_query_run(&q, err);
    data->id = sqlite3_last_insert_rowid(ledger->db);
    return status != DP_OK ? status : dpi_data_update(ledger, data, err);
}

dp_status dpi_data_update(dp_ledger *ledger, const dpi_data *data, dp_error *err)
{
    unsigned char seal[DPI_HASH];
    dpi_data_seal(ledger, data, seal);
    dpi_query q = dpi_query_new(
        ledger,
        "UPDATE data SET path = ?, hash = ?, updated = ?, overlap = ?, seal = ? WHERE id = ?");
    dpi_bind_text(&q, data->path);
    dpi_bind_bytes(&q, data->hash, sizeof data->hash);
    dpi_bind_number(&q, data->updated);
    dpi_bind_number(&q, data->overlap_allowed);
    dpi_bind_bytes(&q, seal, sizeof seal);
    dpi_bind_number(&q, data->id);
    return dpi_query_run(&q, err);
}

static void list_text(const double *values, size_t n, char text[16 * DPI_MOST_JUMPS + 1])
{
    text[0] = 0;
    for (size_t i = 0; i < n; i++)
        dpi_real_text(values[i], text + 16 * i);
}

static dp_status insert_part(dp_ledger *ledger, uint64_t entry, size_t place,
                             const dpi_entry_part *part, dp_error *err)
{
    const dp_mechanism *m = &part->mechanism;
    char sigma[DPI_REAL_TEXT], rate[DPI_REAL_TEXT], jumps[16 * DPI_MOST_JUMPS + 1],
        chances[16 * DPI_MOST_JUMPS + 1];
    dpi_real_text(m->sigma, sigma);
    dpi_real_text(m->rate, rate);
    list_text(m->jumps, m->n_jumps, jumps);
    list_text(m->chances, m->n_jumps, chances);
    dpi_query q = dpi_query_new(
        ledger, "INSERT INTO mechanism VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    dpi_bind_number(&q, (int64_t)entry);
    dpi_bind_number(&q, (int64_t)place);
    dpi_bind_number(&q, m->sampling);
    dpi_bind_number(&q, m->noise);
    dpi_bind_number(&q, m->adjacency);
    dpi_bind_text(&q, sigma);
    dpi_bind_text(&q, rate);
    dpi_bind_number(&q, (int64_t)m->epoch);
    dpi_bind_number(&q, (int64_t)m->records);
    dpi_bind_number(&q, (int64_t)m->cap);
    dpi_bind_number(&q, m->rows);
    dpi_bind_number(&q, m->categories);
    dpi_bind_text(&q, jumps);
    dpi_bind_text(&q, chances);
    dpi_bind_number(&q, (int64_t)part->planned);
    dpi_bind_number(&q, (int64_t)m->steps);
    dpi_bind_number(&q, (int64_t)part->begun);
    return dpi_query_run(&q, err);
}

dp_status dpi_entry_insert(dp_ledger *ledger, dpi_entry *entry, dp_error *err)
{
    dpi_query q = dpi_query_new(
        ledger, "INSERT INTO entry (data, made, settled, label, columns, model, print, owner, seal)"
                " VALUES (?, ?, 0, ?, ?, ?, ?, ?, zeroblob(32))");
    dpi_bind_number(&q, entry->data);
    dpi_bind_number(&q, entry->made);
    dpi_bind_text(&q, entry->label);
    dpi_bind_text(&q, entry->columns);
    dpi_bind_text(&q, entry->model);
    dpi_bind_bytes(&q, entry->print, sizeof entry->print);
    dpi_bind_bytes(&q, entry->owner, sizeof entry->owner);
    dp_status status = dpi_query_run(&q, err);
    entry->id = (uint64_t)sqlite3_last_insert_rowid(ledger->db);
    for (size_t i = 0; status == DP_OK && i < entry->n; i++)
        status = insert_part(ledger, entry->id, i, &entry->parts[i], err);
    return status != DP_OK ? status : dpi_entry_update(ledger, entry, err);
}

dp_status dpi_entry_update(dp_ledger *ledger, const dpi_entry *entry, dp_error *err)
{
    unsigned char seal[DPI_HASH];
    dpi_entry_seal(ledger, entry, seal);
    dpi_query q = dpi_query_new(
        ledger, "UPDATE entry SET made = ?, settled = ?, owner = ?, seal = ? WHERE id = ?");
    dpi_bind_number(&q, entry->made);
    dpi_bind_number(&q, entry->settled);
    dpi_bind_bytes(&q, entry->owner, sizeof entry->owner);
    dpi_bind_bytes(&q, seal, sizeof seal);
    dpi_bind_number(&q, (int64_t)entry->id);
    dp_status status = dpi_query_run(&q, err);
    for (size_t i = 0; status == DP_OK && i < entry->n; i++) {
        q = dpi_query_new(ledger, "UPDATE mechanism SET reserved = ?, begun = ? WHERE entry = ? AND"
                                  " place = ?");
        dpi_bind_number(&q, (int64_t)entry->parts[i].mechanism.steps);
        dpi_bind_number(&q, (int64_t)entry->parts[i].begun);
        dpi_bind_number(&q, (int64_t)entry->id);
        dpi_bind_number(&q, (int64_t)i);
        status = dpi_query_run(&q, err);
    }
    return status;
}
