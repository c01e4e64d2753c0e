/* Step-size schedules, gradient ascent with and without memory, and averages of iterates. */
#ifndef DPI_SVI_OPTIMIZER_H
#define DPI_SVI_OPTIMIZER_H

#include <tacit/svi.h>

#include "base/alloc.h"

typedef struct dpi_optimizer {
    size_t n;
    uint64_t steps, done;
    dp_optimizer kind;
    dp_schedule schedule;
    double step_size, momentum, beta2;
    uint64_t average_from;                 /* steps after this one enter the average */
    uint64_t settled[2];                   /* steps from which Adam's corrections are 1 */
    double *theta, *first, *second, *mean; /* [n] each */
    double size, correct; /* of the step that has begun: its length, Adam's square */
    double weight;        /* of its iterate in the average; 0: none */
} dpi_optimizer;

/* Takes resolved options (nothing zero that has a default).  Memory lives in the arena. */
dp_status dpi_optimizer_init(dpi_optimizer *o, dpi_arena *arena, size_t n, const dp_svi_opts *opts,
                             dp_error *err);

/* A step uphill in parts: of the parameters first ... first + n - 1 along gradient[n], for any
 * number of threads, after dpi_optimizer_begin; every parameter once, and then dpi_optimizer_end.
 * False when a parameter is no longer finite. */
void dpi_optimizer_begin(dpi_optimizer *o);
bool dpi_optimizer_move(const dpi_optimizer *o, size_t first, size_t n, const double *gradient);
void dpi_optimizer_end(dpi_optimizer *o);

/* The averaged parameters, or the last ones when nothing is averaged. */
const double *dpi_optimizer_result(const dpi_optimizer *o);

#endif
