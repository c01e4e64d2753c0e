#!/usr/bin/env python3
"""Writes reference-joint.h: Dirichlet, mixtures, ordered numbers, multivariate ones, log densities and derivatives to 17 digits.

Needs mpmath (pip install mpmath); run as  python3 reference-joint.py | clang-format > reference-joint.h
Written from textbook forms in 400 digits: products of densities over dimensions, sums over components.
Inputs are the doubles that the C compiler will read.
"""
from mpmath import mp, mpf, fsum, fprod, log, exp, gamma, pi, diff, fabs, nstr

mp.dps = 400


def normal(x, m, s):
    return exp(-((x - m) / s) ** 2 / 2) / (s * mp.sqrt(2 * pi))


def student_t(x, df, m, s):
    z = (x - m) / s
    return gamma((df + 1) / 2) / (gamma(df / 2) * mp.sqrt(df * pi) * s) * (1 + z * z / df) ** (-(df + 1) / 2)


def gamma_density(x, k, r):
    return r**k * x ** (k - 1) * exp(-r * x) / gamma(k)


def beta(x, a, b):
    return x ** (a - 1) * (1 - x) ** (b - 1) * gamma(a + b) / (gamma(a) * gamma(b))


def bernoulli_logit(y, logit):
    p = 1 / (1 + exp(-logit))
    return p if y == 1 else 1 - p


def poisson_log(y, log_rate):
    return exp(y * log_rate - exp(log_rate)) / gamma(y + 1)


def at(argument, shape, k, j):
    """The number of component k and dimension j."""
    return argument[0 if shape == "" else k if "x" not in shape else k * int(shape[2:]) + j]


def mixture(density):
    def log_density(x, shapes, arguments):
        weights, theta = arguments[0], list(zip(arguments[1:], shapes[1:]))
        parts = [w * fprod(density(v, *(at(a, s, k, j) for a, s in theta)) for j, v in enumerate(x))
                 for k, w in enumerate(weights)]
        return log(fsum(parts) / fsum(weights))
    return log_density


def dirichlet(x, shapes, arguments):
    a = [at(arguments[0], shapes[0], k, 0) for k in range(len(x))]
    return log(fprod(v ** (c - 1) / gamma(c) for v, c in zip(x, a)) * gamma(fsum(a)))


def cauchy(x, m, s):
    return 1 / (pi * s * (1 + ((x - m) / s) ** 2))


def laplace(x, m, s):
    return exp(-fabs(x - m) / s) / (2 * s)


def logistic(x, m, s):
    return exp(-(x - m) / s) / (s * (1 + exp(-(x - m) / s)) ** 2)


def gumbel(x, m, s):
    return exp(-(x - m) / s - exp(-(x - m) / s)) / s


def ordered(density):
    def log_density(x, shapes, arguments):
        return log(mp.factorial(len(x)) * fprod(density(v, *(a[0] for a in arguments)) for v in x))
    return log_density


def lower(numbers, n):
    return mp.matrix([[numbers[i * n + j] if j <= i else mpf(0) for j in range(n)] for i in range(n)])


def residual(x, loc):
    return mp.matrix([v - loc[0 if len(loc) == 1 else k] for k, v in enumerate(x)])


def normal_with(x, loc, covariance):
    e = residual(x, loc)
    return -(e.T * mp.inverse(covariance) * e)[0] / 2 - log((2 * pi) ** len(x) * mp.det(covariance)) / 2


def multivariate_normal(x, shapes, arguments):
    factor = lower(arguments[1], len(x))
    return normal_with(x, arguments[0], factor * factor.T)


def multivariate_normal_precision(x, shapes, arguments):
    factor = lower(arguments[1], len(x))
    return normal_with(x, arguments[0], mp.inverse(factor * factor.T))


def multivariate_normal_low_rank(x, shapes, arguments):
    n, r = len(x), len(arguments[1]) // len(x)
    w = mp.matrix([[arguments[1][i * r + j] for j in range(r)] for i in range(n)])
    v = arguments[2] if len(arguments[2]) > 1 else list(arguments[2]) * n
    return normal_with(x, arguments[0], w * w.T + mp.diag(v))


def multivariate_student_t(x, shapes, arguments):
    df, n, factor, e = arguments[0][0], len(x), lower(arguments[2], len(x)), residual(x, arguments[1])
    covariance = factor * factor.T
    distance = (e.T * mp.inverse(covariance) * e)[0]
    return log(gamma((df + n) / 2) / gamma(df / 2) / mp.sqrt((df * pi) ** n * mp.det(covariance))
               * (1 + distance / df) ** (-(df + n) / 2))


