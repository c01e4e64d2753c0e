/* Polygamma functions, differences of log Gamma and of them, and logarithms of probabilities, in
 * long double. */
#include <math.h>
#include <stdlib.h>

#include "tests/graph/naive.h"

typedef long double real;

/* The Bernoulli numbers B_2, B_4, ... */
static const real bernoulli[] = {1 / 6.0L,         -1 / 30.0L,      1 / 42.0L,
                                 -1 / 30.0L,       5 / 66.0L,       -691 / 2730.0L,
                                 7 / 6.0L,         -3617 / 510.0L,  43867 / 798.0L,
                                 -174611 / 330.0L, 854513 / 138.0L, -236364091 / 2730.0L};

static real factorial(size_t n)
{
    real product = 1;
    for (size_t i = 2; i <= n; i++)
        product *= (real)i;
    return product;
}

/* x^-n */
static real inverse_power(real x, size_t n)
{
    real power = 1;
    for (size_t i = 0; i < n; i++)
        power *= x;
    return 1 / power;
}

real naive_polygamma(size_t order, real x)
{
    real sum = 0;
    for (; x < 30; x += 1)
        sum += factorial(order) * inverse_power(x, order + 1);
    sum += order == 0 ? 0.5L / x - logl(x)
                      : factorial(order - 1) * inverse_power(x, order) +
                            factorial(order) * inverse_power(x, order + 1) / 2;
    real term = factorial(order + 1) / 2 * inverse_power(x, order + 2);
    for (size_t k = 1; k <= sizeof bernoulli / sizeof bernoulli[0]; k++) {
        sum += bernoulli[k - 1] * term;
        term *= (real)((2 * k + order) * (2 * k + order + 1)) / (real)((2 * k + 1) * (2 * k + 2)) /
                (x * x);
    }
    return order % 2 == 0 ? -sum : sum;
}

/* Derivatives of log Phi, by erfc of 64 bits. */
static real naive_log_normal_cdf(size_t order, real a)
{
    real below = erfcl(-a / sqrtl(2)) / 2;
    if (order == 0)
        return a > 0 ? log1pl(-erfcl(a / sqrtl(2)) / 2) : logl(below);
    real slope = expl(-a * a / 2) / sqrtl(8 * atanl(1)) / below;
    return order == 1 ? slope : -slope * (a + slope);
}

real naive_tail(const dpi_node *node, real a)
{
    const dpi_op *op = node->op;
    if (op == &dpi_op_log1mexp)
        return a > -1 ? logl(-expm1l(a)) : log1pl(-expl(a));
    if (op == &dpi_op_cloglog)
        return a > 0 ? log1pl(-expl(-expl(a))) : logl(-expm1l(-expl(a)));
    if (op == &dpi_op_erf)
        return erfl(a);
    if (op == &dpi_op_atan)
        return atanl(a);
    if (op == &dpi_op_log_normal_cdf)
        return naive_log_normal_cdf(node->attr.number, a);
    if (op == &dpi_op_log_cauchy_cdf) {
        real tail = atan2l(1, fabsl(a)) / (4 * atanl(1));
        return a > 0 ? log1pl(-tail) : logl(tail);
    }
    abort();
}

real naive_rising(size_t order, real a, real b)
{
    return order == 0 ? lgammal(a + b) - lgammal(a)
                      : naive_polygamma(order - 1, a + b) - naive_polygamma(order - 1, a);
}

/* Cumulants of cos t - 1 under e^(a (cos t - 1)) on the circle, by 400 equal steps, which are exact
 * for a below 1000; order 0 is the logarithm of the mean of that. */
real naive_log_bessel(size_t order, real a)
{
    enum { HALF = 200 };
    real p[HALF + 1], v[HALF + 1], total = 0, mean = 0, moment[5] = {0};
    for (int j = 0; j <= HALF; j++) {
        real half = sinl(2 * atanl(1) * j / HALF);
        v[j] = -2 * half * half;
        p[j] = expl(a * v[j]) / (j == 0 || j == HALF ? 2 * HALF : HALF);
        total += p[j];
        mean += p[j] * v[j];
    }
    mean /= total;
    for (int j = 0; j <= HALF; j++)
        for (int k = 2; k <= 4; k++)
            moment[k] += p[j] / total * powl(v[j] - mean, k);
    if (order > 4)
        return (real)NAN;
    return order == 0   ? logl(total)
           : order == 1 ? mean
           : order == 4 ? moment[4] - 3 * moment[2] * moment[2]
                        : moment[order];
}
