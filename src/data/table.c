/* The table object: columns by name, and the sticky error of its calls. */
#include "data/table.h"

#include <string.h>

#include "base/error.h"

void dp_table_free(dp_table *table)
{
    if (table == NULL)
        return;
    dpi_store_free(&table->store);
    dpi_arena_free(&table->arena);
    dpi_free(table);
}

/* Copies of the names of a column's levels, in the arena; NULL when memory is out. */
static const char *const *copy_levels(dpi_arena *arena, const dp_column *declared)
{
    const char **levels = dpi_arena_alloc(arena, declared->n_levels, sizeof *levels);
    for (size_t i = 0; levels != NULL && i < declared->n_levels; i++) {
        levels[i] = dpi_arena_strdup(arena, declared->levels[i]);
        if (levels[i] == NULL)
            return NULL;
    }
    return levels;
}

dp_status dpi_table_describe(dp_table *table, size_t j, const dp_column *declared, dp_error *err)
{
    dpi_table_column *c = &table->columns[j];
    c->kind = declared->kind;
    c->name = dpi_arena_strdup(&table->arena, declared->name);
    if (declared->kind == DP_COLUMN_INTEGER) {
        c->n_levels = (size_t)(declared->high - declared->low) + 1;
        c->low = declared->low;
    }
    if (declared->kind == DP_COLUMN_LEVEL) {
        c->n_levels = declared->n_levels;
        c->levels = copy_levels(&table->arena, declared);
    }
    const bool good = c->name != NULL && (c->levels != NULL || declared->kind != DP_COLUMN_LEVEL);
    return good ? DP_OK : dpi_fail_nomem(err);
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

const char *const *dp_table_text(dp_table *table, const char *name)
{
    const dpi_table_column *c = column_of(table, name, false, "dp_table_text");
    if (c != NULL && c->text == NULL)
        (void)dpi_fail(&table->error, DP_ESTATE,
                       "dp_table_text: the texts of '%s' were not kept; declare it UNIT, and read "
                       "the table with .unit_texts",
                       name);
    return c != NULL ? c->text : NULL;
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
