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



def decaying(log_height, fall, bend):
    """The integral of e^log_height(u) over u > 0, which falls at first by `fall` and its slope by `bend`."""
    fall = fall if fall > 0 else 0
    size = 2 / (fall + sqrt(fall**2 + 2 * bend))
    steps = (0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 256)
    return mp.quad(lambda u: exp(log_height(u)), [size * k for k in steps])


def large_gamma(k, t):
    """By the density of the logarithm, from t on in the tail that t is in."""
    top, side = k * log(t) - t - mp.loggamma(k), 1 if t > k else -1
    part = exp(top) * decaying(lambda u: side * k * u - t * expm1(side * u), side * (t - k), t)
    return (part, 1 - part) if t < k else (1 - part, part)


def both_gamma(k, t):
    if k > 1e5:
        return large_gamma(k, t)
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
    if df > 1e7:
        top = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - log(df * pi) / 2
        fall = (df + 1) * fabs(z) / (df + z * z)
        tail = decaying(lambda u: top - (df + 1) / 2 * log1p((fabs(z) + u) ** 2 / df), fall, 1)
        return (tail, 1 - tail) if z < 0 else (1 - tail, tail)
    tail = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + z * z), regularized=True) / 2
    return (tail, 1 - tail) if z < 0 else (1 - tail, tail)


def half_student_t(x, df, s):
    z = x / s
    outside = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + z * z), regularized=True)
    return mp.betainc(mpf(1) / 2, df / 2, 0, z * z / (df + z * z), regularized=True), outside


def both_beta(a, b, x, y):
    if x * b < y * a:
        below = mp.betainc(a, b, 0, x, regularized=True)
        return below, 1 - below
    above = mp.betainc(b, a, 0, y, regularized=True)
    return 1 - above, above


def beta(x, a, b):
    return both_beta(a, b, x, 1 - x)


def beta_mean(x, m, k):
    return both_beta(m * k, (1 - m) * k, x, 1 - x)


def binomial_logit(y, n, logit):
    return both_beta(n - y, y + 1, 1 / (1 + exp(logit)), 1 / (1 + exp(-logit)))


def negative_binomial(y, mean, f):
    p = mean / (mean + f)
    term = below = (f / (mean + f)) ** f
    for k in range(int(y)):
        term *= p * (f + k) / (k + 1)
        below += term
    return below, 1 - below


def negative_binomial_log(y, log_mean, f):
    return negative_binomial(y, exp(log_mean), f)


def geometric_logit(y, logit):
    above = (1 + exp(logit)) ** -(y + 1)
    return 1 - above, above


