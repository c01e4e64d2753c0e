#!/usr/bin/env python3
"""Writes tests/num/reference.h: special functions by mpmath with 60 digits.

Arguments are the doubles themselves, so the values are exact to the last bit printed.
Run: python3 tests/num/reference.py > tests/num/reference.h
"""
from mpmath import mp, mpf, exp, expm1, log, log1p, loggamma, psi, nstr, isinf, erfc, sqrt, pi, atan2

mp.dps = 60
# Exponentials far from 0 need room beyond double.
SMALL = [5e-324, 1e-300, 1e-17, 3.7e-9, 0.0123, 0.385, 1.0, 2.385]
TAILS = SMALL + [9.73, 17.71, 36.05, 36.9, 40.3, 213.7, 708.3, 709.9, 744.4, 800.1, 1e10, 1e300]
GAMMA = [5e-324, 2.3e-308, 1e-300, 1e-100, 1.3e-10, 2.1e-3, 0.217, 0.5, 0.999999999, 1.0, 1.000000001,
         1.4616321449683623, 1.999999999, 2.0, 2.000000001, 2.385, 7.3, 12.0, 41.7, 171.6, 1e5, 7.3e6, 1e10, 3e14,
         9.9e14, 1.1e15, 1e20, 1e100, 1e300, 2.5e305]
PSI = [1e-100, 1e-20, 1.3e-10, 1e-5, 2.1e-3, 0.217, 0.5, 0.999999999, 1.0, 1.45, 1.4616, 1.4616321449683622,
       1.4616321449683625, 1.463, 1.5, 2.0, 2.385, 7.3, 9.99, 10.01, 41.7, 713.7, 1e5, 9.9e8, 1.1e9, 1e15, 1e20, 1e100]

SIDES = [0.0, 1e-300, 1e-9, 0.0123, 0.385, 1.0, 2.385, 2.499, 2.501, 5.9, 9.73, 20.1, 33.7, 37.3]
FAR = [41.7, 713.9, 1.3e5, 1e10, 1e150]


def phi(x):
    """log Phi(x), its slope, and the slope of that, in 1200 digits."""
    with mp.workdps(1200):
        x = mpf(x)
        below, above = erfc(-x / sqrt(mpf(2))) / 2, erfc(x / sqrt(mpf(2))) / 2
        slope = exp(-x * x / 2) / sqrt(2 * pi) / below
        return [log1p(-above) if x > 0 else log(below), slope, -slope * (x + slope)]


def cauchy(x):
    tail = atan2(1, abs(mpf(x))) / pi
    return log1p(-tail) if x > 0 else log(tail)


def number(value):
    value = mpf(value)
    if isinf(value) or abs(value) > mpf(1.7976931348623157e308):
        return "INFINITY" if value > 0 else "-INFINITY"
    return "0" if value == 0 or abs(value) < mpf(2) ** -1075 else nstr(value, 20, min_fixed=0, max_fixed=0)


def table(name, rows):
    print("static const double %s[][%d] = {" % (name, len(rows[0])))
    for row in rows:
        print("    {%s}," % ", ".join([repr(x) for x in row[:-1]] + [number(row[-1])]))
    print("};\n")


both = [0.0] + TAILS + [-x for x in TAILS]
print("/* Written by reference.py with mpmath: the last number of a row is the function's value. */")
print("/* clang-format off */")
table("logistic_values", [(x, 1 / (1 + exp(-mpf(x)))) for x in both if abs(x) < 1e4] + [(1e300, 1), (-1e300, 0)])
table("softplus_values", [(x, log1p(exp(mpf(x))) if x < 1e4 else mpf(x)) for x in both if x > -1e4] + [(-1e300, 0)])
table("lgamma_values", [(x, loggamma(mpf(x)).real) for x in GAMMA])
table("polygamma_values", [(n, x, psi(n, mpf(x))) for n in (0, 1, 2, 3, 4, 5, 20, 100) for x in PSI])
all_sides = SIDES + [-x for x in SIDES[1:] + FAR]
table("log_normal_cdf_values", [(n, x, phi(x)[n]) for n in range(3) for x in all_sides])
table("log_cauchy_cdf_values", [(x, cauchy(x)) for x in all_sides + FAR])
table("log1mexp_values", [(-x, log(-expm1(-mpf(x))) if x < 1 else log1p(-exp(-mpf(x)))) for x in TAILS if x < 1e4])
table("cloglog_values", [(x, log(-expm1(-exp(mpf(x)))) if x < 0 else log1p(-exp(-exp(mpf(x)))))
                         for x in [-1e10] + [-x for x in TAILS if x < 1e3] + [x for x in TAILS if x < 6]])
print("/* clang-format on */")
