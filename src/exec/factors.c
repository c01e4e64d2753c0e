/* Clipped sums of long releases in two passes.
 *
 * A record's part of the release is w a b^T, w being its weight.  Kept are a 2^e and w b 2^-e, e
 * such that the largest numbers of both are about equal: as large as the root of that of w a b^T.
 * So neither is far from 1 unless the clip norm is, whatever a and b are, and nothing over- or
 * underflows: that matters in single precision.  Records of weight 0 are left out.
 *
 * Single precision (u = 2^-24; chains.c, where all parts have the same chains of one product a
 * record).  Where values of records are floats, kept factors are floats, and their products are
 * added up in chains of c floats, which are added in double.  The kept factors are off by u of each
 * number.  After l records the chain's vector is at most l clip long, and the next step is off by u
 * of each of its numbers, twice where products are rounded before they are added: a chain of c is
 * off by u c (c + 3) / 2 clip, n records by u n (c + 3) / 2, and two neighbouring data sets
 * together by u n (c + 3) clip.  c is chosen such that n (c + 3) <= room: that is 0.94 2^-10 clip.
 * It depends on n, whose neighbours' sums are each off by half as much at most, whichever c they
 * take.  Where c would be too short, sums are in double.  What falls below 2^-126 is off by 2^-150:
 * for clip >= 2^-64 at most 2^-60 clip in all.  Without clipping nothing is proven and chains are
 * long; a record beyond dpi_chain_greatest is left out. */
#include "exec/factors.h"

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "exec/chains.h"
#include "exec/clip.h"
#include "exec/run-state.h"
#include "num/gemm.h"
#include "num/linalg.h"

enum { LEAST = 8 };       /* numbers of a side */
enum { BLOCK = 1 << 15 }; /* released numbers, about */
enum { MOST_CHAINS = 64 };
static const double room = 0.94 * 0x1p14;

/* An outer product [rows][columns] of the release, and where its factors are in a slot:
 * [records][a_step] and [records][b_step] numbers. */
typedef struct kept {
    size_t part, offset, rows, columns, a_step, b_step, a_at, b_at;
} kept;

/* Rows of one of them. */
typedef struct block {
    const kept *of;
    size_t first, rows;
} block;

typedef struct slot {
    size_t n;      /* records */
    void *numbers; /* doubles, or floats */
    double *rest;  /* sums of the other parts, and extras */
} slot;

struct dpi_factors {
    kept *kept;
    block *blocks; /* block number k is blocks[k - 1]; number 0 is the rest */
    slot *slots;
    size_t n_kept, n_blocks, n_slots, n_numbers, n_rest, n_extra, n_release;
    double *rest_lost;
    bool *is_kept; /* [n_parts] */
    size_t n_parts, *part_size;
};

bool dpi_factors_find(dpi_run *run)
{
    const dpi_run_spec *spec = &run->spec;
    double outer = 0, all = 0;
    run->outer = dpi_arena_alloc(&run->arena, spec->n_parts, sizeof *run->outer);
    for (size_t i = 0; run->outer != NULL && i < spec->n_parts; i++) {
        const dpi_node *node = dpi_get(spec->graph, spec->parts[i]);
        const double size = (double)dpi_shape_size(&node->shape);
        run->outer[i] = run->decompositions[i].way == DPI_FACTORED &&
                        dpi_factored_forms[node->op->id].outer && node->attr.rows >= LEAST &&
                        node->attr.columns >= LEAST;
        all += size;
        outer += run->outer[i] ? size : 0;
    }
    run->mostly_outer = outer > all / 2;
    return run->outer != NULL;
}

bool dpi_factors_pay(const dpi_run *run)
{
    return run->mostly_outer;
}

bool dpi_factors_are_floats(const dpi_run *run, size_t part)
{
    const dpi_graph *g = run->spec.graph;
    if (!run->spec.kept || !run->spec.single || !run->mostly_outer || !run->outer[part])
        return false;
    const dpi_node *node = dpi_get(g, run->spec.parts[part]);
    return dpi_get(g, node->in[0])->shape.per_record && dpi_get(g, node->in[1])->shape.per_record;
}

