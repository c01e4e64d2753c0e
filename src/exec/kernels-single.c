/* The kernels for floats, by operation; sums over records are in double. */
#include "exec/single.h"

#define RUN(name) [DPI_OP_##name] = {.run = dpi_single_##name},
#define NARROWED(name) [DPI_OP_##name] = {.refused = "values from outside are narrowed"},
#define WIDE(name) [DPI_OP_##name] = {.refused = "sums over records are made in double"},

/* clang-format off */
const dpi_kernel_single dpi_kernels_single[DPI_N_OPS] = {
    DPI_RECORDWISE(RUN)
    DPI_SOURCES(NARROWED)
    DPI_OVER_RECORDS(WIDE)
};
/* clang-format on */
