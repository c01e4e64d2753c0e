/* Clipped sums in single precision: chains of floats.
 *
 * A record's part of a sum is w g = w sum_i a_i b_i^T of `rank` products p, at most the clip norm C
 * long.  Kept are a 2^e and w b 2^-e for each, e such that the largest numbers of both are about
 * equal: as large as the root of that of w a b^T, so that neither leaves the range of floats unless
 * the clip norm does.  Products are added up in chains of floats (num/gemm-kernel.h), which begin
 * and end between records, and chains are added up in double.
 *
 * Rounding, u = 2^-24.  Let the lengths of a record's products add up to s |w g| at most: s = 1 for
 * p = 1, else s = sqrt(c) as in terms.c, where other records are made one by one, in double.  What
 * is kept is off by u of itself: that is a function of the record alone, and lengthens what it adds
 * by 2 s u C at most, below 2^-18 C.  A step of a chain is off by u times what it makes, which for
 * a chain of B records leaves, as in terms.c,
 *
 *   u |w g| (p (B - 1) + p (1 + s) / 2 + s)
 *
 * of each, where s is for products that are rounded before they are added.  So the sums of two
 * neighbouring data sets of n records are off by u n (p (2 B - 1 + s) + 2 s) C together; B is
 * chosen such that
 *
 *   n (p (2 B - 1 + s) + 2 s) <= room = 0.94 2^14,   which is 0.94 2^-10 C,
 *
 * and doubles have to do where chains would be too short.  B depends on n, whose neighbours' sums
 * are each off by half as much at most, whichever B they take.  What falls below 2^-126 is off by
 * 2^-150, for C >= 2^-64 at most 2^-56 C in all.  Without clipping nothing is proven and chains are
 * long. */
#include "exec/chains.h"

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "exec/decomposition.h"

enum { ROOM = 256, MOST_CHAINS = ROOM / DPI_CHAIN_LEAST };
static const double room = 0.94 * 0x1p14;
static const double least_clip = 0x1p-64, greatest_clip = 0x1p64;
const double dpi_chain_greatest = 0x1p100;

bool dpi_chain_clip(double clip)
{
    return !isfinite(clip) || (clip >= least_clip && clip <= greatest_clip);
}

size_t dpi_chain_records(size_t rank, size_t n, double clip)
{
    double p = (double)rank, s = rank == 1 ? 1 : sqrt(dpi_decomposition_cancels(rank));
    size_t most = rank > 0 ? DPI_CHAIN_LONGEST / rank : 0;
    if (!dpi_chain_clip(clip) || most == 0)
        return 0;
    if (!isfinite(clip) || n == 0)
        return most;
    double records = floor(((room / (double)n - 2 * s) / p + 1 - s) / 2);
    if (!(records >= 1) || p * records < DPI_CHAIN_LEAST)
        return 0;
    return records < (double)most ? (size_t)records : most;
}

/* ---- pairs ---- */

/* The bits of the largest |x|: as integers they have the order of the numbers. */
DPI_LOOPS static uint64_t largest_bits(size_t n, const double *x)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= UINT64_MAX >> 1;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

DPI_LOOPS static void scale(size_t n, const double *x, double power, double weight,
                            float *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)(x[i] * power * weight);
}

static int exponent(size_t n, const double *x)
{
    return (int)(largest_bits(n, x) >> 52) - 1023;
}

/* The same of floats, of which the largest is a double then. */
DPI_LOOPS static uint32_t largest_bits_single(size_t n, const float *x)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= UINT32_MAX >> 1;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

static int exponent_single(size_t n, const float *x)
{
    uint32_t bits = largest_bits_single(n, x);
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    const double wide = (double)largest;
    return exponent(1, &wide);
}

DPI_LOOPS static void scale_single(size_t n, const float *x, double power, double weight,
                                   float *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)((double)x[i] * power * weight);
}

static int balance(int of_a, int of_b, double weight)
{
    int e = (of_b + ilogb(weight) - of_a) / 2;
    return e > 1000 ? 1000 : e < -1000 ? -1000 : e;
}

