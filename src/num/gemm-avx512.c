/* Products in double with AVX-512. */
#include "num/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KERNEL_REAL double
#define KERNEL_BYTES 64
#define KERNEL_TARGET __attribute__((target("avx512f,avx2,fma")))
#define KERNEL_ROWS 8
#define KERNEL_PRODUCT dpi_product
#define KERNEL_MULTIPLY dpi_gemm_avx512
#define KERNEL_CHAIN dpi_chain
#define KERNEL_CHAINS dpi_gemm_avx512_chains
#define KERNEL_OUTER dpi_gemm_avx512_outer
#define fused _mm512_fmadd_pd
#include "num/gemm-kernel.h"
#endif
