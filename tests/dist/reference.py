#!/usr/bin/env python3
"""Writes reference.h: log densities and their derivatives to 17 digits.

Needs mpmath (pip install mpmath); run as  python3 reference.py > reference.h
Every density is written here from its textbook form, in 400 digits, not from the library's code.
Inputs are the doubles that the C compiler will read, so nothing is lost on the way.
"""
from mpmath import mp, mpf, log, exp, pi, loggamma, fabs, fsum, fprod, diff, nstr, binomial

mp.dps = 400


def normal(x, m, s):
    return log(exp(-((x - m) / s) ** 2 / 2) / (s * mp.sqrt(2 * pi)))


def half_normal(x, s):
    return log(2) + normal(x, mpf(0), s)


def log_normal(x, m, s):
    return normal(log(x), m, s) - log(x)


def student_t(x, df, m, s):
    z = (x - m) / s
    constant = loggamma((df + 1) / 2) - loggamma(df / 2) - log(df * pi) / 2 - log(s)
    return constant - (df + 1) / 2 * log(1 + z * z / df)


def cauchy(x, m, s):
    return log(s / (pi * (s * s + (x - m) ** 2)))


def half_cauchy(x, s):
    return log(2) + cauchy(x, mpf(0), s)


def laplace(x, m, s):
    return -fabs(x - m) / s - log(2 * s)


def gumbel(x, m, s):
    z = (x - m) / s
    return -z - exp(-z) - log(s)


def exponential(x, r):
    return log(r * exp(-r * x))


def gamma(x, k, r):
    return log(r**k * x ** (k - 1) * exp(-r * x)) - loggamma(k)


def inverse_gamma(x, k, s):
    return gamma(1 / x, k, s) - 2 * log(x)


def beta(x, a, b):
    return (a - 1) * log(x) + (b - 1) * log(1 - x) - log(mp.beta(a, b))


def half_student_t(x, df, s):
    return log(2) + student_t(x, df, mpf(0), s)


def logistic_distribution(x, m, s):
    z = (x - m) / s
    return log(exp(-z) / (s * (1 + exp(-z)) ** 2))


def asymmetric_laplace(x, m, s, p):
    z = (x - m) / s
    return log(p * (1 - p) / s) - z * (p - (1 if z < 0 else 0))


def chi_squared(x, df):
    return (df / 2 - 1) * log(x) - x / 2 - df / 2 * log(2) - loggamma(df / 2)


def weibull(x, k, s):
    return log(k / s) + (k - 1) * log(x / s) - (x / s) ** k


def pareto(x, m, a):
    return log(a) + a * log(m) - (a + 1) * log(x)


def beta_mean(x, m, k):
    return beta(x, m * k, (1 - m) * k)


def kumaraswamy(x, a, b):
    return log(a * b) + (a - 1) * log(x) + (b - 1) * log(1 - x**a)


def skew_normal(x, m, s, shape):
    return log(2) + normal(x, m, s) + log(mp.erfc(-shape * (x - m) / s / mp.sqrt(2)) / 2)


def von_mises(x, m, k):
    return k * mp.cos(x - m) - log(2 * pi * mp.besseli(0, k))


def uniform(x, low, high):
    return -log(high - low)


def bernoulli_logit(y, logit):
    return log(1 / (1 + exp(-logit if y == 1 else logit)))


def chance_logit(x, logit):
    p, q = 1 / (1 + exp(-logit)), 1 / (1 + exp(logit))
    return x * log(p) + (1 - x) * log(q)


def binomial_logit(y, n, logit):
    p = 1 / (1 + exp(-logit))
    return log(binomial(n, y)) + y * log(p) + (n - y) * log(1 - p)


def poisson_log(y, log_rate):
    return y * log_rate - exp(log_rate) - loggamma(y + 1)


def categorical_logit(y, *logits):
    return logits[int(y)] - log(fsum(exp(v) for v in logits))


