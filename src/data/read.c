/* Reading: a CSV text and a schema in, typed columns out.
 *
 * Reading goes: check the schema, open the text, find the schema's columns in the header, then cut
 * the text into blocks of whole records (blocks.c), of which several are read at a time (rows.c)
 * and put behind one another in the order of the text.  What is read, and what is wrong with it, so
 * does not depend on how many threads read nor on where blocks end.
 *
 * In memory are a few blocks and their rows, and as much of the columns as the table's store keeps
 * there (base/store.h).  Columns take at most 8 bytes a value, and grow to what the first blocks
 * let expect, or by doubling.
 *
 * The table's arena and store live as long as the table, the reader's arena ends with the call. */
#include "data/read.h"

#include <locale.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "data/blocks.h"
#include "data/rows.h"
#include "data/schema.h"
#include "data/table.h"

enum { AT_ONCE = 4 /* blocks a thread, so that one that is slow holds up little */ };

/* One reading: everything that ends with the call. */
typedef struct reading {
    dpi_arena arena;
    dpi_csv_blocks blocks;
    dpi_csv header;
    dpi_csv_rows_plan plan;
    size_t *where;      /* [n_columns] position in the header line */
    dpi_level **sorted; /* [n_columns] of LEVEL columns */
    const dp_column *schema;
    size_t max_rows, threads;
    dp_table *table;
    size_t capacity;  /* rows that the columns have room for */
    dpi_names *names; /* [n_columns] of UNIT columns, in the store of texts */
    size_t *names_room;
    dpi_store texts;
    bool unit_texts; /* are kept in the table */
    dpi_pool *pool;
    dpi_csv_rows *part; /* [n_parts] */
    size_t n_parts, filled;
    locale_t c_locale;
} reading;

/* ---- the header line ---- */

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
    const dpi_csv *csv = &r->header;
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
    for (size_t f = 0; f < r->header.n_header; f++)
        if (strcmp(r->header.fields[f], name) == 0) {
            r->where[j] = f;
            found++;
        }
    if (found == 0)
        return no_column(r, name, err);
    if (found > 1)
        return dpi_fail(err, DP_ENAME,
                        "%s: the first line has column '%s' %zu times; rename all "
                        "but one",
                        r->header.name, name, found);
    return DP_OK;
}

/* Opens the first block, which begins with the header line. */
static dp_status read_header(reading *r, const dp_csv_options *options, dp_error *err)
{
    dpi_csv_rows *first = &r->part[0];
    dpi_csv *csv = &r->header;
    dp_error own = {DP_OK, ""};
    dp_status status = dpi_csv_blocks_next(&r->blocks, &first->block, err);
    if (status != DP_OK)
        return status;
    *csv = (dpi_csv){.name = r->blocks.source->name,
                     .text = first->block.text,
                     .size = first->block.size,
                     .separator = options->separator,
                     .max_line = options->max_line};
    status = dpi_csv_open(csv, &r->arena, &own);
    if (first->block.nul && csv->at >= csv->size)
        return dpi_csv_nul(csv, first->block.line + first->block.lines, err);
    if (status != DP_OK)
        return dpi_fail(err, status, "%s", own.text);
    first->begin = (size_t)(csv->text - first->block.text) + csv->at;
    first->begin_line = csv->line;
    return status;
}

/* ---- columns ---- */

static dp_status prepare_column(reading *r, size_t j, dp_error *err)
{
    const dp_column *declared = &r->schema[j];
    dp_status status = dpi_table_describe(r->table, j, declared, err);
    if (status == DP_OK && declared->kind == DP_COLUMN_LEVEL)
        status = dpi_levels_sort(declared, &r->arena, &r->sorted[j], err);
    return status;
}

static bool grow_column(reading *r, size_t j, size_t rows)
{
    dpi_table_column *c = &r->table->columns[j];
    dpi_store *store = &r->table->store;
    const size_t used = r->table->n_rows;
    const bool real = c->kind == DP_COLUMN_REAL;
    void *block = real ? (void *)c->real : (void *)c->level, *from = r->names[j].from;
    bool good =
        dpi_store_grow(store, &block, used, rows, real ? sizeof *c->real : sizeof *c->level);
    if (real)
        c->real = block;
    else
        c->level = block;
    if (good && c->kind == DP_COLUMN_UNIT)
        good = dpi_store_grow(&r->texts, &from, used, rows, sizeof *r->names[j].from);
    r->names[j].from = from;
    return good;
}

