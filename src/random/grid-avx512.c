/* Normal numbers on a grid with AVX-512. */
#include "random/grid.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define KERNEL_NAME dpi_grid_avx512
#define ROUGH_NAME dpi_rough_avx512
#define KERNEL_BYTES 64
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define root_double _mm512_sqrt_pd
#define root_single _mm512_sqrt_ps
#include "random/grid-kernel.h"
#endif
