/* The continued fraction of the incomplete beta function, by its even part: no difference cancels
 * in it where x is near 1 (DiDonato and Morris 1992, ACM Trans. Math. Software 18, 360).
 *
 * The steps are written once in Taylor polynomials; the compiler makes three loops of them, of
 * which each computes no more coefficients than its order has. */
#include "num/beta-fraction.h"

#include <stdbool.h>

enum { MOST_STEPS = 200000 };

static const dpi_jet one = {{1}};

/* Whether a factor changes no digit of the value and of its derivatives. */
DPI_INLINE bool settled(size_t order, dpi_jet value, dpi_jet change)
{
    double slope = fabs(value.v[1] / value.v[0]), bend = fabs(value.v[2] / value.v[0]);
    return fabs(change.v[0] - 1) < 4e-16 && (order < 1 || fabs(change.v[1]) <= 1e-16 * slope) &&
           (order < 2 || fabs(change.v[2]) <= 1e-16 * (bend + slope));
}

DPI_INLINE dpi_jet steps(size_t order, dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y)
{
    dpi_jet sum = dpi_jet_add(a, b);
    /* a - (a + b) x = (a + b) y - b, and 1 */
    bool low = x.v[0] < y.v[0];
    dpi_jet part = dpi_jet_mul(sum, dpi_jet_scale(low ? -1 : 1, low ? x : y));
    dpi_jet start = dpi_jet_add(dpi_jet_add(part, dpi_jet_scale(low ? 1 : -1, low ? a : b)), one);
    dpi_jet down = dpi_jet_mul(dpi_jet_div(a, dpi_jet_add(a, one)), start);
    dpi_jet d = dpi_jet_div(one, down), c = d, value = d, wide = dpi_jet_add(one, y);
    for (int n = 1; n < MOST_STEPS; n++) {
        const dpi_jet count = {{n}}, before = {{n - 1}}, middle = {{2 * n - 1}}, next = {{2}};
        dpi_jet at = dpi_jet_add(a, middle);
        dpi_jet left = dpi_jet_scale(n, dpi_jet_add(b, dpi_jet_scale(-1, count)));
        left = dpi_jet_mul(dpi_jet_div(left, at), x);
        dpi_jet up = dpi_jet_mul(dpi_jet_add(a, before), dpi_jet_add(sum, before));
        up = dpi_jet_mul(dpi_jet_mul(dpi_jet_div(up, at), x), left);
        dpi_jet right = dpi_jet_div(dpi_jet_add(a, count), dpi_jet_add(at, next));
        right = dpi_jet_mul(right, dpi_jet_add(start, dpi_jet_scale(n, wide)));
        down = dpi_jet_add(dpi_jet_add(count, left), right);
        d = dpi_jet_div(one, dpi_jet_add(down, dpi_jet_mul(up, d)));
        c = n == 1 ? down : dpi_jet_add(down, dpi_jet_div(up, c));
        dpi_jet change = dpi_jet_mul(c, d);
        value = dpi_jet_mul(value, change);
        if (settled(order, value, change))
            return value;
    }
    return dpi_jet_linear(NAN, NAN);
}

static dpi_jet of_value(dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y)
{
    return steps(0, a, b, x, y);
}

static dpi_jet of_slope(dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y)
{
    return steps(1, a, b, x, y);
}

static dpi_jet of_bend(dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y)
{
    return steps(2, a, b, x, y);
}

dpi_jet dpi_beta_fraction(size_t order, dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y)
{
    return order == 0   ? of_value(a, b, x, y)
           : order == 1 ? of_slope(a, b, x, y)
                        : of_bend(a, b, x, y);
}
