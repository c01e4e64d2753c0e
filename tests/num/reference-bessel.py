#!/usr/bin/env python3
"""Writes tests/num/reference-bessel.h: log(I_0(a) e^-a) and its derivatives by mpmath with 400 digits, the first as
I_1 / I_0 - 1 and others by differences of it.

Run: python3 tests/num/reference-bessel.py > tests/num/reference-bessel.h
"""
from mpmath import mp, mpf, besseli, log, diff, nstr

mp.dps = 400
A = [1e-300, 1e-20, 1.3e-7, 2.1e-3, 0.217, 1.0, 2.385, 7.3, 14.9, 21.7, 29.99, 30.0, 30.01, 41.7, 131.7, 1e4, 7.3e9, 1e30]


def of_order(n, a):
    if n == 0:
        return log(besseli(0, a)) - a
    slope = lambda x: besseli(1, x) / besseli(0, x) - 1
    return slope(a) if n == 1 else diff(slope, a, n - 1, h=a * mpf(10) ** -60)


def number(value):
    return "0" if abs(value) < mpf(2) ** -1075 else nstr(value, 20, min_fixed=0, max_fixed=0)


print("/* Written by reference-bessel.py with mpmath: order, a and the derivative. */")
print("/* clang-format off */")
print("static const double bessel_values[][3] = {")
for n in range(5):
    for a in A:
        print("    {%d, %r, %s}," % (n, a, number(of_order(n, mpf(a)))))
print("};")
print("/* clang-format on */")
