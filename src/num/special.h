/* Special functions and stable forms used by kernels and densities. */
#ifndef DPI_NUM_SPECIAL_H
#define DPI_NUM_SPECIAL_H

#include <math.h>
#include <stddef.h>

#include "base/compiler.h"

/* 1 / (1 + e^-x), to full relative accuracy on both sides. */
DPI_INLINE double dpi_logistic(double x)
{
    double e = exp(-fabs(x));
    return (x >= 0 ? 1 : e) / (1 + e);
}

/* log(1 + e^x) without overflow. */
DPI_INLINE double dpi_softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

/* log Gamma(x), to 2e-15 relative or absolute; NaN for x <= 0.  Safe to call from several threads,
 * as lgamma of C is not. */
double dpi_lgamma(double x);

/* The polygamma function of order 0 (digamma), 1 (trigamma), ... up to 100, to 4e-15 relative (near
 * digamma's zero, 1e-17 absolute); infinite where it overflows, NaN for x <= 0. */
double dpi_polygamma(size_t order, double x);

#endif
