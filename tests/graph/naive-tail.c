/* Tails of two arguments in long double, by integrals.
 *
 * The derivatives of a probability in its parameter are integrals of those of the density; all
 * integrals are over u > 0, u = e^(pi/2 sinh t), by the trapezoidal rule in t (Takahasi and Mori
 * 1974, Publ. RIMS 9, 721). */
#include <math.h>
#include <stdlib.h>

#include "tests/graph/naive.h"

typedef long double real;

/* What of the logarithm of a density depends on the parameter alone, and its derivatives. */
typedef enum law_kind { GAMMA, STUDENT, SKEW } law_kind;
typedef struct law {
    law_kind kind;
    real parameter, constant, first, second;
} law;

static law law_of(law_kind kind, real a)
{
    if (kind == GAMMA)
        return (law){kind, a, -lgammal(a), -naive_polygamma(0, a), -naive_polygamma(1, a)};
    if (kind == SKEW)
        return (law){.kind = kind, .parameter = a, .constant = -logl(2 * atanl(1)) / 2};
    real half = a / 2, up = half + 0.5L, pi = 4 * atanl(1);
    return (law){.kind = kind,
                 .parameter = a,
                 .constant = lgammal(up) - lgammal(half) - logl(a * pi) / 2,
                 .first = (naive_polygamma(0, up) - naive_polygamma(0, half) - 1 / a) / 2,
                 .second =
                     (naive_polygamma(1, up) - naive_polygamma(1, half)) / 4 + 0.5L / (a * a)};
}

/* phi(x) / Phi(x) */
static real mills(real x)
{
    return expl(-x * x / 2) / sqrtl(8 * atanl(1)) / (erfcl(-x / sqrtl(2)) / 2);
}

/* The density at a place, and the derivatives of its logarithm in the parameter. */
typedef struct height {
    real density, first, second;
} height;

static height height_at(const law *l, real x)
{
    real a = l->parameter;
    if (l->kind == SKEW) {
        real m = mills(a * x), share = erfcl(-a * x / sqrtl(2)) / 2;
        return (height){expl(l->constant - x * x / 2) * share, x * m, -x * x * m * (a * x + m)};
    }
    if (l->kind == GAMMA)
        return (height){expl((a - 1) * logl(x) - x + l->constant), logl(x) + l->first, l->second};
    real s = x * x, sum = a + s, up = a / 2 + 0.5L, log_share = log1pl(s / a);
    return (height){expl(l->constant - up * log_share),
                    l->first - log_share / 2 + up * s / (a * sum),
                    l->second + s / (a * sum) - up * s * (2 * a + s) / (a * a * sum * sum)};
}

typedef struct range {
    real from, direction; /* u runs from there up or down */
    real end;             /* u stays below it */
} range;

/* The probability of the range and its derivatives in the parameter. */
static void integrate(const law *l, const range *over, real p[3])
{
    const real step = 1.0L / 20, half_pi = 2 * atanl(1);
    p[0] = p[1] = p[2] = 0;
    for (int k = -130; k <= 100; k++) {
        real t = k * step, u = expl(half_pi * sinhl(t)), weight = half_pi * coshl(t) * u * step;
        if (isfinite(over->end)) { /* u from 0 to the end by a fraction */
            weight *= over->end / ((1 + u) * (1 + u));
            u = over->end * u / (1 + u);
        }
        real x = over->from + over->direction * u;
        if (u == 0 || !isfinite(u) || x == 0)
            continue;
        height h = height_at(l, x);
        if (!(h.density * weight > 0))
            continue;
        p[0] += weight * h.density;
        p[1] += weight * h.density * h.first;
        p[2] += weight * h.density * (h.first * h.first + h.second);
    }
}

real naive_tail_of_two(const dpi_node *node, real a, real b)
{
    law_kind kind = node->op == &dpi_op_log_student_tail ? STUDENT
                    : node->op == &dpi_op_log_skew_tail  ? SKEW
                                                         : GAMMA;
    size_t side = node->attr.number % 4, first = node->attr.number / 4 % 4,
           second = node->attr.number / 16 % 4;
    if ((kind == GAMMA && node->op != &dpi_op_log_gamma_tail) || first + second > 2)
        abort();
    const law l = law_of(kind, a);
    range over = {b, side == DPI_LOWER ? -1 : 1, INFINITY};
    if (side == DPI_WITHIN || (kind == GAMMA && side == DPI_LOWER))
        over = (range){0, 1, b};
    real p[3], sign = side == DPI_LOWER ? 1 : side == DPI_UPPER ? -1 : 2;
    integrate(&l, &over, p);
    if (side == DPI_WITHIN)
        for (int k = 0; k < 3; k++)
            p[k] *= 2;
    real y1 = p[1] / p[0], here = height_at(&l, b).density * sign / p[0];
    if (second == 0)
        return first == 0 ? logl(p[0]) : first == 1 ? y1 : p[2] / p[0] - y1 * y1;
    if (second == 1)
        return first == 0 ? here : here * (height_at(&l, b).first - y1);
    real fall = kind == STUDENT ? -(a + 1) * b / (a + b * b)
                : kind == SKEW  ? a * mills(a * b) - b
                                : (a - 1) / b - 1;
    return here * (fall - here);
}

/* What an incomplete beta function is made of at one place: the density in the log odds s, and the
 * derivatives of its logarithm in a and b. */
typedef struct beta_height {
    real density, of_a, of_b;
} beta_height;

static beta_height beta_at(real a, real b, real s)
{
    real log_x = s < 0 ? s - log1pl(expl(s)) : -log1pl(expl(-s)), log_y = log_x - s;
    real whole = naive_polygamma(0, a + b);
    return (beta_height){expl(a * log_x + b * log_y + lgammal(a + b) - lgammal(a) - lgammal(b)),
                         log_x + whole - naive_polygamma(0, a),
                         log_y + whole - naive_polygamma(0, b)};
}

real naive_beta_tail(size_t number, const real at[3])
{
    const real step = 1.0L / 20, half_pi = 2 * atanl(1), a = at[0], b = at[1], t = at[2];
    real p = 0, first[2] = {0}, second[3] = {0};
    for (int k = -130; k <= 100; k++) {
        real v = k * step, u = expl(half_pi * sinhl(v)), weight = half_pi * coshl(v) * u * step;
        beta_height h = beta_at(a, b, t - u);
        weight *= h.density;
        if (!(weight > 0))
            continue;
        p += weight;
        first[0] += weight * h.of_a, first[1] += weight * h.of_b;
        second[0] += weight * h.of_a * h.of_a, second[1] += weight * h.of_a * h.of_b;
        second[2] += weight * h.of_b * h.of_b;
    }
    real one = first[0] / p, two = first[1] / p, whole = naive_polygamma(1, a + b);
    beta_height end = beta_at(a, b, t);
    real slope = end.density / p, x = 1 / (1 + expl(-t));
    switch (number) { /* orders in a, 4 times that in b, 16 times that in t */
    case 0:
        return logl(p);
    case 1:
        return one;
    case 4:
        return two;
    case 2:
        return second[0] / p - one * one + whole - naive_polygamma(1, a);
    case 5:
        return second[1] / p - one * two + whole;
    case 8:
        return second[2] / p - two * two + whole - naive_polygamma(1, b);
    case 16:
        return slope;
    case 17:
        return slope * (end.of_a - one);
    case 20:
        return slope * (end.of_b - two);
    case 32:
        return slope * (a * (1 - x) - b * x - slope);
    default:
        abort();
    }
}
