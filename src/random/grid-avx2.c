/* Normal numbers on a grid with AVX2 and fused multiply-add. */
#include "random/grid.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KERNEL_NAME dpi_grid_avx2
#define ROUGH_NAME dpi_rough_avx2
#define KERNEL_BYTES 32
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define root_double _mm256_sqrt_pd
#define root_single _mm256_sqrt_ps
#include "random/grid-kernel.h"
#endif
