#!/usr/bin/env python3
"""Writes reference-forms.h: log densities of forms and their derivatives in the base's arguments.

Needs mpmath; run as  python3 reference-forms.py > reference-forms.h
Densities are written here from their textbook forms, in 400 digits.
"""
from mpmath import mp, mpf, log, exp, diff, nstr, erfc, binomial, rf, factorial

mp.dps = 400


class Normal:
    def f(x, m, s):
        return exp(-((x - m) / s) ** 2 / 2) / (s * mp.sqrt(2 * mp.pi))

    def above(x, m, s):
        return erfc((x - m) / s / mp.sqrt(2)) / 2

    def below(x, m, s):
        return erfc((m - x) / s / mp.sqrt(2)) / 2


class Exponential:
    def f(x, r):
        return r * exp(-r * x)

    def above(x, r):
        return exp(-r * x)

    def below(x, r):
        return 1 - exp(-r * x)


class Weibull:
    def f(x, k, s):
        return k / s * (x / s) ** (k - 1) * exp(-((x / s) ** k))

    def above(x, k, s):
        return exp(-((x / s) ** k))

    def below(x, k, s):
        return 1 - exp(-((x / s) ** k))


class PoissonLog:
    def f(y, eta):
        return exp(y * eta - exp(eta)) / factorial(y)


class BinomialLogit:
    def f(y, n, eta):
        p = 1 / (1 + exp(-eta))
        return binomial(n, y) * p**y * (1 - p) ** (n - y)


class Gamma:
    def f(x, k, r):
        return r**k * x ** (k - 1) * exp(-r * x) / mp.gamma(k)


class LogNormal:
    def f(x, m, s):
        return Normal.f(log(x), m, s) / x


def censored(base, x, own, arg):
    side = own[0]
    value = base.f if side == 0 else base.above if side == 1 else base.below
    return log(value(x, *arg))


def interval_censored(base, x, own, arg):
    side, upper = own
    if side == 2:
        return log(base.above(x, *arg) - base.above(upper, *arg))
    return censored(base, x, own, arg)


def weighted(base, x, own, arg):
    return min(own) * log(base.f(x, *arg))


def present(base, x, own, arg):
    return log(base.f(x, *arg)) if own[0] == 1 else mpf(0)


def zero_inflated(base, x, own, arg):
    q = 1 / (1 + exp(-own[0]))
    return log((q if x == 0 else 0) + (1 - q) * base.f(x, *arg))


def hurdle(base, x, own, arg):
    q = 1 / (1 + exp(-own[0]))
    return log(q if x == 0 else (1 - q) * base.f(x, *arg) / (1 - base.f(mpf(0), *arg)))


def hurdle_positive(base, x, own, arg):
    q = 1 / (1 + exp(-own[0]))
    return log(q if x == 0 else (1 - q) * base.f(x, *arg))


