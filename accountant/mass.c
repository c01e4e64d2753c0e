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
 * counts as a loss of +INFINITY where it is large; for a lower bound it is left out.
 *
 * From below, see lower.c.  There all losses within one spacing of the base are first merged into one
 * (a contraction of e^-l, so a lower bound): the lump, at the loss `shift` above the base that keeps its
 * P- and Q-mass.  Knots are counted from the lump.  At small sampling rates it holds nearly all of the
 * mass, and no grid could resolve it.
 *
 * Cost: 3 to 6 nodes a knot, four transcendental functions each. */
#include "accountant/mass.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/lower.h"

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

/* What has been gathered for the knots of one bin, tilted by `tilt` alone. */
typedef struct bin {
    double tilt; /* exponent */
    double at_low, at_high, gap;
} bin;

typedef struct filler {
    const dpi_pair *pair;
    const dpi_grid *grid;
    double *data, *gap_data;    /* gap_data: NULL for upper bounds */
    double shift;               /* offset of knot 0 */
    double lump_low, lump_high; /* offsets merged into knot 0; lump_low >= lump_high: none */
    int64_t origin;             /* knot at which the tilts are 1; keeps masses from underflowing */
    int64_t low, high;          /* knots with mass */
    double spread;              /* 1 - e^-spacing */
    double step_up;             /* e^(c spacing) */
    double tail_step_up;        /* e^(c' spacing) */
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

/* Adds the tilted mass of a loss d above the bin's smaller knot. */
static void split(filler *f, bin *b, double mass, double d, double inflate)
{
    double dx = f->grid->spacing;
    double below = -expm1(-d), above = -expm1(d - dx);
    double w_high = fmin(below / f->spread, 1);
    double w_low = fmin(exp(-d) * above / f->spread, 1);
    b->at_low += mass * (w_low + inflate);
    b->at_high += mass * (w_high + inflate);
    b->gap += mass * (w_high * above + DPI_GAP_SLACK * f->spread);
    f->gap += mass * d * (dx - d);
}

/* A quadrature node: P-mass e^(tilt) and the offset of its loss. */
typedef struct node {
    double mass, offset;
} node;

/* Nodes of [x0, x1]; returns their number. */
static int nodes_of(const dpi_piece *piece, double x0, double x1, double tilt,
                    node nodes[MAX_POINTS])
{
    double width = x1 - x0;
    int n = points_for(width * piece->ops->roughness(piece, x0));
    const double *place = gauss_node[n - MIN_POINTS], *weight = gauss_weight[n - MIN_POINTS];
    for (int i = 0; i < n; i++) {
        double x = x0 + width * place[i];
        double s = piece->ops->excess(piece, x);
        nodes[i].mass = width * weight[i] * exp(piece->ops->log_density(piece, x, s) + tilt);
        nodes[i].offset = piece->sign * s;
    }
    return n;
}

/* End of the stretch that starts at x and is smooth enough for the rule. */
static double stretch_end(const dpi_piece *piece, double x, double end)
{
    double next = fmin(end, x + 0.25 / piece->ops->roughness(piece, x));
    return next > x ? next : end;
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

/* Untilted mass on one knot. */
static void put_end(filler *f, int64_t offset, double mass)
{
    double l = above_origin(f, offset);
    f->data[slot(f->grid, offset)] += mass * exp(f->grid->tilt * l);
    f->tail_sum += mass * exp(f->grid->tail_tilt * l);
}

/* Puts what a bin has gathered on its knots; `small` is the one with the smaller loss. */
static void put_bin(filler *f, const bin *b, int64_t small)
{
    double tail = exp((f->grid->tail_tilt - f->grid->tilt) * above_origin(f, small));
    f->data[slot(f->grid, small)] += b->at_low;
    f->data[slot(f->grid, small + 1)] += b->at_high * f->step_up;
    f->tail_sum += (b->at_low + b->at_high * f->tail_step_up) * tail;
    if (f->gap_data != NULL)
        f->gap_data[slot(f->grid, small)] += b->gap;
    f->low = small < f->low ? small : f->low;
    f->high = small + 1 > f->high ? small + 1 : f->high;
}

static double knot_offset(const filler *f, int64_t k)
{
    return f->shift + (double)k * f->grid->spacing;
}

/* Adds what a piece has in the bin above knot k, within [x_low, x_high]. */
static void add_bin(filler *f, const dpi_piece *piece, int64_t k, double x_low, double x_high)
{
    double dx = f->grid->spacing, low = knot_offset(f, k), high = knot_offset(f, k + 1);
    double s_low = piece->sign > 0 ? low : -high, s_high = piece->sign > 0 ? high : -low;
    bin b = {.tilt = f->grid->tilt * above_origin(f, k)};
    double x = s_low <= 0 ? x_low : fmax(x_low, piece->ops->place(piece, s_low));
    double end = s_high <= 0 ? x_low : fmin(x_high, piece->ops->place(piece, s_high));
    while (x < end) {
        node nodes[MAX_POINTS];
        double next = stretch_end(piece, x, end);
        int n = nodes_of(piece, x, next, b.tilt, nodes);
        for (int i = 0; i < n; i++) {
            double d = fmin(fmax(nodes[i].offset - low, 0), dx);
            split(f, &b, nodes[i].mass, d, 2 * QUADRATURE);
        }
        x = next;
    }
    put_bin(f, &b, k);
}

static void add_atom(filler *f, const dpi_atom *atom)
{
    double dx = f->grid->spacing;
    int64_t k = (int64_t)floor((atom->offset - f->shift) / dx);
    bin b = {.tilt = f->grid->tilt * above_origin(f, k)};
    double d = fmin(fmax(atom->offset - knot_offset(f, k), 0), dx);
    if (atom->offset > f->lump_low && atom->offset < f->lump_high)
        return;
    split(f, &b, atom->mass * exp(b.tilt), d, 0);
    put_bin(f, &b, k);
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

/* Range of x and of bins of a piece. */
typedef struct range {
    double x_low, x_high;
    int64_t first, last;
} range;

/* Cuts P-mass e^log_cut at either end and, where the tilt falls with x, what underflows. */
static range range_for(const dpi_piece *piece, const dpi_grid *grid, double log_cut)
{
    range r;
    r.x_low = piece->ops->quantile(piece, log_cut, -1);
    r.x_high = fmax(piece->ops->quantile(piece, log_cut, 1), r.x_low);
    double s_low = piece->ops->excess(piece, r.x_low), s_high = piece->ops->excess(piece, r.x_high);
    double s_seen = s_low + VANISHES / grid->tilt;
    if (piece->sign < 0 && s_seen < s_high) {
        s_high = s_seen;
        r.x_high = fmax(piece->ops->place(piece, s_seen), r.x_low);
    }
    r.first = (int64_t)floor(s_low / grid->spacing);
    r.last = (int64_t)floor(s_high / grid->spacing);
    return r;
}

/* Atoms kept, [first, last), and the mass of those below and above. */
typedef struct atom_range {
    size_t first, last;
    double below, above;
} atom_range;

static atom_range atoms_for(const dpi_pair *pair, double log_cut)
{
    atom_range r = {.last = pair->n_atoms};
    double cut = exp(log_cut);
    while (r.last > 0 && r.above + pair->atom[r.last - 1].mass <= cut)
        r.above += pair->atom[--r.last].mass;
    while (r.first < r.last && r.below + pair->atom[r.first].mass <= cut)
        r.below += pair->atom[r.first++].mass;
    return r;
}

double dpi_mass_knots(const dpi_pair *pair, const dpi_grid *grid, double log_cut)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < pair->n_pieces; i++) {
        range r = range_for(&pair->piece[i], grid, log_cut);
        bool rises = pair->piece[i].sign > 0;
        low = fmin(low, (double)(rises ? r.first : -r.last - 1));
        high = fmax(high, (double)(rises ? r.last + 1 : -r.first));
    }
    atom_range a = atoms_for(pair, log_cut);
    if (a.first < a.last) {
        low = fmin(low, floor(pair->atom[a.first].offset / grid->spacing));
        high = fmax(high, floor(pair->atom[a.last - 1].offset / grid->spacing) + 1);
    }
    return high - low + 1;
}

/* Where the tilts are 1: at the knot nearest to the base that has mass, when all losses lie below. */
static int64_t origin_for(const dpi_pair *pair, const dpi_grid *grid, double log_cut)
{
    int64_t nearest = INT64_MAX;
    for (size_t i = 0; i < pair->n_pieces; i++) {
        if (pair->piece[i].sign > 0)
            return 0;
        range r = range_for(&pair->piece[i], grid, log_cut);
        nearest = r.first < nearest ? r.first : nearest;
    }
    return pair->n_atoms > 0 ? 0 : -nearest;
}

/* x at which a piece leaves the lump. */
static double lump_end(const filler *f, const dpi_piece *piece, const range *r)
{
    double s = piece->sign > 0 ? f->lump_high : -f->lump_low;
    if (!(f->lump_low < f->lump_high) || s <= 0)
        return r->x_low;
    return fmin(fmax(piece->ops->place(piece, s), r->x_low), r->x_high);
}

/* The mass of one piece in its range; the rest of it goes to the ends of `m`. */
static void add_piece(filler *f, const dpi_piece *piece, double log_cut, dpi_mass *m, double *end)
{
    const dpi_piece_ops *ops = piece->ops;
    bool rises = piece->sign > 0;
    double dx = f->grid->spacing;
    range r = range_for(piece, f->grid, log_cut);
    double x_low = lump_end(f, piece, &r);
    double s_low = ops->excess(piece, x_low), s_high = ops->excess(piece, r.x_high);
    int64_t first = (int64_t)floor(((rises ? s_low : -s_high) - f->shift) / dx);
    int64_t last = (int64_t)floor(((rises ? s_high : -s_low) - f->shift) / dx);
    for (int64_t k = first; k <= last && x_low < r.x_high; k++)
        add_bin(f, piece, k, x_low, r.x_high);
    m->infinite += ops->tail(piece, rises ? r.x_high : r.x_low, rises ? 1 : -1);
    *end += ops->tail(piece, rises ? r.x_low : r.x_high, rises ? -1 : 1);
    double exponents = f->grid->tilt * (double)(r.last - r.first + 2) * dx;
    m->loss_error = fmax(m->loss_error, ops->excess_error(piece, r.x_low, r.x_high));
    m->mass_error = fmax(m->mass_error, ops->density_error(piece, r.x_low, r.x_high) +
                                            4 * DBL_EPSILON * (fmin(exponents, VANISHES) + 64) +
                                            10 * QUADRATURE + 8 * DBL_EPSILON);
}

static void add_atoms(filler *f, double log_cut, dpi_mass *m, double *end)
{
    const dpi_pair *pair = f->pair;
    atom_range r = atoms_for(pair, log_cut);
    if (pair->n_atoms == 0)
        return;
    for (size_t i = r.first; i < r.last; i++)
        add_atom(f, &pair->atom[i]);
    m->infinite += r.above * (1 + SUMMATION);
    *end += r.below * (1 + SUMMATION);
    double reach = fmax(fabs(pair->atom[0].offset), fabs(pair->atom[pair->n_atoms - 1].offset));
    m->loss_error = fmax(m->loss_error, pair->offset_error + 2 * DBL_EPSILON * reach);
    m->mass_error =
        fmax(m->mass_error, pair->mass_error + 4 * DBL_EPSILON * (f->grid->tilt * reach + 64));
}

static filler filler_of(const dpi_pair *pair, const dpi_grid *grid, double log_cut, double *data)
{
    filler f = {.pair = pair, .grid = grid, .data = data, .low = INT64_MAX, .high = INT64_MIN};
    f.origin = origin_for(pair, grid, log_cut);
    f.spread = -expm1(-grid->spacing);
    f.step_up = exp(grid->tilt * grid->spacing);
    f.tail_step_up = exp(grid->tail_tilt * grid->spacing);
    return f;
}

/* All of the pair; returns the mass of the end with small losses. */
static double fill(filler *f, double log_cut, dpi_mass *mass)
{
    double end = 0;
    for (size_t i = 0; i < f->pair->n_pieces; i++)
        add_piece(f, &f->pair->piece[i], log_cut, mass, &end);
    add_atoms(f, log_cut, mass, &end);
    return end;
}

/* Scaling turns tilts around the origin into tilts around knot 0. */
static void finish(const filler *f, double sum, dpi_mass *mass)
{
    double exponent = f->grid->tilt * (double)f->origin * f->grid->spacing;
    mass->log_sum = log(sum) + exponent;
    mass->log_error = 4 * DBL_EPSILON * (fabs(log(sum)) + fabs(exponent) + 4);
    mass->gap = f->gap / sum;
    mass->top = f->high;
}

void dpi_mass_upper(const dpi_pair *pair, const dpi_grid *grid, double log_cut, double *data,
                    dpi_mass *mass)
{
    filler f = filler_of(pair, grid, log_cut, data);
    *mass = (dpi_mass){.infinite = pair->infinite + pair->lost};
    double end = fill(&f, log_cut, mass);
    put_end(&f, f.low + 1, end);
    finish(&f, normalise(data, grid->size), mass);
    double exponent = grid->tail_tilt * (double)f.origin * grid->spacing;
    mass->log_tail_sum = log(f.tail_sum) + exponent + SUMMATION + 4 * DBL_EPSILON * fabs(exponent);
}

/* P-mass of the lump, and of 1 - e^-offset in it. */
typedef struct lump {
    double mass, moment, size; /* size: of |offset| */
} lump;

static void add_to_lump(lump *l, double mass, double offset)
{
    l->mass += mass;
    l->moment += mass * -expm1(-offset);
    l->size += mass * fabs(offset);
}

static lump lump_of(const filler *f, double log_cut)
{
    lump l = {0};
    for (size_t j = 0; j < f->pair->n_pieces; j++) {
        const dpi_piece *piece = &f->pair->piece[j];
        range r = range_for(piece, f->grid, log_cut);
        double end = lump_end(f, piece, &r);
        for (double x = r.x_low, next; x < end; x = next) {
            node nodes[MAX_POINTS];
            next = stretch_end(piece, x, end);
            for (int i = 0, n = nodes_of(piece, x, next, 0, nodes); i < n; i++)
                add_to_lump(&l, nodes[i].mass, nodes[i].offset);
        }
    }
    for (size_t i = 0; i < f->pair->n_atoms; i++) {
        const dpi_atom *atom = &f->pair->atom[i];
        if (atom->offset > f->lump_low && atom->offset < f->lump_high)
            add_to_lump(&l, atom->mass, atom->offset);
    }
    return l;
}

/* Where the lump lies, rounded down: its errors of quadrature and rounding are below SURE. */
static double place_of(const lump *l)
{
    const double SURE = 1e-12;
    return l->mass > 0 ? -log1p(-l->moment / l->mass) - SURE * l->size / l->mass : 0;
}

void dpi_mass_lower(const dpi_pair *pair, const dpi_grid *grid, double log_cut, double *data,
                    double *work, dpi_mass *mass)
{
    enum { TIMES = 4 };        /* the lump's place and its ends, in turn */
    const double REACH = 1.01; /* it covers the bins beside it, wherever the last turn put it */
    filler f = filler_of(pair, grid, log_cut, work);
    lump l = {0};
    f.gap_data = data;
    for (int i = 0; i < TIMES; i++) {
        f.lump_low = f.shift - REACH * grid->spacing;
        f.lump_high = f.shift + REACH * grid->spacing;
        l = lump_of(&f, log_cut);
        f.shift = place_of(&l);
    }
    *mass = (dpi_mass){.shift = f.shift, .log_sum = -INFINITY};
    (void)fill(&f, log_cut, mass);
    if (l.mass > 0) {
        put_end(&f, 0, l.mass);
        f.low = f.low < 0 ? f.low : 0;
        f.high = f.high > 0 ? f.high : 0;
    }
    if (dpi_lower_masses(grid, f.low, f.high, work, data))
        finish(&f, normalise(data, grid->size), mass);
}
