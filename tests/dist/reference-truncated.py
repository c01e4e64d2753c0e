#!/usr/bin/env python3
"""Writes reference-truncated.h: log densities of truncated distributions and their derivatives.

Needs mpmath; run as  python3 reference-truncated.py > reference-truncated.h
Densities and distribution functions are written here from their textbook forms, in 1500 digits.
"""
from mpmath import mp, mpf, log, exp, diff, nstr, inf

mp.dps = 1500


def logistic_distribution(x, m, s):
    z = (x - m) / s
    return exp(-z) / (s * (1 + exp(-z)) ** 2)


def logistic_distribution_between(low, high, m, s):
    return 1 / (1 + exp(-(high - m) / s)) - (0 if low == -inf else 1 / (1 + exp(-(low - m) / s)))


def pareto(x, m, a):
    return a * m**a / x ** (a + 1)


def pareto_between(low, high, m, a):
    return (1 if low <= m else (m / low) ** a) - (0 if high == inf else (m / high) ** a)


def normal(x, m, s):
    return exp(-((x - m) / s) ** 2 / 2) / (s * mp.sqrt(2 * mp.pi))


def normal_between(low, high, m, s):
    low, high = ((v - m) / s / mp.sqrt(2) for v in (low, high))
    if low > 0:
        return (mp.erfc(low) - (0 if high == inf else mp.erfc(high))) / 2
    return (mp.erfc(-high) - (0 if low == -inf else mp.erfc(-low))) / 2


def half_normal(x, s):
    return 2 * normal(x, mpf(0), s)


def half_normal_between(low, high, s):
    return 2 * normal_between(max(low, mpf(0)), high, mpf(0), s)


def log_normal(x, m, s):
    return normal(log(x), m, s) / x


def log_normal_between(low, high, m, s):
    return normal_between(log(low) if low > 0 else -inf, high if high == inf else log(high), m, s)


def exponential(x, r):
    return r * exp(-r * x)


def exponential_between(low, high, r):
    return exp(-r * max(low, mpf(0))) - (0 if high == inf else exp(-r * high))


def weibull(x, k, s):
    return k / s * (x / s) ** (k - 1) * exp(-((x / s) ** k))


def weibull_between(low, high, k, s):
    low, high = ((v / s) ** k if 0 < v < inf else v for v in (low, high))
    return exponential_between(low, high, mpf(1))


def gumbel(x, m, s):
    z = (x - m) / s
    return exp(-z - exp(-z)) / s


def gumbel_between(low, high, m, s):
    low, high = (-v if abs(v) == inf else -(v - m) / s for v in (low, high))
    return exp(-exp(high)) - (0 if low == inf else exp(-exp(low)))


def cauchy(x, m, s):
    return s / (mp.pi * (s * s + (x - m) ** 2))


def cauchy_between(low, high, m, s):
    return (mp.atan((high - m) / s) - mp.atan((low - m) / s)) / mp.pi


