/* A table from records that come one by one.
 *
 * Columns grow by doubling in the table's store (base/store.h), which keeps them in a file where
 * there are many.  Names of units are kept as texts until then, as when a file is read.
 * Cells are judged by data/cell.h, as those of a file are. */
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/cell.h"
#include "data/names.h"
#include "data/schema.h"
#include "data/table.h"

enum { FIRST_ROWS = 256, FIRST_NAMES = 4096, NUMBER_TEXT = 32 };

/* What a column needs while it grows. */
typedef struct growing {
    dpi_level *sorted; /* LEVEL */
    dpi_names names;   /* UNIT: in the store of texts */
    size_t names_room;
} growing;

struct dp_table_builder {
    dpi_arena arena; /* what ends with the builder, but not what grows */
    dpi_store texts;
    dp_table *table;
    dp_error error;
    const char *source;
    const dp_column *schema; /* [n] borrowed */
    growing *column;         /* [n] */
    size_t n, rows, room, seen, max_rows;
    bool drop_missing, unit_texts, ended;
    locale_t c_locale;
};

/* ---- growing ---- */

static bool enlarge_column(dp_table_builder *b, size_t j, size_t room)
{
    dpi_table_column *c = &b->table->columns[j];
    growing *g = &b->column[j];
    const bool real = c->kind == DP_COLUMN_REAL;
    void *block = real ? (void *)c->real : (void *)c->level, *from = g->names.from;
    bool good = dpi_store_grow(&b->table->store, &block, b->rows, room,
                               real ? sizeof *c->real : sizeof *c->level);
    if (real)
        c->real = block;
    else
        c->level = block;
    if (good && c->kind == DP_COLUMN_UNIT)
        good = dpi_store_grow(&b->texts, &from, b->rows, room, sizeof *g->names.from);
    g->names.from = from;
    return good;
}

/* Room for one more row. */
static dp_status make_room(dp_table_builder *b)
{
    size_t room = b->room == 0 ? FIRST_ROWS : 2 * b->room;
    if (b->rows < b->room)
        return DP_OK;
    if (room > b->max_rows)
        room = b->max_rows;
    for (size_t j = 0; j < b->n; j++)
        if (!enlarge_column(b, j, room))
            return dpi_fail_nomem(&b->error);
    b->room = room;
    return DP_OK;
}

static dp_status keep_name(dp_table_builder *b, size_t j, const char *text,
                           const dpi_field_position *at)
{
    growing *c = &b->column[j];
    size_t needed = strlen(text) + 1, room = c->names_room == 0 ? FIRST_NAMES : c->names_room;
    if (needed > SIZE_MAX / 2 - c->names.used)
        return dpi_fail_nomem(&b->error);
    while (room < c->names.used + needed)
        room *= 2;
    void *names = c->names.text;
    if (room > c->names_room && !dpi_store_grow(&b->texts, &names, c->names.used, room, 1))
        return dpi_fail_nomem(&b->error);
    c->names.text = names;
    c->names_room = room;
    return dpi_names_keep(&c->names, b->rows, text, at, &b->error);
}

/* ---- a record ---- */

/* The shortest of 15 and 17 digits that is the same number; the locale is C. */
static const char *text_of(const dp_cell *cell, char text[NUMBER_TEXT])
{
    if (cell->text != NULL)
        return cell->text;
    if (isnan(cell->number))
        return "";
    (void)snprintf(text, NUMBER_TEXT, "%.15g", cell->number);
    if (strtod(text, NULL) != cell->number)
        (void)snprintf(text, NUMBER_TEXT, "%.17g", cell->number);
    return text;
}

static bool lacks(const dp_table_builder *b, const dp_cell *cells)
{
    const dpi_field_position at = {b->source, b->seen, "", true};
    for (size_t j = 0; j < b->n; j++) {
        const char *text = cells[j].text;
        int32_t level;
        if (text == NULL ? !isnan(cells[j].number) : !dpi_cell_missing(text))
            continue;
        if (b->schema[j].kind != DP_COLUMN_LEVEL || text == NULL ||
            dpi_cell_level(b->column[j].sorted, b->schema[j].n_levels, text, &at, &level, NULL) !=
                DP_OK)
            return true;
    }
    return false;
}

static dp_status keep_cell(dp_table_builder *b, size_t j, const dp_cell *cell)
{
    const dp_column *declared = &b->schema[j];
    const dpi_field_position at = {b->source, b->seen, declared->name, true};
    const dpi_table_column *c = &b->table->columns[j];
    char text[NUMBER_TEXT];
    if (declared->kind == DP_COLUMN_UNIT)
        return keep_name(b, j, text_of(cell, text), &at);
    if (declared->kind == DP_COLUMN_REAL) {
        double *to = &c->real[b->rows];
        return cell->text != NULL
                   ? dpi_cell_real(declared, cell->text, &at, to, &b->error)
                   : dpi_cell_real_number(declared, cell->number, &at, to, &b->error);
    }
    int32_t *to = &c->level[b->rows];
    if (declared->kind == DP_COLUMN_INTEGER)
        return cell->text != NULL
                   ? dpi_cell_integer(declared, cell->text, &at, to, &b->error)
                   : dpi_cell_integer_number(declared, cell->number, &at, to, &b->error);
    return dpi_cell_level(b->column[j].sorted, declared->n_levels, text_of(cell, text), &at, to,
                          &b->error);
}