# form, base and its name, x, arguments of the form and of the base
POINTS = [
    (censored, Normal, "normal", 1.3, (0,), (0.4, 1.1)), (censored, Normal, "normal", 1.3, (1,), (0.4, 1.1)),
    (censored, Normal, "normal", 1.3, (-1,), (0.4, 1.1)), (censored, Normal, "normal", 41.3, (1,), (0.4, 1.1)),
    (censored, Normal, "normal", -41.3, (-1,), (0.4, 1.1)), (censored, Normal, "normal", -7.3, (1,), (0.4, 1.1)),
    (censored, Exponential, "exponential", 2.3, (1,), (0.4,)), (censored, Exponential, "exponential", 2.3, (-1,), (0.4,)),
    (censored, Exponential, "exponential", 2e-9, (-1,), (0.4,)), (censored, Weibull, "weibull", 2.3, (0,), (1.4, 0.9)),
    (censored, Weibull, "weibull", 2.3, (1,), (1.4, 0.9)), (censored, Weibull, "weibull", 2.3, (-1,), (1.4, 0.9)),
    (interval_censored, Normal, "normal", 1.3, (0, 0), (0.4, 1.1)), (interval_censored, Normal, "normal", 1.3, (1, -3), (0.4, 1.1)),
    (interval_censored, Normal, "normal", 1.3, (-1, 1.3), (0.4, 1.1)), (interval_censored, Normal, "normal", 1.3, (2, 1.9), (0.4, 1.1)),
    (interval_censored, Normal, "normal", 31.3, (2, 31.9), (0.4, 1.1)), (interval_censored, Normal, "normal", -31.3, (2, -30.9), (0.4, 1.1)),
    (interval_censored, Normal, "normal", -1.3, (2, 0.9), (0.4, 1.1)), (interval_censored, Weibull, "weibull", 1.3, (2, 1.9), (1.4, 0.9)),
    (weighted, Normal, "normal", 1.3, (0.7, 2), (0.4, 1.1)), (weighted, Normal, "normal", 1.3, (3.7, 2), (0.4, 1.1)),
    (weighted, Normal, "normal", 1.3, (0, 2), (0.4, 1.1)), (weighted, PoissonLog, "poisson_log", 3, (1.7, 2), (0.4,)),
    (present, Normal, "normal", 1.3, (1,), (0.4, 1.1)), (present, Normal, "normal", 1e60, (0,), (0.4, 1.1)),
    (present, Gamma, "gamma", 1.3, (1,), (0.4, 1.1)), (present, Gamma, "gamma", -7.1, (0,), (0.4, 1.1)),
    (present, PoissonLog, "poisson_log", -1, (0,), (0.4,)), (present, PoissonLog, "poisson_log", 4, (1,), (0.4,)),
    (zero_inflated, PoissonLog, "poisson_log", 0, (0.3,), (0.7,)), (zero_inflated, PoissonLog, "poisson_log", 3, (0.3,), (0.7,)),
    (zero_inflated, PoissonLog, "poisson_log", 0, (-37.1,), (0.7,)), (zero_inflated, PoissonLog, "poisson_log", 0, (-2.1,), (6.3,)),
    (zero_inflated, PoissonLog, "poisson_log", 0, (41.1,), (-3.7,)), (zero_inflated, PoissonLog, "poisson_log", 7, (41.1,), (-3.7,)),
    (zero_inflated, BinomialLogit, "binomial_logit", 0, (0.3,), (7, -0.7)), (zero_inflated, BinomialLogit, "binomial_logit", 7, (0.3,), (7, -0.7)),
    (hurdle, PoissonLog, "poisson_log", 0, (0.3,), (0.7,)), (hurdle, PoissonLog, "poisson_log", 3, (0.3,), (0.7,)),
    (hurdle, PoissonLog, "poisson_log", 1, (0.3,), (-31.7,)), (hurdle, PoissonLog, "poisson_log", 2, (-0.3,), (-31.7,)),
    (hurdle, PoissonLog, "poisson_log", 311, (-0.3,), (5.7,)), (hurdle, BinomialLogit, "binomial_logit", 0, (-1.3,), (7, -0.7)),
    (hurdle, BinomialLogit, "binomial_logit", 7, (-1.3,), (7, -0.7)), (hurdle, BinomialLogit, "binomial_logit", 1, (-1.3,), (7, -20.7)),
    (hurdle_positive, Gamma, "gamma", 0, (0.3,), (0.4, 1.1)), (hurdle_positive, Gamma, "gamma", 2.3, (0.3,), (0.4, 1.1)),
    (hurdle_positive, LogNormal, "log_normal", 0, (-7.3,), (0.4, 1.1)), (hurdle_positive, LogNormal, "log_normal", 1e-9, (-7.3,), (0.4, 1.1)),
]


def text(v):
    return nstr(v, 17, min_fixed=-4, max_fixed=8, strip_zeros=False)


def main():
    print("/* Written by reference-forms.py with mpmath; see there.  Do not edit. */\n/* clang-format off */")
    print("typedef struct form_point {\n    const char *form, *family;\n    double x, own[2], arg[3], value, slope[3], in_logit;\n} form_point;\n")
    print("static const form_point form_points[] = {")
    for form, base, name, x, own, arg in POINTS:
        x, own, arg = mpf(float(x)), [mpf(float(v)) for v in own], [mpf(float(v)) for v in arg]
        slopes = []
        for k in range(len(arg)):
            whole = base is BinomialLogit and k == 0
            h = abs(arg[k]) * mpf(10) ** -100
            slopes.append("0.0" if whole else text(diff(lambda v: form(base, x, own, arg[:k] + [v] + arg[k + 1:]), arg[k], h=h)))
        in_logit = mpf(0)
        if form in (zero_inflated, hurdle, hurdle_positive):
            in_logit = diff(lambda v: form(base, x, [v], arg), own[0], h=abs(own[0]) * mpf(10) ** -100)
        print(f'    {{"{form.__name__}", "{name}", {float(x)!r}, {{{", ".join(repr(float(v)) for v in own)}}},\n'
              f'     {{{", ".join(repr(float(v)) for v in arg)}}},\n     {text(form(base, x, own, arg))},\n'
              f'     {{{", ".join(slopes)}}}, {text(in_logit)}}},')
    print("};")


main()
