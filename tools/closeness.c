/* Tables of one column are in fine cells, of two in coarse ones (grid.h). */
#include "tools/closeness.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const dp_column *columns_of(const closeness *c, size_t *n)
{
    *n = c->records != NULL ? c->records->n_columns : c->paid->n;
    return c->records != NULL ? c->records->columns : c->paid->columns;
}

static bool is_compared(const closeness *c, const dp_column *column, size_t j)
{
    if (c->paid != NULL)
        return c->paid->axes[j].fine.low < c->paid->axes[j].fine.high;
    return column->kind != DP_COLUMN_UNIT;
}

/* Room for the largest table. */
static bool make_room(closeness *c, const dp_column *column, size_t n)
{
    size_t most = 1;
    for (size_t j = 0; j < n; j++) {
        if (!is_compared(c, &column[j], j))
            continue;
        const grid_axis a = grid_axis_of(&column[j]);
        most = a.fine.cells > most ? a.fine.cells : most;
        most = a.coarse.cells * a.coarse.cells > most ? a.coarse.cells * a.coarse.cells : most;
    }
    enum { LEAST = 64 }; /* two coarse axes */
    most = most > LEAST ? most : LEAST;
    c->of_twin = calloc(most, sizeof *c->of_twin);
    c->of_other = calloc(most, sizeof *c->of_other);
    return c->of_twin != NULL && c->of_other != NULL;
}

bool closeness_open(closeness *c, const sheet *records, const predictors *paid)
{
    *c = (closeness){.records = records, .paid = paid};
    size_t n;
    const dp_column *column = columns_of(c, &n);
    c->item = calloc(n * n + 1, sizeof *c->item);
    if (c->item == NULL || !make_room(c, column, n))
        return false;
    for (size_t j = 0; j < n; j++)
        if (is_compared(c, &column[j], j))
            c->item[c->n++].first = column[j].name;
    for (size_t j = 0; j < n && (paid == NULL || paid->pairs); j++)
        for (size_t k = j + 1; k < n; k++)
            if (is_compared(c, &column[j], j) && is_compared(c, &column[k], k))
                c->item[c->n++] =
                    (closeness_item){.first = column[j].name, .second = column[k].name};
    return true;
}

void closeness_close(closeness *c)
{
    free(c->item);
    free(c->of_twin);
    free(c->of_other);
}

static size_t place_of(const dp_column *columns, size_t n, const char *name)
{
    size_t j = 0;
    while (j < n && strcmp(columns[j].name, name) != 0)
        j++;
    return j;
}

static size_t count_twin(const closeness *c, const closeness_item *t, const sheet *twin)
{
    const size_t j = sheet_find(twin, t->first);
    const grid_axis a = grid_axis_of(&twin->columns[j]);
    if (t->second == NULL) {
        grid_count(twin, j, c->of_twin);
        return a.fine.cells;
    }
    const size_t k = sheet_find(twin, t->second);
    grid_count_pair(twin, j, k, c->of_twin);
    return a.coarse.cells * grid_axis_of(&twin->columns[k]).coarse.cells;
}

static void count_other(const closeness *c, const closeness_item *t, size_t cells)
{
    size_t n;
    const dp_column *columns = columns_of(c, &n);
    const size_t j = place_of(columns, n, t->first),
                 k = t->second != NULL ? place_of(columns, n, t->second) : SIZE_MAX;
    if (c->records != NULL && k == SIZE_MAX)
        grid_count(c->records, j, c->of_other);
    else if (c->records != NULL)
        grid_count_pair(c->records, j, k, c->of_other);
    else {
        const double *paid = c->paid->counts + tree_table(n, c->paid->axes, j, k);
        double sum = 0;
        for (size_t f = 0; f < cells; f++)
            sum += paid[f];
        memcpy(c->of_other, paid, cells * sizeof *paid);
        grid_project(cells, c->of_other, sum > 1 ? sum : 1);
    }
}

void closeness_add(closeness *c, const sheet *twin)
{
    c->twins++;
    for (size_t i = 0; i < c->n; i++) {
        closeness_item *t = &c->item[i];
        const size_t cells = count_twin(c, t, twin);
        count_other(c, t, cells);
        const double noise = c->paid != NULL ? c->paid->noise : 0, m = (double)c->twins;
        t->distance += (grid_distance(cells, c->of_twin, c->of_other) - t->distance) / m;
        t->chance += (grid_chance(cells, c->of_twin, c->of_other, noise) - t->chance) / m;
    }
}
