/* A lower bound on the same grid.
 *
 * Let delta(a) be one step's profile, sum or integral of (1 - e^(a-l))_+ over its losses l.  In
 * y = e^a the connect-the-dots profile agrees with it at the knots and is the chord in between.  A
 * loss l in the bin [a, b] lies below its chord by at most (1 - e^(a-l)) (1 - e^(l-b)) / (1 -
 * e^-dx), at y = e^l; G of the bin is the sum of these.  So with g_i >= max(G_(i-1), G_i) the
 * chords of
 *     v_i = delta_i - g_i
 * stay below delta everywhere.  Such a v, convex and not negative, is the profile of masses
 *     m_i - (g_(i+1) - g_i) / (e^dx - 1) + (g_i - g_(i-1)) / (1 - e^-dx),
 * m those of connect-the-dots.  A profile below delta stays below after any composition, because
 * delta of a composition is a mean of one step's profile over the others' losses.
 *
 * The bins beside the lump (mass.c) are empty, G = 0; what its neighbours' g takes away comes from
 * it.
 *
 * Ends.  Below the lowest knot g goes on as a constant: v runs parallel to delta (some P-mass is
 * dropped); from the knot below it where v ends on the lowest.  At the top v ends in 0 at the
 * highest knot K where delta_K >= G_(K-1) and delta_(K-1) >= g_(K-1): 0 is then below delta_K -
 * G_(K-1), and masses above K are dropped.
 *
 * Masses that come out negative (a few, where g has a kink) are made up from the next higher knot:
 * mass moved to a smaller loss lowers the profile.
 *
 * All is done on tilted masses; D and U below are delta and sum m_j e^(a-l_j), tilted like knot
 * a. */
#include "accountant/grid/lower.h"

#include <float.h>
#include <math.h>

/* Relative rounding of the few operations behind each number below. */
static const double ROUNDING = 16 * DBL_EPSILON;

typedef struct lower {
    size_t mask;
    double spread, up; /* 1 - e^-dx, e^(c dx) */
} lower;

static size_t at(const lower *s, int64_t knot)
{
    return (size_t)knot & s->mask;
}

/* g at a knot: the larger gap of its two bins, raised a little for the masses' own quadrature. */
static double g_at(const lower *s, const double *data, const double *gap, int64_t knot)
{
    double own = gap[at(s, knot)], below = gap[at(s, knot - 1)] * s->up, near = 0;
    double wide = s->up * s->up;
    for (int j = -2; j <= 2; j++)
        near += data[at(s, knot + j)];
    return fmax(own, below) + 1e-12 * s->spread * wide * near;
}

/* Where the profile ends: at `knot`, where it is 0 and delta is at most `delta`; `excess` is v one
 * knot below. */
typedef struct profile_end {
    bool found;
    int64_t knot;
    double delta, excess;
} profile_end;

static profile_end find_end(const lower *s, int64_t low, int64_t high, const double *data,
                            const double *gap)
{
    double d = 0, u = data[at(s, high)];
    bool possible = gap[at(s, high - 1)] == 0; /* a lump above an empty bin */
    for (int64_t k = high - 1; k >= low - 1; k--) {
        double above = d;
        d = (d + s->spread * u) / s->up;
        u = data[at(s, k)] + u * (1 - s->spread) / s->up;
        double sure = d * (1 - ROUNDING * (double)(high - k));
        double v = sure - g_at(s, data, gap, k);
        if (possible && 2 * v >= sure)
            return (profile_end){true, k + 1, above * (1 + ROUNDING * (double)(high - k)), v};
        possible = d > 0 && sure >= gap[at(s, k - 1)] * s->up;
    }
    return (profile_end){false, 0, 0, 0};
}

bool dpi_lower_masses(const dpi_knots *grid, int64_t low, int64_t high, const double *data,
                      double *gap)
{
    lower s = {.mask = grid->size - 1, .spread = -expm1(-grid->spacing)};
    s.up = exp(grid->tilt * grid->spacing);
    profile_end end = {0};
    int64_t all = high;
    while (high > low && data[at(&s, high)] == 0)
        high--;
    if (high - low + 8 < (int64_t)grid->size)
        end = find_end(&s, low, high, data, gap);
    double grow = expm1(grid->spacing), carry = 0;
    int64_t first = end.knot > low ? low : low - 1; /* where v leaves delta's parallel */
    double here = end.found ? g_at(&s, data, gap, first) : 0, before = here / s.up;
    for (int64_t k = first; end.found && k < end.knot; k++) {
        double next = k + 1 == end.knot ? end.delta : g_at(&s, data, gap, k + 1);
        double rise = (next / s.up - here) / grow, fall = (here - before * s.up) / s.spread;
        double m = data[at(&s, k)];
        double value = m - rise + fall + carry - ROUNDING * (m + next / grow + here / s.spread);
        gap[at(&s, k)] = fmax(value, 0); /* the bin's G has been read for the last time */
        carry = fmin(value, 0) * s.up;
        before = here;
        here = next;
    }
    double top = end.found ? end.excess * s.up / s.spread + carry : -1;
    for (int64_t k = top >= 0 ? end.knot : low; k <= all; k++)
        gap[at(&s, k)] = 0;
    if (top > 0)
        gap[at(&s, end.knot)] = top;
    return top >= 0;
}
