/* The table object: columns by name, and the sticky error of its calls. */
#include "data/table.h"

#include <string.h>

#include "base/error.h"

void dp_table_free(dp_table *table)
{
    if (table == NULL)
        return;
    dpi_arena_free(&table->arena);
    dpi_free(table);
}

static const dp_table *there(const dp_table *table, const char *function)
{
    if (table == NULL)
        dpi_misuse(function, "NULL table");
    return table;
}

/* The column of that name, REAL or not as wanted; else NULL with the error set. */
static const dpi_table_column *column_of(dp_table *table, const char *name, bool real,
                                         const char *function)
{
    if (there(table, function)->error.status != DP_OK)
        return NULL;
    if (name == NULL)
        dpi_misuse(function, "NULL name");
    for (size_t j = 0; j < table->n_columns; j++) {
        const dpi_table_column *c = &table->columns[j];
        if (strcmp(c->name, name) == 0 && (c->kind == DP_COLUMN_REAL) == real)
            return c;
    }
    const char *remedy = "declare it";
    for (size_t j = 0; j < table->n_columns; j++)
        if (strcmp(table->columns[j].name, name) == 0)
            remedy = real ? "it is LEVEL, INTEGER or UNIT: use dp_table_level"
                          : "it is REAL: use dp_table_real";
    (void)dpi_fail(&table->error, DP_ENAME, "%s: the schema has no %s column '%s'; %s", function,
                   real ? "REAL" : "LEVEL, INTEGER or UNIT", name, remedy);
    return NULL;
}

size_t dp_table_rows(const dp_table *table)
{
    return there(table, "dp_table_rows")->n_rows;
}

const double *dp_table_real(dp_table *table, const char *name)
{
    const dpi_table_column *c = column_of(table, name, true, "dp_table_real");
    return c != NULL ? c->real : NULL;
}

const int32_t *dp_table_level(dp_table *table, const char *name)
{
    const dpi_table_column *c = column_of(table, name, false, "dp_table_level");
    return c != NULL ? c->level : NULL;
}

size_t dp_table_n_levels(dp_table *table, const char *name)
{
    const dpi_table_column *c = column_of(table, name, false, "dp_table_n_levels");
    return c != NULL ? c->n_levels : 0;
}

dp_status dp_table_status(const dp_table *table)
{
    return there(table, "dp_table_status")->error.status;
}

const char *dp_table_error(const dp_table *table)
{
    const dp_error *error = &there(table, "dp_table_error")->error;
    return error->status != DP_OK ? error->text : NULL;
}
