/* Cells are those of dp_private_counts, so that tables of twins can be set beside paid ones. */
#include "tools/grid.h"

#include <math.h>
#include <string.h>

enum { REAL_FINE = 16, MOST_FINE = 64, BLOCKS = 32, COARSE = 8 };

static size_t fine_cells(size_t values)
{
    return values == 0 ? REAL_FINE : values <= MOST_FINE ? values : BLOCKS;
}

grid_axis grid_axis_of(const dp_column *c)
{
    grid_axis a = {.whole = c->kind != DP_COLUMN_REAL, .values = column_levels(c)};
    a.fine = (dp_count_axis){.column = c->name,
                             .low = a.whole ? 0 : c->low,
                             .high = a.whole ? (double)a.values - 1 : c->high,
                             .cells = fine_cells(a.values)};
    if (c->kind == DP_COLUMN_LEVEL) /* they have no neighbours, and each is a cell */
        a.fine.cells = a.values;
    a.coarse = a.fine;
    a.coarse.cells = a.fine.cells < COARSE ? a.fine.cells : COARSE;
    return a;
}

size_t grid_coarse(const grid_axis *a, size_t fine)
{
    return fine * a->coarse.cells / a->fine.cells;
}

void grid_count(const sheet *s, size_t j, double *counts)
{
    const grid_axis a = grid_axis_of(&s->columns[j]);
    memset(counts, 0, a.fine.cells * sizeof *counts);
    for (size_t i = 0; i < s->rows; i++)
        counts[dp_count_cell(&a.fine, a.whole, s->value[j][i])]++;
}

void grid_count_pair(const sheet *s, size_t j, size_t k, double *counts)
{
    const grid_axis a = grid_axis_of(&s->columns[j]), b = grid_axis_of(&s->columns[k]);
    memset(counts, 0, a.coarse.cells * b.coarse.cells * sizeof *counts);
    for (size_t i = 0; i < s->rows; i++)
        counts[dp_count_cell(&a.coarse, a.whole, s->value[j][i]) * b.coarse.cells +
               dp_count_cell(&b.coarse, b.whole, s->value[k][i])]++;
}

/* What is left of the counts when t is taken off each, down to zero. */
static double left(size_t n, const double *counts, double t)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += fmax(0, counts[k] - t);
    return sum;
}

/* The nearest point of the simplex takes the same off every count; how much is found by
 * bisection. */
void grid_project(size_t n, double *counts, double total)
{
    enum { HALVINGS = 100 };
    double least = counts[0], greatest = counts[0];
    for (size_t k = 1; k < n; k++) {
        least = fmin(least, counts[k]);
        greatest = fmax(greatest, counts[k]);
    }
    double low = least - total, high = greatest; /* leave at least and at most the total */
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        if (left(n, counts, middle) > total)
            low = middle;
        else
            high = middle;
    }
    for (size_t k = 0; k < n; k++)
        counts[k] = fmax(0, counts[k] - low);
}

static double sum_of(size_t n, const double *counts)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += counts[k];
    return sum;
}

double grid_distance(size_t n, const double *a, const double *b)
{
    const double in_a = sum_of(n, a), in_b = sum_of(n, b);
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += fabs(a[k] / in_a - b[k] / in_b) / 2;
    return sum;
}

/* A difference of shares is about normal, and the mean of its size sqrt(2 / pi) standard
 * deviations. */
double grid_chance(size_t n, const double *a, const double *b, double noise)
{
    const double pi = 3.14159265358979323846;
    const double in_a = sum_of(n, a), in_b = sum_of(n, b);
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double p = (a[k] + b[k]) / (in_a + in_b);
        const double variance = p * (1 - p) * (1 / in_a + 1 / in_b) + noise * noise / (in_b * in_b);
        sum += sqrt(2 / pi * variance) / 2;
    }
    return fmin(1, sum);
}