static size_t padded(size_t n)
{
    return (n + DPI_GEMM_STEP - 1) / DPI_GEMM_STEP * DPI_GEMM_STEP;
}

/* Lists the parts; n_numbers and n_rest are those of a slot of so many records. */
static void list_parts(dpi_factors *f, const dpi_run *run, size_t records)
{
    f->n_parts = run->spec.n_parts;
    f->n_rest = f->n_extra;
    for (size_t i = 0; i < f->n_parts; i++) {
        const dpi_part *p = &run->parts[i];
        f->part_size[i] = p->size;
        f->is_kept[i] = run->outer[i];
        if (f->is_kept[i]) {
            kept *k = &f->kept[f->n_kept++];
            *k = (kept){.part = i,
                        .offset = f->n_release,
                        .rows = p->call.attr->rows,
                        .columns = p->call.attr->columns};
            k->a_step = padded(k->rows);
            k->b_step = padded(k->columns);
            k->a_at = f->n_numbers;
            k->b_at = k->a_at + records * k->a_step;
            f->n_numbers = k->b_at + records * k->b_step;
        } else {
            f->n_rest += p->size;
        }
        f->n_release += p->size;
    }
    f->n_release += f->n_extra;
}

static size_t rows_of_block(const kept *k)
{
    size_t rows = BLOCK / k->columns / DPI_GEMM_STEP * DPI_GEMM_STEP;
    return rows < DPI_GEMM_STEP ? DPI_GEMM_STEP : rows;
}

static bool make_blocks(dpi_arena *arena, dpi_factors *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_kept; i++)
        n += (f->kept[i].rows - 1) / rows_of_block(&f->kept[i]) + 1;
    f->blocks = dpi_arena_alloc(arena, n, sizeof *f->blocks);
    if (f->blocks == NULL)
        return false;
    for (size_t i = 0; i < f->n_kept; i++) {
        const kept *k = &f->kept[i];
        size_t step = rows_of_block(k);
        for (size_t first = 0; first < k->rows; first += step)
            f->blocks[f->n_blocks++] =
                (block){k, first, k->rows - first < step ? k->rows - first : step};
    }
    return true;
}

dp_status dpi_factors_new(dpi_arena *arena, const dpi_run *run, size_t slots, size_t records,
                          size_t n_extra, dpi_factors **out, dp_error *err)
{
    size_t n = run->spec.n_parts;
    dpi_factors *f = dpi_arena_alloc(arena, 1, sizeof *f);
    *out = NULL;
    if (f == NULL || (f->kept = dpi_arena_alloc(arena, n, sizeof *f->kept)) == NULL ||
        (f->is_kept = dpi_arena_alloc(arena, n, sizeof *f->is_kept)) == NULL ||
        (f->part_size = dpi_arena_alloc(arena, n, sizeof *f->part_size)) == NULL)
        return dpi_fail_nomem(err);
    f->n_slots = slots < MOST_CHAINS ? slots : MOST_CHAINS;
    f->n_extra = n_extra;
    list_parts(f, run, records);
    f->slots = dpi_arena_alloc(arena, f->n_slots, sizeof *f->slots);
    f->rest_lost = dpi_arena_alloc(arena, f->n_rest, sizeof *f->rest_lost);
    if (f->slots == NULL || f->rest_lost == NULL || !make_blocks(arena, f))
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < f->n_slots; i++) {
        f->slots[i].numbers = dpi_arena_alloc(arena, f->n_numbers, sizeof(double));
        f->slots[i].rest = dpi_arena_alloc(arena, f->n_rest, sizeof(double));
        if (f->slots[i].numbers == NULL || f->slots[i].rest == NULL)
            return dpi_fail_nomem(err);
    }
    *out = f;
    return DP_OK;
}

size_t dpi_factors_chain(const dpi_run *run, size_t n, double clip)
{
    if (!run->spec.single || !dpi_chain_clip(clip))
        return 0;
    if (!isfinite(clip) || n == 0)
        return DPI_CHAIN_LONGEST;
    double most = floor(room / (double)n) - 3;
    if (most < DPI_CHAIN_LEAST)
        return 0;
    return most > DPI_CHAIN_LONGEST ? DPI_CHAIN_LONGEST : (size_t)most;
}

