/* Functions of doubles with AVX-512. */
#include "num/map.h"

#if defined(__x86_64__)
#define KERNEL_NAME dpi_map_avx512_double
#define KERNEL_BYTES 64
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#include "num/map-double-kernel.h"
#endif
