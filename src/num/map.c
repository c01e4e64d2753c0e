/* The table of kernels for functions of floats, and the choice among them. */
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
    {"avx512", has_avx512, dpi_map_avx512},
    {"avx2", has_avx2, dpi_map_avx2},
#endif
    {"portable", everywhere, dpi_map_portable},
};
const size_t dpi_n_map_kernels = sizeof dpi_map_kernels / sizeof *dpi_map_kernels;

void dpi_map_single(dpi_map function, size_t n, const float *in, float *out)
{
    const dpi_map_kernel *kernel = dpi_map_kernels;
    while (!kernel->works())
        kernel++;
    kernel->map(function, n, in, out);
}
