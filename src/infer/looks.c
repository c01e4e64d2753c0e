/* Looks at a matrix that may change between them.
 *
 * Let k, of variance P, be known of numbers that were x, and l = x' + noise be released of them
 * behind a move.  Changes x' - x are taken for independent ones of variance T:
 *
 *   k' = k + g (l - k),   g = (P + T) / (P + T + 1),   P' = g          variances in units of noise's
 *
 * the filter of Kalman.  T is what the distances of the m numbers of the dense block show beyond
 * three standard deviations of what noise makes of their squares,
 *
 *   T = |l - k|^2 / m / (1 + 3 sqrt(2 / m)) - P - 1,   or 0
 *
 * so that looks at a matrix that stays are averaged, and of one that goes the last one counts.  One
 * gain is for all numbers: a change of one alone is averaged as long as it is not seen among m. */
#include "infer/looks.h"

#include <math.h>
#include <string.h>

static const double surely = 3;

bool dpi_looks_init(dpi_looks *l, size_t n, size_t dense, dpi_arena *arena)
{
    *l = (dpi_looks){.n = n, .dense = dense, .known = dpi_arena_alloc(arena, n, sizeof(double))};
    return l->known != NULL;
}

static double gain_of(const dpi_looks *l, const double *look, double sd)
{
    double square = 0, m = (double)l->dense, before = l->variance;
    if (before == 0 || sd == 0)
        return 1;
    for (size_t e = 0; e < l->dense; e++)
        square += (look[e] - l->known[e]) * (look[e] - l->known[e]);
    double shown = square / (m * sd * sd) / (1 + surely * sqrt(2 / m));
    before = fmax(before, shown - 1);
    return before / (before + 1);
}

void dpi_looks_join(dpi_looks *l, const double *look, double sd)
{
    l->variance = gain_of(l, look, sd);
    l->made++;
    for (size_t e = 0; e < l->n; e++)
        l->known[e] += l->variance * (look[e] - l->known[e]);
}