def skew_below(z, shape):
    """The density's integral up to z < 0, by pieces of all the sizes on which it changes."""
    x = shape * z
    ratio = shape * sqrt(2 / pi) * exp(-x * x / 2) / erfc(-x / sqrt(mpf(2)))
    slope, bend = ratio - z, 1 + ratio * (shape * x + ratio)
    slope = slope if slope > 0 else 0
    scales = [2 / (slope + sqrt(slope**2 + 2 * bend)), 1 / (1 - z), 1 / (1 + fabs(shape))]
    steps = (0, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    ends = sorted({z - size * k for size in scales for k in steps})
    return mp.quad(lambda v: exp(-v * v / 2) / sqrt(2 * pi) * erfc(-shape * v / sqrt(mpf(2))), ends)


def skew_normal(x, m, s, shape):
    z = (x - m) / s
    tail = skew_below(-fabs(z), shape if z < 0 else -shape)
    return (tail, 1 - tail) if z < 0 else (1 - tail, tail)


def skew_normal_slopes(both, x, m, s, shape):
    """The density and Owen's T differentiated: differences of integrals would need too many digits."""
    z, square = (x - m) / s, 1 + shape**2
    height = exp(densities.skew_normal(x, m, s, shape))
    found = (height, -height, -height * z, -exp(-z * z * square / 2) / (pi * square))
    return [[v / both[0] for v in found], [-v / both[1] for v in found]]


SLOPES = {skew_normal: skew_normal_slopes}

# Hypergeometric series: fewer digits, and no tail that would need them.
SLOW = (gamma, inverse_gamma, chi_squared, poisson_log, student_t, half_student_t, beta, beta_mean, binomial_logit)
DIGITS = {skew_normal: 60, negative_binomial: 900, negative_binomial_log: 900}
LARGE = (gamma, poisson_log, student_t)  # by quadrature there
COUNTS = (poisson_log, binomial_logit, negative_binomial, negative_binomial_log, geometric_logit)

FAMILIES = [normal, half_normal, log_normal, cauchy, half_cauchy, laplace, asymmetric_laplace, gumbel, exponential,
            weibull, logistic_distribution, pareto, uniform, kumaraswamy, gamma, inverse_gamma, chi_squared, poisson_log, student_t,
            half_student_t, beta, beta_mean, binomial_logit, negative_binomial, negative_binomial_log, geometric_logit,
            skew_normal]

MORE = {
    normal: [(-1e10, 0.41, 1.7), (-37.3, 0, 1), (-5.9, 0, 1), (-6.1, 0, 1), (8.31, 0, 1), (37.1, 0, 1), (1e-9, 0, 1)],
    half_normal: [(7.9, 1), (6.1, 1), (1e-160, 1e-11), (31, 1.7)],
    cauchy: [(-1e150, 0, 1), (1e150, 0, 1), (0.41, 0.41, 1), (-31.7, 2, 0.7)],
    half_cauchy: [(1e150, 3.1), (1e-150, 3.1)],
    laplace: [(0.41, 0.41, 1), (31.7, 0, 1), (-713.9, 0, 1)],
    asymmetric_laplace: [(31.7, 0, 1, 1e-9), (-31.7, 0, 1, 1e-9), (31.7, 0, 1, 0.913)],
    gumbel: [(41.7, 0, 1), (-6.1, 0, 1), (713.9, 0, 1)],
    exponential: [(1e-300, 1.3), (713.9, 1.3), (31.7, 1)],
    gamma: [(1e-5, 7.3, 1.3), (313.7, 2.3, 1.1), (31.7, 1713.9, 61.3), (10000050000, 1e10, 1),
            (9999800000, 1e10, 1), (1e14 - 2e7, 1e14, 1), (3e8, 1.7e5, 1)],
    poisson_log: [(1e14, 32)],
    student_t: [(-1e40, 2.3, 0, 1), (37.1, 19.7, 0, 1), (-37.1, 413.9, 0, 1), (0.3, 0.3, 0.3, 1), (1e4, 17.3, 0, 1),
                (5.1, 1e9, 0, 1), (-0.41, 2e4, 0, 1), (37.1, 1e9, 0, 1)],
    half_student_t: [(1e-30, 3.1, 1), (1e100, 2.3, 1), (1.7, 1.3e5, 1)],
    pareto: [(1.0000001, 1, 2.7), (1e300, 1e-5, 0.7)],
    beta: [(1e-5, 7.3, 1.3), (0.9, 0.3, 713.9), (0.117, 91.7, 713.9), (0.4873, 2971.7, 3113.9), (0.4873, 3171.7, 3113.9),
           (0.53, 3171.7, 3113.9), (0.013, 12.7, 3.1e3), (1e-60, 12.7, 3.1)],
    binomial_logit: [(3, 211, -1.3), (171, 211, 1.3), (171, 211, -1.3), (0, 11, -37.3)],
    negative_binomial: [(171, 41.7, 12.3), (0, 41.7, 12.3)],
    geometric_logit: [(713, 0.3), (0, 31.7)],
    skew_normal: [(-5.1, 0, 1, 1.7), (5.1, 0, 1, 1.7), (-2.1, 0, 1, 31.7), (31.7, 0, 1, -0.3), (0.317, 0, 1, 713.9),
                  (-1.3, 0, 1, 0), (-7.3, 0.1, 1.1, -4.1)],
}

# The slope in rate x overflows below 1e-308.  For hardly any degrees of freedom, a derivative with too few digits.
FAR = {gamma: [p for p in densities.POINTS[densities.gamma] if p[0] * p[2] < 1e-307],
       negative_binomial: [p for p in densities.POINTS[densities.negative_binomial] if p[2] > 1e9],
       negative_binomial_log: [p for p in densities.POINTS[densities.negative_binomial_log] if p[2] > 1e9],
       binomial_logit: [p for p in densities.POINTS[densities.binomial_logit] if p[0] == p[1]],
       skew_normal: [p for p in densities.POINTS[densities.skew_normal] if p[0] == 1e30],
       student_t: [p for p in densities.POINTS[densities.student_t] if p[1] < 1e-6]}


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
    known = SLOPES[f](f(*point), *point) if f in SLOPES else None
    if f in LARGE and max(raw) > 1e7:
        mp.dps = 50
    for which in (0, 1):
        of = probability(f, which)
        skip_x = f in COUNTS
        slopes = ["0" if skip_x and k == 0 else number(known[which][k] if known else derivative(of, point, k))
                  for k in range(len(point))]
        found += [number(of(*point)), "{" + ", ".join(slopes) + "}"]
    arguments = ", ".join(repr(float(v)) for v in raw[1:])
    line = f"{{{float(raw[0])!r}, {{{arguments}}}, {{{found[0]}, {found[2]}}}, {{{found[1]}, {found[3]}}}}},"
    print(fill(line, 98, initial_indent="    ", subsequent_indent="     ", break_long_words=False,
               break_on_hyphens=False))


def main():
    print("/* Written by reference-cdf.py with mpmath; see there.  Do not edit. */\n/* clang-format off */")
    for f in FAMILIES:
        print(f"static const struct tail_point {f.__name__}_tails[] = {{")
        mp.dps = DIGITS.get(f, 120 if f in SLOW else 400)
        far = FAR.get(f, ())
        digits = mp.dps
        for raw in [p for p in densities.POINTS[getattr(densities, f.__name__)] + MORE.get(f, []) if p not in far]:
            mp.dps = digits
            row(f, raw)
        print("};")
    print("/* clang-format on */")


main()
