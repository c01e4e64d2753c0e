/* Reading: a CSV text and a schema in, typed columns out.
 *
 * Reading goes: check the schema, open the text, find the schema's columns in the header, then
 * convert the records one by one.  The columns are allocated before the first record is read, for
 * the number of line feeds or for the number of the shortest possible records, whichever is less:
 * with f fields of which c are wanted, each wanted one not empty, a record takes at least f + c
 * bytes with its separators and line end.  The columns hence take at most
 * 8 c size / (f + c) <= 4 size bytes, plus a row, whatever the text says; and the row that is being
 * read, faulty or not, always fits, because those before it have taken their bytes.
 *
 * Two arenas: the table's own lives as long as the table, the reader's ends with the call. */
#include <locale.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/cell.h"
#include "data/csv.h"
#include "data/file.h"
#include "data/names.h"
#include "data/schema.h"
#include "data/table.h"

/* One reading: everything that ends with the call. */
typedef struct reading {
    dpi_csv csv;
    dpi_arena arena;
    size_t capacity; /* rows that the columns have room for */
    size_t max_rows;
    bool drop_missing;
    const dp_column *schema; /* [n_columns] */
    size_t *where;           /* [n_columns] position in the header line */
    dpi_level **sorted;      /* [n_columns] of LEVEL columns */
    dpi_names *names;        /* [n_columns] of UNIT columns */
} reading;

/* The number of records cannot be more than this; see the head of the file. */
static size_t most_rows(const dpi_csv *csv, size_t n_columns)
{
    size_t lines = 0, shortest = csv->n_header + n_columns;
    for (size_t i = 0; i < csv->size; i++)
        lines += csv->text[i] == '\n';
    size_t fit = csv->size / shortest + 1;
    return lines < fit ? lines : fit;
}

/* Whether the names differ in case or in blanks around them only. */
static bool nearly_same(const char *field, const char *name)
{
    size_t length = strlen(name);
    field += strspn(field, " \t");
    return strncasecmp(field, name, length) == 0 &&
           field[length + strspn(field + length, " \t")] == 0;
}

/* The first line lacks the column: says what may be wrong with it, and quotes nothing of it. */
static dp_status no_column(const reading *r, const char *name, dp_error *err)
{
    const dpi_csv *csv = &r->csv;
    const char *why = "that line must name the columns";
    for (size_t f = 0; f < csv->n_header; f++)
        if (nearly_same(csv->fields[f], name))
            why = "one differs in case or in blanks only; declare the name as the file spells it";
    const char *other = csv->n_header == 1 ? strpbrk(csv->fields[0], ",;\t") : NULL;
    if (other != NULL)
        why = *other == ','   ? "there are commas in it; declare ',' as the separator"
              : *other == ';' ? "there are semicolons in it; declare ';' as the separator"
                              : "there are tabs in it; declare a tab as the separator";
    return dpi_fail(err, DP_ENAME, "%s: no column '%s' among the %zu of the first line; %s",
                    csv->name, name, csv->n_header, why);
}

static dp_status find_column(reading *r, size_t j, dp_error *err)
{
    const char *name = r->schema[j].name;
    size_t found = 0;
    for (size_t f = 0; f < r->csv.n_header; f++)
        if (strcmp(r->csv.fields[f], name) == 0) {
            r->where[j] = f;
            found++;
        }
    if (found == 0)
        return no_column(r, name, err);
    if (found > 1)
        return dpi_fail(err, DP_ENAME,
                        "%s: the first line has column '%s' %zu times; rename all "
                        "but one",
                        r->csv.name, name, found);
    return DP_OK;
}

/* Allocates column j of the table and what reading it needs. */
static dp_status prepare_column(reading *r, dp_table *table, size_t j, dp_error *err)
{
    const dp_column *declared = &r->schema[j];
    dpi_table_column *c = &table->columns[j];
    bool real = declared->kind == DP_COLUMN_REAL;
    dp_status status = dpi_table_describe(table, j, declared, err);
    if (status != DP_OK)
        return status;
    if (real)
        c->real = dpi_arena_alloc(&table->arena, r->capacity, sizeof *c->real);
    else
        c->level = dpi_arena_alloc(&table->arena, r->capacity, sizeof *c->level);
    if ((real ? (void *)c->real : (void *)c->level) == NULL)
        return dpi_fail_nomem(err);
    if (declared->kind == DP_COLUMN_UNIT) /* a name's NUL takes the place of its separator */
        return dpi_names_init(&r->names[j], &r->arena, r->capacity, r->csv.size + 1, err);
    return declared->kind == DP_COLUMN_LEVEL
               ? dpi_levels_sort(declared, &r->arena, &r->sorted[j], err)
               : DP_OK;
}

static dp_status prepare(reading *r, dp_table *table, size_t n_columns, dp_error *err)
{
    dp_status status = dpi_csv_open(&r->csv, &r->arena, err);
    if (status != DP_OK)
        return status;
    r->capacity = most_rows(&r->csv, n_columns);
    if (r->capacity > r->max_rows)
        r->capacity = r->max_rows;
    r->where = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->where);
    r->sorted = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->sorted);
    r->names = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->names);
    table->columns = dpi_arena_alloc(&table->arena, n_columns, sizeof *table->columns);
    if (r->where == NULL || r->sorted == NULL || r->names == NULL || table->columns == NULL)
        return dpi_fail_nomem(err);
    table->n_columns = n_columns;
    for (size_t j = 0; status == DP_OK && j < n_columns; j++)
        status = find_column(r, j, err);
    for (size_t j = 0; status == DP_OK && j < n_columns; j++)
        status = prepare_column(r, table, j, err);
    return status;
}

