/* Double exponential quadrature on a half line: u = scale e^(v - e^-v), and the trapezoidal rule in
 * v (Takahasi and Mori 1974, Publ. RIMS 9, 721).  Nodes are dense at u = 0 on all scales, so that
 * features near the start cost no accuracy. */
#include "num/decay.h"

#include <math.h>
#include <stddef.h>

/* At the first node u is e^-40 of the scale, behind the last one what is left is e^-44. */
static const double first = -3.6875, step = 0.125;
enum { NODES = 61 };

dpi_decay dpi_decay_integral(double scale, dpi_height (*height)(double u, const void *of),
                             const void *of)
{
    double mass = 0, sum = 0, squares = 0;
    for (size_t k = 0; k < NODES; k++) {
        double v = first + step * (double)k, back = exp(-v), u = scale * exp(v - back);
        dpi_height here = height(u, of);
        double weight = step * u * (1 + back) * exp(here.log_height);
        if (!(weight > 0)) /* far out, where a score may be no number */
            continue;
        mass += weight;
        sum += weight * here.score;
        squares += weight * here.score * here.score;
    }
    double mean = sum / mass;
    return (dpi_decay){mass, mean, squares / mass - mean * mean};
}

double dpi_decay_scale(double fall, double bend)
{
    double slope = fmax(fall, 0);
    return 2 / (slope + sqrt(slope * slope + 2 * bend));
}