def negative_binomial(y, mean, f):
    ways = fprod(f + j for j in range(int(y))) / mp.factorial(y) if y < 1000 else exp(
        loggamma(f + y) - loggamma(f) - loggamma(y + 1))
    return log(ways) + y * log(mean / (mean + f)) + f * log(f / (mean + f))


def negative_binomial_log(y, log_mean, f):
    return negative_binomial(y, exp(log_mean), f)


def beta_binomial(y, n, m, k):
    a, b = m * k, (1 - m) * k
    ways = loggamma(n + 1) - loggamma(y + 1) - loggamma(n - y + 1)
    above = loggamma(a + y) + loggamma(b + n - y) - loggamma(k + n)
    return ways + above - loggamma(a) - loggamma(b) + loggamma(k)


def geometric_logit(y, logit):
    p = 1 / (1 + exp(-logit))
    return log(p * (1 - p) ** y)


def ordered(y, cuts, f):
    below = f(cuts[int(y)]) if y < len(cuts) else mpf(1)
    return log(below - (f(cuts[int(y) - 1]) if y > 0 else mpf(0)))


def ordered_logistic(y, *cuts):
    return ordered(y, cuts, lambda c: 1 / (1 + exp(-c)))


def ordered_probit(y, *cuts):
    return ordered(y, cuts, mp.ncdf)


