/* Connect-the-dots masses by quadrature.
 *
 * Loss l between knots a < b = a + dx is split onto them so that P- and Q-mass stay what they were:
 *     w_b = (1 - e^-(l-a)) / (1 - e^-dx),   w_a = 1 - w_b.
 * That is a mean-preserving spread of e^-l under P.  After any number of independent steps
 * E_P (1 - e^(eps - sum l))_+ is convex in each e^-l, so it can only grow: delta of the grid bounds
 * the exact one from above at every epsilon (Doroshenko et al., PoPETs 2022).  Larger masses and
 * larger losses also only raise delta; all roundings below go that way.
 *
 * Quadrature.  P w_a and P w_b are entire functions of x (a Gaussian times 1, or times r = M/B less a
 * constant).  Range is cut at the knots' places and then so that h = width * D <= 1/4, D the
 * roughness (pair.h); n-point Gauss on each piece.  On the Bernstein ellipse of parameter
 * rho = 8/h, whose points lie within 2.25/D of any point of the piece, the Gaussian grows by at most
 * e^4.8 over its smallest value in the piece, and |w| <= 1 + 21/h, so with |error of n-point Gauss|
 * <= (64/15) max rho^-2n / (1 - rho^-2) on [-1, 1] (Trefethen 2013, from the Chebyshev coefficients)
 *     error <= 300 (1 + 21/h) (h/8)^2n  times the P-mass of the piece.
 * n is the smallest with that below QUADRATURE; twice QUADRATURE of the piece is then added to both
 * knots.  All terms are positive: no cancellation, full relative accuracy in every bin.
 *
 * Ends.  Mass beyond the range is put on the knot at or above its loss where the loss is small, and
 * counts as a loss of +INFINITY where it is large.
 *
 * Cost: 3 to 6 nodes a knot, four transcendental functions each. */
#include "accountant/mass.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double QUADRATURE = 1e-13;
static const double SUMMATION = 1e-8; /* relative rounding of a plain sum of 2^25 terms */
static const double VANISHES = 1500;  /* e^-1500 is zero, whatever it is multiplied with here */

enum { MIN_POINTS = 2, MAX_POINTS = 6 };

/* Gauss-Legendre on [0, 1], n = 2 ... 6. */
static const double gauss_node[][MAX_POINTS] = {
    {0.21132486540518710671, 0.78867513459481286553},
    {0.11270166537925831174, 0.5, 0.88729833462074170214},
    {0.06943184420297371373, 0.33000947820757187134, 0.66999052179242812866,
     0.93056815579702634178},
    {0.04691007703066800427, 0.23076534494715844614, 0.5, 0.76923465505284149835,
     0.95308992296933203736},
    {0.03376524289842398885, 0.16939530676686773147, 0.38069040695840156152, 0.61930959304159849399,
     0.83060469323313224077, 0.96623475710157602503},
};
static const double gauss_weight[][MAX_POINTS] = {
    {0.5, 0.5},
    {0.27777777777777779011, 0.44444444444444441977, 0.27777777777777779011},
    {0.17392742256872692486, 0.32607257743127304739, 0.32607257743127304739,
     0.17392742256872692486},
    {0.11846344252809454245, 0.23931433524968323545, 0.28444444444444444420, 0.23931433524968323545,
     0.11846344252809454245},
    {0.08566224618958517834, 0.18038078652406930313, 0.23395696728634551853, 0.23395696728634551853,
     0.18038078652406930313, 0.08566224618958517834},
};

/* The knots of one bin, in excess, and what has been gathered for them. */
typedef struct bin {
    double low;   /* excess of the lower knot */
    double shift; /* tilt exponent of the knot with the smaller loss */
    double at_low, at_high;
} bin;

typedef struct filler {
    const dpi_pair *pair;
    const dpi_grid *grid;
    double *data;
    int64_t origin;      /* knot at which the tilts are 1; keeps the masses from underflowing */
    double spread;       /* 1 - e^-spacing */
    double step_up;      /* e^(c spacing) */
    double tail_step_up; /* e^(c' spacing) */
    double tail_sum, gap;
} filler;

static int points_for(double h)
{
    double bound = 300 * (1 + 21 / h) * pow(h / 8, 2 * MIN_POINTS);
    int n = MIN_POINTS;
    for (; n < MAX_POINTS && bound > QUADRATURE; n++)
        bound *= h * h / 64;
    return n;
}

/* Adds the piece [x0, x1] of a bin.  Masses are tilted by the bin's shift alone. */
static void add_piece(filler *f, bin *b, double x0, double x1)
{
    const dpi_pair *pair = f->pair;
    double width = x1 - x0;
    double dx = f->grid->spacing;
    int n = points_for(width * pair->ops->roughness(pair, x0));
    const double *node = gauss_node[n - MIN_POINTS], *weight = gauss_weight[n - MIN_POINTS];
    for (int i = 0; i < n; i++) {
        double x = x0 + width * node[i];
        double s = pair->ops->excess(pair, x);
        double mass = width * weight[i] * exp(pair->ops->log_density(pair, x, s) + b->shift);
        double above = fmin(fmax(s - b->low, 0), dx);
        /* Distance of the loss from the knot with the smaller loss. */
        double d = pair->sign > 0 ? above : dx - above;
        double w_high = fmin(-expm1(-d) / f->spread, 1);
        double w_low = fmin(exp(-d) * -expm1(d - dx) / f->spread, 1);
        b->at_low += mass * (w_low + 2 * QUADRATURE);
        b->at_high += mass * (w_high + 2 * QUADRATURE);
        f->gap += mass * d * (dx - d);
    }
}

