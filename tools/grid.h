/* Cells of a schema's columns, and tables of records in them. */
#ifndef TOOLS_GRID_H
#define TOOLS_GRID_H

#include <tacit/counts.h>

#include "tools/sheet.h"

/* How a column is cut: finely for tables of it alone, coarsely for those of two.  Fine cell f lies
 * in the coarse cell f * coarse.cells / fine.cells. */
typedef struct grid_axis {
    dp_count_axis fine, coarse; /* of levels from 0, or of real numbers */
    bool whole;
    size_t values; /* levels; 0 of real numbers */
} grid_axis;

/* Of any column but a UNIT one.  A column of one level has one cell, and its axes cannot be
 * counted. */
grid_axis grid_axis_of(const dp_column *c);

/* The coarse cell in which a fine one lies. */
size_t grid_coarse(const grid_axis *a, size_t fine);

/* Counts of column j, counts[fine cells], or of columns j and k,
 * counts[coarse cells of j][coarse cells of k]. */
void grid_count(const sheet *s, size_t j, double *counts);
void grid_count_pair(const sheet *s, size_t j, size_t k, double *counts);

/* Makes counts what is nearest to them among those that are not negative and add up to `total`. */
void grid_project(size_t n, double *counts, double total);

/* Half the sum of the differences between the shares of two tables, each above 0 in all. */
double grid_distance(size_t n, const double *a, const double *b);

/* What that would be by chance alone, if both were tables of records with the same chances: `noise`
 * is the standard deviation of what was added to each cell of b. */
double grid_chance(size_t n, const double *a, const double *b, double noise);

#endif
