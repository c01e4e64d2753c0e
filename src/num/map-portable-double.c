/* Functions of doubles with the instructions that every processor of its kind has. */
#define KERNEL_NAME dpi_map_portable_double
#define KERNEL_BYTES 16
#define KERNEL_TARGET
#include "num/map-double-kernel.h"
