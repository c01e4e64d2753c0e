/* The kernels of matrix products, one for each instruction set (gemm-kernel.h). */
#ifndef DPI_NUM_GEMM_H
#define DPI_NUM_GEMM_H

#include <stdbool.h>
#include <stddef.h>

enum { DPI_GEMM_TERMS = 256 };

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
typedef struct dpi_term {
    const double *a, *b;
    double scale_a, scale_b;
} dpi_term;

typedef struct dpi_gemm_kernel {
    const char *name;
    bool (*works)(void); /* on this machine */
    void (*multiply)(const dpi_product *product);
    void (*multiply_single)(const dpi_product_single *product);
    /* sum[rows][columns] += the terms in their order; n_terms <= DPI_GEMM_TERMS */
    void (*add_outer)(size_t n_terms, const dpi_term *term, size_t rows, size_t columns,
                      double *sum);
} dpi_gemm_kernel;

/* Fastest first; the last works everywhere. */
extern const dpi_gemm_kernel dpi_gemm_kernels[];
extern const size_t dpi_n_gemm_kernels;

/* The first that works. */
const dpi_gemm_kernel *dpi_gemm_best(void);

void dpi_gemm_avx512(const dpi_product *product);
void dpi_gemm_avx512_single(const dpi_product_single *product);
void dpi_gemm_avx512_outer(size_t n_terms, const dpi_term *term, size_t rows, size_t columns,
                           double *sum);
void dpi_gemm_avx2(const dpi_product *product);
void dpi_gemm_avx2_single(const dpi_product_single *product);
void dpi_gemm_avx2_outer(size_t n_terms, const dpi_term *term, size_t rows, size_t columns,
                         double *sum);
void dpi_gemm_portable(const dpi_product *product);
void dpi_gemm_portable_single(const dpi_product_single *product);
void dpi_gemm_portable_outer(size_t n_terms, const dpi_term *term, size_t rows, size_t columns,
                             double *sum);

#endif
