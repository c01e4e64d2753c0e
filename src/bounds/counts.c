/* Private counts.
 *
 *   c_t(u, j)  of the rows of unit u the share in cell j of table t
 *   S_t(j)   = sum_u floor(P c_t(u, j)),      P = 2^14 parts
 *   released   S_t(j) M + K_tj,               K = round(2^32 Z), M = floor(2^32 / (sigma P))
 *
 * The shares of a unit in a table sum to one at most, and so does their Euclidean norm: one unit
 * more or less moves a table by P parts at most, replacing one by 2 P, and T tables side by side by
 * sqrt(T) times that, which is what T steps of the Gaussian mechanism account for.  Everything is a
 * whole number, and S M + K = round(S M + 2^32 Z): a function of the Gaussian mechanism with noise
 * multiplier 2^32 / (M P), which is sigma or more, by less than a 63rd.  S M is cut to 2^62, which
 * brings neighbours nearer to each other; so the number of units need not be known.  See
 * doc/design/synth.md. */
#include <tacit/counts.h>

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/float.h"
#include "bounds/paid.h"
#include "data/unit.h"
#include "random/grid.h"
#include "random/noise.h"

enum { MOST_TABLES = 10000, MOST_AXIS = 1 << 20, MOST_CELLS = 1 << 24, PIECE = 1024 };

typedef struct counting {
    dpi_arena arena;
    const dp_dataset *data;
    const dp_count_opts *opts;
    dpi_paid paid;
    dpi_units units;
    int64_t *parts; /* [largest table] */
    size_t largest;
    size_t *cell; /* [rows of the largest unit] cells of its rows */
    dp_noise *noise;
} counting;

size_t dp_count_cell(const dp_count_axis *axis, bool whole, double value)
{
    if (!(value > axis->low))
        return 0;
    if (value >= axis->high)
        return axis->cells - 1;
    const double from = value - axis->low, range = axis->high - axis->low;
    const double cells = (double)axis->cells;
    /* Of whole numbers product and quotient are exact where the quotient is whole; of real ones a
     * product could overflow. */
    const size_t cell = (size_t)(whole ? from * cells / (range + 1) : from / range * cells);
    return cell < axis->cells ? cell : axis->cells - 1;
}

/* ---- options ---- */

static dp_status check_axis(const dp_dataset *data, const dp_count_axis *a, dp_error *err)
{
    const dpi_column *column = a->column != NULL ? dpi_dataset_find(data, a->column) : NULL;
    if (column == NULL || (column->real == NULL && column->index == NULL))
        return dpi_fail(err, DP_ENAME,
                        "there is no column '%s' of real or whole numbers; add it with "
                        "dp_dataset_real or dp_dataset_index",
                        a->column != NULL ? a->column : "(NULL)");
    if (column->size != 1)
        return dpi_fail(err, DP_ESHAPE,
                        "column '%s' has %zu numbers a record; count columns of one, each a column "
                        "of its own",
                        a->column, column->size);
    if (!(a->low < a->high) || !isfinite(a->high - a->low))
        return dpi_fail(err, DP_EDOMAIN,
                        "column '%s' is to be counted from %g to %g; give a range that is public, "
                        "finite, the lower end first",
                        a->column, a->low, a->high);
    if (a->cells == 0 || a->cells > MOST_AXIS)
        return dpi_fail(err, DP_EDOMAIN, "column '%s' is to have %zu cells; give 1 to %d",
                        a->column, a->cells, MOST_AXIS);
    if (column->index == NULL)
        return DP_OK;
    if (a->low != floor(a->low) || a->high != floor(a->high))
        return dpi_fail(err, DP_EDOMAIN,
                        "column '%s' is of whole numbers and to be counted from %g to %g; give "
                        "whole ends",
                        a->column, a->low, a->high);
    if ((double)a->cells > a->high - a->low + 1)
        return dpi_fail(err, DP_EDOMAIN,
                        "column '%s' is to have %zu cells for %.0f values; give no more cells than "
                        "values",
                        a->column, a->cells, a->high - a->low + 1);
    return DP_OK;
}

