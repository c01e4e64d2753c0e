/* Gamma functions.
 *
 * log Gamma and digamma come from GSL; its functions abort the process where a result overflows or
 * leaves the domain, so they are called only where neither can happen.  Polygamma functions of
 * order n >= 1 are computed here.  With s = (-1)^(n+1) and x moved up by
 *
 *   psi_n(x) = psi_n(x + 1) + s n! / x^(n+1)
 *
 * until x >= 15 + n, the asymptotic series (Abramowitz and Stegun 6.4.11)
 *
 *   s psi_n(x) = (n-1)! / x^n + n! / (2 x^(n+1)) + sum_j B_2j (2j+n-1)! / ((2j)! x^(2j+n))
 *
 * is off by less than its first term left out, here j = 11: less than 1e-17 of the whole for n up
 * to 100.  All large terms have one sign, so nothing cancels. */
#include "num/special.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>

/* Below this argument log Gamma(x) = -log x to double precision. */
static const double pole_below = 1e-18;

/* Above this argument Stirling's main terms are log Gamma to double precision. */
static const double stirling_from = 1e15;

double dpi_lgamma(double x)
{
    gsl_sf_result result;
    if (!(x > 0))
        return NAN;
    if (x < pole_below)
        return -log(x);
    if (x > stirling_from)
        return x * (log(x) - 1);
    return gsl_sf_lngamma_e(x, &result) == GSL_SUCCESS ? result.val : NAN;
}

/* Above this argument the first two terms of the asymptotic series are exact in double. */
static const double asymptotic_from = 1e9;

static double digamma(double x)
{
    gsl_sf_result result;
    if (x > asymptotic_from)
        return log(x) - 0.5 / x;
    if (x < pole_below)
        return -1 / x;
    return gsl_sf_psi_e(x, &result) == GSL_SUCCESS ? result.val : NAN;
}

/* The Bernoulli numbers B_2, B_4, ..., B_20. */
static const double bernoulli[] = {1 / 6.0,       -1 / 30.0,      1 / 42.0, -1 / 30.0,
                                   5 / 66.0,      -691 / 2730.0,  7 / 6.0,  -3617 / 510.0,
                                   43867 / 798.0, -174611 / 330.0};

enum { HIGHEST_ORDER = 100 };

double dpi_polygamma(size_t order, double x)
{
    if (!(x > 0) || order > HIGHEST_ORDER)
        return NAN;
    if (order == 0)
        return digamma(x);
    double n = (double)order, factorial = 1, sum = 0; /* factorial = (n-1)!, as 100! is finite */
    for (size_t i = 2; i < order; i++)
        factorial *= (double)i;
    for (; x < 15 + n; x++)
        sum += n * factorial * pow(x, -n - 1);
    double power = factorial * pow(x, -n), x2 = x * x;
    double term = n * (n + 1) / 2 / x2, series = 1 + n / (2 * x);
    for (size_t j = 1; j <= sizeof bernoulli / sizeof bernoulli[0]; j++) {
        double k = 2 * (double)j;
        series += bernoulli[j - 1] * term;
        term *= (k + n) * (k + n + 1) / ((k + 1) * (k + 2)) / x2;
    }
    sum += power * series;
    return order % 2 == 0 ? -sum : sum;
}
