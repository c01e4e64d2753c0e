/* The release of a step.
 *
 *   I_j = round(S_j / h),  cut to [-2^62, 2^62],      h = sd 2^-32
 *   release_j = h (I_j + K_j),  K_j = round(2^32 Z_j), Z_j real standard normal numbers (grid.c).
 *
 * I_j is an integer, so I_j + K_j = round(I_j + 2^32 Z_j): a function of the sum h I plus a real Gaussian
 * of standard deviation sd, and so is every function of it, such as its product with h in floating point
 * and all that follows.  The ideal mechanism is the Gaussian one on h I; what differs from the wanted
 * sum S is its sensitivity:
 *
 *   |h I - h I'| <= |S - S'| + h sqrt(n) + 2^-52 max(|S|, |S'|),
 *
 * since each quotient is off by a rounding to 2^-53 of itself and one to an integer, and cutting brings
 * numbers nearer to each other.  With |S| <= N C for N <= 2^27 units the last term is below 2^-25 C, which
 * svi.c leaves to rounding.  The second is sigma 2^-32 sqrt(n) C: dpi_release_share.  Derivation of the
 * whole: doc/design/noise.md. */
#include "infer/release.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/grid.h"
#include "random/noise.h"

double dpi_release_share(double sigma, size_t n)
{
    return sigma / DPI_GRID_SCALE * sqrt((double)n) * (1 + 0x1p-50);
}

/* Far from where steps of the grid, or sums of 2^62 of them, leave the doubles. */
static const double least_sd = 1e-250, greatest_sd = 1e250;

/* The integer of a quotient; |x| > 2^62 and NaN go to the ends. */
static int64_t put_on_grid(double x)
{
    const double most = 0x1p62;
    x = x > -most ? x : -most;
    return (int64_t)rint(x < most ? x : most);
}

dp_status dpi_release_protect(dp_noise *source, double sd, size_t n, double *sum, int64_t *noise,
                              dp_error *err)
{
    dpi_stream *stream;
    const double step = sd / DPI_GRID_SCALE;
    dp_status status = DP_OK;
    if (!(sd >= least_sd && sd <= greatest_sd))
        status = dpi_fail(err, DP_EDOMAIN,
                          "noise of standard deviation %g was asked for; it must be in [%g, %g]",
                          sd, least_sd, greatest_sd);
    if (status == DP_OK)
        status = dpi_noise_stream(source, &stream, err);
    if (status != DP_OK) {
        sodium_memzero(sum, n * sizeof *sum);
        return status;
    }
    dpi_stream_grid(stream, n, noise);
    for (size_t j = 0; j < n; j++)
        sum[j] = (double)(put_on_grid(sum[j] / step) + noise[j]) * step;
    sodium_memzero(noise, n * sizeof *noise);
    return DP_OK;
}
