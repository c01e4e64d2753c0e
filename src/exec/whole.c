/* Clipped sums in whole numbers.
 *
 *   sum_e += round(s (w g_e)),  w = min(1, C / |g|),  s steps of the grid in 1
 *
 * Sums of whole numbers below 2^53 are exact: they are the same in whatever order units come and
 * however they are cut into sums that are then added.  Norms and factors are those of clip.c, of
 * which each is a function of its unit alone, to the bit; so is what is rounded here.  A number is
 * off by 1/2 at most, and a unit's norm by sqrt(n) / 2 steps (svi/release.h leaves that).
 *
 * An outer product a b^T is made in tiles of eight by eight numbers, each of which takes a record
 * after the other: a multiplication, one with the addition that rounds, and an addition of whole
 * numbers, where a sum of products has the second alone.  As in factored.c factors are multiplied
 * before the weight comes in.  All other gradients are made, record after record; of rows that a
 * record picks no more than these are gone over. */
#include "exec/whole.h"

#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "exec/clip.h"
#include "exec/run-state.h"
#include "num/linalg.h"

enum { TILE = 8, AT_ONCE = 64 };

/* What is added to a number of at most 2^51 so that its last bit is worth 1. */
static const double onto_grid = 0x1.8p52;

DPI_LOOPS static void add_whole(size_t n, double scale, const double *x, double *restrict sum)
{
    for (size_t e = 0; e < n; e++)
        sum[e] += (scale * x[e] + onto_grid) - onto_grid;
}

static size_t release_size(const dpi_run *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->spec.n_parts; i++)
        n += run->parts[i].size;
    return n;
}

/* ---- outer products ---- */

/* The factors of some records, those of weight 0 left out: numbers of the longer one, and of the
 * other. */
typedef struct whole_pack {
    size_t n;
    size_t record[AT_ONCE];
    double scale[AT_ONCE], along[AT_ONCE][TILE], across[AT_ONCE][TILE];
} whole_pack;

/* Numbers first ... first + TILE - 1 of in[k] of each, zero behind the end. */
static void pack(const dpi_call *c, int k, size_t first, const whole_pack *p, double to[][TILE])
{
    const size_t left = c->in_size[k] - first, n = left < TILE ? left : TILE;
    for (size_t i = 0; i < p->n; i++) {
        const double *from = c->in[k] + p->record[i] * c->in_step[k] + first;
        if (n == TILE)
            memcpy(to[i], from, sizeof to[i]);
        for (size_t j = 0; n < TILE && j < TILE; j++)
            to[i][j] = j < n ? from[j] : 0;
    }
}

/* Of the first `width` numbers across, which is constant.  What onto_grid is in each of the numbers
 * whose bits are added up is taken off at the end. */
DPI_INLINE void take_records(const whole_pack *p, size_t width, double tile[TILE][TILE])
{
    uint64_t sum[TILE][TILE] = {{0}}, none;
    memcpy(&none, &onto_grid, sizeof none);
    for (size_t i = 0; i < p->n; i++) {
        DPI_UNROLL
        for (size_t r = 0; r < width; r++)
            for (size_t j = 0; j < TILE; j++) {
                const double on = p->scale[i] * (p->along[i][j] * p->across[i][r]) + onto_grid;
                uint64_t bits;
                memcpy(&bits, &on, sizeof bits);
                sum[r][j] += bits;
            }
    }
    for (size_t r = 0; r < width; r++)
        for (size_t j = 0; j < TILE; j++)
            tile[r][j] = (double)(int64_t)(sum[r][j] - p->n * none);
}

DPI_LOOPS static void make_tile(const whole_pack *p, double tile[TILE][TILE])
{
    take_records(p, TILE, tile);
}

DPI_LOOPS static void make_narrow_tile(const whole_pack *p, double tile[TILE][TILE])
{
    take_records(p, 2, tile);
}

/* Adds a tile whose first number across and along these are. */
static void add_tile(const dpi_call *c, const double tile[TILE][TILE], size_t across, size_t along,
                     double *sum)
{
    const size_t columns = c->attr->columns;
    const bool tall = c->attr->rows >= columns;
    const size_t most[2] = {(tall ? columns : c->attr->rows) - across,
                            (tall ? c->attr->rows : columns) - along};
    for (size_t r = 0; r < TILE && r < most[0]; r++)
        for (size_t j = 0; j < TILE && j < most[1]; j++)
            sum[tall ? (along + j) * columns + across + r : (across + r) * columns + along + j] +=
                tile[r][j];
}

static void add_tiles(const dpi_call *c, whole_pack *p, double *sum)
{
    const int k = c->attr->rows >= c->attr->columns ? 0 : 1; /* the longer one */
    double tile[TILE][TILE];
    for (size_t across = 0; across < c->in_size[1 - k]; across += TILE) {
        pack(c, 1 - k, across, p, p->across);
        const bool narrow = c->in_size[1 - k] - across <= 2;
        for (size_t along = 0; along < c->in_size[k]; along += TILE) {
            pack(c, k, along, p, p->along);
            if (narrow)
                make_narrow_tile(p, tile);
            else
                make_tile(p, tile);
            add_tile(c, (const double(*)[TILE])tile, across, along, sum);
        }
    }
}

