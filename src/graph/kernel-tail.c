/* Kernels of logarithms of probabilities; the formulas are in op-tail.c.  All are computed in
 * double, number by number. */
#include <math.h>

#include "graph/kernel.h"
#include "num/tail.h"

/* Both precisions; `value` is of the number a. */
#define EACH(name, value)                                                                          \
    void dpi_double_##name(const dpi_call *c)                                                      \
    {                                                                                              \
        for (size_t i = 0; i < c->n * c->out_size; i++) {                                          \
            double a = c->in[0][i];                                                                \
            c->out[i] = (value);                                                                   \
        }                                                                                          \
    }                                                                                              \
    void dpi_single_##name(const dpi_call_single *c)                                               \
    {                                                                                              \
        for (size_t i = 0; i < c->n * c->out_size; i++) {                                          \
            double a = (double)c->in[0][i];                                                        \
            c->out[i] = (float)(value);                                                            \
        }                                                                                          \
    }

EACH(log1mexp, dpi_log1mexp(a))
EACH(cloglog, dpi_cloglog(a))
EACH(erf, erf(a))
EACH(atan, atan(a))
EACH(log_normal_cdf, dpi_log_normal_cdf(c->attr->number, a))
EACH(log_cauchy_cdf, dpi_log_cauchy_cdf(a))