/* How many rows there may be in all, where so many are there now: what is left of the text is taken
 * to be like what was read of it, and a little more. */
static size_t rows_in_all(const reading *r, size_t now)
{
    const size_t size = r->blocks.source->size, taken = r->blocks.taken;
    double all = 2 * (double)now;
    if (r->blocks.ended)
        all = (double)now;
    else if (size >= taken && taken > 0)
        all = (double)now * ((double)size / (double)taken) * 1.02 + 1024;
    return all < (double)r->max_rows ? (size_t)all : r->max_rows;
}

/* Room for n more rows. */
static dp_status make_room(reading *r, size_t n, dp_error *err)
{
    const size_t now = r->table->n_rows + n;
    if (now <= r->capacity)
        return DP_OK;
    size_t wanted = rows_in_all(r, now);
    wanted = wanted > now ? wanted : now;
    for (size_t j = 0; j < r->table->n_columns; j++)
        if (!grow_column(r, j, wanted))
            return dpi_fail_nomem(err);
    r->capacity = wanted;
    return DP_OK;
}

/* ---- blocks ---- */

/* Reads blocks k, k + threads, ... of those that are there. */
static void read_parts(void *user, size_t k)
{
    reading *r = user;
    const locale_t before = uselocale(r->c_locale);
    for (size_t i = k; i < r->filled; i += r->threads)
        dpi_csv_rows_read(&r->part[i], &r->plan);
    (void)uselocale(before);
}

static bool append_names(reading *r, size_t j, const dpi_csv_rows *rows)
{
    const dpi_names *more = &rows->column[j].names;
    size_t wanted = r->names[j].used + more->used;
    void *text = r->names[j].text;
    if (wanted > r->names_room[j]) {
        wanted = 2 * wanted;
        if (!dpi_store_grow(&r->texts, &text, r->names[j].used, wanted, 1))
            return false;
        r->names[j].text = text;
        r->names_room[j] = wanted;
    }
    dpi_names_append(&r->names[j], r->table->n_rows, rows->n, more);
    return true;
}

/* Puts the rows of a block behind those that are there; then says what was wrong with it. */
static dp_status append(reading *r, const dpi_csv_rows *rows, dp_error *err)
{
    const size_t left = r->max_rows - r->table->n_rows;
    if (rows->n > left || (rows->n == left && rows->in_value))
        return dpi_fail(err, DP_EDATA, "%s has more than %zu records; raise max_rows",
                        r->plan.source, r->max_rows);
    if (rows->status != DP_OK)
        return dpi_fail(err, rows->status, "%s", rows->err.text);
    dp_status status = make_room(r, rows->n, err);
    for (size_t j = 0; status == DP_OK && j < r->table->n_columns && rows->n > 0; j++) {
        dpi_table_column *c = &r->table->columns[j];
        const dpi_csv_rows_column *from = &rows->column[j];
        if (c->kind == DP_COLUMN_REAL)
            memcpy(c->real + r->table->n_rows, from->real, rows->n * sizeof *c->real);
        else if (c->kind != DP_COLUMN_UNIT)
            memcpy(c->level + r->table->n_rows, from->level, rows->n * sizeof *c->level);
        else if (!append_names(r, j, rows))
            return dpi_fail_nomem(err);
    }
    if (status == DP_OK)
        r->table->n_rows += rows->n;
    return status;
}

/* Takes as many blocks as are read at a time; the first one may be there already.  Blocks before
 * one that fails are read first. */
