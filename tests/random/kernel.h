/* The kernels of the noise (random/grid-kernel.h), compiled into a test that looks at their parts:
 * vectors of 16 bytes, roots by the C library. */
#ifndef TESTS_RANDOM_KERNEL_H
#define TESTS_RANDOM_KERNEL_H

#include <math.h>

#include "random/grid.h"

#define KERNEL_NAME kernel_under_test
#define ROUGH_NAME rough_under_test
#define KERNEL_BYTES 16
#define KERNEL_TARGET
typedef double two __attribute__((vector_size(16)));
typedef float four __attribute__((vector_size(16)));
static two root_double(two x);
static four root_single(four x);
dpi_grid_make kernel_under_test;
dpi_grid_rough rough_under_test;
#include "random/grid-kernel.h"

static two root_double(two x)
{
    return (two){sqrt(x[0]), sqrt(x[1])};
}

static four root_single(four x)
{
    return (four){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}

#endif