# family: points (x, low, high, absolute error in units of 1e-16, arguments ...)
POINTS = {
    logistic_distribution: [
        (1.817, 0.417, 3.19, 1, -0.6131, 1.371), (1.817, -inf, 3.19, 0, -0.6131, 1.371),
        (1.817, 0.417, inf, 0, -0.6131, 1.371), (-5.519, -6.13, -5.5, 0, 2.177, 0.4913),
        (913.7, 911.3, inf, 100, 3.391, 0.717), (913.7, 911.3, 914.1, 100, 3.391, 0.717),
        (-913.7, -914.1, -911.3, 100, 3.391, 0.717), (0.2213, -31.7, 97.3, 1, 0.2219, 7.93),
        (0.2213, 0.2211, 0.2219, 100000, 0.2219, 7.93), (3e-8, 1e-8, 1e-7, 10, 1.9e-8, 4.7e-7),
    ],
    normal: [
        (0.817, 0.417, 3.19, 1, -0.6131, 1.371), (0.817, -inf, 3.19, 1, -0.6131, 1.371),
        (0.817, 0.417, inf, 1, -0.6131, 1.371), (41.3, 40.1, inf, 1000, 0.3, 1.1),
        (41.3, 40.1, 41.9, 1000, 0.3, 1.1), (-41.3, -inf, -40.1, 1000, 0.3, 1.1),
        (-41.3, -47.1, -40.1, 1000, 0.3, 1.1), (0.3119, 0.311, 0.3127, 10000, 0.3, 1.1),
        (3.3, -1e3, 1e3, 1, 0.3, 1.1),
    ],
    half_normal: [(1.3, 0.7, 2.1, 1, 1.1), (1.3, 0, 2.1, 1, 1.1), (31.3, 30.7, inf, 1000, 1.1)],
    log_normal: [(1.3, 0.7, 2.1, 1, 0.4, 1.1), (1.3e-9, 0, 2.1e-9, 1000, 0.4, 1.1)],
    exponential: [(1.3, 0.7, 2.1, 1, 0.713), (1.3, 0, 2.1, 1, 0.713), (713.7, 711.3, 714.1, 100, 3.3)],
    weibull: [(1.3, 0.7, 2.1, 1, 1.7, 0.713), (1.3, 0, 2.1, 1, 0.7, 0.713), (13.7, 11.3, inf, 100, 1.3, 0.31)],
    gumbel: [(1.3, 0.7, 2.1, 1, 0.4, 1.1), (31.3, 30.7, inf, 100, 0.4, 1.1), (-3.3, -inf, -3.1, 100, 0.4, 1.1)],
    cauchy: [(1.3, 0.7, 2.1, 1, 0.4, 1.1), (3.1e7, 3e7, 3.3e7, 10, 0.4, 1.1), (-3.1e7, -inf, -3e7, 10, 0.4, 1.1)],
    pareto: [
        (1.913, 1.351, 3.717, 1, 1.391, 2.717), (47.31, 45.1, 49.9, 100, 0.3319, 13.77),
        (2.2e9, 1.1e9, inf, 100, 0.1173, 1.731), (3.7, 2.1, 4.1, 10, 0.0137, 0.00873),
    ],
}


def value(f, x, low, high, *arg):
    return log(f(x, *arg)) - log(globals()[f.__name__ + "_between"](low, high, *arg))


def number(v):
    return "INFINITY" if v == inf else "-INFINITY" if v == -inf else repr(float(v))


def text(v):
    if abs(v) < mpf(10) ** -300:
        return "0.0"
    return nstr(v, 17, min_fixed=-4, max_fixed=8, strip_zeros=False)


def main():
    print("/* Written by reference-truncated.py with mpmath; see there.  Do not edit. */\n/* clang-format off */")
    print("typedef struct truncated_point {\n    const char *family;\n    double x, low, high, arg[4], value, slope[5], slack;\n} truncated_point;\n")
    print("static const truncated_point truncated_points[] = {")
    for f, points in POINTS.items():
        for x, low, high, slack, *arg in points:
            at = [mpf(float(v)) for v in (x, *arg)]
            ends = [mpf(float(v)) for v in (low, high)]
            slopes = []
            for k in range(len(at)):
                h = (abs(at[k]) or 1) * mpf(10) ** -100
                slopes.append(text(diff(lambda v: value(f, *(at[:k] + [v] + at[k + 1:])[:1], *ends, *(at[:k] + [v] + at[k + 1:])[1:]), at[k], h=h)))
            print(f'    {{"{f.__name__}", {number(x)}, {number(low)}, {number(high)},\n     {{{", ".join(number(v) for v in arg)}}},\n'
                  f'     {text(value(f, at[0], *ends, *at[1:]))},\n     {{{", ".join(slopes)}}}, {slack}e-16}},')
    print("};")


main()
