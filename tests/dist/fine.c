#include "tests/dist/fine.h"

#include <math.h>
#include <stdlib.h>

static fine_law *every_value(const dist_case *c, const double arg[], fine_law *law)
{
    density d;
    density_open(&d, c, false);
    for (double y = 0; y <= c->top(arg) && law->n < MOST_FINE; y++) {
        law->y[law->n] = y;
        law->mass[law->n++] = exp(density_at(&d, y, arg, NULL));
    }
    density_close(&d);
    return law;
}

/* The natural variable back to a number: any real, above zero or a minimum, in (0, 1), or an
 * angle. */
static double number_of(const dist_case *c, const double arg[], double t)
{
    return c->family->support == DPI_REAL         ? sinh(t)
           : c->family->support == DPI_ABOVE_ZERO ? exp(t)
           : c->family->support == DPI_FROM       ? arg[0] + exp(t)
           : c->family->support == DPI_CIRCLE     ? M_PI * tanh(0.5 * t)
                                                  : 1 / (1 + exp(-t));
}

/* Where the distribution function passes `level`, in the natural variable. */
static double passes(const dist_case *c, const double arg[], double level)
{
    double low = -700, high = 700;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        if (c->cdf(number_of(c, arg, middle), arg) < level)
            low = middle;
        else
            high = middle;
    }
    return low;
}

fine_law *fine_law_of(const dist_case *c, const double arg[])
{
    fine_law *law = malloc(sizeof *law);
    assert_non_null(law);
    law->n = 0;
    if (c->cdf == NULL)
        return every_value(c, arg, law);
    double from = passes(c, arg, 1e-13), step = (passes(c, arg, 1 - 1e-13) - from) / MOST_FINE;
    double below = c->cdf(number_of(c, arg, from), arg);
    for (; law->n < MOST_FINE; law->n++) {
        double t = from + step * (double)law->n, up = c->cdf(number_of(c, arg, t + step), arg);
        law->y[law->n] = number_of(c, arg, t + 0.5 * step);
        law->mass[law->n] = up - below;
        below = up;
    }
    return law;
}