/* ---- keeping ---- */

DPI_LOOPS static void scale_double(size_t n, const double *x, double power, double weight,
                                   size_t step, double *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = x[i] * power * weight;
    for (size_t i = n; i < step; i++)
        to[i] = 0;
}

/* The same of floats, in double. */
DPI_LOOPS static void scale_widened(size_t n, const float *x, double power, double weight,
                                    size_t step, double *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (double)x[i] * power * weight;
    for (size_t i = n; i < step; i++)
        to[i] = 0;
}

static void keep_floats(const kept *k, const dpi_part *p, size_t r, double weight, bool narrow,
                        slot *to)
{
    const float *a = p->kept[0] + r * k->rows, *b = p->kept[1] + r * k->columns;
    const int e = dpi_pair_balance_single(k->rows, a, k->columns, b, weight);
    const size_t a_at = k->a_at + to->n * k->a_step, b_at = k->b_at + to->n * k->b_step;
    if (narrow) {
        float *numbers = to->numbers;
        dpi_pair_scale_single(k->rows, a, ldexp(1, e), 1, k->a_step, numbers + a_at);
        dpi_pair_scale_single(k->columns, b, ldexp(1, -e), weight, k->b_step, numbers + b_at);
    } else {
        double *numbers = to->numbers;
        scale_widened(k->rows, a, ldexp(1, e), 1, k->a_step, numbers + a_at);
        scale_widened(k->columns, b, ldexp(1, -e), weight, k->b_step, numbers + b_at);
    }
}

static void keep_record(const kept *k, const dpi_part *p, size_t r, double weight, bool narrow,
                        slot *to)
{
    const dpi_call *call = &p->call;
    if (p->kept[0] != NULL) {
        keep_floats(k, p, r, weight, narrow, to);
        return;
    }
    const double *a = call->in[0] + r * call->in_step[0], *b = call->in[1] + r * call->in_step[1];
    int e = dpi_pair_balance(k->rows, a, k->columns, b, weight);
    size_t a_at = k->a_at + to->n * k->a_step, b_at = k->b_at + to->n * k->b_step;
    if (narrow) {
        float *numbers = to->numbers;
        dpi_pair_scale(k->rows, a, ldexp(1, e), 1, k->a_step, numbers + a_at);
        dpi_pair_scale(k->columns, b, ldexp(1, -e), weight, k->b_step, numbers + b_at);
    } else {
        double *numbers = to->numbers;
        scale_double(k->rows, a, ldexp(1, e), 1, k->a_step, numbers + a_at);
        scale_double(k->columns, b, ldexp(1, -e), weight, k->b_step, numbers + b_at);
    }
}

/* Adds up the parts that are not kept. */
static void sum_rest(const dpi_factors *f, const dpi_run *run, size_t first, size_t m,
                     const double *weight, slot *to)
{
    double *rest = to->rest;
    memset(rest, 0, f->n_rest * sizeof *rest);
    for (size_t i = 0; i < f->n_parts; i++)
        if (!f->is_kept[i]) {
            dpi_run_add_part(run, i, first, m, weight, rest);
            rest += f->part_size[i];
        }
}

void dpi_factors_weigh(dpi_run *run, size_t m, double clip, size_t chain, double *scratch)
{
    double *norm2 = scratch, *weight = scratch + run->spec.chunk;
    dpi_run_weights(run, m, clip, norm2, weight);
    for (size_t r = 0; r < m && chain > 0; r++)
        if (weight[r] == 1 && norm2[r] > dpi_chain_greatest * dpi_chain_greatest)
            weight[r] = 0;
}

