/* Products in double with AVX2 and fused multiply-add. */
#include "num/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KERNEL_REAL double
#define KERNEL_BYTES 32
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_ROWS 4
#define KERNEL_PRODUCT dpi_product
#define KERNEL_MULTIPLY dpi_gemm_avx2
#define KERNEL_CHAIN dpi_chain
#define KERNEL_CHAINS dpi_gemm_avx2_chains
#define KERNEL_OUTER dpi_gemm_avx2_outer
#define fused _mm256_fmadd_pd
#include "num/gemm-kernel.h"
#endif
