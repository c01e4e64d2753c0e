/* Normal numbers on a grid with the instructions that every processor of its kind has. */
#include <math.h>

#define KERNEL_NAME dpi_grid_portable
#define ROUGH_NAME dpi_rough_portable
#define KERNEL_BYTES 16
#define KERNEL_TARGET
#if defined(__SSE2__)
#include <emmintrin.h>
#define root_double _mm_sqrt_pd
#define root_single _mm_sqrt_ps
#else
typedef double two __attribute__((vector_size(16)));
typedef float four __attribute__((vector_size(16)));
static two root_double(two x)
{
    return (two){sqrt(x[0]), sqrt(x[1])};
}
static four root_single(four x)
{
    return (four){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}
#endif
#include "random/grid-kernel.h"
