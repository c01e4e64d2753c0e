/* Products in float with AVX-512. */
#include "num/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KERNEL_REAL float
#define KERNEL_BYTES 64
#define KERNEL_TARGET __attribute__((target("avx512f,avx2,fma")))
#define KERNEL_ROWS 8
#define KERNEL_PRODUCT dpi_product_single
#define KERNEL_MULTIPLY dpi_gemm_avx512_single
#define KERNEL_CHAIN dpi_chain_single
#define KERNEL_CHAINS dpi_gemm_avx512_chains_single
#define fused _mm512_fmadd_ps
#include "num/gemm-kernel.h"
#endif
