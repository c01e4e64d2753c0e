/* Functions of floats with AVX2. */
#include "num/map.h"

#if defined(__x86_64__)
#define KERNEL_NAME dpi_map_avx2
#define KERNEL_BYTES 32
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#include "num/map-kernel.h"
#endif
