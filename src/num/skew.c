/* Tails of the skew normal distribution with the density 2 phi(z) Phi(a z).
 *
 * P(Z <= z) is Phi(z) - 2 T(z, a) with Owen's T (Azzalini 1985, Scand. J. Stat. 12, 171).  For
 * h >= 0 and 0 <= a <= 1
 *
 *   T(h, a) = e^(-h^2 / 2) / (2 pi) * integral over 0 < x < a of e^(-h^2 x^2 / 2) / (1 + x^2),
 *
 * by Gauss's rule; a above 1 is turned into 1 / a (Owen 1956, Ann. Math. Stat. 27, 1075).  In the
 * tails, where the difference loses its digits, the density is integrated from z on (decay.h): it
 * is log-concave.  Derivatives are closed forms of the density over the probability. */
#include <gsl/gsl_math.h>
#include <stdbool.h>

#include "num/decay.h"
#include "num/tail.h"

static const double largest = 1e150;

/* Phi(x) below x = 0 to full relative accuracy. */
static double below(double x)
{
    return exp(dpi_log_normal_cdf(0, x));
}

/* T for 0 <= a <= 1, h >= 0. */
static double owen_inner(double h, double a)
{
    double sum = 0;
    for (int k = 0; k < 2 * DPI_GAUSS_PAIRS; k++) {
        const double *pair = dpi_gauss_rule[k / 2];
        double x = 0.5 * a * (1 + (k % 2 == 0 ? pair[0] : -pair[0])), s = h * x;
        sum += pair[1] * exp(-0.5 * s * s) / (1 + x * x);
    }
    return 0.5 * a * sum * exp(-0.5 * h * h) / (2 * M_PI);
}

/* T for a >= 0, h >= 0; far out in h the rule is too coarse. */
static double owen(double h, double a)
{
    if (a <= 1)
        return owen_inner(h, a);
    double q = below(-h), r = below(-a * h);
    return 0.5 * (q + r) - q * r - owen_inner(a * h, 1 / a);
}

/* log Phi(x + d) - log Phi(x), of which nothing cancels far below 0. */
static double log_growth(double x, double d)
{
    const double from = -2.5;
    if (!(x < from && x + d < from))
        return dpi_log_normal_cdf(0, x + d) - dpi_log_normal_cdf(0, x);
    return -d * (x + 0.5 * d) - log(dpi_log_normal_cdf(1, x + d) / dpi_log_normal_cdf(1, x));
}

typedef struct skew_place {
    double a, z;
} skew_place;

/* The density at z - u over that at z. */
static dpi_height height(double u, const void *of)
{
    const skew_place *p = of;
    return (dpi_height){u * (p->z - 0.5 * u) + log_growth(p->a * p->z, -p->a * u), 0, 0};
}

static double log_density(double a, double z)
{
    return M_LN2 - 0.5 * log(2 * M_PI) - 0.5 * z * z + dpi_log_normal_cdf(0, a * z);
}

/* log P(Z <= z), and the density over P. */
typedef struct lower_share {
    double log_share, slope;
} lower_share;

static lower_share with_slope(double log_share, double a, double z)
{
    return (lower_share){log_share, exp(log_density(a, z) - log_share)};
}

/* What is beyond z < 0, where the integral is not needed; NaN where it is. */
static double share_near(double a, double z)
{
    const double far = -6, lost = 1e-3;
    if (z < far)
        return NAN;
    double share = below(z) + (a > 0 ? -2 : 2) * owen(-z, fabs(a));
    return a > 0 && share < lost ? NAN : share;
}

static lower_share lower_tail(double a, double z)
{
    double share = share_near(a, z);
    if (!isnan(share))
        return with_slope(log(share), a, z);
    const skew_place p = {a, z};
    double x = a * z, fall = a * dpi_log_normal_cdf(1, x) - z;
    double bend = 1 - a * a * dpi_log_normal_cdf(2, x);
    double mass = dpi_decay_integral(dpi_decay_scale(fall, bend), height, &p).mass;
    return (lower_share){log_density(a, z) + log(mass), 1 / mass};
}

/* Above 0 nothing cancels in the first form; else P is above 1/4, and the rest of it is known. */
static lower_share lower_of(double a, double z)
{
    if (z < 0)
        return lower_tail(a, z);
    if (a > 1) {
        double share = below(a * z > 0 ? -a * z : 0);
        share = (1 - share) * erf(z * M_SQRT1_2) + 2 * owen_inner(a * z, 1 / a);
        if (share < 0.5)
            return with_slope(log(share), a, z);
    }
    /* P(Z > z) is that of -z and -a, a tail. */
    return with_slope(dpi_log1mexp(lower_tail(-a, -z).log_share), a, z);
}

double dpi_log_skew_tail(dpi_tail_of of, double a, double z)
{
    bool upper = of.side == DPI_UPPER;
    if (of.first + of.second > 2 || of.side == DPI_WITHIN || !(fabs(a) < largest) ||
        !(fabs(z) < largest))
        return NAN;
    if (upper)
        a = -a, z = -z;
    double sign = upper && (of.first + of.second) % 2 == 1 ? -1 : 1, square = 1 + a * a;
    lower_share here = lower_of(a, z);
    double s = here.slope, ratio = dpi_log_normal_cdf(1, a * z), in_a = -ratio * s / square;
    if (of.first == 0)
        return sign * (of.second == 0   ? here.log_share
                       : of.second == 1 ? s
                                        : s * (a * ratio - z - s));
    if (of.second == 1)
        return s * (z * ratio - in_a);
    return sign * (of.first == 1 ? in_a : in_a * (-2 * a / square - a * z * z - in_a));
}
