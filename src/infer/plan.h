/* What a budget can be expected to do, from public sizes alone: simulations (dp_fit_plan,
 * tacit/infer.h). */
#ifndef DPI_INFER_PLAN_H
#define DPI_INFER_PLAN_H

#include "base/alloc.h"
#include "infer/budget.h"

struct dp_plan {
    dpi_arena arena;
    dp_plan_number *numbers;     /* [n] */
    size_t n, n_latents, *sizes; /* sizes: [n_latents] numbers of each */
    size_t records, simulations, fitted, hopeless;
    double epsilon, delta;
};

#endif
