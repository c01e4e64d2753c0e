/* The table of kernels for functions of many numbers, and the choice among them. */
#include "num/map.h"

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
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           has_avx2();
}
#endif

const dpi_map_kernel dpi_map_kernels[] = {
#if defined(__x86_64__)
    {"avx512", has_avx512, dpi_map_avx512, dpi_map_avx512_double},
    {"avx2", has_avx2, dpi_map_avx2, dpi_map_avx2_double},
#endif
    {"portable", everywhere, dpi_map_portable, dpi_map_portable_double},
};
const size_t dpi_n_map_kernels = sizeof dpi_map_kernels / sizeof *dpi_map_kernels;

static const dpi_map_kernel *best(void)
{
    const dpi_map_kernel *kernel = dpi_map_kernels;
    while (!kernel->works())
        kernel++;
    return kernel;
}

void dpi_map_single(dpi_map function, size_t n, const float *in, float *out)
{
    best()->map(function, n, in, out);
}

void dpi_map_double(dpi_map function, size_t n, const double *in, double *out)
{
    best()->map_double(function, n, in, out);
}
