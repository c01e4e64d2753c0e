/* Records with the columns of a schema, held as numbers, from tables and to CSV. */
#ifndef TOOLS_SHEET_H
#define TOOLS_SHEET_H

#include <stdio.h>

#include <tacit/table.h>

/* value[j][i] is record i's in column j: of a REAL column the number, of an INTEGER or LEVEL column
 * the level from 0, of a UNIT column whose it is, from 0. */
typedef struct sheet {
    const dp_column *columns; /* [n_columns] borrowed */
    size_t n_columns, rows;
    double **value;
} sheet;

/* An empty sheet, all zero; false when memory is out, and then it is to be freed all the same. */
bool sheet_make(sheet *s, const dp_column *columns, size_t n_columns, size_t rows);
void sheet_free(sheet *s);

/* The sheet's place of a column, SIZE_MAX where it has none. */
size_t sheet_find(const sheet *s, const char *name);

/* Levels of a column: 0 of one that has none. */
size_t column_levels(const dp_column *c);

/* A sheet of those columns of a table.  DP_ENOMEM, or the table's error. */
dp_status sheet_of_table(sheet *s, const dp_column *columns, size_t n_columns, dp_table *table);

/* A table of the columns [n] of the sheet that are asked for; freed with dp_table_free. */
dp_status sheet_table(const sheet *s, const dp_column *columns, size_t n, dp_table **table,
                      dp_error *err);

/* CSV by RFC 4180, with LF, that the schema reads again: levels by name, quoted where they have to
 * be, whole numbers whole, real numbers with the fewest digits that give them back, units as 1, 2,
 * ...  False when it could not be written to the end. */
bool sheet_write(const sheet *s, char separator, FILE *to);

#endif
