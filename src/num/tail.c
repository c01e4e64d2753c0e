/* Logarithms of probabilities.
 *
 * A probability near 0 is lost by 1 - p, and one near 1 by its logarithm, unless the form changes
 * with the side.  For the normal distribution the lower tail is Laplace's continued fraction
 * (Abramowitz and Stegun 26.2.14): with t = -x,
 *
 *   phi(t) / Phi(-t) = t + 1 / (t + 2 / (t + 3 / (t + ...))),
 *
 * whose part behind the first t is also what is left of x + phi(x) / Phi(x), where that difference
 * would cancel. */
#include "num/tail.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdbool.h>

double dpi_log1mexp(double x)
{
    return x > -M_LN2 ? log(-expm1(x)) : log1p(-exp(x));
}

double dpi_cloglog(double x)
{
    return x < -40 ? x : dpi_log1mexp(-exp(x));
}

/* From here on 80 terms of the fraction are exact in double: term n changes it by about
 * e^(-2 sqrt(2 n) t). */
static const double fraction_from = 2.5;
enum { FRACTION_TERMS = 80 };

/* 1 / (t + 2 / (t + 3 / ...)) */
static double beyond(double t)
{
    double rest = 0;
    for (int n = FRACTION_TERMS; n > 1; n--)
        rest = n / (t + rest);
    return 1 / (t + rest);
}

/* e^(-x^2 / 2) / sqrt(2 pi); what is lost by rounding x^2 would grow with it. */
static double normal_density(double x)
{
    double square = x * x, lost = fma(x, x, -square);
    return square > 2000 ? 0 : exp(-0.5 * square) * (1 - 0.5 * lost) / sqrt(2 * M_PI);
}

/* Phi(x) with the slope times what is lost by rounding x / sqrt 2. */
static double normal_cdf(double x)
{
    static const double less = -4.8336466567264567e-17; /* 1 / sqrt 2 - M_SQRT1_2 */
    if (fabs(x) > 60)
        return x > 0 ? 1 : 0;
    double z = x * M_SQRT1_2, lost = fma(x, M_SQRT1_2, -z) + x * less;
    return 0.5 * erfc(-z) + lost * M_SQRT2 * normal_density(x);
}

static double mills(double x)
{
    return x < -fraction_from ? -x + beyond(-x) : normal_density(x) / normal_cdf(x);
}

double dpi_log_normal_cdf(size_t order, double x)
{
    bool below = x < -fraction_from;
    if (order > 2 || isnan(x))
        return NAN;
    if (order == 1)
        return mills(x);
    if (order == 2)
        return isinf(x) ? (x > 0 ? 0 : -1) : -mills(x) * (below ? beyond(-x) : x + mills(x));
    if (below)
        return -0.5 * x * x - 0.5 * log(2 * M_PI) - log(mills(x));
    return x > 0 ? log1p(-normal_cdf(-x)) : log(normal_cdf(x));
}

double dpi_log_cauchy_cdf(double x)
{
    double tail = atan2(1, fabs(x)) / M_PI;
    return x > 0 ? log1p(-tail) : log(tail);
}

double dpi_log1p_deficit(double u)
{
    if (fabs(u) > 0.2)
        return u - log1p(u);
    double sum = 0, power = u * u;
    for (int k = 2; k < 26; k++, power *= -u)
        sum += power / k;
    return sum;
}

double dpi_expm1_excess(double v)
{
    if (fabs(v) > 0.5)
        return expm1(v) - v;
    double sum = 0;
    for (int k = 16; k > 1; k--)
        sum = (sum + 1) * v / k;
    return sum * v;
}

double dpi_stirling_rest(double a)
{
    double s = 1 / (a * a);
    return (1 / 12.0 - s * (1 / 360.0 - s * (1 / 1260.0 - s * (1 / 1680.0 - s / 1188)))) / a;
}
