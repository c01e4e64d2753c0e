/* Bins of a sampled Gaussian without a call of libm at every node.
 *
 * With y linear in x and e^s - 1 = odds e^y (poisson.c), an edge at x0 has r0 = e^s0 - 1, known
 * from s0, and w further on
 *     r = r0 e^(w / sigma^2),   1 - e^-(s - s0) = r0 (e^(w / sigma^2) - 1) / (1 + r),
 *     P = P(x0) e^(-(x0 + w/2) w / sigma^2), times (1 + r) / (1 + r0) where s is in P.
 * A stretch with width * roughness = h <= NARROW has |w / sigma^2| <= h and |(x0 + w/2) w| /
 * sigma^2 <= h + h^2/2: both exponentials are Taylor's polynomials of degree 7, whose remainders
 * are below .0318^8 / 8! * 1.04 < 3e-17, and 9e-16 relative to e^z - 1.  No differences are taken,
 * so 1 - e^-d has full relative accuracy however small a bin is.
 *
 * Rounding (u = 2^-53, libm within 2u, an ulp).  x0 = sigma^2 (log r0 - log odds) + 1/2 is taken for exact,
 * and the r0 that belongs to it differs: by 2u |log r0| + 3u |log odds| + 4u |y| + u |x0| / sigma^2
 * <= 8u Y, relative, with Y = max |y| + |log odds| over the range, as |x0| / sigma^2 <= |y| + 1 /
 * (2 sigma^2) and the range has y's of 1 / (2 sigma^2) in size.  With expm1, w / sigma^2, the
 * polynomial and their product r is within (8 Y + 20) u.  That moves s by as much times r / (1 + r)
 * <= min(1, s): less than three times the bound that poisson.c gives for its own (3 Y + 8) u. */
#include "accountant/grid/quick.h"

#include <math.h>

static const double NARROW = 1.0 / 32;
static const double LARGE = 30; /* excess from which on poisson.c computes by logarithms */

dpi_edge dpi_edge_at(const dpi_piece *piece, double excess)
{
    if (!(excess > 0))
        return (dpi_edge){.x = -INFINITY};
    if (!piece->ops->sampled || excess > LARGE)
        return (dpi_edge){.x = piece->ops->inverse(piece, excess)};
    const double odds = expm1(excess);
    const double y = log(odds) - piece->log_odds;
    return (dpi_edge){.x = piece->sigma * piece->sigma * y + 0.5, .odds = odds};
}

/* e^z - 1. */
static inline double taylor(double z)
{
    double p = 1.0 / 5040;
    p = p * z + 1.0 / 720;
    p = p * z + 1.0 / 120;
    p = p * z + 1.0 / 24;
    p = p * z + 1.0 / 6;
    p = p * z + 0.5;
    return z + z * z * p;
}

int dpi_quick_nodes(const dpi_piece *piece, dpi_edge edge, double end, double tilt,
                    dpi_abscissa nodes[DPI_MAX_NODES])
{
    const double width = end - edge.x;
    if (!(edge.odds > 0))
        return 0;
    const double h = width * piece->ops->roughness(piece, edge.x);
    if (!(h <= NARROW && h > 0))
        return 0;
    const dpi_gauss_rule rule = dpi_gauss_rule_for(h);
    const double steep = 1 / (piece->sigma * piece->sigma), rises = piece->sign > 0;
    const double mass = width * exp(piece->ops->log_density(piece, edge.x, 0) + tilt);
    for (int i = 0; i < rule.n; i++) {
        const double w = width * rule.node[i];
        const double more = edge.odds * taylor(w * steep), whole = 1 + edge.odds + more;
        const double p = 1 + taylor(-(edge.x + 0.5 * w) * w * steep);
        nodes[i].mass = mass * rule.weight[i] * p * (rises > 0 ? whole : 1);
        nodes[i].offset = more / whole;
    }
    return rule.n;
}
