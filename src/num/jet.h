/* Taylor polynomials of order 2 in one variable: v[k] is the derivative of order k over k!.  What
 * is computed of them has its derivatives with it (forward differentiation). */
#ifndef DPI_NUM_JET_H
#define DPI_NUM_JET_H

#include <math.h>
#include <stddef.h>

#include "base/compiler.h"
#include "num/tail.h"

enum { DPI_JET = 3 };

typedef struct dpi_jet {
    double v[DPI_JET];
} dpi_jet;

/* value + slope h */
DPI_INLINE dpi_jet dpi_jet_linear(double value, double slope)
{
    return (dpi_jet){{value, slope}};
}

DPI_INLINE dpi_jet dpi_jet_add(dpi_jet a, dpi_jet b)
{
    for (size_t k = 0; k < DPI_JET; k++)
        a.v[k] += b.v[k];
    return a;
}

DPI_INLINE dpi_jet dpi_jet_scale(double factor, dpi_jet a)
{
    for (size_t k = 0; k < DPI_JET; k++)
        a.v[k] *= factor;
    return a;
}

DPI_INLINE dpi_jet dpi_jet_mul(dpi_jet a, dpi_jet b)
{
    return (dpi_jet){{a.v[0] * b.v[0], a.v[0] * b.v[1] + a.v[1] * b.v[0],
                      a.v[0] * b.v[2] + a.v[1] * b.v[1] + a.v[2] * b.v[0]}};
}

DPI_INLINE dpi_jet dpi_jet_div(dpi_jet a, dpi_jet b)
{
    dpi_jet y;
    y.v[0] = a.v[0] / b.v[0];
    y.v[1] = (a.v[1] - y.v[0] * b.v[1]) / b.v[0];
    y.v[2] = (a.v[2] - y.v[0] * b.v[2] - y.v[1] * b.v[1]) / b.v[0];
    return y;
}

/* log a; `value` is the logarithm of a.v[0], which the caller may know better. */
DPI_INLINE dpi_jet dpi_jet_log(dpi_jet a, double value)
{
    double first = a.v[1] / a.v[0];
    return (dpi_jet){{value, first, a.v[2] / a.v[0] - 0.5 * first * first}};
}

DPI_INLINE dpi_jet dpi_jet_exp(dpi_jet a)
{
    double value = exp(a.v[0]);
    return (dpi_jet){{value, value * a.v[1], value * (a.v[2] + 0.5 * a.v[1] * a.v[1])}};
}

/* log(1 - e^a) for a < 0 */
DPI_INLINE dpi_jet dpi_jet_log1mexp(dpi_jet a)
{
    dpi_jet rest = dpi_jet_scale(-1, dpi_jet_exp(a));
    rest.v[0] = -expm1(a.v[0]);
    return dpi_jet_log(rest, dpi_log1mexp(a.v[0]));
}

DPI_INLINE double dpi_jet_derivative(dpi_jet a, size_t order)
{
    return order == 2 ? 2 * a.v[2] : a.v[order];
}

#endif
