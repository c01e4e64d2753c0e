/* One block, one thread.
 *
 * With f fields of which c are wanted, each wanted one not empty, a record takes at least f + c
 * bytes with its separators and line end; and each but the last has a line feed.  So many rows
 * there is room for, which the row that is being read, faulty or not, always fits into.  A name's
 * NUL takes the place of its separator, so that names fit into as many bytes as the block has and
 * one more. */
#include "data/rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void dpi_csv_rows_free(dpi_csv_rows *rows, const dpi_csv_rows_plan *plan)
{
    for (size_t j = 0; rows->column != NULL && j < plan->n_columns; j++) {
        dpi_free(rows->column[j].real);
        dpi_free(rows->column[j].level);
        dpi_free(rows->column[j].names.text);
        dpi_free(rows->column[j].names.from);
    }
    dpi_free(rows->column);
    dpi_free(rows->csv.scratch);
    dpi_free(rows->csv.fields);
    dpi_csv_block_free(&rows->block);
    *rows = (dpi_csv_rows){0};
}

/* ---- room ---- */

static size_t most_rows(const dpi_csv_rows *rows, const dpi_csv_rows_plan *plan)
{
    const size_t fit = rows->block.size / (plan->n_header + plan->n_columns) + 1;
    return rows->block.lines + 1 < fit ? rows->block.lines + 1 : fit;
}

/* A block of so many items in place of the old one, whose content goes. */
static bool renew(void *of, size_t count, size_t size)
{
    void **block = of;
    dpi_free(*block);
    *block = dpi_alloc(count, size);
    return *block != NULL;
}

static bool renew_column(dpi_csv_rows_column *c, dp_column_kind kind, size_t rows, size_t bytes)
{
    if (kind == DP_COLUMN_REAL)
        return renew(&c->real, rows, sizeof *c->real);
    if (kind != DP_COLUMN_UNIT)
        return renew(&c->level, rows, sizeof *c->level);
    return renew(&c->names.text, bytes, 1) && renew(&c->names.from, rows, sizeof *c->names.from);
}

static bool make_room(dpi_csv_rows *rows, const dpi_csv_rows_plan *plan)
{
    const size_t wanted = most_rows(rows, plan), bytes = rows->block.size + 1;
    const size_t scratch = bytes < plan->max_line ? bytes : plan->max_line + 1;
    if (rows->csv.fields == NULL) {
        rows->csv.fields = dpi_alloc(plan->n_header, sizeof *rows->csv.fields);
        rows->column = dpi_alloc(plan->n_columns, sizeof *rows->column);
    }
    if (rows->csv.fields == NULL || rows->column == NULL)
        return false;
    if (scratch > rows->scratch) {
        rows->scratch = 0;
        if (!renew(&rows->csv.scratch, scratch, 1))
            return false;
        rows->scratch = scratch;
    }
    if (wanted <= rows->capacity && bytes <= rows->room)
        return true;
    rows->capacity = rows->room = 0;
    for (size_t j = 0; j < plan->n_columns; j++)
        if (!renew_column(&rows->column[j], plan->schema[j].kind, wanted, bytes))
            return false;
    rows->capacity = wanted;
    rows->room = bytes;
    return true;
}

/* ---- a record ---- */

/* Whether the current record lacks a wanted column: one of levels may have NA among them. */
static bool lacks_column(const dpi_csv_rows *rows, const dpi_csv_rows_plan *plan)
{
    for (size_t j = 0; j < plan->n_columns; j++) {
        const dp_column *c = &plan->schema[j];
        const char *field = rows->csv.fields[plan->where[j]];
        const dpi_field_position at = {plan->source, rows->csv.record_line, c->name, false};
        int32_t level;
        if (dpi_cell_missing(field) &&
            (c->kind != DP_COLUMN_LEVEL ||
             dpi_cell_level(plan->sorted[j], c->n_levels, field, &at, &level, NULL) != DP_OK))
            return true;
    }
    return false;
}

/* Converts the current record into the next row of every column. */
static dp_status read_values(dpi_csv_rows *rows, const dpi_csv_rows_plan *plan)
{
    dp_status status = DP_OK;
    for (size_t j = 0; status == DP_OK && j < plan->n_columns; j++) {
        const dp_column *declared = &plan->schema[j];
        dpi_csv_rows_column *c = &rows->column[j];
        const char *field = rows->csv.fields[plan->where[j]];
        const dpi_field_position at = {plan->source, rows->csv.record_line, declared->name, false};
        if (declared->kind == DP_COLUMN_REAL)
            status = dpi_cell_real(declared, field, &at, &c->real[rows->n], &rows->err);
        else if (declared->kind == DP_COLUMN_UNIT)
            status = dpi_names_keep(&c->names, rows->n, field, &at, &rows->err);
        else if (declared->kind == DP_COLUMN_INTEGER)
            status = dpi_cell_integer(declared, field, &at, &c->level[rows->n], &rows->err);
        else
            status = dpi_cell_level(plan->sorted[j], declared->n_levels, field, &at,
                                    &c->level[rows->n], &rows->err);
    }
    rows->in_value = status != DP_OK;
    rows->n += status == DP_OK;
    return status;
}

/* The next record; *found is false at the end of the block.  One that a NUL byte cuts is what is
 * wrong, whatever else is. */
static dp_status next_record(dpi_csv_rows *rows, bool *found)
{
    dpi_csv *csv = &rows->csv;
    dp_status status = dpi_csv_next(csv, found, &rows->err);
    const bool whole = csv->at > 0 && csv->text[csv->at - 1] == '\n' && status == DP_OK && *found;
    if (!rows->block.nul || csv->at < csv->size || whole)
        return status;
    rows->err = (dp_error){DP_OK, ""};
    return dpi_csv_nul(csv, rows->block.line + rows->block.lines, &rows->err);
}

void dpi_csv_rows_read(dpi_csv_rows *rows, const dpi_csv_rows_plan *plan)
{
    dpi_csv *csv = &rows->csv;
    rows->n = 0;
    rows->in_value = false;
    rows->err = (dp_error){DP_OK, ""};
    if (!make_room(rows, plan)) {
        rows->status = dpi_fail_nomem(&rows->err);
        return;
    }
    for (size_t j = 0; j < plan->n_columns; j++)
        rows->column[j].names.used = 0;
    csv->name = plan->source;
    csv->text = rows->block.text;
    csv->size = rows->block.size;
    csv->separator = plan->separator;
    csv->max_line = plan->max_line;
    csv->at = rows->begin;
    csv->line = rows->begin_line;
    csv->n_header = plan->n_header;
    for (bool found = true;;) {
        rows->status = next_record(rows, &found);
        if (rows->status != DP_OK || !found)
            return;
        if (plan->drop_missing && lacks_column(rows, plan))
            continue;
        rows->status = read_values(rows, plan);
        if (rows->status != DP_OK)
            return;
    }
}