void dpi_factors_keep(dpi_factors *f, const dpi_run *run, size_t first, size_t m, size_t chain,
                      const double *scratch, size_t number)
{
    slot *to = &f->slots[number];
    const double *weight = scratch + run->spec.chunk;
    sum_rest(f, run, first, m, weight + first, to);
    to->n = 0;
    for (size_t r = first; r < first + m; r++) {
        for (size_t i = 0; i < f->n_kept && weight[r] != 0; i++)
            keep_record(&f->kept[i], &run->parts[f->kept[i].part], r, weight[r], chain > 0, to);
        to->n += weight[r] != 0;
    }
}

double *dpi_factors_extra(dpi_factors *f, size_t number)
{
    return f->slots[number].rest + f->n_rest - f->n_extra;
}

/* ---- adding ---- */

static void add_rest(dpi_factors *f, size_t n_slots, bool fresh, double *sum)
{
    for (size_t s = 0; s < n_slots; s++) {
        const double *rest = f->slots[s].rest;
        double *lost = f->rest_lost, *to = sum;
        for (size_t i = 0; i <= f->n_parts; i++) {
            size_t size = i < f->n_parts ? f->part_size[i] : f->n_extra;
            if (i < f->n_parts && f->is_kept[i]) {
                to += size;
                continue;
            }
            if (fresh && s == 0) {
                memset(lost, 0, size * sizeof *lost);
                memset(to, 0, size * sizeof *to);
            }
            dpi_add_compensated(size, rest, to, lost);
            rest += size, lost += size, to += size;
        }
    }
}

static void add_double(const dpi_factors *f, const block *b, size_t n_slots, dpi_chain_sum *to)
{
    dpi_chain chain[MOST_CHAINS];
    for (size_t s = 0; s < n_slots; s++) {
        const double *numbers = f->slots[s].numbers;
        chain[s] =
            (dpi_chain){f->slots[s].n, numbers + b->of->a_at + b->first, numbers + b->of->b_at};
    }
    dpi_gemm_best()->add_chains(n_slots, chain, to);
}

static void add_single(const dpi_factors *f, const block *b, size_t n_slots, size_t longest,
                       dpi_chain_sum *to)
{
    dpi_chain_single chain[MOST_CHAINS];
    size_t n = 0;
    for (size_t s = 0; s < n_slots; s++) {
        const float *numbers = f->slots[s].numbers;
        size_t done = 0, left;
        do {
            left = f->slots[s].n - done;
            chain[n++] = (dpi_chain_single){left < longest ? left : longest,
                                            numbers + b->of->a_at + done * to->a_step + b->first,
                                            numbers + b->of->b_at + done * to->b_step};
            done += longest;
            if (n == MOST_CHAINS || (s + 1 == n_slots && left <= longest)) {
                dpi_gemm_best()->add_chains_single(n, chain, to);
                to->fresh = false;
                n = 0;
            }
        } while (left > longest);
    }
}

void dpi_factors_add(dpi_factors *f, size_t number, size_t n_slots, size_t chain, bool fresh,
                     double *sum, double *lost)
{
    if (number == 0) {
        add_rest(f, n_slots, fresh, sum);
        return;
    }
    const block *b = &f->blocks[number - 1];
    size_t at = b->of->offset + b->first * b->of->columns;
    dpi_chain_sum to = {.rows = b->rows,
                        .columns = b->of->columns,
                        .a_step = b->of->a_step,
                        .b_step = b->of->b_step,
                        .fresh = fresh,
                        .sum = sum + at,
                        .lost = lost != NULL ? lost + at : NULL};
    if (chain > 0)
        add_single(f, b, n_slots, chain, &to);
    else
        add_double(f, b, n_slots, &to);
}

size_t dpi_factors_blocks(const dpi_factors *f)
{
    return f->n_blocks + 1;
}

void dpi_factors_wipe_sums(dpi_factors *f)
{
    for (size_t i = 0; i < f->n_slots; i++)
        sodium_memzero(f->slots[i].rest, f->n_rest * sizeof(double));
    sodium_memzero(f->rest_lost, f->n_rest * sizeof *f->rest_lost);
}

void dpi_factors_wipe(dpi_factors *f)
{
    dpi_factors_wipe_sums(f);
    for (size_t i = 0; i < f->n_slots; i++)
        sodium_memzero(f->slots[i].numbers, f->n_numbers * sizeof(double));
}
