/* Records as numbers.  A table is made of them record by record. */
#include "tools/sheet.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_ROOM = 32 };

bool sheet_make(sheet *s, const dp_column *columns, size_t n_columns, size_t rows)
{
    *s = (sheet){.columns = columns, .n_columns = n_columns, .rows = rows};
    s->value = calloc(n_columns + 1, sizeof *s->value);
    for (size_t j = 0; j < n_columns && s->value != NULL; j++)
        if ((s->value[j] = calloc(rows, sizeof **s->value)) == NULL)
            return false;
    return s->value != NULL;
}

void sheet_free(sheet *s)
{
    for (size_t j = 0; j < s->n_columns && s->value != NULL; j++)
        free(s->value[j]);
    free(s->value);
    *s = (sheet){.columns = NULL};
}

size_t sheet_find(const sheet *s, const char *name)
{
    for (size_t j = 0; j < s->n_columns; j++)
        if (strcmp(s->columns[j].name, name) == 0)
            return j;
    return SIZE_MAX;
}

size_t column_levels(const dp_column *c)
{
    return c->kind == DP_COLUMN_LEVEL     ? c->n_levels
           : c->kind == DP_COLUMN_INTEGER ? (size_t)(c->high - c->low) + 1
                                          : 0;
}

dp_status sheet_of_table(sheet *s, const dp_column *columns, size_t n_columns, dp_table *table)
{
    if (!sheet_make(s, columns, n_columns, dp_table_rows(table)))
        return DP_ENOMEM;
    for (size_t j = 0; j < n_columns; j++) {
        const bool real = columns[j].kind == DP_COLUMN_REAL;
        const double *number = real ? dp_table_real(table, columns[j].name) : NULL;
        const int32_t *level = real ? NULL : dp_table_level(table, columns[j].name);
        if (number == NULL && level == NULL)
            return dp_table_status(table);
        for (size_t i = 0; i < s->rows; i++)
            s->value[j][i] = number != NULL ? number[i] : (double)level[i];
    }
    return DP_OK;
}

/* A field, as text where the column has no numbers; `room` holds what is written. */
static dp_cell cell_of(const dp_column *c, double value, char room[NUMBER_ROOM])
{
    switch (c->kind) {
    case DP_COLUMN_LEVEL:
        return (dp_cell){.text = c->levels[(size_t)value]};
    case DP_COLUMN_INTEGER:
        return (dp_cell){.number = c->low + value};
    case DP_COLUMN_UNIT:
        (void)snprintf(room, NUMBER_ROOM, "%.0f", value + 1);
        return (dp_cell){.text = room};
    case DP_COLUMN_REAL:
        break;
    }
    return (dp_cell){.number = value};
}

dp_status sheet_table(const sheet *s, const dp_column *columns, size_t n, dp_table **table,
                      dp_error *err)
{
    dp_table_builder *builder = NULL;
    char(*room)[NUMBER_ROOM] = malloc((n + 1) * sizeof *room);
    dp_cell *cells = malloc((n + 1) * sizeof *cells);
    dp_status status = room != NULL && cells != NULL ? DP_OK : DP_ENOMEM;
    *table = NULL;
    if (status == DP_OK)
        status = dp_table_builder_new("twin", NULL, n, columns, &builder, err);
    for (size_t i = 0; i < s->rows && status == DP_OK; i++) {
        for (size_t k = 0; k < n; k++)
            cells[k] = cell_of(&columns[k], s->value[sheet_find(s, columns[k].name)][i], room[k]);
        status = dp_table_builder_add(builder, cells, err);
    }
    if (status == DP_OK)
        status = dp_table_builder_finish(builder, table, err);
    dp_table_builder_free(builder);
    free(cells);
    free(room);
    return status;
}

/* ---- CSV ---- */

static void put_text(FILE *to, const char *text, char separator)
{
    const size_t n = strlen(text);
    const bool quoted = strpbrk(text, "\"\r\n") != NULL || strchr(text, separator) != NULL ||
                        n == 0 || strchr(" \t", text[0]) != NULL ||
                        strchr(" \t", text[n - 1]) != NULL;
    if (quoted)
        (void)fputc('"', to);
    for (; *text != '\0'; text++)
        (void)fprintf(to, *text == '"' ? "\"%c" : "%c", *text);
    if (quoted)
        (void)fputc('"', to);
}

/* The fewest digits, from 15 on, that give the number back. */
static void put_number(FILE *to, double x)
{
    char text[NUMBER_ROOM];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    (void)fputs(text, to);
}

static void put_cell(FILE *to, const dp_column *c, double value, char separator)
{
    char room[NUMBER_ROOM];
    const dp_cell cell = cell_of(c, value, room);
    if (cell.text != NULL)
        put_text(to, cell.text, separator);
    else
        put_number(to, cell.number);
}

bool sheet_write(const sheet *s, char separator, FILE *to)
{
    for (size_t j = 0; j < s->n_columns; j++) {
        put_text(to, s->columns[j].name, separator);
        (void)fputc(j + 1 < s->n_columns ? separator : '\n', to);
    }
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < s->n_columns; j++) {
            put_cell(to, &s->columns[j], s->value[j][i], separator);
            (void)fputc(j + 1 < s->n_columns ? separator : '\n', to);
        }
    return fflush(to) == 0 && !ferror(to);
}
