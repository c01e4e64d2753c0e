/* Tables from a query on an SQLite database.
 *
 * What is read is what the bytes of the file say, so that a ledger that knows the file knows the
 * records: the file is opened as one that nobody writes (immutable), which ignores locks and
 * journals, and is refused where a journal stands beside it or where it has changed meanwhile.
 *
 * The query is the holder's, the file may be anybody's: one statement that only reads, an
 * authorizer that lets nothing else be prepared, no extensions, a schema that is not trusted with
 * functions, and no temporary files, which would be copies of private records.  SQLite's messages
 * are told of queries that cannot be prepared alone: what it says while it runs may quote a
 * record. */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <tacit/table.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/file.h"
#include "data/schema.h"

enum { INTEGER_TEXT = 24 };

typedef struct sqlite_reading {
    const char *path, *name; /* of the file; for messages */
    struct stat before;
    sqlite3 *db;
    sqlite3_stmt *query;
    dpi_arena arena;
    const dp_column *schema;
    size_t n_columns;
    int *where;                 /* [n_columns] */
    char (*text)[INTEGER_TEXT]; /* [n_columns] */
    dp_cell *cells;             /* [n_columns] */
} sqlite_reading;

static dp_status refuse(const sqlite_reading *r, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EDATA, "%s: %s", r->name, what);
}

/* ---- the file ---- */

/* Whether a file stands beside that holds what the database does not yet. */
static bool is_being_written(const sqlite_reading *r)
{
    static const char *const ends[] = {"-wal", "-journal"};
    char beside[PATH_MAX];
    struct stat about;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const int n = snprintf(beside, sizeof beside, "%s%s", r->path, ends[i]);
        if (n < 0 || (size_t)n >= sizeof beside || (stat(beside, &about) == 0 && about.st_size > 0))
            return true;
    }
    return false;
}

static dp_status check_still(const sqlite_reading *r, dp_error *err)
{
    struct stat now;
    if (is_being_written(r))
        return refuse(r,
                      "a journal stands beside it: changes are not all in the file; close what has "
                      "it open, or copy it: sqlite3 FILE '.backup COPY'",
                      err);
    if (stat(r->path, &now) != 0 || now.st_ino != r->before.st_ino ||
        now.st_size != r->before.st_size || now.st_mtim.tv_sec != r->before.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != r->before.st_mtim.tv_nsec)
        return refuse(r, "it has changed while it was read; read it when nobody writes it", err);
    return DP_OK;
}

/* The path as a URI; NULL when memory is out. */
static const char *uri_of(sqlite_reading *r)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char begin[] = "file:", end[] = "?mode=ro&immutable=1";
    char *uri = dpi_arena_alloc(&r->arena, 3 * strlen(r->path) + sizeof begin + sizeof end, 1);
    if (uri == NULL)
        return NULL;
    memcpy(uri, begin, sizeof begin - 1);
    char *to = uri + sizeof begin - 1;
    for (const unsigned char *p = (const unsigned char *)r->path; *p != 0; p++)
        if (*p < 128 && (isalnum(*p) || strchr("/._-", *p) != NULL))
            *to++ = (char)*p;
        else {
            *to++ = '%';
            *to++ = digits[*p / 16];
            *to++ = digits[*p % 16];
        }
    memcpy(to, end, sizeof end);
    return uri;
}

