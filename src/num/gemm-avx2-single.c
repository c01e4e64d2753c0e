/* Products in float with AVX2 and fused multiply-add. */
#include "num/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KERNEL_REAL float
#define KERNEL_BYTES 32
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_ROWS 4
#define KERNEL_PRODUCT dpi_product_single
#define KERNEL_MULTIPLY dpi_gemm_avx2_single
#define KERNEL_CHAIN dpi_chain_single
#define KERNEL_CHAINS dpi_gemm_avx2_chains_single
#define fused _mm256_fmadd_ps
#include "num/gemm-kernel.h"
#endif
