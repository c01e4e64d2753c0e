/* Clipped sums.
 *
 *   one record a unit       |g| from the factors of its parts, then g min(1, C / |g|) added from
 *                           the factors: g itself is never made
 *   several records a unit  g = g_1 + ... + g_k, made in a buffer of the release's length, because
 *                           |g| has cross terms between the records; then the same
 *
 * A unit's g is a function of its own records alone, to the bit: they are added one by one in their
 * order, and a record is computed without a look at its neighbours.  Whatever rounding does to g,
 * it is the g as computed that is clipped.  Cost of a unit of k > 1 records and P released numbers:
 * 3 P and what k records cost. */
#include "exec/clip.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "exec/run-state.h"
#include "num/linalg.h"

/* min(1, clip / norm), and 0 where the norm is not finite.  Without a branch: which gradients are
 * clipped nobody can predict. */
DPI_LOOPS static void clip_weights(size_t m, const double *norm2, double clip, double *weight)
{
    for (size_t r = 0; r < m; r++) {
        double norm = sqrt(norm2[r]), share = clip / norm;
        share = norm > clip ? share : 1;
        weight[r] = norm <= DBL_MAX ? share : 0;
    }
}

/* Of rows in which a call for each would cost more than its arithmetic. */
DPI_LOOPS static void add_short_squares(size_t m, size_t n, const double *x, double *restrict norm2)
{
    for (size_t r = 0; r < m; r++, x += n) {
        double sum[4] = {0};
        size_t e = 0;
        for (; e + 4 <= n; e += 4)
            for (size_t k = 0; k < 4; k++)
                sum[k] += x[e + k] * x[e + k];
        for (; e < n; e++)
            sum[0] += x[e] * x[e];
        norm2[r] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

static void add_norm2(const dpi_part *p, size_t m, double *norm2)
{
    for (size_t r = 0; r < m && p->kept[0] != NULL; r++) {
        const size_t *size = p->call.in_size;
        double norm = dpi_norm_of_outer_single(size[0], p->kept[0] + r * size[0], size[1],
                                               p->kept[1] + r * size[1]);
        norm2[r] += norm * norm;
    }
    if (p->kept[0] != NULL)
        return;
    if (p->factored != NULL) {
        p->factored->norm2(&p->call, norm2);
        return;
    }
    if (p->terms != NULL) {
        dpi_terms_norm2(p->terms, m, norm2);
        return;
    }
    for (size_t r = 0; r < m && p->made != NULL; r++)
        norm2[r] += dpi_squares_single(p->size, p->made + r * p->size);
    if (p->made != NULL)
        return;
    for (size_t r = 0; r < m && p->size >= DPI_LONG; r++)
        norm2[r] += dpi_squares(p->size, p->call.out + r * p->size);
    if (p->size < DPI_LONG)
        add_short_squares(m, p->size, p->call.out, norm2);
}

DPI_LOOPS static void add_scaled(size_t m, const double *weight, size_t n, const double *x,
                                 double *restrict sum)
{
    for (size_t r = 0; r < m; r++, x += n)
        if (weight[r] != 0)
            for (size_t e = 0; e < n; e++)
                sum[e] += weight[r] * x[e];
}

/* The same of floats. */
DPI_LOOPS static void add_scaled_floats(size_t m, const double *weight, size_t n, const float *x,
                                        double *restrict sum)
{
    for (size_t r = 0; r < m; r++, x += n)
        if (weight[r] != 0)
            for (size_t e = 0; e < n; e++)
                sum[e] += weight[r] * (double)x[e];
}

/* Adds the weighted parts of m records, the first being number `first` of the chunk. */
static void add_weighted(const dpi_part *p, size_t first, size_t m, const double *weight,
                         double *sum)
{
    if (p->factored != NULL) {
        dpi_call call = p->call;
        call.n = m;
        for (int k = 0; k < 2 && call.in[k] != NULL; k++)
            call.in[k] += first * call.in_step[k];
        p->factored->weighted_sum(&call, weight, sum);
        return;
    }
    if (p->made != NULL)
        add_scaled_floats(m, weight, p->size, p->made + first * p->size, sum);
    else
        add_scaled(m, weight, p->size, p->call.out + first * p->size, sum);
}

static void add_in_chains(const dpi_part *p, size_t m, const double *weight, double *sum)
{
    dpi_chains_start(p->chains, sum);
    for (size_t r = 0; r < m; r++)
        if (weight[r] != 0) {
            dpi_chains_push(p->chains, p->call.in[0] + r * p->call.in_step[0],
                            p->call.in[1] + r * p->call.in_step[1], weight[r]);
            dpi_chains_end_record(p->chains);
        }
    dpi_chains_flush(p->chains);
}

/* Adds a part of records whose weights were just found, in double. */
static void add_clipped(const dpi_part *p, size_t first, size_t m, const double *weight,
                        double *sum)
{
    if (p->terms != NULL)
        dpi_terms_add_clipped(p->terms, first, m, weight, sum);
    else
        add_weighted(p, first, m, weight, sum);
}

/* The same of the first m, in chains where these are long enough. */
static void add_part(const dpi_part *p, size_t m, const double *weight, double *sum)
{
    if (p->chains == NULL || p->chains->longest == 0)
        add_clipped(p, 0, m, weight, sum);
    else if (p->terms != NULL)
        dpi_terms_add_in_chains(p->terms, m, weight, p->chains, sum);
    else
        add_in_chains(p, m, weight, sum);
}

void dpi_run_add_part(const dpi_run *run, size_t part, size_t first, size_t m, const double *weight,
                      double *sum)
{
    add_clipped(&run->parts[part], first, m, weight, sum);
}

static void add_parts(const dpi_run *run, size_t m, const double *weight, double *sum)
{
    for (const dpi_part *p = run->parts; p < run->parts + run->spec.n_parts; sum += p->size, p++)
        add_part(p, m, weight, sum);
}

void dpi_run_weights(dpi_run *run, size_t m, double clip, double *norm2, double *weight)
{
    memset(norm2, 0, m * sizeof *norm2);
    for (size_t i = 0; i < run->spec.n_parts; i++) {
        run->parts[i].call.n = m;
        add_norm2(&run->parts[i], m, norm2);
    }
    clip_weights(m, norm2, clip, weight);
}

/* Without clipping, what is beyond the range of floats. */
static void drop_greatest(const dpi_run *run, size_t m, const double *norm2, double *weight)
{
    for (size_t r = 0; r < m && run->chained; r++)
        if (weight[r] == 1 && norm2[r] > dpi_chain_greatest * dpi_chain_greatest)
            weight[r] = 0;
}

void dpi_run_clip_sum(dpi_run *run, size_t m, double clip, double *scratch, double *sum)
{
    double *weight = scratch + run->spec.chunk;
    dpi_run_weights(run, m, clip, scratch, weight);
    drop_greatest(run, m, scratch, weight);
    add_parts(run, m, weight, sum);
}

static void add_rows(const dpi_run *run, const dpi_part *p, size_t first, size_t m, double *unit)
{
    if (p->terms != NULL)
        dpi_terms_add(p->terms, first, m, unit);
    else
        add_weighted(p, first, m, run->ones, unit);
}

void dpi_run_add_row(const dpi_run *run, size_t part, size_t r, double *unit)
{
    add_rows(run, &run->parts[part], r, 1, unit);
}

void dpi_run_add_rows(const dpi_run *run, size_t first, size_t m, double *unit)
{
    for (const dpi_part *p = run->parts; p < run->parts + run->spec.n_parts; unit += p->size, p++)
        add_rows(run, p, first, m, unit);
}

double dpi_clip_weight(size_t n, const double *unit, double clip)
{
    double weight, norm2 = dpi_dot(n, unit, unit);
    clip_weights(1, &norm2, clip, &weight);
    return weight;
}

double dpi_clip_add(size_t n, const double *unit, double clip, double *sum)
{
    const double weight = dpi_clip_weight(n, unit, clip);
    for (size_t e = 0; weight != 0 && e < n; e++)
        sum[e] += weight * unit[e];
    return weight;
}

/* ---- chains of floats ---- */

enum { LEAST_SIDE = 32 }; /* of a matrix for which packing factors pays */

/* The products of a record, 0 when they are no dense ones or too many. */
static size_t products_of(const dpi_part *p, const dpi_decomposition *d)
{
    size_t rank = d->rank;
    if (p->factored != NULL && p->factored->outer)
        rank = 1;
    else if (d->way != DPI_PRODUCTS)
        return 0;
    for (size_t t = 0; t < d->n_terms; t++)
        if (d->term[t].picked)
            return 0;
    return rank <= DPI_CHAIN_LONGEST ? rank : 0;
}

dp_status dpi_run_chains_new(dpi_run *run, dp_error *err)
{
    for (size_t i = 0; i < run->spec.n_parts && run->spec.single; i++) {
        dpi_part *p = &run->parts[i];
        const dpi_attr *attr = p->call.attr;
        size_t rank = products_of(p, &run->decompositions[i]);
        size_t rows = p->terms != NULL ? p->terms->rows : attr->rows;
        size_t columns = p->terms != NULL ? p->terms->columns : attr->columns;
        if (rank == 0 || rows < LEAST_SIDE || columns < LEAST_SIDE)
            continue;
        p->chains = dpi_arena_alloc(&run->arena, 1, sizeof *p->chains);
        if (p->chains == NULL || !dpi_chains_init(p->chains, &run->arena, rows, columns, rank)) {
            p->chains = NULL;
            return dpi_fail_nomem(err);
        }
    }
    return DP_OK;
}

void dpi_run_chains_set(dpi_run *run, size_t n, double clip)
{
    run->chained = false;
    for (size_t i = 0; i < run->spec.n_parts; i++) {
        dpi_chains *chains = run->parts[i].chains;
        if (chains == NULL)
            continue;
        chains->longest = dpi_chain_records(chains->rank, n, clip);
        run->chained = run->chained || chains->longest > 0;
    }
}

static size_t release_size(const dpi_run *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->spec.n_parts; i++)
        n += run->parts[i].size;
    return n;
}

void dpi_run_clip_units(dpi_run *run, size_t n_units, const size_t *rows, double clip,
                        double *scratch, double *unit, double *sum)
{
    double *weight = scratch + run->spec.chunk;
    size_t m = 0, n = release_size(run);
    for (size_t u = 0; u < n_units; u++)
        m += rows[u];
    dpi_run_weights(run, m, clip, scratch, weight);
    drop_greatest(run, m, scratch, weight);
    for (size_t u = 0, r = 0; u < n_units; r += rows[u], u++)
        for (size_t k = 0; rows[u] > 1 && k < rows[u]; k++)
            weight[r + k] = 0;
    add_parts(run, m, weight, sum);
    for (size_t u = 0, r = 0; u < n_units; r += rows[u], u++) {
        if (rows[u] == 1)
            continue;
        memset(unit, 0, n * sizeof *unit);
        dpi_run_add_rows(run, r, rows[u], unit);
        weight[r] = dpi_clip_add(n, unit, clip, sum);
    }
}
