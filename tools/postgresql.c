/* A query's answer, row by row, so that memory holds the columns alone.
 *
 * Messages tell nothing of the URL, which may hold a password, and of what the server says only
 * what it finds in the query itself: SQLSTATE class 42 while the query is prepared, when no record
 * has been read.  What it says later may quote a value, in that class, too ("relation ... does not
 * exist", of a name that is cast to regclass), and so may its notices, which are not shown. */
#include "tools/postgresql.h"

#ifdef HAVE_LIBPQ
#include <libpq-fe.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/options.h"

typedef struct server_rows {
    PGconn *server;
    const dp_column *columns;
    size_t n_columns;
    int *where; /* [n_columns], once there is a row */
    dp_cell *cells;
    dp_table_builder *builder;
    dp_error *err;
} server_rows;

TOOLS_PRINTF(3, 4)
static dp_status refuse(dp_error *err, dp_status status, const char *form, ...)
{
    va_list list;
    va_start(list, form);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, form, list);
    va_end(list);
    return status;
}

/* ---- the connection ---- */

static dp_status run(server_rows *a, const char *command)
{
    PGresult *r = PQexec(a->server, command);
    const bool good = PQresultStatus(r) == PGRES_COMMAND_OK;
    PQclear(r);
    return good ? DP_OK
                : refuse(a->err, DP_EIO, "the PostgreSQL server of --data does not take '%s'",
                         command);
}

static void ignore(void *user, const PGresult *notice)
{
    (void)user, (void)notice;
}

static dp_status connect_to(server_rows *a, const char *url)
{
    PQconninfoOption *parts = PQconninfoParse(url, NULL);
    if (parts == NULL)
        return refuse(a->err, DP_EINVAL,
                      "--data is no URL of a PostgreSQL database; write one as "
                      "postgresql://USER@HOST/DATABASE");
    PQconninfoFree(parts);
    a->server = PQconnectdb(url);
    if (a->server == NULL)
        return DP_ENOMEM;
    if (PQstatus(a->server) != CONNECTION_OK)
        return refuse(
            a->err, DP_EIO, "no connection to the PostgreSQL server of --data; %s",
            PQconnectionNeedsPassword(a->server)
                ? "it wants a password: put it into ~/.pgpass"
                : "it does not answer, or does not let you in: try psql with the same URL");
    (void)PQsetNoticeReceiver(a->server, ignore, NULL);
    if (PQsetClientEncoding(a->server, "UTF8") != 0)
        return refuse(a->err, DP_EIO, "the PostgreSQL server of --data has no UTF-8");
    dp_status status = run(a, "SET extra_float_digits = 3");
    return status == DP_OK ? run(a, "BEGIN TRANSACTION READ ONLY") : status;
}

/* ---- rows ---- */

static dp_status find_columns(server_rows *a, const PGresult *r)
{
    const int n = PQnfields(r);
    for (size_t j = 0; j < a->n_columns; j++) {
        const char *name = a->columns[j].name;
        int found = 0;
        for (int i = 0; i < n; i++)
            if (strcmp(PQfname(r, i), name) == 0) {
                a->where[j] = i;
                found++;
            }
        if (found != 1)
            return refuse(a->err, DP_ENAME,
                          "the query gives %s column '%.60s' among its %d; name one so: "
                          "SELECT ... AS \"%.60s\"",
                          found == 0 ? "no" : "more than one", name, n, name);
    }
    return DP_OK;
}

static dp_status add_row(server_rows *a, const PGresult *r)
{
    for (size_t j = 0; j < a->n_columns; j++) {
        const int i = a->where[j];
        a->cells[j] =
            (dp_cell){.text = PQgetisnull(r, 0, i) ? NULL : PQgetvalue(r, 0, i), .number = NAN};
    }
    return dp_table_builder_add(a->builder, a->cells, a->err);
}