int dpi_pair_balance(size_t rows, const double *a, size_t columns, const double *b, double weight)
{
    return balance(exponent(rows, a), exponent(columns, b), weight);
}

int dpi_pair_balance_single(size_t rows, const float *a, size_t columns, const float *b,
                            double weight)
{
    return balance(exponent_single(rows, a), exponent_single(columns, b), weight);
}

void dpi_pair_scale(size_t n, const double *x, double power, double weight, size_t step, float *to)
{
    scale(n, x, power, weight, to);
    memset(to + n, 0, (step - n) * sizeof *to);
}

void dpi_pair_scale_single(size_t n, const float *x, double power, double weight, size_t step,
                           float *to)
{
    scale_single(n, x, power, weight, to);
    memset(to + n, 0, (step - n) * sizeof *to);
}

/* ---- sums ---- */

static size_t padded(size_t n)
{
    return (n + DPI_GEMM_STEP - 1) / DPI_GEMM_STEP * DPI_GEMM_STEP;
}

bool dpi_chains_init(dpi_chains *chains, dpi_arena *arena, size_t rows, size_t columns, size_t rank)
{
    size_t a_size, b_size;
    *chains = (dpi_chains){.rows = rows,
                           .columns = columns,
                           .a_step = padded(rows),
                           .b_step = padded(columns),
                           .rank = rank};
    if (!dpi_mul(chains->a_step, ROOM, &a_size) || !dpi_mul(chains->b_step, ROOM, &b_size))
        return false;
    chains->a = dpi_arena_alloc(arena, a_size, sizeof *chains->a);
    chains->b = dpi_arena_alloc(arena, b_size, sizeof *chains->b);
    chains->chain = dpi_arena_alloc(arena, MOST_CHAINS, sizeof *chains->chain);
    return chains->a != NULL && chains->b != NULL && chains->chain != NULL;
}

void dpi_chains_start(dpi_chains *chains, double *sum)
{
    chains->sum = sum;
    chains->n_pairs = chains->n_chains = chains->records = 0;
}

void dpi_chains_flush(dpi_chains *chains)
{
    const dpi_chain_sum to = {.rows = chains->rows,
                              .columns = chains->columns,
                              .a_step = chains->a_step,
                              .b_step = chains->b_step,
                              .sum = chains->sum};
    if (chains->n_chains > 0)
        dpi_gemm_best()->add_chains_single(chains->n_chains, chains->chain, &to);
    chains->n_pairs = chains->n_chains = chains->records = 0;
}

void dpi_chains_push(dpi_chains *chains, const double *a, const double *b, double weight)
{
    float *to_a = chains->a + chains->n_pairs * chains->a_step;
    float *to_b = chains->b + chains->n_pairs * chains->b_step;
    int e = dpi_pair_balance(chains->rows, a, chains->columns, b, weight);
    dpi_pair_scale(chains->rows, a, ldexp(1, e), 1, chains->a_step, to_a);
    dpi_pair_scale(chains->columns, b, ldexp(1, -e), weight, chains->b_step, to_b);
    if (chains->n_chains == 0 || chains->records == chains->longest) {
        chains->chain[chains->n_chains++] = (dpi_chain_single){.a = to_a, .b = to_b};
        chains->records = 0;
    }
    chains->chain[chains->n_chains - 1].n++;
    chains->n_pairs++;
}

void dpi_chains_end_record(dpi_chains *chains)
{
    chains->records++;
    bool begins = chains->records == chains->longest;
    if (chains->n_pairs + chains->rank > ROOM || (begins && chains->n_chains == MOST_CHAINS))
        dpi_chains_flush(chains);
}

void dpi_chains_wipe(dpi_chains *chains)
{
    sodium_memzero(chains->a, ROOM * chains->a_step * sizeof *chains->a);
    sodium_memzero(chains->b, ROOM * chains->b_step * sizeof *chains->b);
}