# family: points (x, arguments ...)
POINTS = {
    normal: [
        (2.385, 1.173, 0.731), (-0.4519, 0.2837, 1.9143), (41.37, -2.719, 1.137),
        (-873.1, 12.91, 0.6113), (1.3e-7, -4.1e-8, 3.7e-6), (5.17e11, 4.93e11, 2.31e9),
        (0.7071, 0.7072, 13.77), (1e30, 3.3, 0.917),
    ],
    half_normal: [
        (0.3819, 1.417), (2.618, 0.8119), (57.31, 1.733), (3.1e-9, 0.2291), (8.8e5, 7.13e5),
        (1.7e-12, 6.31e-12), (1e25, 2.23),
    ],
    log_normal: [
        (1.937, 0.4171, 0.8837), (0.0731, -1.219, 0.517), (183.1, 2.37, 1.891), (4.4e-17, 0.311, 2.73),
        (7.1e21, -3.17, 3.33), (0.99987, 0.0123, 0.0457), (1e-300, 1.7, 0.93),
    ],
    student_t: [
        (1.311, 3.717, 0.219, 0.871), (-7.919, 1.283, 2.417, 1.593), (431.9, 5.123, -1.7, 0.391),
        (0.8837, 0.2319, -0.417, 2.91), (2.113, 57.91, 1.07, 0.613), (-3.371, 1093.7, 0.517, 1.213),
        (4.719, 3.13e6, 0.291, 1.871), (-2.93, 7.77e12, 0.73, 0.837), (6.1e40, 2.291, 1.3, 0.77),
        (0.2291, 1.37e-3, 0.113, 0.517), (11.77, 4.4e15, -1.9, 2.2), (1.217, 2.5e-9, 0.71, 1.9),
    ],
    cauchy: [
        (0.6119, -1.283, 0.7717), (-311.7, 2.119, 1.373), (7.13e9, -3.19, 0.2917),
        (1.7e-5, 1.3e-5, 2.9e-6), (4.417, 4.4171, 83.71), (-2.9e70, 1.91, 3.17),
    ],
    half_cauchy: [
        (0.8117, 2.719), (47.13, 1.193), (9.1e12, 0.6173), (3.3e-11, 0.4127), (2.77e-6, 1.93e-6),
        (6.6e80, 25.3),
    ],
    laplace: [
        (1.817, -0.6131, 1.371), (-5.519, 2.177, 0.4913), (913.7, 3.391, 0.717), (0.2213, 0.2219, 7.93),
        (-3.1e-8, 1.9e-8, 4.7e-7), (-2.71e14, 5.11, 31.7),
    ],
    gumbel: [
        (1.817, -0.6131, 1.371), (-1.519, 0.177, 0.4913), (913.7, 3.391, 0.717),
        (0.2213, 0.2219, 7.93), (-3.1e-8, 1.9e-8, 4.7e-7), (-2.71e14, 5.11, 3.17e13),
    ],
    exponential: [
        (0.7313, 1.931), (4.917, 0.2719), (131.9, 2.713), (5.3e-13, 0.417), (8.1e7, 3.3e-7),
        (2.9e-5, 7.1e4),
    ],
    gamma: [
        (1.913, 2.717, 1.391), (0.3119, 0.6173, 0.2217), (47.31, 13.77, 0.3319), (2.2e-9, 0.1173, 1.731),
        (913.1, 4.119, 2.917), (3.7e-210, 1.37e-3, 0.873), (0.4417, 2.9e-8, 3.11), (117.3, 119.9, 1.017),
        (1e-290, 0.0371, 1e-20),
    ],
    inverse_gamma: [
        (0.8713, 3.171, 2.391), (3.119, 0.7713, 0.4317), (0.0213, 2.119, 1.713), (7.7e11, 0.3391, 1.931),
        (0.0191, 41.73, 0.817), (5.1e150, 2.3e-3, 1.337),
    ],
    beta: [
        (0.3719, 2.713, 1.931), (0.9173, 0.4171, 0.7319), (1.3e-11, 0.2291, 3.717),
        (0.9999983, 5.913, 0.3317), (0.6173, 71.93, 43.17), (0.0417, 1.3e-4, 2.719),
        (1.7e-250, 0.0173, 0.0291), (0.5119, 1.0009, 0.9993),
    ],
    half_student_t: [
        (1.311, 3.717, 0.871), (7.919, 1.283, 1.593), (431.9, 5.123, 0.391), (0.8837, 0.2319, 2.91),
        (4.719, 3.13e6, 1.871), (6.1e40, 2.291, 0.77), (1.3e-9, 0.713, 3.1),
    ],
    logistic_distribution: [
        (1.817, -0.6131, 1.371), (-5.519, 2.177, 0.4913), (913.7, 3.391, 0.717),
        (0.2213, 0.2219, 7.93), (-3.1e-8, 1.9e-8, 4.7e-7), (-2.71e14, 5.11, 3.17e13),
    ],
    asymmetric_laplace: [
        (1.817, -0.6131, 1.371, 0.317), (-5.519, 2.177, 0.4913, 0.917), (913.7, 3.391, 0.717, 0.0231),
        (0.2213, 0.2219, 7.93, 0.99913), (-3.1e-8, 1.9e-8, 4.7e-7, 3.1e-5), (-2.71e14, 5.11, 31.7, 0.513),
    ],
    chi_squared: [
        (1.913, 2.717), (0.3119, 0.6173), (47.31, 13.77), (2.2e-9, 0.1173), (913.1, 4.119),
        (3.7e-210, 1.37e-3), (117.3, 119.9),
    ],
    weibull: [
        (1.913, 2.717, 1.391), (0.3119, 0.6173, 0.2217), (47.31, 13.77, 51.19), (2.2e-9, 0.1173, 1.731),
        (913.1, 0.8119, 2.917), (3.7e-210, 1.37e-3, 0.873), (1e-290, 0.0371, 1e20),
    ],
    pareto: [
        (1.913, 1.391, 2.717), (0.3119, 0.2217, 0.6173), (47.31, 0.3319, 13.77), (2.2e9, 0.1173, 1.731),
        (3.7e210, 0.0137, 0.00873), (1.0000019, 1.0000017, 317.3),
    ],
    beta_mean: [
        (0.3719, 0.5713, 4.931), (0.9173, 0.4171, 0.7319), (1.3e-11, 0.0291, 3.717),
        (0.9999983, 0.913, 0.3317), (0.6173, 0.6193, 143.17), (0.0417, 1.3e-4, 2.719),
    ],
    kumaraswamy: [
        (0.3917, 2.713, 1.917), (0.8131, 0.4173, 0.7317), (1.7e-9, 3.31, 0.917), (0.99999937, 1.37, 2.91),
        (0.0417, 17.3, 5.31), (0.7313, 0.0417, 113.7), (2.3e-300, 0.00137, 3.1), (0.613, 713.7, 2.19),
    ],
    skew_normal: [
        (2.385, 1.173, 0.731, 1.37), (-0.4519, 0.2837, 1.9143, -2.91), (41.37, -2.719, 1.137, -3.7),
        (-873.1, 12.91, 0.6113, 0.713), (1.3e-07, -4.1e-08, 3.7e-06, 11.3), (0.7071, 0.7072, 13.77, 1370.0),
        (-3.7, 0.31, 1.73, 0.0137), (1e30, 3.3, 0.917, 2.1),
    ],
    von_mises: [
        (0.7313, 0.217, 1.913), (-3.117, 3.0119, 17.31), (2.91e-7, 1.7e-8, 3.3e9), (1.3, -7.1, 0.0271),
        (0.0137, 0.3, 1e-9), (2.7183, 2.7182, 5.7e6), (-1.57, 1.571, 113.7), (3.14, -3.13, 41.9),
        (0.51, 0.5, 29.9), (-0.0913, 0.1, 30.1), (2.1, -0.713, 31.7),
    ],
    uniform: [
        (0.7313, 0.217, 1.913), (-3.117, -7.719, 11.93), (2.91e-7, 1.7e-8, 3.3e-7),
        (117.3, -1.3e9, 8.1e8), (5.5, 5.4931, 5.5119), (0.413, 0.4119, 7.7),
    ],
    bernoulli_logit: [
        (0, 0.7313), (1, -1.917), (1, 37.13), (0, 37.13), (1, -713.9), (0, -43.71), (1, 0.0217),
        (0, 1.3e5),
    ],
    chance_logit: [
        (0, 0.7313), (1, -1.917), (1, 37.13), (0, 37.13), (1, -713.9), (0, -43.71), (0.4173, 0.0217),
        (0.7313, -3.917), (0.0041, 41.9), (0.99613, 5.317), (0.1873, -713.9), (0.3137, 1.3e5),
    ],
    binomial_logit: [
        (3, 11, -0.713), (0, 7, 1.391), (19, 19, 0.217), (37, 113, -2.917), (1, 1, -31.7),
        (5, 23, 41.37), (0, 3, -37.1), (211, 431, 0.0319),
    ],
    poisson_log: [
        (3, 0.713), (0, -2.917), (41, 3.119), (7, -11.37), (0, 5.713), (113, 4.019), (1, -313.7),
        (2, 7.713),
    ],
    negative_binomial_log: [
        (3, 0.713, 2.917), (0, -2.917, 0.413), (41, 3.119, 17.31), (7, -11.37, 0.0713), (0, 5.713, 3.3e-4),
        (113, 4.019, 1.93e10), (1, -313.7, 3.71), (2, 7.713, 0.917), (100003, 11.37, 41.3), (17, 2.713, 7.1e13),
    ],
    negative_binomial: [
        (3, 2.713, 2.917), (0, 0.0917, 0.413), (41, 23.119, 17.31), (7, 1.37e-6, 0.0713), (0, 571.3, 3.3e-4),
        (113, 101.9, 1.93e10), (1, 1e-120, 3.71),
    ],
    beta_binomial: [
        (3, 11, 0.371, 2.917), (0, 7, 0.0917, 0.413), (19, 19, 0.917, 17.31), (37, 113, 0.271, 1.93e10),
        (1, 1, 0.713, 3.71e-3), (1, 23, 1.37e-6, 41.3), (211, 431, 0.5119, 3.7e5), (0, 0, 0.3, 2.7),
    ],
    geometric_logit: [
        (0, 0.7313), (1, -1.917), (7, 37.13), (41, -3.713), (3, -37.13), (1000003, -12.39), (2, 713.9),
    ],
    ordered_logistic: [
        (0, -1.713, 0.391, 2.217, 3.319), (2, -0.417, 1.913, 2.331, 4.719), (4, -37.13, -4.19, 3.3, 11.7),
        (4, 1.3, 3.7, 21.9, 37.1), (1, -313.7, -311.3, 2.1, 7.7), (3, -13.7, 2.3, 311.3, 313.7),
        (2, -1.3, 0.1173, 0.1179, 0.9), (1, -617.3, 703.1, 1e4, 2.5e4), (0, -713.9, -3.3, 0.3, 7.7),
    ],
    ordered_probit: [
        (0, -1.713, 0.391, 2.217, 3.319), (2, -0.417, 1.913, 2.331, 4.719), (4, -37.13, -4.19, 3.3, 3.7),
        (4, 1.3, 3.7, 4.9, 7.1), (1, -13.7, -11.3, 2.1, 7.7), (3, -3.7, 2.3, 11.3, 13.7),
        (2, -1.3, 0.1173, 0.1179, 0.9), (1, -31.3, 33.1, 1e4, 2.5e4), (0, -19.9, -3.3, 0.3, 7.7), (2, -9, 8.3, 8.9, 11),
        (3, -4.1, -3.9, -3.3, -2.1),
    ],
    categorical_logit: [
        (0, 0.713, -1.391, 2.217, 0.0319), (3, -0.417, 1.913, 0.331, -2.719),
        (1, 37.13, -41.9, 3.3, 11.7), (2, 713.9, 711.3, 709.1, 714.7), (1, -803.1, -801.7, -817.3, -799.9),
        (3, 0.1173, 0.1179, 0.1171, 0.1177), (2, -1.3e5, 0.3, 1.1e5, -7.7),
    ],
}