/* Whether the current record lacks a wanted column: one of levels may have NA among them. */
static bool lacks_column(const reading *r, const dp_table *table)
{
    for (size_t j = 0; j < table->n_columns; j++) {
        const dpi_table_column *c = &table->columns[j];
        const char *field = r->csv.fields[r->where[j]];
        const dpi_field_position at = {r->csv.name, r->csv.record_line, c->name, false};
        int32_t level;
        if (dpi_cell_missing(field) &&
            (c->kind != DP_COLUMN_LEVEL ||
             dpi_cell_level(r->sorted[j], c->n_levels, field, &at, &level, NULL) != DP_OK))
            return true;
    }
    return false;
}

/* Converts the current record into row `row` of every column. */
static dp_status read_row(reading *r, dp_table *table, size_t row, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t j = 0; status == DP_OK && j < table->n_columns; j++) {
        dpi_table_column *c = &table->columns[j];
        const char *field = r->csv.fields[r->where[j]];
        const dpi_field_position at = {r->csv.name, r->csv.record_line, c->name, false};
        if (c->kind == DP_COLUMN_REAL)
            status = dpi_cell_real(&r->schema[j], field, &at, &c->real[row], err);
        else if (c->kind == DP_COLUMN_UNIT)
            status = dpi_names_keep(&r->names[j], row, field, &at, err);
        else if (c->kind == DP_COLUMN_INTEGER)
            status = dpi_cell_integer(&r->schema[j], field, &at, &c->level[row], err);
        else
            status = dpi_cell_level(r->sorted[j], c->n_levels, field, &at, &c->level[row], err);
    }
    return status;
}

/* When all records are there. */
static dp_status number_units(const reading *r, dp_table *table, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t j = 0; j < table->n_columns && status == DP_OK; j++)
        if (table->columns[j].kind == DP_COLUMN_UNIT)
            status = dpi_names_number(&r->names[j], table->n_rows, r->csv.name,
                                      table->columns[j].level, err);
    return status;
}

static dp_status read_rows(reading *r, dp_table *table, dp_error *err)
{
    for (;;) {
        bool found;
        dp_status status = dpi_csv_next(&r->csv, &found, err);
        if (status != DP_OK)
            return status;
        if (!found)
            break;
        if (r->drop_missing && lacks_column(r, table))
            continue;
        if (table->n_rows == r->capacity)
            return dpi_fail(err, DP_EDATA, "%s has more than %zu records; raise max_rows",
                            r->csv.name, r->max_rows);
        status = read_row(r, table, table->n_rows, err);
        if (status != DP_OK)
            return status;
        table->n_rows++;
    }
    if (table->n_rows == 0)
        return dpi_fail(err, DP_EDATA,
                        "%s has no record after its first line%s; that line must name "
                        "the columns and records follow it",
                        r->csv.name,
                        r->drop_missing ? " in which every wanted column is there" : "");
    return number_units(r, table, err);
}

/* Reads the records with the calling thread in the C locale, so that strtod takes a point. */
static dp_status read_rows_in_c_locale(reading *r, dp_table *table, dp_error *err)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return dpi_fail_nomem(err);
    locale_t before = uselocale(c_locale);
    dp_status status = read_rows(r, table, err);
    (void)uselocale(before);
    freelocale(c_locale);
    return status;
}

static dp_status parse(reading *r, const dp_csv_options *options, size_t n_columns,
                       dp_table **table, dp_error *err)
{
    dp_table *t = dpi_alloc(1, sizeof *t);
    if (t == NULL)
        return dpi_fail_nomem(err);
    r->csv.separator = options->separator;
    r->csv.max_line = options->max_line;
    r->max_rows = options->max_rows;
    r->drop_missing = options->drop_missing;
    dp_status status = prepare(r, t, n_columns, err);
    if (status == DP_OK)
        status = read_rows_in_c_locale(r, t, err);
    if (status != DP_OK) {
        dp_table_free(t);
        t = NULL;
    }
    dpi_arena_free(&r->arena);
    *table = t;
    return status;
}

dp_status dp_table_parse_csv(const char *text, size_t size, const dp_csv_options *options,
                             size_t n_columns, const dp_column *columns, dp_table **table,
                             dp_error *err)
{
    if (table == NULL || (text == NULL && size > 0))
        dpi_misuse("dp_table_parse_csv", "NULL text or table");
    dp_csv_options filled;
    *table = NULL;
    dp_status status = dpi_csv_options_fill(options, &filled, err);
    if (status == DP_OK)
        status = dpi_schema_check(n_columns, columns, err);
    if (status != DP_OK)
        return status;
    if (size > filled.max_bytes)
        return dpi_fail(err, DP_EDATA, "the text is larger than %zu bytes; raise max_bytes",
                        filled.max_bytes);
    reading r = {.csv = {.name = "CSV text", .text = text, .size = size}, .schema = columns};
    return parse(&r, &filled, n_columns, table, err);
}

dp_status dp_table_read_csv(const char *path, const dp_csv_options *options, size_t n_columns,
                            const dp_column *columns, dp_table **table, dp_error *err)
{
    if (path == NULL || table == NULL)
        dpi_misuse("dp_table_read_csv", "NULL path or table");
    dp_csv_options filled;
    char *text;
    *table = NULL;
    reading r = {.csv = {.name = dpi_path_end(path)}, .schema = columns};
    dp_status status = dpi_csv_options_fill(options, &filled, err);
    if (status == DP_OK)
        status = dpi_schema_check(n_columns, columns, err);
    if (status == DP_OK)
        status = dpi_file_read(path, filled.max_bytes, &text, &r.csv.size, err);
    if (status != DP_OK)
        return status;
    r.csv.text = text;
    status = parse(&r, &filled, n_columns, table, err);
    dpi_free(text);
    return status;
}
