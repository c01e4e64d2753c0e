#!/usr/bin/env python3
"""Writes tests/num/reference-rising.h: log Gamma(a + b) - log Gamma(a) and psi_(n-1)(a + b) - psi_(n-1)(a)
by mpmath with 400 digits, so that what cancels leaves enough.

Run: python3 tests/num/reference-rising.py > tests/num/reference-rising.h
"""
from mpmath import mp, mpf, loggamma, psi, nstr

mp.dps = 400
ORDERS = [0, 1, 2, 3, 20]
A = [1e-300, 1e-20, 1.3e-10, 2.1e-3, 0.217, 1.0, 2.385, 7.3, 14.9, 15.1, 41.7, 1e5, 7.3e9, 1e15, 3e100]
B = [0.0, 1.0, 2.0, 3.0, 16.0, 17.0, 113.0, 4217.0, 1e9]


def rising(n, a, b):
    f = (lambda x: loggamma(x).real) if n == 0 else (lambda x: psi(n - 1, x))
    return f(mpf(a) + mpf(b)) - f(mpf(a))


def number(value):
    if abs(value) > mpf(1.7976931348623157e308):
        return "INFINITY" if value > 0 else "-INFINITY"
    return "0" if abs(value) < mpf(2) ** -1075 else nstr(value, 20, min_fixed=0, max_fixed=0)


print("/* Written by reference-rising.py with mpmath: order, a, b and the difference. */")
print("/* clang-format off */")
print("static const double rising_values[][4] = {")
for n in ORDERS:
    for a in A:
        for b in B:
            print("    {%d, %r, %r, %s}," % (n, a, b, number(rising(n, a, b))))
print("};")
print("/* clang-format on */")
