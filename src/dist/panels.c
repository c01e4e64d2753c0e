#include "dist/panels.h"

#include <math.h>

enum { POINTS = DPI_PANEL_NODES / 2 };

/* Nodes and weights of Gauss's rule on (-1, 1): the upper half. */
static const double at[] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                            0.96028985649753623168},
                    weight[] = {0.36268378337836198297, 0.31370664587788728734,
                                0.22238103445337447054, 0.10122853629037625915};

double dpi_saddle_phi(double e)
{
    if (e <= -1)
        return 1;
    if (fabs(e) < 1e-3)
        return e * e * (0.5 - e / 6 + e * e / 12 - e * e * e / 20);
    return (1 + e) * log1p(e) - e;
}

void dpi_normalise_masses(size_t n, double mass[])
{
    double total = 0;
    for (size_t j = 0; j < n; j++)
        total += mass[j];
    for (size_t j = 0; j < n; j++)
        mass[j] /= total;
}

size_t dpi_put_panels(const dpi_panels *p, double y[], double mass[])
{
    double half = 0.5 * (p->to - p->from) / (double)p->n;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < POINTS; k++, n += 2) {
            double sign = k % 2 == 0 ? 1 : -1, middle = p->from + half * (double)(2 * i + 1), x, m;
            p->at(p->law, middle + sign * half * at[k / 2], &x, &m);
            y[n] = floor(x);
            y[n + 1] = y[n] + 1;
            mass[n] = half * weight[k / 2] * m * (1 - (x - y[n]));
            mass[n + 1] = half * weight[k / 2] * m * (x - y[n]);
        }
    return n;
}
