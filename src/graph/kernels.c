/* The kernels for doubles, by operation. */
#include "graph/kernel.h"

#define RUN(name) [DPI_OP_##name] = {.run = dpi_double_##name},
#define REFUSE(name, why) [DPI_OP_##name] = {.refused = (why)}

/* clang-format off */
const dpi_kernel dpi_kernels[DPI_N_OPS] = {
    DPI_RECORDWISE(RUN)
    DPI_OVER_RECORDS(RUN)
    REFUSE(const, "it is in the attributes"),
    REFUSE(input, "the caller sets it"),
    REFUSE(data, "it is read from a column"),
    REFUSE(index, "it is read from a column"),
    REFUSE(ones, "it never changes"),
};
/* clang-format on */