static dp_status take_blocks(reading *r, dp_error *err)
{
    dp_status status = DP_OK;
    for (; r->filled < r->n_parts && status == DP_OK; r->filled += status == DP_OK) {
        dpi_csv_rows *rows = &r->part[r->filled];
        if (r->filled > 0 && r->part[r->filled - 1].block.last)
            break;
        status = dpi_csv_blocks_next(&r->blocks, &rows->block, err);
        rows->begin = 0;
        rows->begin_line = rows->block.line;
    }
    return status;
}

static dp_status read_blocks(reading *r, dp_error *err)
{
    r->filled = 1;
    for (bool last = false; !last; r->filled = 0) {
        dp_error later = {DP_OK, ""};
        dp_status taken = take_blocks(r, &later), status = DP_OK;
        if (r->pool != NULL)
            dpi_pool_run(r->pool, read_parts, r);
        else
            read_parts(r, 0);
        for (size_t i = 0; i < r->filled && status == DP_OK; i++) {
            status = append(r, &r->part[i], err);
            last = r->part[i].block.last;
        }
        if (status == DP_OK && taken != DP_OK)
            status = dpi_fail(err, taken, "%s", later.text);
        if (status != DP_OK)
            return status;
    }
    return DP_OK;
}

/* ---- the whole ---- */

/* When all records are there. */
static dp_status number_units(const reading *r, dp_error *err)
{
    dp_table *t = r->table;
    dp_status status = DP_OK;
    for (size_t j = 0; j < t->n_columns && status == DP_OK; j++) {
        dpi_table_column *c = &t->columns[j];
        if (c->kind != DP_COLUMN_UNIT)
            continue;
        status = dpi_names_number(&r->names[j], t->n_rows, r->plan.source, c->level, err);
        if (status == DP_OK && r->unit_texts &&
            (c->text = dpi_names_list(&r->names[j], t->n_rows, &t->arena)) == NULL)
            status = dpi_fail_nomem(err);
    }
    return status;
}

static dp_status prepare(reading *r, const dp_csv_options *options, size_t n_columns, dp_error *err)
{
    dp_table *table = r->table;
    r->threads = options->threads > 0 ? options->threads : 1;
    r->n_parts = AT_ONCE * r->threads;
    r->max_rows = options->max_rows;
    r->unit_texts = options->unit_texts;
    r->part = dpi_arena_alloc(&r->arena, r->n_parts, sizeof *r->part);
    r->where = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->where);
    r->sorted = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->sorted);
    r->names = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->names);
    r->names_room = dpi_arena_alloc(&r->arena, n_columns, sizeof *r->names_room);
    table->columns = dpi_arena_alloc(&table->arena, n_columns, sizeof *table->columns);
    if (r->part == NULL || r->where == NULL || r->sorted == NULL || r->names == NULL ||
        r->names_room == NULL || table->columns == NULL)
        return dpi_fail_nomem(err);
    if (options->scratch != NULL) {
        table->store.folder = dpi_arena_strdup(&table->arena, options->scratch);
        if (table->store.folder == NULL)
            return dpi_fail_nomem(err);
    }
    r->texts.folder = table->store.folder;
    r->texts.in_memory = table->store.in_memory = DPI_STORE_IN_MEMORY;
    table->n_columns = n_columns;
    return DP_OK;
}

static dp_status open_text(reading *r, const dp_csv_options *options, dp_error *err)
{
    const size_t n_columns = r->table->n_columns;
    dp_status status = read_header(r, options, err);
    for (size_t j = 0; status == DP_OK && j < n_columns; j++)
        status = find_column(r, j, err);
    for (size_t j = 0; status == DP_OK && j < n_columns; j++)
        status = prepare_column(r, j, err);
    r->plan = (dpi_csv_rows_plan){.source = r->header.name,
                                  .schema = r->schema,
                                  .n_columns = n_columns,
                                  .n_header = r->header.n_header,
                                  .where = r->where,
                                  .sorted = r->sorted,
                                  .separator = options->separator,
                                  .max_line = options->max_line,
                                  .drop_missing = options->drop_missing};
    return status;
}