/* `prepared`: the server may have read records. */
static dp_status fault(server_rows *a, const PGresult *r, bool prepared)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *says = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    if (state == NULL)
        return refuse(a->err, DP_EIO, "the connection to the PostgreSQL server of --data broke");
    if (!prepared && strncmp(state, "42", 2) == 0 && says != NULL)
        return refuse(a->err, DP_EDATA, "the PostgreSQL server refuses the query: %.160s", says);
    if (strcmp(state, "25006") == 0)
        return refuse(a->err, DP_EDATA,
                      "the query does more than read its tables; give one SELECT");
    return refuse(
        a->err, DP_EDATA,
        "the PostgreSQL server ends the query with SQLSTATE %.5s; see what it says in psql", state);
}

/* What follows a fault is taken from the connection by who closes it. */
static dp_status add_rows(server_rows *a)
{
    dp_status status = DP_OK;
    bool found = false, ended = false;
    for (PGresult *r; status == DP_OK && (r = PQgetResult(a->server)) != NULL; PQclear(r)) {
        const ExecStatusType what = PQresultStatus(r);
        const bool rows = what == PGRES_SINGLE_TUPLE || what == PGRES_TUPLES_OK;
        if (!rows)
            status = what == PGRES_FATAL_ERROR
                         ? fault(a, r, true)
                         : refuse(a->err, DP_EDATA, "the query gives no rows; give one SELECT");
        if (rows && !found)
            status = find_columns(a, r);
        found = found || rows;
        if (status == DP_OK && what == PGRES_SINGLE_TUPLE)
            status = add_row(a, r);
        ended = ended || what == PGRES_TUPLES_OK;
    }
    return status == DP_OK && !ended
               ? refuse(a->err, DP_EIO, "the connection to the PostgreSQL server of --data broke")
               : status;
}

/* It is one statement only: the server prepares no more. */
static dp_status prepare(server_rows *a, const char *query)
{
    PGresult *r = PQprepare(a->server, "", query, 0, NULL);
    const bool good = PQresultStatus(r) == PGRES_COMMAND_OK;
    dp_status status = good ? DP_OK : fault(a, r, false);
    PQclear(r);
    return status;
}

static dp_status read_answer(server_rows *a, const char *url, const char *query)
{
    a->where = calloc(a->n_columns, sizeof *a->where);
    a->cells = calloc(a->n_columns, sizeof *a->cells);
    if (a->where == NULL || a->cells == NULL)
        return DP_ENOMEM;
    dp_status status = connect_to(a, url);
    if (status == DP_OK)
        status = prepare(a, query);
    if (status != DP_OK)
        return status;
    if (PQsendQueryPrepared(a->server, "", 0, NULL, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(a->server) != 1)
        return refuse(a->err, DP_EIO, "the connection to the PostgreSQL server of --data broke");
    return add_rows(a);
}

dp_status postgresql_read(const char *url, const char *query, const dp_csv_options *options,
                          size_t n_columns, const dp_column *columns, dp_table **table,
                          dp_error *err)
{
    server_rows a = {.columns = columns, .n_columns = n_columns, .err = err};
    *table = NULL;
    dp_status status =
        dp_table_builder_new("the query", options, n_columns, columns, &a.builder, err);
    if (status == DP_OK)
        status = read_answer(&a, url, query);
    if (status == DP_OK)
        status = dp_table_builder_finish(a.builder, table, err);
    dp_table_builder_free(a.builder);
    PQfinish(a.server);
    free(a.where);
    free(a.cells);
    return status;
}
#else
#include <stdio.h>

dp_status postgresql_read(const char *url, const char *query, const dp_csv_options *options,
                          size_t n_columns, const dp_column *columns, dp_table **table,
                          dp_error *err)
{
    (void)url, (void)query, (void)options, (void)n_columns, (void)columns;
    *table = NULL;
    err->status = DP_EUNSUPPORTED;
    (void)snprintf(err->text, sizeof err->text,
                   "this tacit is built without PostgreSQL; install libpq-dev and configure again, "
                   "or write the table with psql: \\copy (SELECT ...) TO 'new.csv' CSV HEADER");
    return err->status;
}
#endif
