/* Gaps between the members of a Poisson subset.
 *
 * k records in a row are out with probability (1 - q)^k.  With U uniform on (0, 1) and
 * a = -log(1 - q), floor(-log U / a) >= k holds exactly when U <= (1 - q)^k, so
 * k = floor(-log U / a) has the right law, and a subset costs one logarithm a member instead of one
 * comparison a record (Devroye 1986, chapter X.2).  What makes it exact is that the floor of a real
 * number is taken, not of a rounded one.
 *
 * U     its first 64 bits are w; 192 more are read where these do not settle k.
 * Fast  x = -log((w + 1/2) 2^-64) / a in double.  With v = 2^-53: w is rounded, v of U; the bits
 *       below w are 1/w of it at most; the logarithm is off by 2 v of itself (assumed of the C
 *       library), 1/a by 4 v (logarithm 2 v, quotient v), the product by v:
 *           |x - exact| < 8 v x + (v + 1/w + v) / a,
 *       and 2^-49 x + (2^-51 + 2/w) / a is what is used.  Where no integer is that near, floor(x)
 *       is k.
 * Exact -log U and k a with 320 bits of fraction (wide.c), off by 2^-300 and k 2^-300.
 *
 * Failure.  The probability that k is not floor(-log U / a) for the real U.  The 2^-300: sum over
 * k of e^(-ka) 2 k 2^-300 <= 2^-299 / a^2 <= 2^-219 for a >= 2^-40.  The bits below 2^-256: they
 * move log U by 2^-256 / U, and k a is that near with probability 2^-256 for each k; with U >=
 * 2^-220 there are below 153 / a <= 2^48 of them: 2^-208.  P(U < 2^-220) is 2^-220.  Together below
 * 2^-200.
 *
 * Time.  It tells how many members there are, as the step that handles them does, and how many were
 * undecided, once in some 2^47 q draws. */
#include "random/gap.h"

#include <math.h>

static const double least_rate = 0x1p-40, most_rate = 0.5;

bool dpi_gap_serves(double q)
{
    return q >= least_rate && q <= most_rate;
}

void dpi_gap_set(dpi_gap *gap, double q)
{
    enum { TOP = DPI_WIDE_LIMBS - 2 };
    const dpi_wide one = {{0, 0, 0, 0, 0, 1}};
    dpi_wide rate = {{0}};
    double rest = q;
    for (int i = TOP; rest > 0; i--) { /* q has no digit below 2^-93 */
        rest *= 0x1p64;
        rate.limb[i] = (uint64_t)floor(rest);
        rest -= floor(rest);
    }
    dpi_wide_subtract(&one, &rate, &rate);
    dpi_wide_minus_log(&rate, &gap->decay);
    gap->inverse = -1 / log1p(-q);
}

bool dpi_gap_fast(const dpi_gap *gap, uint64_t first, uint64_t *k)
{
    double w = (double)first + 0.5;
    double x = -log(w * 0x1p-64) * gap->inverse, whole = floor(x);
    double bound = 0x1p-49 * x + (0x1p-51 + 2 / w) * gap->inverse;
    *k = (uint64_t)whole;
    return x - whole > bound && whole + 1 - x > bound;
}

uint64_t dpi_gap_exact(const dpi_gap *gap, uint64_t first, const uint64_t more[DPI_GAP_MORE])
{
    const dpi_wide u = {{UINT64_C(1) << 63, more[2], more[1], more[0], first, 0}};
    dpi_wide log_u, reach;
    if (first == 0 && more[0] == 0 && more[1] == 0 && more[2] == 0)
        return UINT64_MAX; /* U < 2^-256: beyond any subset */
    dpi_wide_minus_log(&u, &log_u);
    /* The largest k with k a <= -log U: near x, and then step by step. */
    uint64_t k = (uint64_t)(dpi_wide_double(&log_u) * gap->inverse);
    k -= k > 0;
    for (;; k++) {
        const dpi_wide next = {{0, 0, 0, 0, 0, k + 1}};
        dpi_wide_multiply(&next, &gap->decay, &reach);
        if (dpi_wide_less(&log_u, &reach))
            return k;
    }
}

uint64_t dpi_gap_draw(dpi_stream *stream, const dpi_gap *gap)
{
    uint64_t more[DPI_GAP_MORE], k, first = dpi_stream_u64(stream);
    if (DPI_LIKELY(dpi_gap_fast(gap, first, &k)))
        return k;
    for (int i = 0; i < DPI_GAP_MORE; i++)
        more[i] = dpi_stream_u64(stream);
    return dpi_gap_exact(gap, first, more);
}