static dp_status add(dp_table_builder *b, const dp_cell *cells)
{
    b->seen++;
    if (b->drop_missing && lacks(b, cells))
        return DP_OK;
    if (b->rows == b->max_rows)
        return dpi_fail(&b->error, DP_EDATA, "%s has more than %zu records; raise max_rows",
                        b->source, b->max_rows);
    dp_status status = make_room(b);
    for (size_t j = 0; status == DP_OK && j < b->n; j++)
        status = keep_cell(b, j, &cells[j]);
    b->rows += status == DP_OK;
    return status;
}

/* ---- the end ---- */

static dp_status finish(dp_table_builder *b)
{
    dp_table *t = b->table;
    dp_status status = DP_OK;
    if (b->rows == 0)
        return dpi_fail(&b->error, DP_EDATA, "%s has no record%s", b->source,
                        b->drop_missing ? " in which every wanted column is there"
                                        : "; one at least is needed");
    t->n_rows = b->rows;
    for (size_t j = 0; j < b->n && status == DP_OK; j++)
        if (b->schema[j].kind == DP_COLUMN_UNIT) {
            status = dpi_names_number(&b->column[j].names, b->rows, b->source, t->columns[j].level,
                                      &b->error);
            if (status == DP_OK && b->unit_texts &&
                (t->columns[j].text = dpi_names_list(&b->column[j].names, b->rows, &t->arena)) ==
                    NULL)
                status = dpi_fail_nomem(&b->error);
        }
    return status;
}

/* ---- public ---- */

static dp_status told(const dp_table_builder *b, dp_error *err)
{
    return dpi_fail(err, b->error.status, "%s", b->error.text);
}

static dp_status begin(dp_table_builder *b, const char *source, const char *folder, dp_error *err)
{
    dp_table *t = b->table = dpi_alloc(1, sizeof *t);
    dp_status status = DP_OK;
    b->source = dpi_arena_strdup(&b->arena, source);
    b->column = dpi_arena_alloc(&b->arena, b->n, sizeof *b->column);
    b->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (t == NULL || b->source == NULL || b->column == NULL || b->c_locale == (locale_t)0)
        return dpi_fail_nomem(err);
    t->columns = dpi_arena_alloc(&t->arena, b->n, sizeof *t->columns);
    t->store.folder = folder != NULL ? dpi_arena_strdup(&t->arena, folder) : NULL;
    if (t->columns == NULL || (folder != NULL && t->store.folder == NULL))
        return dpi_fail_nomem(err);
    t->n_columns = b->n;
    t->store.in_memory = b->texts.in_memory = DPI_STORE_IN_MEMORY;
    b->texts.folder = t->store.folder;
    for (size_t j = 0; j < b->n && status == DP_OK; j++) {
        status = dpi_table_describe(t, j, &b->schema[j], err);
        if (status == DP_OK && b->schema[j].kind == DP_COLUMN_LEVEL)
            status = dpi_levels_sort(&b->schema[j], &b->arena, &b->column[j].sorted, err);
    }
    return status;
}

dp_status dp_table_builder_new(const char *source, const dp_csv_options *options, size_t n_columns,
                               const dp_column *columns, dp_table_builder **builder, dp_error *err)
{
    if (source == NULL || builder == NULL)
        dpi_misuse(__func__, "NULL source or builder");
    dp_csv_options filled;
    *builder = NULL;
    dp_status status = dpi_csv_options_fill(options, &filled, err);
    if (status == DP_OK)
        status = dpi_schema_check(n_columns, columns, err);
    if (status != DP_OK)
        return status;
    dp_table_builder *b = dpi_alloc(1, sizeof *b);
    if (b == NULL)
        return dpi_fail_nomem(err);
    b->schema = columns;
    b->n = n_columns;
    b->max_rows = filled.max_rows;
    b->drop_missing = filled.drop_missing;
    b->unit_texts = filled.unit_texts;
    status = begin(b, source, filled.scratch, err);
    if (status == DP_OK)
        *builder = b;
    else
        dp_table_builder_free(b);
    return status;
}

/* The thread is in the C locale meanwhile, so that numbers have a point. */
dp_status dp_table_builder_add(dp_table_builder *builder, const dp_cell *cells, dp_error *err)
{
    if (builder == NULL || cells == NULL)
        dpi_misuse(__func__, "NULL builder or cells");
    if (builder->ended)
        dpi_misuse(__func__, "the table has been finished");
    if (builder->error.status == DP_OK) {
        locale_t before = uselocale(builder->c_locale);
        dp_status status = add(builder, cells);
        (void)uselocale(before);
        if (status == DP_OK)
            return status;
    }
    return told(builder, err);
}

dp_status dp_table_builder_finish(dp_table_builder *builder, dp_table **table, dp_error *err)
{
    if (builder == NULL || table == NULL)
        dpi_misuse(__func__, "NULL builder or table");
    if (builder->ended)
        dpi_misuse(__func__, "the table has been finished");
    *table = NULL;
    builder->ended = true;
    if (builder->error.status != DP_OK)
        return told(builder, err);
    if (finish(builder) != DP_OK)
        return told(builder, err);
    *table = builder->table;
    builder->table = NULL;
    return DP_OK;
}

void dp_table_builder_free(dp_table_builder *builder)
{
    if (builder == NULL)
        return;
    dpi_store_free(&builder->texts); /* whose folder is the table's */
    dp_table_free(builder->table);
    if (builder->c_locale != (locale_t)0)
        freelocale(builder->c_locale);
    dpi_arena_free(&builder->arena);
    dpi_free(builder);
}
