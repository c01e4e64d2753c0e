#!/usr/bin/env python3
"""Writes reference-cdf.h: log P(X <= x), log P(X > x) and their derivatives to 17 digits.

Needs mpmath (pip install mpmath); run as  python3 reference-cdf.py > reference-cdf.h
Both probabilities are written from textbook forms that hold in their own tail, in 400 or 120 digits.
Points are those of the densities (reference.py) and, where given, more of the tails.
"""
from textwrap import fill

from mpmath import mp, mpf, log, exp, pi, erf, erfc, atan2, sqrt, fabs, log1p, expm1, diff

import reference as densities
from reference import text

mp.dps = 400


def upper_normal(z):
    return erfc(z / sqrt(mpf(2))) / 2


def normal(x, m, s):
    return upper_normal((m - x) / s), upper_normal((x - m) / s)


def half_normal(x, s):
    return erf(x / s / sqrt(mpf(2))), erfc(x / s / sqrt(mpf(2)))


def log_normal(x, m, s):
    return normal(log(x), m, s)


def cauchy(x, m, s):
    return atan2(s, m - x) / pi, atan2(s, x - m) / pi


def half_cauchy(x, s):
    return 2 * atan2(x, s) / pi, 2 * atan2(s, x) / pi


def laplace_below(z):
    return exp(z) / 2 if z < 0 else 1 - exp(-z) / 2


def laplace(x, m, s):
    return laplace_below((x - m) / s), laplace_below((m - x) / s)


def asymmetric_laplace(x, m, s, p):
    z = (x - m) / s
    below = p * exp((1 - p) * z) if z < 0 else 1 - (1 - p) * exp(-p * z)
    above = (1 - p) * exp(-p * z) if z > 0 else 1 - p * exp((1 - p) * z)
    return below, above


def gumbel(x, m, s):
    t = exp(-(x - m) / s)
    return exp(-t), -expm1(-t)


def exponential(x, r):
    return -expm1(-r * x), exp(-r * x)


def weibull(x, k, s):
    t = (x / s) ** k
    return -expm1(-t), exp(-t)


def logistic_distribution(x, m, s):
    z = (x - m) / s
    return 1 / (1 + exp(-z)), 1 / (1 + exp(z))


def pareto(x, m, a):
    t = a * log(x / m)
    return -expm1(-t), exp(-t)



def kumaraswamy(x, a, b):
    above = (1 - x**a)**b
    return 1 - above, above


def uniform(x, low, high):
    return (x - low) / (high - low), (high - x) / (high - low)



def both_gamma(k, t):
    return mp.gammainc(k, 0, t, regularized=True), mp.gammainc(k, t, mp.inf, regularized=True)


def gamma(x, k, r):
    return both_gamma(k, r * x)


def inverse_gamma(x, k, s):
    return both_gamma(k, s / x)[::-1]


def chi_squared(x, df):
    return both_gamma(df / 2, x / 2)


def poisson_log(y, log_rate):
    return both_gamma(y + 1, exp(log_rate))[::-1]


def student_t(x, df, m, s):
    z = (x - m) / s
    tail = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + z * z), regularized=True) / 2
    return (tail, 1 - tail) if z < 0 else (1 - tail, tail)


def half_student_t(x, df, s):
    z = x / s
    outside = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + z * z), regularized=True)
    return mp.betainc(mpf(1) / 2, df / 2, 0, z * z / (df + z * z), regularized=True), outside


# Hypergeometric series: fewer digits, and no tail that would need them.
SLOW = (gamma, inverse_gamma, chi_squared, poisson_log, student_t, half_student_t)

FAMILIES = [normal, half_normal, log_normal, cauchy, half_cauchy, laplace, asymmetric_laplace, gumbel, exponential,
            weibull, logistic_distribution, pareto, uniform, kumaraswamy, gamma, inverse_gamma, chi_squared, poisson_log, student_t,
            half_student_t]

MORE = {
    normal: [(-1e10, 0.41, 1.7), (-37.3, 0, 1), (-5.9, 0, 1), (-6.1, 0, 1), (8.31, 0, 1), (37.1, 0, 1), (1e-9, 0, 1)],
    half_normal: [(7.9, 1), (6.1, 1), (1e-160, 1e-11), (31, 1.7)],
    cauchy: [(-1e150, 0, 1), (1e150, 0, 1), (0.41, 0.41, 1), (-31.7, 2, 0.7)],
    half_cauchy: [(1e150, 3.1), (1e-150, 3.1)],
    laplace: [(0.41, 0.41, 1), (31.7, 0, 1), (-713.9, 0, 1)],
    asymmetric_laplace: [(31.7, 0, 1, 1e-9), (-31.7, 0, 1, 1e-9), (31.7, 0, 1, 0.913)],
    gumbel: [(41.7, 0, 1), (-6.1, 0, 1), (713.9, 0, 1)],
    exponential: [(1e-300, 1.3), (713.9, 1.3), (31.7, 1)],
    gamma: [(1e-5, 7.3, 1.3), (313.7, 2.3, 1.1), (31.7, 1713.9, 61.3)],
    student_t: [(-1e40, 2.3, 0, 1), (37.1, 19.7, 0, 1), (-37.1, 413.9, 0, 1), (0.3, 0.3, 0.3, 1), (1e4, 17.3, 0, 1)],
    half_student_t: [(1e-30, 3.1, 1), (1e100, 2.3, 1), (1.7, 1.3e5, 1)],
    pareto: [(1.0000001, 1, 2.7), (1e300, 1e-5, 0.7)],
}

# The slope in rate x overflows below 1e-308.  Not a number for more degrees of freedom; for hardly any, a derivative with too few digits.
FAR = {gamma: [p for p in densities.POINTS[densities.gamma] if p[0] * p[2] < 1e-307],
       student_t: [p for p in densities.POINTS[densities.student_t] if not 1e-6 < p[1] < 1e7]}


def probability(f, which):
    return lambda *point: log(f(*point)[which])


def derivative(f, point, k):
    """One side of a kink is that of both: the distribution function is smooth to first order."""
    scale = fabs(point[k]) if point[k] != 0 else mpf(1)
    return diff(lambda v: f(*point[:k], v, *point[k + 1:]), point[k], h=scale * mpf(10) ** (-mp.dps // 4))


def number(v):
    return "0" if fabs(v) < mpf("1e-305") else text(v)


def row(f, raw):
    point = [mpf(float(v)) for v in raw]
    found = []
    for which in (0, 1):
        of = probability(f, which)
        skip_x = f is poisson_log
        slopes = ["0" if skip_x and k == 0 else number(derivative(of, point, k)) for k in range(len(point))]
        found += [number(of(*point)), "{" + ", ".join(slopes) + "}"]
    arguments = ", ".join(repr(float(v)) for v in raw[1:])
    line = f"{{{float(raw[0])!r}, {{{arguments}}}, {{{found[0]}, {found[2]}}}, {{{found[1]}, {found[3]}}}}},"
    print(fill(line, 98, initial_indent="    ", subsequent_indent="     ", break_long_words=False,
               break_on_hyphens=False))


def main():
    print("/* Written by reference-cdf.py with mpmath; see there.  Do not edit. */\n/* clang-format off */")
    for f in FAMILIES:
        print(f"static const struct tail_point {f.__name__}_tails[] = {{")
        mp.dps = 120 if f in SLOW else 400
        far = FAR.get(f, ())
        for raw in [p for p in densities.POINTS[getattr(densities, f.__name__)] + MORE.get(f, []) if p not in far]:
            row(f, raw)
        print("};")
    print("/* clang-format on */")


main()
