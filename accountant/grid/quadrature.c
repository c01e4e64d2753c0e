/* Gauss-Legendre on stretches of a piece.
 *
 * The integrands are P w_a and P w_b of mass.c, entire functions of x on a piece (a Gaussian times
 * 1, or times r = M/B less a constant).  A range is cut at the knots' places and then so that h =
 * width * D <= 1/4, D the roughness (pair.h).  On the Bernstein ellipse of parameter rho = 8/h,
 * whose points lie within 2.25/D of any point of the stretch, the Gaussian grows by at most e^4.8
 * over its smallest value in the stretch, and |w| <= 1 + 21/h, so with |error of n-point Gauss| <=
 * (64/15) max rho^-2n / (1 - rho^-2) on [-1, 1] (Trefethen 2013, from the Chebyshev coefficients)
 *     error <= 300 (1 + 21/h) (h/8)^2n  times the P-mass of the stretch.
 * n is the smallest with that below DPI_QUADRATURE. */
#include "accountant/grid/quadrature.h"

#include <math.h>

static const double VANISHES = 1500; /* e^-1500 is zero, whatever it is multiplied with here */

enum { MIN_POINTS = 2 };

/* Gauss-Legendre on [0, 1], n = 2 ... 6. */
static const double gauss_node[][DPI_MAX_NODES] = {
    {0.21132486540518710671, 0.78867513459481286553},
    {0.11270166537925831174, 0.5, 0.88729833462074170214},
    {0.06943184420297371373, 0.33000947820757187134, 0.66999052179242812866,
     0.93056815579702634178},
    {0.04691007703066800427, 0.23076534494715844614, 0.5, 0.76923465505284149835,
     0.95308992296933203736},
    {0.03376524289842398885, 0.16939530676686773147, 0.38069040695840156152, 0.61930959304159849399,
     0.83060469323313224077, 0.96623475710157602503},
};
static const double gauss_weight[][DPI_MAX_NODES] = {
    {0.5, 0.5},
    {0.27777777777777779011, 0.44444444444444441977, 0.27777777777777779011},
    {0.17392742256872692486, 0.32607257743127304739, 0.32607257743127304739,
     0.17392742256872692486},
    {0.11846344252809454245, 0.23931433524968323545, 0.28444444444444444420, 0.23931433524968323545,
     0.11846344252809454245},
    {0.08566224618958517834, 0.18038078652406930313, 0.23395696728634551853, 0.23395696728634551853,
     0.18038078652406930313, 0.08566224618958517834},
};

/* The greatest h that n = 2 ... 5 points may have: where the bound above is DPI_QUADRATURE. */
static const double widest[] = {4.02e-5, 5.29e-3, 0.0428, 0.1369};

dpi_gauss_rule dpi_gauss_rule_for(double h)
{
    int n = MIN_POINTS;
    while (n < DPI_MAX_NODES && !(h <= widest[n - MIN_POINTS]))
        n++;
    return (dpi_gauss_rule){n, gauss_node[n - MIN_POINTS], gauss_weight[n - MIN_POINTS]};
}

int dpi_stretch_nodes(const dpi_piece *piece, double x0, double x1, double tilt,
                      dpi_abscissa nodes[DPI_MAX_NODES])
{
    double width = x1 - x0;
    const dpi_gauss_rule rule = dpi_gauss_rule_for(width * piece->ops->roughness(piece, x0));
    for (int i = 0; i < rule.n; i++) {
        double x = x0 + width * rule.node[i];
        double s = piece->ops->excess(piece, x);
        nodes[i].mass = width * rule.weight[i] * exp(piece->ops->log_density(piece, x, s) + tilt);
        nodes[i].offset = piece->sign * s;
    }
    return rule.n;
}

double dpi_stretch_end(const dpi_piece *piece, double x, double end)
{
    double next = fmin(end, x + 0.25 / piece->ops->roughness(piece, x));
    return next > x ? next : end;
}

dpi_range dpi_range_of(const dpi_piece *piece, const dpi_knots *grid, double log_cut)
{
    dpi_range r;
    r.x_low = piece->ops->quantile(piece, log_cut, -1);
    r.x_high = fmax(piece->ops->quantile(piece, log_cut, 1), r.x_low);
    double s_low = piece->ops->excess(piece, r.x_low), s_high = piece->ops->excess(piece, r.x_high);
    double s_seen = s_low + VANISHES / grid->tilt;
    if (piece->sign < 0 && s_seen < s_high) {
        s_high = s_seen;
        r.x_high = fmax(piece->ops->inverse(piece, s_seen), r.x_low);
    }
    r.first = (int64_t)floor(s_low / grid->spacing);
    r.last = (int64_t)floor(s_high / grid->spacing);
    return r;
}

double dpi_range_at(const dpi_piece *piece, const dpi_range *range, double offset)
{
    double s = piece->sign * offset;
    return s <= 0 ? range->x_low
                  : fmin(fmax(piece->ops->inverse(piece, s), range->x_low), range->x_high);
}