def lkj_cholesky(x, shapes, arguments):
    """Their formula (16) for the constant of the matrices, and the Jacobian to the factors."""
    n, eta = int(round(len(x) ** 0.5)), arguments[0][0]
    constant = mpf(2) ** fsum((2 * eta - 2 + n - k) * (n - k) for k in range(1, n))
    for k in range(1, n):
        constant *= mp.beta(eta + mpf(n - k - 1) / 2, eta + mpf(n - k - 1) / 2) ** (n - k)
    return log(fprod(x[i * n + i] ** (n - 1 - i + 2 * eta - 2) for i in range(1, n)) / constant)


def unit_vector(x, shapes, arguments):
    """The area from the volume of the ball of radius r, by its derivative at r = 1."""
    n = len(x)
    return -log(diff(lambda r: mp.sqrt(pi) ** n / gamma(mpf(n) / 2 + 1) * r**n, mpf(1)))


def wishart_of(w, df, v):
    """The density of the matrix itself, with the multivariate gamma function."""
    n = w.rows
    trace = mp.inverse(v) * w
    gamma_n = pi ** (mpf(n * (n - 1)) / 4) * fprod(gamma((df - j) / 2) for j in range(n))
    return (mp.det(w) ** ((df - n - 1) / 2) * exp(-fsum(trace[i, i] for i in range(n)) / 2)
            / (2 ** (df * n / 2) * mp.det(v) ** (df / 2) * gamma_n))


def wishart_cholesky(x, shapes, arguments):
    """The matrix's density times 2^K prod L_ii^(K + 1 - i)."""
    n = int(round(len(x) ** 0.5))
    l, s = lower(x, n), lower(arguments[1], n)
    return log(wishart_of(l * l.T, arguments[0][0], s * s.T) * 2**n * fprod(l[i, i] ** (n - i) for i in range(n)))


def inverse_wishart_cholesky(x, shapes, arguments):
    """That of the inverse's matrix, with d(W^-1)/dW = det(W)^-(K + 1)."""
    n = int(round(len(x) ** 0.5))
    l, s = lower(x, n), lower(arguments[1], n)
    w = l * l.T
    density = wishart_of(mp.inverse(w), arguments[0][0], mp.inverse(s * s.T)) / mp.det(w) ** (n + 1)
    return log(density * 2**n * fprod(l[i, i] ** (n - i) for i in range(n)))


def series(x, loc, first, scale, coefficients):
    e = residual(x, loc)
    p = len(coefficients)
    product = mpf(1)
    for t in range(len(x)):
        predicted = fsum(c * e[t - 1 - k] for k, c in enumerate(coefficients)) if t >= p else 0
        product *= normal(e[t], predicted, scale if t >= p else first)
    return log(product)


def gaussian_random_walk(x, shapes, arguments):
    return series(x, arguments[0], arguments[1][0], arguments[2][0], [1])


def autoregressive(x, shapes, arguments):
    return series(x, arguments[0], arguments[1][0], arguments[2][0], arguments[3])


MIXED = (mixture(normal), mixture(student_t), mixture(gamma_density), mixture(beta), mixture(bernoulli_logit),
         mixture(poisson_log))
N, T, G, B, L, P = MIXED
DISCRETE = (L, P)

L3 = [1.3, 7.0, -7.1, 0.3, 2.5, 7.2, -0.2, 0.1, 0.7]  # numbers above the diagonal are not read