static void add_outer(const dpi_call *c, size_t m, const double *weight, double steps, double *sum)
{
    whole_pack p;
    for (size_t r = 0; r < m;) {
        for (p.n = 0; p.n < AT_ONCE && r < m; r++) {
            if (weight[r] == 0)
                continue;
            p.record[p.n] = r;
            p.scale[p.n++] = weight[r] * steps;
        }
        add_tiles(c, &p, sum);
    }
    sodium_memzero(&p, sizeof p);
}

/* ---- parts ---- */

/* Makes record r's numbers of a part, in unit[] where they do not stand as they are. */
static const double *numbers_of(const dpi_run *run, const dpi_part *p, size_t r, double *unit)
{
    if (p->terms == NULL && p->factored == NULL && p->made == NULL)
        return p->call.out + r * p->size;
    memset(unit, 0, p->size * sizeof *unit);
    dpi_run_add_row(run, (size_t)(p - run->parts), r, unit);
    return unit;
}

/* Adds the rows of unit[] that are picked, and clears them: picked twice, one is zero then. */
static void add_picked(size_t picks, const double *row, size_t size, double scale, double *unit,
                       double *sum)
{
    for (size_t k = 0; k < picks; k++) {
        const size_t at = (size_t)row[k] * size;
        add_whole(size, scale, unit + at, sum + at);
        memset(unit + at, 0, size * sizeof *unit);
    }
}

/* Of a part of which each record picks some rows, so that no more are gone over. */
static void add_rows_picked(const dpi_run *run, const dpi_part *p, size_t m, const double *weight,
                            double steps, double *unit, double *sum)
{
    const dpi_call *c = &p->call;
    const size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    memset(unit, 0, p->size * sizeof *unit);
    for (size_t r = 0; r < m; r++) {
        const double scale = weight[r] * steps;
        if (weight[r] == 0)
            continue;
        dpi_run_add_row(run, (size_t)(p - run->parts), r, unit);
        if (p->factored != NULL)
            add_picked(picks, c->in[1] + r * c->in_step[1], size, scale, unit, sum);
        for (size_t t = 0; p->terms != NULL && t < p->terms->n; t++) {
            const dpi_term_factors *f = &p->terms->factors[t];
            add_picked(f->rank, f->left + r * f->left_step, p->terms->columns, scale, unit, sum);
        }
    }
}

static bool is_picked(const dpi_part *p)
{
    return p->terms != NULL ? p->terms->all_picked : p->factored != NULL && p->factored->picked;
}

static void add_part(const dpi_run *run, const dpi_part *p, size_t m, const double *weight,
                     double steps, double *unit, double *sum)
{
    if (p->factored != NULL && p->factored->outer) {
        add_outer(&p->call, m, weight, steps, sum);
        return;
    }
    if (is_picked(p)) {
        add_rows_picked(run, p, m, weight, steps, unit, sum);
        return;
    }
    for (size_t r = 0; r < m; r++)
        if (weight[r] != 0)
            add_whole(p->size, weight[r] * steps, numbers_of(run, p, r, unit), sum);
}

/* ---- units ---- */

double dpi_clip_add_whole(size_t n, const double *unit, double clip, double steps, double *sum)
{
    const double weight = dpi_clip_weight(n, unit, clip);
    if (weight != 0)
        add_whole(n, weight * steps, unit, sum);
    return weight;
}

void dpi_run_clip_whole(dpi_run *run, size_t n_units, const size_t *rows, double clip, double steps,
                        double *scratch, double *unit, double *sum)
{
    double *weight = scratch + run->spec.chunk;
    const size_t n = release_size(run);
    size_t m = rows == NULL ? n_units : 0;
    for (size_t u = 0; rows != NULL && u < n_units; u++)
        m += rows[u];
    dpi_run_weights(run, m, clip, scratch, weight);
    for (size_t u = 0, r = 0; rows != NULL && u < n_units; r += rows[u], u++)
        for (size_t k = 0; rows[u] > 1 && k < rows[u]; k++)
            weight[r + k] = 0;
    double *to = sum;
    for (const dpi_part *p = run->parts; p < run->parts + run->spec.n_parts; to += p->size, p++)
        add_part(run, p, m, weight, steps, unit, to);
    for (size_t u = 0, r = 0; rows != NULL && u < n_units; r += rows[u], u++) {
        if (rows[u] == 1)
            continue;
        memset(unit, 0, n * sizeof *unit);
        dpi_run_add_rows(run, r, rows[u], unit);
        weight[r] = dpi_clip_add_whole(n, unit, clip, steps, sum);
    }
}