CENTRES = [(0, df, 0, 1) for df in (1.3e-6, 0.0137, 0.2291, 0.917, 2.31, 5.713, 17.9, 113.7, 1.93e4, 7.1e8, 3.3e120)]

DISCRETE = (bernoulli_logit, chance_logit, binomial_logit, poisson_log, categorical_logit,
            negative_binomial_log, negative_binomial, geometric_logit,
            ordered_logistic, ordered_probit, beta_binomial)
WHOLE_FIRST = (binomial_logit,)  # no derivative in the number of trials is meant, but there is one


def derivative(f, point, k):
    if f in WHOLE_FIRST and k == 1:  # log C(n, y) as a function of real n
        y, n, logit = point
        return mp.digamma(n + 1) - mp.digamma(n - y + 1) - log(1 + exp(logit))
    scale = fabs(point[k]) if point[k] != 0 else mpf(1)
    h = scale * mpf(10) ** -100
    return diff(lambda v: f(*point[:k], v, *point[k + 1:]), point[k], h=h)


def text(v):
    if fabs(v) < mpf(2) ** -1075:  # no double: 0 to the compiler
        return "0"
    return nstr(v, 17, min_fixed=-4, max_fixed=8, strip_zeros=False)


def table(name, f, points):
    print(f"static const struct point {name}_points[] = {{")
    for raw in points:
        point = [mpf(float(v)) for v in raw]
        value = text(f(*point))
        skip_x = f in DISCRETE
        slopes = ["0" if skip_x and k == 0 else text(derivative(f, point, k)) for k in range(len(point))]
        arguments = ", ".join(repr(float(v)) for v in raw[1:])
        print(f"    {{{float(raw[0])!r},\n     {{{arguments}}},\n     {value},\n     {{{', '.join(slopes)}}}}},")
    print("};")


def main():
    print("/* Written by reference.py with mpmath; see there.  Do not edit. */")
    for f, points in POINTS.items():
        table(f.__name__, f, points)
    table("student_t_centre", student_t, CENTRES)


if __name__ == "__main__":
    main()
