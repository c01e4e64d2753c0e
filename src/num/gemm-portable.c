/* Products in double with the instructions that every processor of its kind has.  Whether the
 * compiler fuses multiplication and addition is its choice, but one choice for all tiles. */
#define KERNEL_REAL double
#define KERNEL_BYTES 16
#define KERNEL_TARGET
#define KERNEL_ROWS 4
#define KERNEL_PRODUCT dpi_product
#define KERNEL_MULTIPLY dpi_gemm_portable
#define KERNEL_CHAIN dpi_chain
#define KERNEL_CHAINS dpi_gemm_portable_chains
#define KERNEL_OUTER dpi_gemm_portable_outer
#define fused(a, b, c) ((a) * (b) + (c))
#include "num/gemm-kernel.h"
