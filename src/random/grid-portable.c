/* Normal numbers on a grid with the instructions that every processor of its kind has. */
#include <math.h>

#define KERNEL_NAME dpi_grid_portable
#define KERNEL_BYTES 16
#define KERNEL_TARGET
#if defined(__SSE2__)
#include <emmintrin.h>
#define root _mm_sqrt_pd
#else
typedef double pair __attribute__((vector_size(16)));
static pair root(pair x)
{
    return (pair){sqrt(x[0]), sqrt(x[1])};
}
#endif
#include "random/grid-kernel.h"