/* Cells of a table; 0: more than there may be, or an axis that is not there. */
static size_t cells_of(const dp_count_opts *o, const dp_count_table *t)
{
    if (t->first >= o->n_axes || (t->second >= o->n_axes && t->second != DP_ONE_WAY))
        return 0;
    const size_t a = o->axes[t->first].cells,
                 b = t->second == DP_ONE_WAY ? 1 : o->axes[t->second].cells;
    return a > MOST_CELLS / b ? 0 : a * b;
}

static dp_status check_tables(counting *c, size_t n, dp_error *err)
{
    const dp_count_opts *o = c->opts;
    size_t sum = 0;
    for (size_t t = 0; t < o->n_tables; t++) {
        const size_t cells = cells_of(o, &o->tables[t]);
        if (cells == 0 || cells > MOST_CELLS - sum)
            return dpi_fail(err, DP_EDOMAIN,
                            "table %zu is of an axis that there is not, or there are more than %d "
                            "cells in all; give axes 0 to %zu, and fewer or coarser tables",
                            t, MOST_CELLS, o->n_axes - 1);
        sum += cells;
        c->largest = cells > c->largest ? cells : c->largest;
    }
    if (n != sum)
        return dpi_fail(err, DP_ESHAPE, "there is room for %zu counts, and the tables have %zu", n,
                        sum);
    return DP_OK;
}

static dp_status check_options(counting *c, size_t n, dp_error *err)
{
    const dp_count_opts *o = c->opts;
    if (c->data->err.status != DP_OK)
        return dpi_fail(err, c->data->err.status, "%s", c->data->err.text);
    if (o->tables == NULL || o->n_tables == 0 || o->n_tables > MOST_TABLES || o->axes == NULL ||
        o->n_axes == 0)
        return dpi_fail(err, DP_EINVAL, "%zu tables of %zu axes are asked for; ask for 1 to %d",
                        o->n_tables, o->n_axes, MOST_TABLES);
    dp_status status = dpi_paid_check(&c->paid, err);
    for (size_t a = 0; a < o->n_axes && status == DP_OK; a++)
        status = check_axis(c->data, &o->axes[a], err);
    return status == DP_OK ? check_tables(c, n, err) : status;
}

static bool is_counted(const void *user, const dpi_column *column)
{
    const dp_count_opts *o = user;
    for (size_t a = 0; a < o->n_axes; a++)
        if (strcmp(o->axes[a].column, column->name) == 0)
            return true;
    return false;
}

/* ---- counting ---- */

static size_t cell_along(const counting *c, size_t axis, size_t row)
{
    const dp_count_axis *a = &c->opts->axes[axis];
    const dpi_column *column = dpi_dataset_find(c->data, a->column);
    return column->real != NULL ? dp_count_cell(a, false, column->real[row])
                                : dp_count_cell(a, true, (double)column->index[row]);
}

