/* Dense products. */
#ifndef DPI_NUM_LINALG_H
#define DPI_NUM_LINALG_H

#include <stdbool.h>
#include <stddef.h>

#include "num/gemm.h"

/* c[m][n] = op(a) op(b), op(a) being [m][k] and op(b) [k][n]; a transposed factor is stored as
 * [k][m] or [n][k].  Row-major, no overlap.  A row of c depends on that row of op(a) and on b
 * alone, to the bit, whatever m and the other rows are: rows may be records. */
void dpi_gemm(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, const double *a,
              const double *b, double *c);

/* The same `count` times, c[count][m][n]: product r has operands a + r a_step and b + r b_step. */
typedef struct dpi_products {
    size_t count;
    bool ta, tb;
    size_t m, n, k;
    const double *a, *b;
    size_t a_step, b_step;
} dpi_products;

void dpi_gemm_each(const dpi_products *products, double *c);

/* The same in single precision. */
void dpi_gemm_single(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                     const float *a, const float *b, float *c);

/* n outer products a_r b_r^T of vectors a_r[rows] and b_r[columns], whose distance is a step. */
typedef struct dpi_outer {
    size_t n, rows, columns;
    const double *a, *b;
    size_t a_step, b_step;
} dpi_outer;

/* sum[rows][columns] += weight[r] a_r b_r^T, in the order of r, and nothing where weight[r] is 0.
 * Each element is added by multiply-adds in the order of r, so sums are the same in however many
 * calls; rounding is that of the additions and half a unit of weight[r] a_ri or weight[r] b_rj,
 * 2^-500 aside, for weights in [0, 1]. */
void dpi_add_outer(const dpi_outer *products, const double *weight, double *sum);

/* The same, product after product: sum[rows][columns] += weight a b^T, at the latest when flushed;
 * a and b must stay until then.  Any number of columns. */
typedef struct dpi_outer_sum {
    size_t rows, columns, n;
    double *sum;
    dpi_outer_term term[DPI_GEMM_TERMS];
} dpi_outer_sum;

void dpi_outer_start(dpi_outer_sum *outer, size_t rows, size_t columns, double *sum);
void dpi_outer_push(dpi_outer_sum *outer, const double *a, const double *b, double weight);
void dpi_outer_flush(dpi_outer_sum *outer);

/* c[m][n] = op(a) op(b) for values that belong to no record, by OpenBLAS where that is faster; rows
 * may depend on each other by rounding. */
void dpi_gemm_global(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                     const double *a, const double *b, double *c);

/* Whether dpi_gemm_global leaves a product of these sizes to BLAS, which counts in int. */
bool dpi_gemm_fits_blas(size_t m, size_t n, size_t k);

/* Sum of a[i] * b[i], in four interleaved partial sums: the same for the same n everywhere. */
double dpi_dot(size_t n, const double *a, const double *b);

/* Numbers from which on squares are added up by vectors. */
enum { DPI_LONG = 64 };

/* Sum of a[i]^2, in as many interleaved sums as n decides; of floats the same, in double. */
double dpi_squares(size_t n, const double *a);
double dpi_squares_single(size_t n, const float *a);

/* Euclidean norm of a[n], to a few units in the last place: no square under- or overflows on the
 * way.  NaN or infinite where an element is. */
double dpi_norm(size_t n, const double *a);

/* The norms of factor * a, up to its sign, and of a b^T.  |a| below 2^-1022 is rounded to a
 * multiple of 2^-1074, by as much as 0.4 of itself, and a large other factor brings that back:
 * these are as precise as the product. */
double dpi_norm_of_scaled(double factor, size_t n, const double *a);
double dpi_norm_of_outer(size_t rows, const double *a, size_t columns, const double *b);
double dpi_norm_of_outer_single(size_t rows, const float *a, size_t columns, const float *b);

/* sum[n] += a[n], with what rounding loses kept in lost[n] and given back at the next call (Kahan
 * 1965, CACM 8, 40).  Starting from sum and lost zero, K calls are off by at most (2 u + O(K u^2))
 * sum_k |a_k| in each element, u = 2^-53. */
void dpi_add_compensated(size_t n, const double *a, double *sum, double *lost);

#endif
