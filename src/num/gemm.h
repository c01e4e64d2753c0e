/* The kernels of matrix products, one for each instruction set (gemm-kernel.h). */
#ifndef DPI_NUM_GEMM_H
#define DPI_NUM_GEMM_H

#include <stdbool.h>
#include <stddef.h>

enum { DPI_GEMM_TERMS = 256, DPI_GEMM_STEP = 16 };

/* c[m][n] = op(a) op(b), stored as dpi_gemm says; n, k >= 1. */
typedef struct dpi_product {
    bool transpose_a, transpose_b;
    size_t m, n, k;
    const double *a, *b;
    double *c;
} dpi_product;

typedef struct dpi_product_single {
    bool transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float *c;
} dpi_product_single;

/* (scale_a a) (scale_b b)^T */
typedef struct dpi_outer_term {
    const double *a, *b;
    double scale_a, scale_b;
} dpi_outer_term;

/* sum_l a_l b_l^T of n vectors each, a_l at a + l a_step; numbers of a chain. */
typedef struct dpi_chain {
    size_t n;
    const double *a, *b;
} dpi_chain;

typedef struct dpi_chain_single {
    size_t n;
    const float *a, *b;
} dpi_chain_single;

/* Where chains are added up. */
typedef struct dpi_chain_sum {
    size_t rows, columns, a_step, b_step;
    bool fresh;  /* sum and lost start from zero, whatever they hold */
    double *sum; /* [rows][columns] */
    double
        *lost; /* [rows][columns] what adding in double has lost (dpi_add_compensated), for the next
                   * call; may be NULL where sums are fresh, and in single precision */
} dpi_chain_sum;

typedef struct dpi_gemm_kernel {
    const char *name;
    bool (*works)(void); /* on this machine */
    void (*multiply)(const dpi_product *product);
    void (*multiply_single)(const dpi_product_single *product);
    /* sum[rows][columns] += the terms in their order; n_terms <= DPI_GEMM_TERMS */
    void (*add_outer)(size_t n_terms, const dpi_outer_term *term, size_t rows, size_t columns,
                      double *sum);
    /* Adds chains to a sum in their order, each of its elements being one chain of multiply-adds
     * from zero: in double with compensation, in single precision widened.  Steps are multiples of
     * DPI_GEMM_STEP, numbers beyond the last of a vector zero. */
    void (*add_chains)(size_t n, const dpi_chain *chain, const dpi_chain_sum *to);
    void (*add_chains_single)(size_t n, const dpi_chain_single *chain, const dpi_chain_sum *to);
} dpi_gemm_kernel;

/* Fastest first; the last works everywhere. */
extern const dpi_gemm_kernel dpi_gemm_kernels[];
extern const size_t dpi_n_gemm_kernels;

/* The first that works. */
const dpi_gemm_kernel *dpi_gemm_best(void);

void dpi_gemm_avx512(const dpi_product *product);
void dpi_gemm_avx512_single(const dpi_product_single *product);
void dpi_gemm_avx512_chains(size_t n, const dpi_chain *chain, const dpi_chain_sum *to);
void dpi_gemm_avx512_chains_single(size_t n, const dpi_chain_single *chain,
                                   const dpi_chain_sum *to);
void dpi_gemm_avx512_outer(size_t n_terms, const dpi_outer_term *term, size_t rows, size_t columns,
                           double *sum);
void dpi_gemm_avx2(const dpi_product *product);
void dpi_gemm_avx2_single(const dpi_product_single *product);
void dpi_gemm_avx2_chains(size_t n, const dpi_chain *chain, const dpi_chain_sum *to);
void dpi_gemm_avx2_chains_single(size_t n, const dpi_chain_single *chain, const dpi_chain_sum *to);
void dpi_gemm_avx2_outer(size_t n_terms, const dpi_outer_term *term, size_t rows, size_t columns,
                         double *sum);
void dpi_gemm_portable(const dpi_product *product);
void dpi_gemm_portable_single(const dpi_product_single *product);
void dpi_gemm_portable_chains(size_t n, const dpi_chain *chain, const dpi_chain_sum *to);
void dpi_gemm_portable_chains_single(size_t n, const dpi_chain_single *chain,
                                     const dpi_chain_sum *to);
void dpi_gemm_portable_outer(size_t n_terms, const dpi_outer_term *term, size_t rows,
                             size_t columns, double *sum);

#endif