static dp_status read_all(reading *r, const dp_csv_options *options, size_t n_columns,
                          dp_error *err)
{
    dp_status status = prepare(r, options, n_columns, err);
    if (status == DP_OK)
        status = open_text(r, options, err);
    if (status == DP_OK && r->threads > 1)
        status = dpi_pool_new(r->threads, &r->pool, err);
    if (status != DP_OK)
        return status;
    r->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* so that strtod takes a point */
    if (r->c_locale == (locale_t)0)
        return dpi_fail_nomem(err);
    status = read_blocks(r, err);
    if (status == DP_OK && r->table->n_rows == 0)
        status = dpi_fail(err, DP_EDATA,
                          "%s has no record after its first line%s; that line must name the "
                          "columns and records follow it",
                          r->plan.source,
                          options->drop_missing ? " in which every wanted column is there" : "");
    return status == DP_OK ? number_units(r, err) : status;
}

static void end(reading *r)
{
    dpi_pool_free(r->pool);
    for (size_t i = 0; r->part != NULL && i < r->n_parts; i++)
        dpi_csv_rows_free(&r->part[i], &r->plan);
    if (r->c_locale != (locale_t)0)
        freelocale(r->c_locale);
    dpi_csv_blocks_free(&r->blocks);
    dpi_store_free(&r->texts);
    dpi_arena_free(&r->arena);
}

dp_status dpi_table_read(dpi_source *source, size_t block, const dp_csv_options *options,
                         size_t n_columns, const dp_column *columns, dp_table **table,
                         dp_error *err)
{
    reading r = {.schema = columns,
                 .blocks = {.source = source,
                            .block = block,
                            .max_line = options->max_line,
                            .max_bytes = options->max_bytes},
                 .table = dpi_alloc(1, sizeof *r.table)};
    *table = NULL;
    if (r.table == NULL)
        return dpi_fail_nomem(err);
    dpi_csv_blocks_start(&r.blocks);
    dp_status status = read_all(&r, options, n_columns, err);
    end(&r);
    if (status != DP_OK)
        dp_table_free(r.table);
    else
        *table = r.table;
    return status;
}

static dp_status check(const dp_csv_options *options, dp_csv_options *filled, size_t n_columns,
                       const dp_column *columns, dp_error *err)
{
    dp_status status = dpi_csv_options_fill(options, filled, err);
    return status == DP_OK ? dpi_schema_check(n_columns, columns, err) : status;
}

dp_status dp_table_parse_csv(const char *text, size_t size, const dp_csv_options *options,
                             size_t n_columns, const dp_column *columns, dp_table **table,
                             dp_error *err)
{
    if (table == NULL || (text == NULL && size > 0))
        dpi_misuse("dp_table_parse_csv", "NULL text or table");
    dp_csv_options filled;
    dpi_source source;
    *table = NULL;
    dp_status status = check(options, &filled, n_columns, columns, err);
    if (status != DP_OK)
        return status;
    if (size > filled.max_bytes)
        return dpi_fail(err, DP_EDATA, "the text is larger than %zu bytes; raise max_bytes",
                        filled.max_bytes);
    dpi_source_text(&source, "CSV text", text, size);
    status = dpi_source_unzip(&source, (const unsigned char *)text, size, err);
    if (status == DP_OK)
        status = dpi_table_read(&source, DPI_BLOCK, &filled, n_columns, columns, table, err);
    dpi_source_close(&source);
    return status;
}

dp_status dp_table_read_csv(const char *path, const dp_csv_options *options, size_t n_columns,
                            const dp_column *columns, dp_table **table, dp_error *err)
{
    if (path == NULL || table == NULL)
        dpi_misuse("dp_table_read_csv", "NULL path or table");
    dp_csv_options filled;
    dpi_source source;
    *table = NULL;
    dp_status status = check(options, &filled, n_columns, columns, err);
    if (status == DP_OK)
        status = dpi_source_open(&source, path, err);
    if (status != DP_OK)
        return status;
    if (source.size > filled.max_bytes)
        status = dpi_fail(err, DP_EDATA, "%s is larger than %zu bytes; raise max_bytes",
                          source.name, filled.max_bytes);
    else
        status = dpi_table_read(&source, DPI_BLOCK, &filled, n_columns, columns, table, err);
    dpi_source_close(&source);
    return status;
}
