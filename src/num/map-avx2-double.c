/* Functions of doubles with AVX2. */
#include "num/map.h"

#if defined(__x86_64__)
#define KERNEL_NAME dpi_map_avx2_double
#define KERNEL_BYTES 32
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#include "num/map-double-kernel.h"
#endif
