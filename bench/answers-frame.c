/* Data sets as columns of numbers, and back to the text that the tool reads. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers-formulas.h"
#include "options.h"

static void allocate(frame *f, size_t n, size_t n_columns, const dp_column *columns)
{
    *f = (frame){.n = n, .n_columns = n_columns};
    f->columns = answers_alloc(n_columns, sizeof *f->columns);
    f->values = answers_alloc(n_columns, sizeof *f->values);
    for (size_t k = 0; k < n_columns; k++) {
        f->columns[k] = columns[k];
        f->values[k] = answers_alloc(n, sizeof *f->values[k]);
    }
}

void frame_free(frame *f)
{
    for (size_t k = 0; k < f->n_columns; k++)
        free(f->values[k]);
    free(f->values);
    free(f->columns);
    *f = (frame){0};
}

bool frame_load(const data_set *set, const char *folder, const char *source, frame *f)
{
    dp_table *table;
    dp_error err = {0};
    dp_status status = data_set_read(set, folder, source, &table, &err);
    if (status == DP_EIO)
        return false;
    if (status != DP_OK)
        bench_stop(set->name, err.text);
    allocate(f, dp_table_rows(table), set->n_columns, set->columns);
    for (size_t k = 0; k < f->n_columns; k++) {
        const dp_column *column = &f->columns[k];
        const double *real = NULL;
        const int32_t *level = NULL;
        if (column->kind == DP_COLUMN_REAL)
            real = dp_table_real(table, column->name);
        else
            level = dp_table_level(table, column->name);
        for (size_t i = 0; i < f->n; i++)
            f->values[k][i] = real != NULL ? real[i] : level[i];
    }
    dp_table_free(table);
    return true;
}

void frame_sample(const frame *from, size_t n, dp_rng *rng, frame *f)
{
    uint64_t *row = answers_alloc(n, sizeof *row);
    if (dp_rng_below(rng, from->n, n, row, NULL) != DP_OK)
        bench_stop("frame", "no rows could be drawn");
    allocate(f, n, from->n_columns, from->columns);
    for (size_t k = 0; k < f->n_columns; k++)
        for (size_t i = 0; i < n; i++)
            f->values[k][i] = from->values[k][row[i]];
    free(row);
}

size_t frame_find(const frame *f, const char *name)
{
    size_t k = 0;
    while (k < f->n_columns && strcmp(f->columns[k].name, name) != 0)
        k++;
    if (k == f->n_columns)
        bench_stop(name, "no such column");
    return k;
}

void frame_set(frame *f, size_t k, const double *values)
{
    const dp_column *column = &f->columns[k];
    double low = 0, high = 0;
    if (column->kind == DP_COLUMN_REAL) { /* ends may lie outside the family's support */
        low = column->low + 1e-6 * (column->high - column->low);
        high = column->high - 1e-6 * (column->high - column->low);
    } else
        high = column->kind == DP_COLUMN_LEVEL ? (double)column->n_levels - 1
                                               : column->high - column->low;
    for (size_t i = 0; i < f->n; i++)
        f->values[k][i] = fmin(fmax(values[i], low), high);
}

static void print_cell(FILE *to, const dp_column *column, double value)
{
    if (column->kind == DP_COLUMN_LEVEL)
        (void)fputs(column->levels[(size_t)value], to);
    else if (column->kind == DP_COLUMN_INTEGER)
        (void)fprintf(to, "%.0f", column->low + value);
    else
        (void)fprintf(to, "%.17g", value);
}

static void print_rows(const frame *f, FILE *to)
{
    for (size_t k = 0; k < f->n_columns; k++)
        (void)fprintf(to, "%s%s", k > 0 ? "," : "", f->columns[k].name);
    (void)fputc('\n', to);
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < f->n_columns; k++) {
            print_cell(to, &f->columns[k], f->values[k][i]);
            (void)fputc(k + 1 < f->n_columns ? ',' : '\n', to);
        }
}

dp_table *frame_table(const frame *f)
{
    char *text;
    size_t size;
    dp_table *table;
    dp_error err = {0};
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        bench_stop("frame", "out of memory");
    print_rows(f, to);
    if (fclose(to) != 0 ||
        dp_table_parse_csv(text, size, NULL, f->n_columns, f->columns, &table, &err) != DP_OK)
        bench_stop("frame", err.text);
    free(text);
    return table;
}

static void print_schema(const frame *f, FILE *to)
{
    for (const dp_column *c = f->columns; c < f->columns + f->n_columns; c++) {
        (void)fprintf(to, "%s %s", c->name,
                      c->kind == DP_COLUMN_REAL      ? "real"
                      : c->kind == DP_COLUMN_INTEGER ? "integer"
                                                     : "level");
        if (c->kind == DP_COLUMN_LEVEL)
            for (size_t l = 0; l < c->n_levels; l++)
                (void)fprintf(to, " %s", c->levels[l]);
        else
            (void)fprintf(to, " %.17g .. %.17g", c->low, c->high);
        (void)fputc('\n', to);
    }
}

void frame_write(const frame *f, const char *path)
{
    static const char *const ends[] = {".csv", ".schema"};
    for (int k = 0; k < 2; k++) {
        char name[4096];
        (void)snprintf(name, sizeof name, "%s%s", path, ends[k]);
        FILE *to = fopen(name, "w");
        if (to == NULL)
            bench_stop(name, "cannot be written");
        (k == 0 ? print_rows : print_schema)(f, to);
        if (fclose(to) != 0)
            bench_stop(name, "cannot be written");
    }
}
