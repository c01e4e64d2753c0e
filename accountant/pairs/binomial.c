/* Tails of the binomial distribution.
 *
 * The smaller tail is summed from its largest term, the one next to the mean, outward: ratios of
 * neighbours fall below 1 and go on falling, so what follows a term t with ratio r is at most t r /
 * (1-r).  The largest term is
 *     sqrt(n / (2 pi k (n-k))) exp(e(n) - e(k) - e(n-k) - D(k, np) - D(n-k, n(1-p))),
 * e(n) = log n! - log(sqrt(2 pi n) (n/e)^n), D(x, M) = x log(x/M) + M - x (Loader, Fast and
 * accurate computation of binomial probabilities, 2000): no large numbers cancel.
 *
 * Rounding (u = 2^-53): D by its series or with at most 20-fold cancellation, so within 40 u of its
 * value and, through the rounding of np, within u |x - M|; both D together are at most 700 where
 * anything is left, |x - M| at most sqrt(1400 n) + 1400 <= 4e6 for n <= 1e10.  Exponent: 1e-9 at
 * most.  A sum of N <= 4e6 terms, each from the last by a ratio with error 5u: 5 N u = 3e-9.  SLACK
 * covers both. */
#include "accountant/pairs/binomial.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double SLACK = 8e-9;

/* log n! - log(sqrt(2 pi n) (n/e)^n), n >= 1. */
static double stirling_error(double n)
{
    if (n < 16)
        return lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.91893853320467274178;
    double v = n * n;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / v) / v) / v) / n;
}

/* x log(x / m) + m - x. */
static double deviance(double x, double m)
{
    double d = x - m;
    if (fabs(d) >= 0.1 * (x + m))
        return x * log(x / m) - d;
    /* x log(x/m) = 2 x atanh(v), v = d / (x + m). */
    double v = d / (x + m), sum = d * v, term = 2 * x * v;
    for (int j = 1; j < 40; j++) {
        term *= v * v;
        double next = sum + term / (2 * j + 1);
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

/* Pr(Bin(n, p) = k). */
static double mass(double n, double p, double k)
{
    if (k == 0 || k == n)
        return exp(n * (k == 0 ? log1p(-p) : log(p)));
    double e = stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(k, n * p) -
               deviance(n - k, n * (1 - p));
    return exp(e) * sqrt(n / (2 * M_PI * k * (n - k)));
}

/* Sum of masses at k, k + way, ... to the end, and what it may lack. */
static double sum_from(double n, double p, double k, int way, double *rest)
{
    double odds = p / (1 - p), term = mass(n, p, k), sum = 0;
    while (k >= 0 && k <= n) {
        sum += term;
        double ratio = way > 0 ? (n - k) / (k + 1) * odds : k / (n - k + 1) / odds;
        term *= ratio;
        k += way;
        *rest = ratio < 1 ? term / (1 - ratio) : INFINITY;
        if (*rest <= 1e-12 * sum)
            return sum;
    }
    *rest = 0;
    return sum;
}

double dpi_binomial_tail(uint64_t n, double p, uint64_t k, dpi_side side)
{
    double trials = (double)n, at = (double)k, rest;
    if (k == 0 || k > n)
        return k == 0 ? 1 : 0;
    bool upper_is_small = at > trials * p;
    double small =
        upper_is_small ? sum_from(trials, p, at, 1, &rest) : sum_from(trials, p, at - 1, -1, &rest);
    bool up = (side == DPI_UPPER) == upper_is_small;
    small = up ? (small + rest) * (1 + SLACK) + 1e-290 : small * (1 - SLACK) - 1e-290;
    small = fmin(fmax(small, 0), 1);
    double tail = upper_is_small ? small : 1 - small;
    return side == DPI_UPPER ? fmin(tail * (1 + DBL_EPSILON), 1) : tail * (1 - DBL_EPSILON);
}