static size_t cell_of(const counting *c, const dp_count_table *t, size_t row)
{
    const size_t first = cell_along(c, t->first, row);
    return t->second == DP_ONE_WAY
               ? first
               : first * c->opts->axes[t->second].cells + cell_along(c, t->second, row);
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* A unit of several rows: the whole parts of its share in each cell. */
static void add_unit(counting *c, const dp_count_table *t, size_t rows, const size_t *row)
{
    for (size_t k = 0; k < rows; k++)
        c->cell[k] = cell_of(c, t, row[k]);
    qsort(c->cell, rows, sizeof *c->cell, by_size);
    for (size_t k = 0, same; k < rows; k += same) {
        for (same = 1; k + same < rows && c->cell[k + same] == c->cell[k];)
            same++;
        c->parts[c->cell[k]] += (int64_t)(DPI_COUNT_PARTS * same / rows);
    }
}

static void count_table(counting *c, const dp_count_table *t)
{
    memset(c->parts, 0, c->largest * sizeof *c->parts);
    for (size_t u = 0; u < c->units.n; u++) {
        const size_t rows = dpi_unit_rows(&c->units, u);
        const size_t *row = c->units.row != NULL ? c->units.row + c->units.start[u] : &u;
        if (rows == 1)
            c->parts[cell_of(c, t, row[0])] += DPI_COUNT_PARTS;
        else
            add_unit(c, t, rows, row);
    }
}

static int64_t scale_of(double sigma)
{
    /* Product and quotient are rounded: the last factor brings the whole below the exact one. */
    return (int64_t)(DPI_GRID_SCALE / (sigma * DPI_COUNT_PARTS) * (1 - 0x1p-50));
}

/* The release of a table. */
static dp_status release(counting *c, size_t cells, double *counts, dp_error *err)
{
    const int64_t scale = scale_of(c->paid.mechanism.sigma), most = ((int64_t)1 << 62) / scale;
    int64_t added[PIECE];
    dpi_stream *stream;
    c->paid.begun++;
    dp_status status = dpi_noise_stream(c->noise, &stream, err);
    for (size_t first = 0; first < cells && status == DP_OK; first += PIECE) {
        const size_t m = cells - first < PIECE ? cells - first : PIECE;
        dpi_stream_grid(stream, m, added);
        for (size_t j = 0; j < m; j++) {
            const int64_t sum = c->parts[first + j] < most ? c->parts[first + j] : most;
            counts[first + j] =
                (double)(sum * scale + added[j]) / ((double)scale * DPI_COUNT_PARTS);
        }
    }
    sodium_memzero(added, sizeof added);
    return status;
}

static dp_status count_all(counting *c, double *counts, dp_error *err)
{
    const dp_count_opts *o = c->opts;
    dp_status status = dpi_paid_values(c->data, is_counted, o, err);
    if (status == DP_OK)
        status = dpi_units_init(&c->units, &c->arena, c->data, err);
    if (status != DP_OK)
        return status;
    c->parts = dpi_arena_alloc(&c->arena, c->largest, sizeof *c->parts);
    c->cell = dpi_arena_alloc(&c->arena, c->units.most + 1, sizeof *c->cell);
    if (c->parts == NULL || c->cell == NULL)
        return dpi_fail_nomem(err);
    status = dpi_paid_noise(&c->paid, &c->noise, err);
    for (size_t t = 0; t < o->n_tables && status == DP_OK; t++) {
        const size_t cells = cells_of(o, &o->tables[t]);
        count_table(c, &o->tables[t]);
        status = release(c, cells, counts, err);
        counts += cells;
    }
    sodium_memzero(c->parts, c->largest * sizeof *c->parts);
    sodium_memzero(c->cell, (c->units.most + 1) * sizeof *c->cell);
    dp_noise_free(c->noise);
    return status;
}

dp_status dp_private_counts(const dp_dataset *data, const dp_count_opts *o, size_t n,
                            double *counts, double *noise, dp_privacy *privacy, dp_error *err)
{
    counting c = {.data = data,
                  .opts = o,
                  .paid = {.epsilon = o->epsilon,
                           .delta = o->delta,
                           .sigma = o->sigma,
                           .seed = o->seed,
                           .ledger = o->ledger,
                           .ledger_data = o->ledger_data,
                           .ledger_label = o->ledger_label}};
    dp_status status = dpi_float_check(err);
    if (status == DP_OK)
        status = check_options(&c, n, err);
    if (status == DP_OK)
        status = dpi_paid_calibrate(&c.paid, o->n_tables, "tables", err);
    if (status == DP_OK)
        status = dpi_paid_reserve(&c.paid, &c.arena, data, "counts of ", is_counted, o, err);
    if (status == DP_OK)
        status = count_all(&c, counts, err);
    dpi_paid_settle(&c.paid);
    for (size_t k = 0; k < n && status != DP_OK; k++)
        counts[k] = NAN;
    if (noise != NULL)
        *noise = status != DP_OK ? NAN
                                 : DPI_GRID_SCALE /
                                       ((double)scale_of(c.paid.mechanism.sigma) * DPI_COUNT_PARTS);
    if (privacy != NULL)
        *privacy = status == DP_OK ? dpi_paid_guarantee(&c.paid, data, c.units.n, (double)n)
                                   : dpi_paid_nothing();
    dpi_arena_free(&c.arena);
    return status;
}