# density, name, x, shapes of the arguments, the arguments
POINTS = [
    (N, "normal", [0.713], ["2", "2", "2"], [[0.31, 0.69], [-1.173, 0.917], [0.731, 1.391]]),
    (N, "normal", [0.713, -1.391], ["3", "3x2", "3"],
     [[0.217, 0.431, 0.352], [0.31, -0.7, 1.9, 2.13, -2.71, 0.413], [0.717, 1.31, 0.553]]),
    (N, "normal", [2.385, 0.127], ["3", "3x2", "3x2"],
     [[0.217, 0.431, 0.352], [0.31, -0.7, 1.9, 2.13, -2.71, 0.413], [0.717, 1.31, 0.553, 0.37, 2.1, 0.91]]),
    (N, "normal", [2.385, 0.127, -0.31], ["2", "2x3", ""],
     [[0.871, 0.129], [0.31, -0.7, 1.9, 2.13, -2.71, 0.413], [0.717]]),
    (N, "normal", [0.713, 1.37], ["2", "", "2x2"], [[0.31, 0.69], [0.4], [0.731, 1.391, 0.917, 2.3]]),
    (N, "normal", [0.713], ["3", "3", ""], [[3.1, 6.9, 0.7], [-1.173, 0.917, 2.3], [0.731]]),  # sum is not 1
    (N, "normal", [0.713], ["2", "2", "2"], [[1e-300, 1.0], [0.72, 41.0], [0.731, 0.0913]]),
    (N, "normal", [1.7e5, -3.1e6], ["3", "3x2", "3"],
     [[0.217, 0.431, 0.352], [0.31, -0.7, 1.9, 2.13, -2.71, 0.413], [0.717, 1.31, 0.553]]),
    (T, "student_t", [0.713, -1.391], ["2", "2", "2x2", "2"],
     [[0.417, 0.583], [3.71, 11.3], [0.31, -0.7, 1.9, 2.13], [0.717, 1.31]]),
    (T, "student_t", [-37.1], ["2", "", "2", "2"], [[0.417, 0.583], [2.3], [0.31, -0.7], [0.717, 1.31]]),
    (G, "gamma", [0.917], ["2", "2", "2"], [[0.173, 0.827], [2.71, 0.417], [1.39, 0.319]]),
    (G, "gamma", [0.917, 3.1], ["2", "2x2", ""], [[0.173, 0.827], [2.71, 0.417, 11.3, 1.7], [1.39]]),
    (B, "beta", [0.371], ["2", "2", "2"], [[0.173, 0.827], [2.71, 0.417], [1.39, 3.19]]),
    (L, "bernoulli_logit", [1, 0, 1], ["2", "2x3"], [[0.37, 0.63], [0.713, -2.1, 0.317, -1.3, 0.7, 2.9]]),
    (P, "poisson_log", [4], ["3", "3"], [[0.1, 0.3, 0.6], [0.713, -1.37, 2.31]]),
    (dirichlet, "dirichlet", [0.171, 0.329, 0.5], ["3"], [[0.713, 2.39, 11.7]]),
    (dirichlet, "dirichlet", [0.171, 0.329, 0.25, 0.25], [""], [[0.371]]),
    (dirichlet, "dirichlet", [0.25, 0.75], ["2"], [[2.71, 1.93]]),
    (dirichlet, "dirichlet", [1e-290, 0.375, 0.625], ["3"], [[0.0713, 31.7, 1.3]]),
    (ordered(normal), "ordered normal", [-1.391, 0.713, 0.917], ["", ""], [[0.31], [1.73]]),
    (ordered(normal), "ordered normal", [-1e7, 3e-9, 3e-9, 1e9], ["", ""], [[0.31], [1e3]]),
    (ordered(student_t), "ordered student_t", [-1.391, 0.713], ["", "", ""], [[3.7], [0.31], [1.73]]),
    (ordered(cauchy), "ordered cauchy", [-1.391, 0.713, 71.3], ["", ""], [[0.31], [1.73]]),
    (ordered(laplace), "ordered laplace", [-1.391, 0.713, 7.3], ["", ""], [[0.31], [1.73]]),
    (ordered(logistic), "ordered logistic_distribution", [-1.391, 0.713, 7.3], ["", ""], [[0.31], [1.73]]),
    (multivariate_normal, "multivariate_normal", [0.713, -1.391, 0.217], ["3", "3x3"],
     [[0.31, -0.7, 1.9], L3]),
    (multivariate_normal, "multivariate_normal", [0.713, -1.391], ["", "2x2"], [[0.31], [1e-4, 77.0, 0.3, 2.5]]),
    (multivariate_normal, "multivariate_normal", [1e9, -1.391, 0.217], ["3", "3x3"], [[0.31, -0.7, 1.9], L3]),
    (multivariate_normal_precision, "multivariate_normal_precision", [0.713, -1.391, 0.217], ["3", "3x3"],
     [[0.31, -0.7, 1.9], L3]),
    (multivariate_normal_precision, "multivariate_normal_precision", [0.713, -1.391], ["", "2x2"],
     [[0.31], [1e-4, 77.0, 0.3, 2.5]]),
    (multivariate_normal_low_rank, "multivariate_normal_low_rank", [0.713, -1.391, 0.217], ["3", "3x2", "3"],
     [[0.31, -0.7, 1.9], [0.9, -0.3, 0.4, 1.7, 0.2, -1.1], [0.3, 0.71, 1.9]]),
    (multivariate_normal_low_rank, "multivariate_normal_low_rank", [0.713, -1.391, 0.217, 2.9], ["", "4x1", ""],
     [[0.31], [0.9, -0.3, 0.4, 1.7], [0.013]]),
    (multivariate_student_t, "multivariate_student_t", [0.713, -1.391, 0.217], ["", "3", "3x3"],
     [[3.7], [0.31, -0.7, 1.9], L3]),
    (multivariate_student_t, "multivariate_student_t", [0.713, -1.391], ["", "", "2x2"],
     [[1e9], [0.31], [1.3, 77.0, 0.3, 2.5]]),
    (multivariate_student_t, "multivariate_student_t", [0.713, -1.391, 0.9, 3.1], ["", "", "4x4"],
     [[0.37], [0.31], [1.3, 7.0, 7.1, 7.2, 0.3, 2.5, 7.3, 7.4, -0.2, 0.1, 0.7, 7.5, 0.4, 0.2, -0.3, 1.1]]),
    (lkj_cholesky, "lkj_cholesky", [1.0, 0.3, 0.6, 0.8], [""], [[1.7]]),
    (lkj_cholesky, "lkj_cholesky", [1.0, 0.3, 0.4, 0.6, 0.8, 0.5, -0.1, 0.7, 0.7], [""], [[0.37]]),
    (lkj_cholesky, "lkj_cholesky", [1.0, 0.3, 0.4, 0.1, 0.6, 0.8, 0.5, 0.1, -0.1, 0.7, 0.7, 0.1, 0.2, 0.1, -0.1, 0.9],
     [""], [[1e6]]),
    (unit_vector, "unit_vector", [0.6, -0.8], [""], []),
    (unit_vector, "unit_vector", [0.5, -0.5, 0.1, 0.7], [""], []),
    (wishart_cholesky, "wishart_cholesky", [1.3], ["", "1x1"], [[3.7], [0.9]]),
    (wishart_cholesky, "wishart_cholesky", [0.7, 7.0, -0.4, 1.9], ["", "2x2"], [[1.03], [1.3, 77.0, 0.3, 2.5]]),
    (wishart_cholesky, "wishart_cholesky", L3, ["", "3x3"], [[5.3], [0.9, 7.0, -7.1, -0.4, 1.7, 7.2, 0.3, 0.6, 1.1]]),
    (wishart_cholesky, "wishart_cholesky", L3, ["", "3x3"], [[413.0], [0.9, 7.0, -7.1, -0.4, 1.7, 7.2, 0.3, 0.6, 1.1]]),
    (inverse_wishart_cholesky, "inverse_wishart_cholesky", [1.3], ["", "1x1"], [[3.7], [0.9]]),
    (inverse_wishart_cholesky, "inverse_wishart_cholesky", [0.7, 7.0, -0.4, 1.9], ["", "2x2"], [[1.03], [1.3, 77.0, 0.3, 2.5]]),
    (inverse_wishart_cholesky, "inverse_wishart_cholesky", L3, ["", "3x3"], [[5.3], [0.9, 7.0, -7.1, -0.4, 1.7, 7.2, 0.3, 0.6, 1.1]]),
    (inverse_wishart_cholesky, "inverse_wishart_cholesky", L3, ["", "3x3"], [[413.0], [0.9, 7.0, -7.1, -0.4, 1.7, 7.2, 0.3, 0.6, 1.1]]),
    (gaussian_random_walk, "gaussian_random_walk", [0.713, -1.391, 0.217, 2.9], ["4", "", ""],
     [[0.31, -0.7, 1.9, 0.2], [1.7], [0.37]]),
    (gaussian_random_walk, "gaussian_random_walk", [1e6, 1e6 + 1, 0.2], ["", "", ""], [[0.31], [1e-3], [1e5]]),
    (autoregressive, "autoregressive", [0.713, -1.391, 0.217, 2.9, 0.3], ["5", "", "", "2"],
     [[0.31, -0.7, 1.9, 0.2, 0.1], [1.7], [0.37], [0.9, -0.4]]),
    (autoregressive, "autoregressive", [0.713, -1.391, 0.217], ["", "", "", ""], [[0.31], [1.7], [0.37], [1.1]]),
    (autoregressive, "autoregressive", [0.713, -1.391], ["", "", "", "3"], [[0.31], [1.7], [0.37], [1.1, 0.2, 0.3]]),
    (ordered(gumbel), "ordered gumbel", [-1.391, 0.713, 7.3], ["", ""], [[0.31], [1.73]]),
]


def text(v):
    return nstr(v, 17, min_fixed=-4, max_fixed=8, strip_zeros=False)


def main():
    print("/* Written by reference-joint.py with mpmath; see there.  Do not edit. */")
    print("static const struct joint_point joint_points[] = {")
    for f, name, x, shapes, arguments in POINTS:
        flat = [mpf(float(v)) for v in x + sum(arguments, [])]

        def value(*numbers):
            rest, parts = list(numbers[len(x):]), []
            for a in arguments:
                parts.append(rest[:len(a)])
                rest = rest[len(a):]
            return f(numbers[:len(x)], shapes, parts)

        def slope(i):
            if f in DISCRETE and i < len(x):
                return mpf(0)
            return diff(lambda v: value(*flat[:i], v, *flat[i + 1:]), flat[i], h=fabs(flat[i]) * mpf(10) ** -100)

        numbers = ", ".join(repr(float(v)) for v in flat)
        print(f'    {{"{name}", {len(x)}, {{{", ".join(chr(34) + s + chr(34) for s in shapes)}}},')
        print(f"     {{{numbers}}},\n     {text(value(*flat))},")
        print(f"     {{{', '.join(text(slope(i)) for i in range(len(flat)))}}}}},")
    print("};")


main()
