/* Grouping rows by the value of a column.
 *
 * The rows are sorted by value with a stable radix sort (Knuth, volume 3, 5.2.5), so that the first
 * of equal ones is the first in the data; units are then numbered in the order of their first rows
 * and the rows sorted by that number.  The order of units is thus a function of the order of rows
 * alone and not of what the values are, and rows that are all different stay as they lie.  Units of
 * one row each are listed like others: what is made for units, and what is run, must not tell
 * whether one of them has several rows.  The values are copied first: they may lie in a file that
 * somebody changes, and are places in a table.  Time O(rows), and 28 bytes a row while it runs. */
#include "data/unit.h"

#include <string.h>

#include "base/error.h"

/* Sorts 0 ... n - 1 by value, equal ones by number; `other` is scratch. */
static void sort_rows(size_t n, const int32_t *value, size_t *order, size_t *other)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (int shift = 0; shift < 32; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < n; i++)
            start[((uint32_t)value[i] >> shift & 255) + 1]++;
        for (int k = 0; k < 256; k++)
            start[k + 1] += start[k];
        for (size_t i = 0; i < n; i++)
            other[start[(uint32_t)value[order[i]] >> shift & 255]++] = order[i];
        memcpy(order, other, n * sizeof *order);
    }
}

/* leader[i] = the first row with the value of row i. */
static void find_leaders(size_t n, const int32_t *value, const size_t *order, size_t *leader)
{
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || value[order[i]] != value[order[i - 1]];
        leader[order[i]] = first ? order[i] : leader[order[i - 1]];
    }
}

/* unit[i] = the unit of row i, numbered in the order of first rows; returns how many there are. */
static size_t number_units(size_t n, const size_t *leader, size_t *unit)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        unit[i] = leader[i] == i ? found++ : unit[leader[i]];
    return found;
}

/* Fills start and row: a counting sort of the rows by unit. */
static void list_rows(dpi_units *units, size_t n, const size_t *unit)
{
    size_t *start = units->start;
    for (size_t i = 0; i < n; i++)
        start[unit[i] + 1]++;
    for (size_t u = 0; u < units->n; u++) {
        units->most = start[u + 1] > units->most ? start[u + 1] : units->most;
        start[u + 1] += start[u];
    }
    for (size_t i = 0; i < n; i++)
        units->row[start[unit[i]]++] = i;
    memmove(start + 1, start, units->n * sizeof *start); /* every start had moved up by one unit */
    start[0] = 0;
}

dp_status dpi_units_init(dpi_units *units, dpi_arena *arena, const dp_dataset *data, dp_error *err)
{
    size_t n = data->n;
    dpi_arena scratch = {0};
    *units = (dpi_units){.n = n, .most = 1};
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    if (data->unit == NULL)
        return DP_OK;
    size_t *order = dpi_arena_alloc(&scratch, n, sizeof *order);
    size_t *unit = dpi_arena_alloc(&scratch, n, sizeof *unit);
    size_t *leader = dpi_arena_alloc(&scratch, n, sizeof *leader);
    int32_t *value = dpi_arena_alloc(&scratch, n, sizeof *value);
    bool enough = order != NULL && unit != NULL && leader != NULL && value != NULL;
    if (enough) {
        memcpy(value, data->unit, n * sizeof *value);
        sort_rows(n, value, order, leader);
        find_leaders(n, value, order, leader);
        units->n = number_units(n, leader, unit);
    }
    if (enough) {
        units->start = dpi_arena_alloc(arena, units->n + 1, sizeof *units->start);
        units->row = dpi_arena_alloc(arena, n, sizeof *units->row);
        enough = units->start != NULL && units->row != NULL;
        if (enough)
            list_rows(units, n, unit);
    }
    dpi_arena_free(&scratch);
    return enough ? DP_OK : dpi_fail_nomem(err);
}
