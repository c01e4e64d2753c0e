/* Sums of weighted outer products in chains of floats, which are added up in double. */
#ifndef DPI_EXEC_CHAINS_H
#define DPI_EXEC_CHAINS_H

#include "base/alloc.h"
#include "num/gemm.h"

enum {
    DPI_CHAIN_LEAST = 8,
    DPI_CHAIN_LONGEST = 64
}; /* products of a chain, at least and at most */

/* Clipped sums go through floats for these clip norms, and without clipping. */
bool dpi_chain_clip(double clip);

/* Without clipping, records whose gradients are longer are left out. */
extern const double dpi_chain_greatest;

/* How many records a chain has where n in all are clipped to `clip` and each has `rank` products: 0
 * when doubles have to do.  A function of these alone (chains.c). */
size_t dpi_chain_records(size_t rank, size_t n, double clip);

/* A weighted product w a b^T is kept as a 2^e and w b 2^-e, whose largest numbers are about equal.
 * Returns e; 2^e and 2^-e are normal numbers. */
int dpi_pair_balance(size_t rows, const double *a, size_t columns, const double *b, double weight);
int dpi_pair_balance_single(size_t rows, const float *a, size_t columns, const float *b,
                            double weight);

/* to[step] = (x[n] power) weight, rounded to floats, and zeros. */
void dpi_pair_scale(size_t n, const double *x, double power, double weight, size_t step, float *to);
void dpi_pair_scale_single(size_t n, const float *x, double power, double weight, size_t step,
                           float *to);

typedef struct dpi_chains {
    size_t rows, columns, a_step, b_step, rank;
    size_t longest;                    /* records of a chain; 0: doubles have to do */
    size_t n_pairs, n_chains, records; /* records of the last chain */
    float *a, *b;                      /* [room][a_step], [room][b_step] */
    dpi_chain_single *chain;
    double *sum;
} dpi_chains;

/* For products [rows][columns], `rank` a record.  False when memory is out. */
bool dpi_chains_init(dpi_chains *chains, dpi_arena *arena, size_t rows, size_t columns,
                     size_t rank);

/* sum[rows][columns] += the products of records that are pushed, each of them followed by
 * dpi_chains_end_record; at the latest when flushed.  What is pushed is copied. */
void dpi_chains_start(dpi_chains *chains, double *sum);
void dpi_chains_push(dpi_chains *chains, const double *a, const double *b, double weight);
void dpi_chains_end_record(dpi_chains *chains);
void dpi_chains_flush(dpi_chains *chains);

/* Overwrites what was pushed. */
void dpi_chains_wipe(dpi_chains *chains);

#endif
