/* Products in float with the instructions that every processor of its kind has.  Whether the
 * compiler fuses multiplication and addition is its choice, but one choice for all tiles. */
#define KERNEL_REAL float
#define KERNEL_BYTES 16
#define KERNEL_TARGET
#define KERNEL_ROWS 4
#define KERNEL_PRODUCT dpi_product_single
#define KERNEL_MULTIPLY dpi_gemm_portable_single
#define KERNEL_CHAIN dpi_chain_single
#define KERNEL_CHAINS dpi_gemm_portable_chains_single
#define fused(a, b, c) ((a) * (b) + (c))
#include "num/gemm-kernel.h"