/* Lets nothing be prepared but reading. */
static int authorize(void *user, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    (void)user, (void)a, (void)c, (void)d;
    if (action == SQLITE_FUNCTION && b != NULL && strcmp(b, "load_extension") == 0)
        return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static dp_status open_file(sqlite_reading *r, size_t max_bytes, dp_error *err)
{
    if (stat(r->path, &r->before) != 0 || !S_ISREG(r->before.st_mode))
        return dpi_fail(err, DP_EIO, "cannot open %s; check the path and your right to read it",
                        r->name);
    if ((uintmax_t)r->before.st_size > max_bytes)
        return dpi_fail(err, DP_EDATA, "%s is larger than %zu bytes; raise max_bytes", r->name,
                        max_bytes);
    dp_status status = check_still(r, err);
    const char *uri = status == DP_OK ? uri_of(r) : NULL;
    if (status != DP_OK)
        return status;
    if (uri == NULL)
        return dpi_fail_nomem(err);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(uri, &r->db, flags, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(r->db, "PRAGMA temp_store = memory; PRAGMA cell_size_check = on", NULL,
                            NULL, NULL);
    if (code == SQLITE_NOMEM)
        return dpi_fail_nomem(err);
    if (code != SQLITE_OK)
        return dpi_fail(err, DP_EIO, "%s cannot be opened as an SQLite database (%s)", r->name,
                        sqlite3_errstr(code));
    (void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_set_authorizer(r->db, authorize, NULL);
    return DP_OK;
}

/* ---- the query ---- */

static dp_status prepare(sqlite_reading *r, const char *query, dp_error *err)
{
    const char *rest;
    sqlite3_stmt *second = NULL;
    int code = sqlite3_prepare_v2(r->db, query, -1, &r->query, &rest);
    if (code == SQLITE_NOMEM)
        return dpi_fail_nomem(err);
    if (code == SQLITE_AUTH)
        return refuse(r, "the query does more than read its tables; give one SELECT", err);
    if (code != SQLITE_OK)
        return dpi_fail(err, DP_EDATA, "%s: the query cannot be prepared: %.120s", r->name,
                        sqlite3_errmsg(r->db));
    code = sqlite3_prepare_v2(r->db, rest, -1, &second, NULL);
    (void)sqlite3_finalize(second);
    if (code == SQLITE_NOMEM)
        return dpi_fail_nomem(err);
    if (r->query == NULL || code != SQLITE_OK || second != NULL ||
        sqlite3_column_count(r->query) == 0 || !sqlite3_stmt_readonly(r->query))
        return refuse(r, "the query is not one statement that reads; give one SELECT", err);
    return DP_OK;
}

static dp_status find_columns(sqlite_reading *r, dp_error *err)
{
    const int n = sqlite3_column_count(r->query);
    r->where = dpi_arena_alloc(&r->arena, r->n_columns, sizeof *r->where);
    r->text = dpi_arena_alloc(&r->arena, r->n_columns, sizeof *r->text);
    r->cells = dpi_arena_alloc(&r->arena, r->n_columns, sizeof *r->cells);
    if (r->where == NULL || r->text == NULL || r->cells == NULL)
        return dpi_fail_nomem(err);
    for (size_t j = 0; j < r->n_columns; j++) {
        const char *name = r->schema[j].name;
        int found = 0;
        for (int i = 0; i < n; i++) {
            const char *has = sqlite3_column_name(r->query, i);
            if (has == NULL)
                return dpi_fail_nomem(err);
            if (strcmp(has, name) == 0) {
                r->where[j] = i;
                found++;
            }
        }
        if (found != 1)
            return dpi_fail(err, DP_ENAME,
                            "%s: the query gives %s column '%s' among its %d; name one so: "
                            "SELECT ... AS \"%s\"",
                            r->name, found == 0 ? "no" : "more than one", name, n, name);
    }
    return DP_OK;
}

/* ---- records ---- */

static dp_status read_cell(sqlite_reading *r, size_t j, size_t record, dp_error *err)
{
    const int i = r->where[j];
    dp_cell *cell = &r->cells[j];
    *cell = (dp_cell){.number = NAN};
    switch (sqlite3_column_type(r->query, i)) {
    case SQLITE_NULL:
        return DP_OK;
    case SQLITE_FLOAT:
        cell->number = sqlite3_column_double(r->query, i);
        return DP_OK;
    case SQLITE_INTEGER: {
        const sqlite3_int64 whole = sqlite3_column_int64(r->query, i),
                            most = (sqlite3_int64)1 << 53;
        cell->number = (double)whole;
        if (whole >= -most && whole <= most)
            return DP_OK;
        (void)snprintf(r->text[j], INTEGER_TEXT, "%lld", (long long)whole); /* all its digits */
        cell->text = r->text[j];
        return DP_OK;
    }
    case SQLITE_TEXT:
        cell->text = (const char *)sqlite3_column_text(r->query, i);
        if (cell->text == NULL)
            return dpi_fail_nomem(err);
        if (strlen(cell->text) == (size_t)sqlite3_column_bytes(r->query, i))
            return DP_OK;
        break;
    default:
        break;
    }
    return dpi_fail(
        err, DP_EDATA,
        "%s, record %zu, column '%s': the value is bytes and no text or number; CAST it "
        "in the query, or leave the column out",
        r->name, record, r->schema[j].name);
}

static dp_status add_records(sqlite_reading *r, dp_table_builder *b, dp_error *err)
{
    for (size_t record = 1;; record++) {
        const int code = sqlite3_step(r->query);
        if (code == SQLITE_DONE)
            return DP_OK;
        if (code == SQLITE_NOMEM)
            return dpi_fail_nomem(err);
        if (code != SQLITE_ROW)
            return dpi_fail(err, DP_EDATA, "%s: the query fails at record %zu (%s)", r->name,
                            record, sqlite3_errstr(code));
        dp_status status = DP_OK;
        for (size_t j = 0; j < r->n_columns && status == DP_OK; j++)
            status = read_cell(r, j, record, err);
        if (status == DP_OK)
            status = dp_table_builder_add(b, r->cells, err);
        if (status != DP_OK)
            return status;
    }
}

static dp_status read_query(sqlite_reading *r, const char *query, const dp_csv_options *options,
                            dp_table **table, dp_error *err)
{
    dp_table_builder *b = NULL;
    dp_csv_options filled;
    dp_status status = dpi_csv_options_fill(options, &filled, err);
    if (status == DP_OK)
        status = dp_table_builder_new(r->name, options, r->n_columns, r->schema, &b, err);
    if (status == DP_OK)
        status = open_file(r, filled.max_bytes, err);
    if (status == DP_OK)
        status = prepare(r, query, err);
    if (status == DP_OK)
        status = find_columns(r, err);
    if (status == DP_OK)
        status = add_records(r, b, err);
    if (status == DP_OK)
        status = check_still(r, err);
    if (status == DP_OK)
        status = dp_table_builder_finish(b, table, err);
    dp_table_builder_free(b);
    return status;
}

dp_status dp_table_read_sqlite(const char *path, const char *query, const dp_csv_options *options,
                               size_t n_columns, const dp_column *columns, dp_table **table,
                               dp_error *err)
{
    if (path == NULL || query == NULL || table == NULL)
        dpi_misuse(__func__, "NULL path, query or table");
    sqlite_reading r = {
        .path = path, .name = dpi_path_end(path), .schema = columns, .n_columns = n_columns};
    *table = NULL;
    dp_status status = read_query(&r, query, options, table, err);
    (void)sqlite3_finalize(r.query);
    (void)sqlite3_close(r.db);
    dpi_arena_free(&r.arena);
    return status;
}
