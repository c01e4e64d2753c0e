/* Integers of a regression over columns.
 *
 * With R_p the most that a row's norm is, S_p that an addend is, and x_scale s_scale = f, a record
 * adds at most C = f sqrt(R_1^2 + R_2^2) (S_1 + S_2) to both blocks together.  An owner's share of
 * noise is a real normal number of standard deviation 2^32 that is rounded, and of which `dropped`
 * bits are rounded away: f is such that z C is at most 2^(32 - dropped).  A sum of one owner's
 * columns and the other's addends, with noise of up to 13 standard deviations, is below 2^45.
 *
 * Without noise addends have DPI_COLUMNS_LIMBS digits of DPI_COLUMNS_LIMB bits, each with an answer
 * of its own: sums of one's digit are below 2^45, and of all below 2^62. */
#include <math.h>

#include "base/error.h"
#include "silo/columns-sum.h"
#include "silo/columns.h"

enum { MOST_DROPPED = 24, LEAST_PRODUCT = 12, MOST_SMALL = 14 };

/* Above rounding errors of what is computed here. */
static const double outward = 1 - 0x1p-40;

double dpi_columns_bits(uint64_t steps)
{
    int bits = 0;
    while (bits < 63 && (uint64_t)1 << bits < steps)
        bits++;
    return 64 + bits;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Integers a unit of x s: as many as sums have room for, and noise asks for.  0: none. */
static double product_scale(const dpi_columns_terms *t, size_t rows, int *dropped)
{
    const double *r = t->row_most, *s = t->addend_most, room = 0x1p45;
    const double cross = larger(r[0] * s[1], r[1] * s[0]);
    const double both = sqrt(r[0] * r[0] + r[1] * r[1]) * (s[0] + s[1]);
    for (*dropped = 0; *dropped <= MOST_DROPPED; ++*dropped) {
        const double share = ldexp(1, 32 - *dropped), f = outward * share / (t->z * both);
        if ((double)rows * f * cross + 13 * share < room)
            return f;
    }
    return 0;
}

/* What a record adds to both blocks, in integers. */
static double added_most(const dpi_columns_grid *g)
{
    const double a = (double)g->x_most[0], b = (double)g->x_most[1];
    return sqrt(a * a + b * b) * (double)(g->s_most[0] + g->s_most[1]);
}

dp_status dpi_columns_grid_make(const dpi_columns_terms *t, size_t rows, dpi_columns_grid *g,
                                dp_error *err)
{
    const double r = larger(t->row_most[0], t->row_most[1]);
    const double s = larger(t->addend_most[0], t->addend_most[1]);
    if (rows < 1 || rows > DPI_COLUMNS_ROWS)
        return dpi_fail(err, DP_EUNSUPPORTED, "%zu rows are common; there may be 1 to 2^20", rows);
    g->dropped = 0;
    if (t->z > 0) {
        const double f = product_scale(t, rows, &g->dropped);
        int bits = 0;
        while (bits < 52 && ldexp(1, bits) <= f * r * s)
            bits++;
        if (bits < LEAST_PRODUCT)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "noise of %g on sums of %zu rows leaves no integers to compute with; "
                            "plan for a larger epsilon, or fewer rows",
                            t->z, rows);
        g->s_scale = ldexp(1, bits / 2 > MOST_SMALL ? MOST_SMALL : bits / 2) / s;
        g->x_scale = f / g->s_scale;
    } else {
        const double most = 0x1p34 / (double)rows;
        g->s_scale = ldexp(1, DPI_COLUMNS_LIMBS * DPI_COLUMNS_LIMB) / s;
        g->x_scale = (most < 0x1p29 ? most : 0x1p29) / r;
    }
    for (int p = 0; p < DPI_COLUMNS_OWNERS; p++) {
        g->x_most[p] = (int64_t)floor(g->x_scale * t->row_most[p]);
        g->s_most[p] = (int64_t)floor(g->s_scale * t->addend_most[p]);
        if (g->x_most[p] < 1 || g->s_most[p] < 1 || g->x_most[p] > (int64_t)1 << 30 ||
            g->s_most[p] > (int64_t)1 << 30)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "bounds of rows and addends of the two owners are too far apart; "
                            "scale columns so that they are alike");
    }
    if (t->z > 0 && !(t->z * added_most(g) <= ldexp(1, 32 - g->dropped)))
        return dpi_fail(err, DP_EACCURACY, "integers of noise %g cannot be found", t->z);
    return DP_OK;
}

static double norm2(size_t d, const int64_t *v)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += (double)v[j] * (double)v[j];
    return sum;
}

/* Norms of integers are compared below their bound by more than the sum of their squares can be
 * off: d is at most 2^10, and sums of squares are off by 2^-43 of them. */
void dpi_columns_bound(size_t d, const double *x, double scale, double most_norm, int64_t most,
                       int64_t *to)
{
    const double limit = (double)most * (double)most * outward;
    double norm = 0;
    for (size_t j = 0; j < d; j++)
        norm = hypot(norm, x[j]);
    double times = norm > most_norm ? most_norm / norm * scale : scale;
    for (size_t j = 0; j < d; j++)
        to[j] = (int64_t)nearbyint(x[j] * times);
    for (int k = 0; norm2(d, to) > limit && k < 2; k++) {
        for (size_t j = 0; j < d; j++)
            to[j] = (int64_t)trunc(x[j] * times);
        times *= 1 - 2.0 / (double)most;
    }
    if (norm2(d, to) > limit)
        for (size_t j = 0; j < d; j++)
            to[j] = 0;
}

int32_t dpi_columns_addend(double s, double scale, int64_t most)
{
    const double limit = (double)most, v = s * scale;
    return (int32_t)nearbyint(!(v <= limit) ? limit : v < -limit ? -limit : v);
}
