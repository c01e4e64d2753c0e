/* The table of kernels and the choice among them. */
#include "num/gemm.h"

static bool everywhere(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0 && has_avx2();
}
#endif

const dpi_gemm_kernel dpi_gemm_kernels[] = {
#if defined(__x86_64__)
    {"avx512", has_avx512, dpi_gemm_avx512, dpi_gemm_avx512_single, dpi_gemm_avx512_outer,
     dpi_gemm_avx512_chains, dpi_gemm_avx512_chains_single},
    {"avx2", has_avx2, dpi_gemm_avx2, dpi_gemm_avx2_single, dpi_gemm_avx2_outer,
     dpi_gemm_avx2_chains, dpi_gemm_avx2_chains_single},
#endif
    {"portable", everywhere, dpi_gemm_portable, dpi_gemm_portable_single, dpi_gemm_portable_outer,
     dpi_gemm_portable_chains, dpi_gemm_portable_chains_single},
};
const size_t dpi_n_gemm_kernels = sizeof dpi_gemm_kernels / sizeof *dpi_gemm_kernels;

const dpi_gemm_kernel *dpi_gemm_best(void)
{
    const dpi_gemm_kernel *kernel = dpi_gemm_kernels;
    while (!kernel->works())
        kernel++;
    return kernel;
}
