/* Second derivatives of a prior, by differences of its gradient, beside the likelihood's precision.
 *
 * A prior that is normal given its scales has positive ones but for the scales: with b_k ~ N(0,
 * tau) the matrix of (log tau, b) is indefinite wherever b is not very well known.  Members follow
 * scales in the order of latents, so a factor from the last coordinate to the first has left of a
 * scale what is known of it when all its members are summed out; where that is less than the prior
 * alone tells, the scale's products with others are left out.  The same is done with a density that
 * curves the wrong way, as Cauchy's does far out. */
#include "infer/laplace.h"

#include <math.h>
#include <string.h>

#include "num/linalg.h"
#include "num/matrix.h"

/* Of the prior's precision: what a coordinate must have left; and steps of differences in its
 * standard deviations. */
static const double least = 0.3, difference = 1e-3;

/* h[d][d], made symmetric; what is not finite is 0. */
static void differentiate(dpi_surrogate *s, const double *z, const double *spread, double *room,
                          double *h)
{
    size_t d = s->d;
    double *at = room, *up = room + d, *down = room + 2 * d;
    memcpy(at, z, d * sizeof *at);
    for (size_t i = 0; i < d; i++) {
        double step = difference * spread[i];
        at[i] = z[i] + step;
        (void)dpi_surrogate_prior(s, at, up);
        at[i] = z[i] - step;
        (void)dpi_surrogate_prior(s, at, down);
        at[i] = z[i];
        for (size_t j = 0; j < d; j++)
            h[i * d + j] = (down[j] - up[j]) / (2 * step);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double mean = (h[i * d + j] + h[j * d + i]) / 2;
            h[i * d + j] = h[j * d + i] = isfinite(mean) ? mean : 0;
        }
}

static void leave_out(size_t d, size_t i, double precision, double *h)
{
    double own = h[i * d + i];
    for (size_t j = 0; j < d; j++)
        h[i * d + j] = h[j * d + i] = 0;
    h[i * d + i] = own > precision ? own : precision;
}

/* The last coordinate whose pivot, with those behind it summed out, is too small; d: none. */
static size_t find_short(size_t d, const double *precision, const double *h, const double *spread,
                         double *a)
{
    for (size_t e = 0; e < d * d; e++)
        a[d * d - 1 - e] = precision[e] + h[e];
    for (size_t i = 0; i < d; i++) {
        double *row = a + i * d, scale = spread[d - 1 - i];
        for (size_t j = 0; j < i; j++)
            row[j] = (row[j] - dpi_dot(j, row, a + j * d)) / a[j * d + j];
        double pivot = row[i] - dpi_dot(i, row, row);
        if (!(pivot > least / (scale * scale)))
            return d - 1 - i;
        row[i] = sqrt(pivot);
    }
    return d;
}

static void mend(size_t d, const double *precision, const double *spread, double *h, double *room)
{
    size_t i = d, last = d;
    for (size_t k = 0; k <= d && (i = find_short(d, precision, h, spread, room)) < d && i != last;
         k++) {
        leave_out(d, i, 1 / (spread[i] * spread[i]), h);
        last = i;
    }
    for (size_t e = 0; e < d && i < d; e++)
        leave_out(d, e, 1 / (spread[e] * spread[e]), h);
}

/* The scales of coordinates alone, where rounding has hidden what lies beside a large number. */
static dp_status take_scales(size_t d, const double *precision, const double *spread,
                             double *factor)
{
    bool finite = true;
    memset(factor, 0, d * d * sizeof *factor);
    for (size_t e = 0; e < d * d; e++)
        finite = finite && isfinite(precision[e]);
    for (size_t i = 0; i < d; i++)
        factor[i * d + i] = 1 / sqrt(fmax(precision[i * d + i], least / (spread[i] * spread[i])));
    return finite ? DP_OK : DP_EDOMAIN;
}

dp_status dpi_laplace_factor(dpi_surrogate *s, const double *z, const double *spread,
                             double *factor, dp_error *err)
{
    size_t d = s->d;
    double *h = dpi_alloc(3 * d + 4, d * sizeof *h);
    if (h == NULL)
        return dpi_fail_nomem(err);
    double *precision = h + d * d, *own = precision + d * d, *room = own + d;
    memcpy(own, spread, d * sizeof *own);
    for (size_t k = 0; k < s->as.n; k++) {
        const dpi_scaling *at = &s->as.scalings[k];
        for (size_t m = 0; m < at->count && s->as.loose[k]; m++)
            own[at->first + m * at->stride] = 1;
    }
    dpi_surrogate_precision(s, z, precision);
    differentiate(s, z, own, room, h);
    mend(d, precision, own, h, room);
    for (size_t e = 0; e < d * d; e++)
        h[e] += precision[e];
    dp_status status = dpi_matrix_invert(d, h, factor, NULL);
    if (status == DP_OK)
        status = dpi_matrix_factor(d, factor, factor, NULL);
    if (status == DP_EDOMAIN)
        status = take_scales(d, h, own, factor);
    dpi_free(h);
    if (status == DP_ENOMEM)
        return dpi_fail_nomem(err);
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "a posterior's precision is no number");
}