/* Index of knot `offset` in the circular array. */
static size_t slot(const dpi_grid *grid, int64_t offset)
{
    return (size_t)offset & (grid->size - 1);
}

/* Distance of a knot from the origin of the tilts. */
static double above_origin(const filler *f, int64_t offset)
{
    return (double)(offset - f->origin) * f->grid->spacing;
}

/* Mass of the end with small losses, untilted, on one knot. */
static void put_end(filler *f, int64_t offset, double mass)
{
    double l = above_origin(f, offset);
    f->data[slot(f->grid, offset)] += mass * exp(f->grid->tilt * l);
    f->tail_sum += mass * exp(f->grid->tail_tilt * l);
}

/* Bin number i, between excess i dx and (i+1) dx, cut to [x_low, x_high]. */
static void add_bin(filler *f, int64_t i, double x_low, double x_high)
{
    const dpi_pair *pair = f->pair;
    double dx = f->grid->spacing;
    int64_t small = pair->sign > 0 ? i : -(i + 1); /* knot with the smaller loss */
    bin b = {.low = (double)i * dx, .shift = f->grid->tilt * above_origin(f, small)};
    double x = i == 0 ? x_low : fmax(x_low, pair->ops->place(pair, b.low));
    double end = fmin(x_high, pair->ops->place(pair, (double)(i + 1) * dx));
    while (x < end) {
        double next = fmin(end, x + 0.25 / pair->ops->roughness(pair, x));
        add_piece(f, &b, x, next);
        x = next;
    }
    double tail = exp((f->grid->tail_tilt - f->grid->tilt) * above_origin(f, small));
    f->data[slot(f->grid, small)] += b.at_low;
    f->data[slot(f->grid, small + 1)] += b.at_high * f->step_up;
    f->tail_sum += (b.at_low + b.at_high * f->tail_step_up) * tail;
}

/* Kahan sum; scales the array to sum 1. */
static double normalise(double *data, size_t n)
{
    double sum = 0, carry = 0;
    for (size_t i = 0; i < n; i++) {
        double y = data[i] - carry;
        double t = sum + y;
        carry = (t - sum) - y;
        sum = t;
    }
    for (size_t i = 0; i < n; i++)
        data[i] /= sum;
    return sum;
}

/* Range of x and of bins. */
typedef struct range {
    double x_low, x_high;
    int64_t first, last;
} range;

/* Cuts P-mass e^log_cut at either end and, where the tilt falls with x, what underflows. */
static range range_for(const dpi_pair *pair, const dpi_grid *grid, double log_cut)
{
    range r;
    r.x_low = pair->ops->quantile(pair, log_cut, -1);
    r.x_high = pair->ops->quantile(pair, log_cut, 1);
    double s_low = pair->ops->excess(pair, r.x_low), s_high = pair->ops->excess(pair, r.x_high);
    double s_seen = s_low + VANISHES / grid->tilt;
    if (pair->sign < 0 && s_seen < s_high) {
        s_high = s_seen;
        r.x_high = pair->ops->place(pair, s_seen);
    }
    r.first = (int64_t)floor(s_low / grid->spacing);
    r.last = (int64_t)floor(s_high / grid->spacing);
    return r;
}

double dpi_mass_knots(const dpi_pair *pair, const dpi_grid *grid, double log_cut)
{
    range r = range_for(pair, grid, log_cut);
    return (double)(r.last - r.first + 1);
}

void dpi_mass_fill(const dpi_pair *pair, const dpi_grid *grid, double log_cut, double *data,
                   dpi_mass *mass)
{
    range r = range_for(pair, grid, log_cut);
    bool rises = pair->sign > 0;
    filler f = {.pair = pair, .grid = grid, .data = data, .origin = rises ? 0 : -r.first};
    f.spread = -expm1(-grid->spacing);
    f.step_up = exp(grid->tilt * grid->spacing);
    f.tail_step_up = exp(grid->tail_tilt * grid->spacing);
    for (int64_t i = r.first; i <= r.last; i++)
        add_bin(&f, i, r.x_low, r.x_high);
    put_end(&f, rises ? r.first + 1 : -r.last,
            pair->ops->tail(pair, rises ? r.x_low : r.x_high, rises ? -1 : 1));
    double sum = normalise(data, grid->size);
    double origin = (double)f.origin * grid->spacing;
    double exponents = fmin(grid->tilt * (double)(r.last - r.first + 2) * grid->spacing, VANISHES);
    mass->log_sum = log(sum) + grid->tilt * origin;
    mass->log_error = 4 * DBL_EPSILON * (fabs(log(sum)) + fabs(grid->tilt * origin) + 4);
    mass->log_tail_sum = log(f.tail_sum) + grid->tail_tilt * origin + SUMMATION +
                         4 * DBL_EPSILON * fabs(grid->tail_tilt * origin);
    mass->infinite = pair->ops->tail(pair, rises ? r.x_high : r.x_low, rises ? 1 : -1);
    mass->gap = f.gap / sum;
    mass->loss_error = pair->ops->excess_error(pair, r.x_low, r.x_high);
    mass->mass_error = pair->ops->density_error(pair, r.x_low, r.x_high) +
                       4 * DBL_EPSILON * (exponents + 64) + 2 * QUADRATURE + 8 * DBL_EPSILON;
    mass->top = rises ? r.last + 1 : -r.first;
}
