/* Student's t of many degrees of freedom n.
 *
 * As a ratio of gamma functions and a power of w = n / (n + z^2), what depends on n would be the
 * small rest of large terms.  Here, with q = z^2 / n and r = q / (1 + q), the log density is
 *
 *   -log(2 pi) / 2 - 1 / (4 n) + 1 / (24 n^3) - ... - (n + 1) / 2 log(1 + q),
 *
 * whose derivative in n is 1 / (4 n^2) - ... + (q - log(1 + q) - q r + r / n) / 2; the series is
 * that of log Gamma(n / 2 + 1 / 2) - log Gamma(n / 2) - log(n / 2) / 2 (Tricomi and Erdelyi 1951,
 * Pacific J. Math. 1, 133).  Probabilities are integrals of the density, and their derivatives
 * moments of its derivatives: from 0 by Gauss's rule, or from z on as what falls off (decay.h). */
#include "num/student-large.h"

#include <gsl/gsl_math.h>

#include "num/decay.h"
#include "num/tail.h"

/* Below here the mass within is no larger than the rest of it by far, and the density smooth. */
static const double central = 1.5;

/* The derivatives in n of the log density at t, of which the value stands in log_height. */
static dpi_height log_density(double n, double t)
{
    double s = 1 / n, q = t * t * s, r = q / (1 + q), whole = log1p(q);
    double fall = q > 0.2 ? r - whole : dpi_log1p_deficit(q) - q * r;
    double constant = -0.5 * log(2 * M_PI) - s * (0.25 - s * s / 24);
    return (dpi_height){constant - 0.5 * (n + 1) * whole,
                        s * s * (0.25 - s * s / 8) + 0.5 * (fall + r * s),
                        -0.5 * s * s * s * (1 - s * s) + 0.5 * s * (r * r - s * (r + r / (1 + q)))};
}

typedef struct large_place {
    double df, z;
    dpi_height here; /* at z */
} large_place;

/* The density at z + u over that at z, and its score less that at z. */
static dpi_height height(double u, const void *of)
{
    const large_place *p = of;
    dpi_height here = log_density(p->df, p->z + u);
    here.score -= p->here.score;
    here.log_height = -0.5 * (p->df + 1) * log1p(u * (2 * p->z + u) / (p->df + p->z * p->z));
    return here;
}

dpi_jet dpi_student_large_density(double df, double z)
{
    dpi_height here = log_density(df, z);
    return (dpi_jet){{here.log_height, here.score, 0.5 * here.bend}};
}

dpi_jet dpi_student_large_share(bool within, double df, double z)
{
    const bool near = fabs(z) < central;
    const double from = near ? 0 : fabs(z);
    const large_place p = {df, from, log_density(df, from)};
    dpi_decay d;
    if (near) {
        d = dpi_gauss_integral(fabs(z), height, &p);
    } else {
        double slope = (df + 1) / (p.z + df / p.z), share = (df - p.z * p.z) / (df + p.z * p.z);
        double bend = fmax(0, share * slope / p.z);
        d = dpi_decay_integral(dpi_decay_scale(slope, bend), height, &p);
    }
    const dpi_jet part = {{log(d.mass) + M_LN2 + p.here.log_height, d.mean + p.here.score,
                           0.5 * (d.variance + d.bend)}};
    return within == near ? part : dpi_jet_log1mexp(part);
}
