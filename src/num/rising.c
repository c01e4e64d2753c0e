/* Rising factorials and their derivatives.
 *
 * Few factors are multiplied, or the powers of their inverses added up: all terms have one sign.
 * Else, with z = a + b and D_p = a^-p - z^-p, the difference of two asymptotic series (Abramowitz
 * and Stegun 6.1.40, 6.3.18 and 6.4.11), of the derivative of order n
 *
 *   n = 0   (a - 1/2) log(1 + b / a) + b (log z - 1) - S
 *   n = 1   log(1 + b / a) + D_1 / 2 + S
 *   n > 1   -(-1)^n ((n-2)! D_(n-1) + (n-1)! D_n / 2 + S)
 *
 *   S = sum_j B_2j (2j + n - 2)! / (2j)! D_(2j + n - 1),
 *
 * where a has been moved up, a step from a to a + 1 adding log(1 + b / a) to S for n = 0 and
 * (n-1)! D_n for others, until the first term left out is below 1e-17 of the whole.  D_1 is
 * b / (a z) and D_(p+1) = D_p / a + D_1 / z^p, in which nothing cancels. */
#include "num/rising.h"

#include <math.h>

/* The Bernoulli numbers B_2, B_4, ..., B_20. */
static const double bernoulli[] = {1 / 6.0,       -1 / 30.0,      1 / 42.0, -1 / 30.0,
                                   5 / 66.0,      -691 / 2730.0,  7 / 6.0,  -3617 / 510.0,
                                   43867 / 798.0, -174611 / 330.0};

enum { TERMS = sizeof bernoulli / sizeof bernoulli[0], HIGHEST_ORDER = 100, FEW = 16 };

/* (n - 1)! */
static double factorial_below(size_t n)
{
    double product = 1;
    for (size_t i = 2; i < n; i++)
        product *= (double)i;
    return product;
}

/* x^-p */
static double inverse_power(double x, size_t p)
{
    double power = 1, inverse = 1 / x;
    for (size_t i = 0; i < p; i++)
        power *= inverse;
    return power;
}

/* D_p */
static double apart(double a, double b, size_t p)
{
    double z = a + b, u = 1 / a, v = 1 / z, one = b / z / a, d = 0, power = 1;
    for (size_t i = 0; i < p; i++, power *= v)
        d = d * u + power * one;
    return d;
}

/* Above this the product of FEW factors might overflow, and they are equal in double. */
static const double equal_from = 1e18;

static double log_of_product(double a, double b)
{
    double product = 1;
    if (a > equal_from)
        return b * log(a);
    for (double i = 0; i < b; i++)
        product *= a + i;
    return log(product);
}

static double of_few(size_t n, double a, double b)
{
    double sum = 0;
    if (n == 0)
        return log_of_product(a, b);
    for (double i = 0; i < b; i++)
        sum += inverse_power(a + i, n);
    return factorial_below(n) * sum;
}

/* log(1 + b / a), for quotients that overflow too. */
static double log_growth(double a, double b)
{
    double ratio = b / a;
    return isinf(ratio) ? log(b) - log(a) : log1p(ratio);
}

/* S */
static double series(size_t n, double a, double b)
{
    double sum = 0, factor = 0.5 * factorial_below(n + 1);
    size_t p = n + 1;
    double z = a + b, d = apart(a, b, p), u2 = 1 / a / a, v = 1 / z;
    double power = inverse_power(z, p), gap = b / z / a * (1 / a + v);
    for (size_t j = 1; j <= TERMS; j++) {
        double k = 2 * (double)j, order = (double)n;
        sum += bernoulli[j - 1] * factor * d;
        factor *= (k + order - 1) * (k + order) / ((k + 1) * (k + 2));
        d = d * u2 + power * gap;
        power *= v * v;
    }
    return sum;
}

double dpi_rising(size_t n, double a, double b)
{
    double sign = n % 2 == 0 ? -1 : 1, sum = 0, factorial = factorial_below(n);
    if (!(a > 0) || !(b >= 0) || isinf(a) || n > HIGHEST_ORDER)
        return NAN;
    if (b == 0)
        return 0;
    if (b <= FEW && b == floor(b))
        return n == 0 ? of_few(0, a, b) : sign * of_few(n, a, b);
    for (; a < 15 + (double)n; a++)
        sum += n == 0 ? log_growth(a, b) : factorial * apart(a, b, n);
    sum += series(n, a, b);
    if (n == 0)
        return (a - 0.5) * log_growth(a, b) + b * (log(a + b) - 1) - sum;
    if (n == 1)
        return log_growth(a, b) + 0.5 * apart(a, b, 1) + sum;
    return sign *
           (factorial_below(n - 1) * apart(a, b, n - 1) + 0.5 * factorial * apart(a, b, n) + sum);
}
