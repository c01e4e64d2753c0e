/* The file of a ledger.
 *
 * journal_mode DELETE and synchronous EXTRA: when COMMIT returns, the file is synced and the
 * journal's deletion too (doc/design/ledger.md).  The schema is trusted with nothing: a hostile
 * file can hold triggers and views, so their functions are off (trusted_schema) and writes to the
 * schema refused (defensive); what is read is checked by those who read it. */
#define _POSIX_C_SOURCE 200809L
#include "ledger/store.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "random/entropy.h"

enum { BUSY_MS = 60000, FIRST_FORMAT = 1, FORMAT = 4, APPLICATION = 0x54414354 /* "TACT" */ };

/* Of format 2: sketches; of format 3: what was before updates; of format 4: the column `overlap` of
 * data. */
static const char later_tables[] =
    "PRAGMA user_version = 4;"
    "CREATE TABLE IF NOT EXISTS sketch (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " data INTEGER NOT NULL REFERENCES data, bytes BLOB NOT NULL, seal BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS former (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " data INTEGER NOT NULL REFERENCES data, change INTEGER NOT NULL, name TEXT,"
    " hash BLOB NOT NULL, seal BLOB NOT NULL);";

static const char schema[] =
    "PRAGMA application_id = 1413563220;"
    "CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), identity BLOB NOT NULL,"
    " key BLOB NOT NULL, made INTEGER NOT NULL);"
    "CREATE TABLE data (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, path TEXT,"
    " hash BLOB NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, adjacency INTEGER NOT NULL,"
    " unit TEXT, added INTEGER NOT NULL, updated INTEGER NOT NULL, seal BLOB NOT NULL,"
    " overlap INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE data_column (data INTEGER NOT NULL REFERENCES data, place INTEGER NOT NULL,"
    " name TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (data, name));"
    "CREATE TABLE entry (id INTEGER PRIMARY KEY AUTOINCREMENT, data INTEGER NOT NULL REFERENCES "
    "data,"
    " made INTEGER NOT NULL, settled INTEGER NOT NULL, label TEXT, columns TEXT, model TEXT,"
    " print BLOB NOT NULL, owner BLOB NOT NULL, seal BLOB NOT NULL);"
    "CREATE TABLE mechanism (entry INTEGER NOT NULL REFERENCES entry, place INTEGER NOT NULL,"
    " sampling INTEGER NOT NULL, noise INTEGER NOT NULL, adjacency INTEGER NOT NULL,"
    " sigma TEXT NOT NULL, rate TEXT NOT NULL, epoch INTEGER NOT NULL, records INTEGER NOT NULL,"
    " cap INTEGER NOT NULL, unit_rows INTEGER NOT NULL, categories INTEGER NOT NULL,"
    " jumps TEXT NOT NULL, chances TEXT NOT NULL, planned INTEGER NOT NULL,"
    " reserved INTEGER NOT NULL, begun INTEGER NOT NULL, PRIMARY KEY (entry, place));";

dp_status dpi_store_fail(sqlite3 *db, int code, const char *doing, dp_error *err)
{
    const char *why = db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return dpi_fail_nomem(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return dpi_fail(err, DP_ESTATE,
                        "%s: another process has held the ledger for a minute; try again when it "
                        "is done",
                        doing);
    case SQLITE_NOTADB:
        return dpi_fail(err, DP_EDATA, "%s: this file is no ledger, or damaged; check the path",
                        doing);
    case SQLITE_CORRUPT:
        return dpi_fail(err, DP_EDATA,
                        "%s: the ledger is damaged (%.100s); keep it, and let tacit ledger check "
                        "say more",
                        doing, why);
    default:
        return dpi_fail(err, DP_EIO,
                        "%s: the ledger cannot be used (%.100s); check the path, your rights to "
                        "file and folder, and the room on the disk",
                        doing, why);
    }
}

/* ---- statements ---- */

dpi_query dpi_query_new(dp_ledger *ledger, const char *sql)
{
    dpi_query q = {.db = ledger->db};
    q.code = sqlite3_prepare_v2(q.db, sql, -1, &q.statement, NULL);
    return q;
}

void dpi_bind_number(dpi_query *q, int64_t value)
{
    q->bound++;
    if (q->code == SQLITE_OK)
        q->code = sqlite3_bind_int64(q->statement, q->bound, value);
}

void dpi_bind_text(dpi_query *q, const char *text)
{
    q->bound++;
    if (q->code == SQLITE_OK)
        q->code = sqlite3_bind_text(q->statement, q->bound, text, -1, SQLITE_STATIC);
}

void dpi_bind_bytes(dpi_query *q, const void *bytes, size_t n)
{
    q->bound++;
    if (q->code == SQLITE_OK)
        q->code = sqlite3_bind_blob64(q->statement, q->bound, bytes, n, SQLITE_STATIC);
}

bool dpi_query_row(dpi_query *q)
{
    if (q->code != SQLITE_OK)
        return false;
    int code = sqlite3_step(q->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        q->code = code;
    return code == SQLITE_ROW;
}

int64_t dpi_row_number(dpi_query *q, int column)
{
    return sqlite3_column_int64(q->statement, column);
}

const char *dpi_row_text(dpi_query *q, int column)
{
    const unsigned char *text = sqlite3_column_text(q->statement, column);
    if (text == NULL && sqlite3_column_type(q->statement, column) != SQLITE_NULL)
        q->code = SQLITE_NOMEM;
    return (const char *)text;
}

bool dpi_row_bytes(dpi_query *q, int column, void *out, size_t n)
{
    const void *bytes = sqlite3_column_blob(q->statement, column);
    if (bytes == NULL || (size_t)sqlite3_column_bytes(q->statement, column) != n) {
        memset(out, 0, n);
        return false;
    }
    memcpy(out, bytes, n);
    return true;
}

dp_status dpi_query_end(dpi_query *q, dp_error *err)
{
    dp_status status =
        q->code == SQLITE_OK ? DP_OK : dpi_store_fail(q->db, q->code, "using the ledger", err);
    (void)sqlite3_finalize(q->statement);
    q->statement = NULL;
    return status;
}

dp_status dpi_query_run(dpi_query *q, dp_error *err)
{
    (void)dpi_query_row(q);
    return dpi_query_end(q, err);
}

static dp_status run(dp_ledger *ledger, const char *sql, const char *doing, dp_error *err)
{
    int code = sqlite3_exec(ledger->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? DP_OK : dpi_store_fail(ledger->db, code, doing, err);
}

dp_status dpi_store_here(const dp_ledger *ledger, dp_error *err)
{
    if (dpi_fork_here(ledger->opener))
        return DP_OK;
    return dpi_fail(err, DP_ESTATE,
                    "the ledger was opened by the process that this one was forked from, and runs "
                    "that use it stay there; open it, and make runs, after the fork");
}

dp_status dpi_store_begin(dp_ledger *ledger, dp_error *err)
{
    dp_status status = dpi_store_here(ledger, err);
    return status == DP_OK ? run(ledger, "BEGIN IMMEDIATE", "locking the ledger", err) : status;
}

dp_status dpi_store_end(dp_ledger *ledger, dp_status status, dp_error *err)
{
    if (status == DP_OK)
        status = run(ledger, "COMMIT", "writing to the ledger", err);
    if (!sqlite3_get_autocommit(ledger->db))
        (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* ---- opening ---- */

static dp_status connect(const char *path, dp_ledger **out, dp_error *err)
{
    dp_ledger *ledger = dpi_alloc(1, sizeof *ledger);
    *out = ledger;
    if (ledger == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_fork_new(&ledger->opener, err);
    if (status != DP_OK)
        return status;
    /* A name of its own: SQLite gives a meaning to "", ":memory:" and "file:...". */
    char *name = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
    int code = name == NULL ? SQLITE_NOMEM
                            : sqlite3_open_v2(name, &ledger->db, SQLITE_OPEN_READWRITE, NULL);
    sqlite3_free(name);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(ledger->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    if (code != SQLITE_OK)
        return dpi_store_fail(ledger->db, code, "opening the ledger", err);
    return run(ledger,
               "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
               "PRAGMA foreign_keys = ON; PRAGMA journal_mode = DELETE;"
               "PRAGMA synchronous = EXTRA;",
               "opening the ledger", err);
}

static int64_t pragma(dp_ledger *ledger, const char *sql, dp_status *status, dp_error *err)
{
    dpi_query q = dpi_query_new(ledger, sql);
    int64_t value = dpi_query_row(&q) ? dpi_row_number(&q, 0) : -1;
    dp_status found = dpi_query_end(&q, err);
    *status = *status != DP_OK ? *status : found;
    return value;
}

/* Brings an older format up to date: data sets of format 1 are without sketches until they are
 * updated, and what was replaced by then, or allowed before format 4, is not known.  Another
 * process may have done so since the format was read. */
static dp_status renew(dp_ledger *ledger, dp_error *err)
{
    dp_status status = dpi_store_begin(ledger, err);
    if (status != DP_OK)
        return status;
    int64_t has =
        pragma(ledger, "SELECT count(*) FROM pragma_table_info('data') WHERE name = 'overlap'",
               &status, err);
    if (status == DP_OK && has == 0)
        status = run(ledger, "ALTER TABLE data ADD COLUMN overlap INTEGER NOT NULL DEFAULT 0",
                     "renewing the ledger", err);
    if (status == DP_OK)
        status = run(ledger, later_tables, "renewing the ledger", err);
    return dpi_store_end(ledger, status, err);
}

static dp_status read_identity(dp_ledger *ledger, dp_error *err)
{
    dp_status status = DP_OK;
    int64_t application = pragma(ledger, "PRAGMA application_id", &status, err);
    int64_t version = pragma(ledger, "PRAGMA user_version", &status, err);
    if (status == DP_OK && application != APPLICATION)
        return dpi_fail(err, DP_EDATA,
                        "this file is no ledger of Tacit; check the path (an empty one is left "
                        "when dp_ledger_create is killed: remove it and create the ledger again)");
    if (status == DP_OK && (version < FIRST_FORMAT || version > FORMAT))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "the ledger has format %lld and this library knows %d; use a newer Tacit",
                        (long long)version, FORMAT);
    if (status != DP_OK)
        return status;
    dpi_query q = dpi_query_new(ledger, "SELECT identity, key FROM ledger");
    bool good = dpi_query_row(&q) &&
                dpi_row_bytes(&q, 0, ledger->identity, sizeof ledger->identity) &&
                dpi_row_bytes(&q, 1, ledger->key, sizeof ledger->key);
    status = dpi_query_end(&q, err);
    if (status == DP_OK && !good)
        status = dpi_fail(err, DP_EDATA, "the ledger has lost its key; use an intact copy");
    return status == DP_OK && version < FORMAT ? renew(ledger, err) : status;
}

static dp_status write_identity(dp_ledger *ledger, dp_error *err)
{
    dp_status status = dpi_entropy(ledger->key, sizeof ledger->key, err);
    if (status == DP_OK)
        status = dpi_entropy(ledger->identity, sizeof ledger->identity, err);
    if (status == DP_OK)
        status = dpi_store_begin(ledger, err);
    if (status != DP_OK)
        return status;
    status = run(ledger, schema, "creating the ledger", err);
    if (status == DP_OK)
        status = run(ledger, later_tables, "creating the ledger", err);
    if (status == DP_OK) {
        dpi_query q = dpi_query_new(ledger, "INSERT INTO ledger VALUES (1, ?, ?, ?)");
        dpi_bind_bytes(&q, ledger->identity, sizeof ledger->identity);
        dpi_bind_bytes(&q, ledger->key, sizeof ledger->key);
        dpi_bind_number(&q, (int64_t)time(NULL));
        status = dpi_query_run(&q, err);
    }
    return dpi_store_end(ledger, status, err);
}

static dp_status finish(dp_ledger **ledger, dp_status status)
{
    if (status != DP_OK) {
        dp_ledger_close(*ledger);
        *ledger = NULL;
    }
    return status;
}

dp_status dp_ledger_create(const char *path, dp_ledger **ledger, dp_error *err)
{
    *ledger = NULL;
    dp_status status = dpi_sodium_start(err);
    if (status != DP_OK)
        return status;
    int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0)
        return dpi_fail(err, DP_EIO,
                        "cannot make the ledger %.160s: it exists already, or the folder cannot be "
                        "written to; open it, or take another path",
                        path);
    (void)close(file);
    status = connect(path, ledger, err);
    if (status == DP_OK)
        status = write_identity(*ledger, err);
    if (status != DP_OK)
        (void)unlink(path);
    return finish(ledger, status);
}

dp_status dp_ledger_open(const char *path, dp_ledger **ledger, dp_error *err)
{
    *ledger = NULL;
    dp_status status = dpi_sodium_start(err);
    if (status == DP_OK)
        status = connect(path, ledger, err);
    if (status == DP_OK)
        status = read_identity(*ledger, err);
    return finish(ledger, status);
}

void dp_ledger_close(dp_ledger *ledger)
{
    if (ledger == NULL)
        return;
    /* SQLite forbids a child to touch the connection. */
    if (ledger->opener != NULL && dpi_fork_here(ledger->opener))
        (void)sqlite3_close_v2(ledger->db);
    dpi_fork_free(ledger->opener);
    sodium_memzero(ledger, sizeof *ledger);
    dpi_free(ledger);
}
