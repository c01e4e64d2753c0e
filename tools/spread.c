#include "tools/spread.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t below = (size_t)at, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

dp_summary spread_of(double *values, size_t n)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (values[i] - mean) * (values[i] - mean);
    qsort(values, n, sizeof *values, by_value);
    return (dp_summary){.mean = mean,
                        .sd = n > 1 ? sqrt(square / (double)(n - 1)) : NAN,
                        .q05 = quantile(values, n, .05),
                        .q50 = quantile(values, n, .5),
                        .q95 = quantile(values, n, .95)};
}
