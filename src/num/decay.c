/* Double exponential quadrature on a half line: u = scale e^(v - e^-v), and the trapezoidal rule in
 * v (Takahasi and Mori 1974, Publ. RIMS 9, 721).  Nodes are dense at u = 0 on all scales, so that
 * features near the start cost no accuracy. */
#include "num/decay.h"

#include <math.h>
#include <stddef.h>

/* At the first node u is e^-40 of the scale, behind the last one what is left is e^-44. */
static const double first = -3.6875, step = 0.125;
enum { NODES = 61 };

/* Sums of what is integrated, weighted by the heights. */
typedef struct moments {
    double mass, score, square, bend;
} moments;

static void count(moments *m, double weight, dpi_height here)
{
    m->mass += weight;
    m->score += weight * here.score;
    m->square += weight * here.score * here.score;
    m->bend += weight * here.bend;
}

static dpi_decay normalised(const moments *m)
{
    double mean = m->score / m->mass;
    return (dpi_decay){m->mass, mean, m->square / m->mass - mean * mean, m->bend / m->mass};
}

dpi_decay dpi_decay_integral(double scale, dpi_height (*height)(double u, const void *of),
                             const void *of)
{
    moments all = {0};
    for (size_t k = 0; k < NODES; k++) {
        double v = first + step * (double)k, back = exp(-v), u = scale * exp(v - back);
        dpi_height here = height(u, of);
        double weight = step * u * (1 + back) * exp(here.log_height);
        if (weight > 0) /* far out a score may be no number */
            count(&all, weight, here);
    }
    return normalised(&all);
}

double dpi_decay_scale(double fall, double bend)
{
    double slope = fmax(fall, 0);
    return 2 / (slope + sqrt(slope * slope + 2 * bend));
}

const double dpi_gauss_rule[DPI_GAUSS_PAIRS][2] = {
    {0.076526521133497334, 0.15275338713072585}, {0.22778585114164508, 0.14917298647260375},
    {0.37370608871541956, 0.14209610931838205},  {0.5108670019508271, 0.13168863844917663},
    {0.63605368072651503, 0.11819453196151842},  {0.74633190646015079, 0.10193011981724044},
    {0.83911697182221882, 0.083276741576704749}, {0.91223442825132591, 0.062672048334109064},
    {0.96397192727791379, 0.040601429800386941}, {0.99312859918509492, 0.017614007139152118},
};

dpi_decay dpi_gauss_integral(double end, dpi_height (*height)(double u, const void *of),
                             const void *of)
{
    moments all = {0};
    for (int k = 0; k < 2 * DPI_GAUSS_PAIRS; k++) {
        const double *pair = dpi_gauss_rule[k / 2];
        double u = 0.5 * end * (1 + (k % 2 == 0 ? pair[0] : -pair[0]));
        dpi_height here = height(u, of);
        count(&all, 0.5 * end * pair[1] * exp(here.log_height), here);
    }
    return normalised(&all);
}
