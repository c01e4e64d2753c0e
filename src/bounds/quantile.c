/* Quantiles by bisection with noisy counts.
 *
 *   b_i(x)  share of the rows of unit i whose value is at or below x
 *   S(x)  = sum_i floor(P b_i(x)) - G,      P = 2^14 parts, G = the quantile's share in parts
 *   released at each level: S(m) M + K,     m the middle of the interval, K = round(2^32 Z)
 *
 * S is negative where fewer than the share are below: the interval's upper half is kept then, else
 * the lower one.  One unit more or less changes S by at most D = max(G, P - G), and replacing one
 * by at most P <= 2 D: integers, so nothing is left to rounding.  M is a whole number with M D <=
 * 2^32 / sigma, and S M + K = round(S M + 2^32 Z): a function of the Gaussian mechanism with noise
 * multiplier 2^32 / (M D), which is sigma or more, by less than a 64th.  S M is cut to 2^62, which
 * brings neighbours nearer to each other; so the number of units need not be known.  See
 * doc/design/bounds.md. */
#include "bounds/quantile.h"

#include <math.h>
#include <sodium.h>

#include "random/grid.h"
#include "random/noise.h"

int64_t dpi_quantile_parts(double share)
{
    double parts = rint(share * DPI_QUANTILE_PARTS);
    return (int64_t)fmin(fmax(parts, 1), DPI_QUANTILE_PARTS - 1);
}

int64_t dpi_quantile_count(const dpi_quantile *q, double x)
{
    const dpi_units *units = q->units;
    const double *value = q->x;
    int64_t sum = 0;
    for (size_t u = 0; u < units->n; u++) {
        size_t rows = dpi_unit_rows(units, u), below = 0;
        for (size_t k = 0; k < rows; k++)
            below += value[k] <= x;
        sum += (int64_t)(DPI_QUANTILE_PARTS * below / rows) - q->below;
        value += rows;
    }
    return sum;
}

int64_t dpi_quantile_most(const dpi_quantile *q)
{
    return q->below > DPI_QUANTILE_PARTS / 2 ? q->below : DPI_QUANTILE_PARTS - q->below;
}

int64_t dpi_quantile_scale(const dpi_quantile *q, double sigma)
{
    /* Product and quotient are rounded: the last factor brings the whole below the exact one. */
    return (int64_t)(DPI_GRID_SCALE / (sigma * (double)dpi_quantile_most(q)) * (1 - 0x1p-50));
}

double dpi_quantile_noise(const dpi_quantile *q, double sigma)
{
    return DPI_GRID_SCALE / ((double)dpi_quantile_scale(q, sigma) * DPI_QUANTILE_PARTS);
}

/* The release of a level. */
static dp_status noisy_count(const dpi_quantile *q, double sigma, double x, dp_noise *noise,
                             int64_t *count, dp_error *err)
{
    const int64_t scale = dpi_quantile_scale(q, sigma), most = ((int64_t)1 << 62) / scale;
    int64_t added;
    dpi_stream *stream;
    dp_status status = dpi_noise_stream(noise, &stream, err);
    *count = 0;
    if (status != DP_OK)
        return status;
    int64_t sum = dpi_quantile_count(q, x);
    dpi_stream_grid(stream, 1, &added);
    sum = sum < most ? sum : most;
    sum = sum > -most ? sum : -most;
    *count = sum * scale + added;
    sodium_memzero(&added, sizeof added);
    sodium_memzero(&sum, sizeof sum);
    return DP_OK;
}

dp_status dpi_quantile_search(const dpi_quantile *q, double sigma, uint64_t levels, dp_noise *noise,
                              double *low, double *high, uint64_t *begun, dp_error *err)
{
    *low = q->low;
    *high = q->high;
    for (uint64_t level = 0; level < levels; level++) {
        double middle = *low + (*high - *low) / 2;
        int64_t count;
        ++*begun;
        dp_status status = noisy_count(q, sigma, middle, noise, &count, err);
        if (status != DP_OK)
            return status;
        if (count < 0)
            *low = middle;
        else
            *high = middle;
    }
    return DP_OK;
}
