/* Connect-the-dots masses by quadrature.
 *
 * Loss l between knots a < b = a + dx is split onto them so that P- and Q-mass stay what they were:
 *     w_b = (1 - e^-(l-a)) / (1 - e^-dx),   w_a = 1 - w_b.
 * That is a mean-preserving spread of e^-l under P.  After any number of independent steps
 * E_P (1 - e^(eps - sum l))_+ is convex in each e^-l, so it can only grow: delta of the grid bounds
 * the exact one from above at every epsilon (Doroshenko et al., PoPETs 2022).  Larger masses and
 * larger losses also only raise delta; all roundings below go that way.
 *
 * Masses are integrated by quadrature.c with an error below QUADRATURE of the P-mass of each
 * stretch; twice that is added to both knots.  All terms are positive: no cancellation, full
 * relative accuracy in every bin.
 *
 * Ends.  Mass beyond the range of a piece is put on the knot at or above the range's end where the
 * loss is small, and counts as a loss of +INFINITY where it is large; for a lower bound it is left
 * out.
 *
 * From below, see lower.c and lump.c: the losses next to the base are first merged into lumps on
 * knots, which are counted from the first of them.
 *
 * An atom's split has no such addition: what rounding moves, 2u of its mass by one knot, is less
 * than MEETS allows for.
 *
 * Cost: 3 to 6 nodes a knot; four transcendental functions each, or a knot where quick.c serves. */
#include "accountant/grid/mass.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/grid/lower.h"
#include "accountant/grid/lump.h"
#include "accountant/grid/quadrature.h"
#include "accountant/grid/quick.h"

static const double QUADRATURE = DPI_QUADRATURE;
static const double SUMMATION = 1e-8; /* relative rounding of a plain sum of 2^25 terms */
enum { AGAIN = 64 };
static const double FAINT = 1e-200; /* factors below are not carried: they may have underflowed */

static const double MEETS = 1e-9; /* part of a bin by which an atom may miss its knot */

/* What has been gathered for the knots of one bin, tilted by `tilt` alone. */
typedef struct bin {
    double tilt; /* exponent */
    double tail; /* what the tail's tilt is there, in terms of it; of upper bounds */
    double at_low, at_high, gap;
} bin;

typedef struct mass_filler {
    const dpi_pair *pair;
    const dpi_knots *grid;
    double *data, *gap_data;    /* gap_data: NULL for upper bounds */
    double shift;               /* offset of knot 0 */
    double lump_low, lump_high; /* offsets that lumps have taken; lump_low >= lump_high: none */
    int64_t least, most;        /* knots there is room for; for lower bounds the rest is left out */
    int64_t origin;             /* knot at which the tilts are 1; keeps masses from underflowing */
    int64_t low, high;          /* knots with mass */
    double spread;              /* 1 - e^-spacing */
    double step_up;             /* e^(c spacing) */
    double tail_step_up;        /* e^(c' spacing) */
    double tail_sum, gap;
} mass_filler;

/* Adds the tilted mass of a loss d above the bin's smaller knot: below = 1 - e^-d, above = 1 -
 * e^(d-dx).  What `inflate` adds is more than w_low's rounding, which is relative to 1. */
static void split(mass_filler *f, bin *b, double mass, double below, double above, double inflate)
{
    double w_high = below / f->spread;
    b->at_low += mass * (1 - w_high + inflate);
    b->at_high += mass * (w_high + inflate);
    b->gap += mass * (w_high * above + DPI_GAP_SLACK * f->spread);
    f->gap += mass * below * above; /* d (dx - d), as near as a plan needs it */
}

/* The other of `below` and `above`: (1 - below) (1 - above) = e^-dx. */
static double other_part(const mass_filler *f, double part)
{
    return (f->spread - part) / (1 - part);
}

/* The same for a loss d above the smaller knot. */
static void split_at(mass_filler *f, bin *b, double mass, double d, double inflate)
{
    double below = fmin(-expm1(-d), f->spread);
    split(f, b, mass, below, other_part(f, below), inflate);
}

/* Index of knot `offset` in the circular array. */
static size_t slot(const dpi_knots *grid, int64_t offset)
{
    return (size_t)offset & (grid->size - 1);
}

/* Distance of a knot from the origin of the tilts. */
static double above_origin(const mass_filler *f, int64_t offset)
{
    return (double)(offset - f->origin) * f->grid->spacing;
}

/* Untilted mass on one knot. */
static void put_mass(mass_filler *f, int64_t offset, double mass)
{
    if (offset < f->least || offset > f->most)
        return;
    double l = above_origin(f, offset);
    f->data[slot(f->grid, offset)] += mass * exp(f->grid->tilt * l);
    f->tail_sum += mass * exp(f->grid->tail_tilt * l);
    f->low = offset < f->low ? offset : f->low;
    f->high = offset > f->high ? offset : f->high;
}

/* Mass beyond the end with small losses: on knot `k`, not below any of them, or left out. */
static void put_end(mass_filler *f, int64_t k, double mass)
{
    if (f->gap_data == NULL && mass > 0)
        put_mass(f, k, mass);
}

/* Puts what a bin has gathered on its knots; `small` is the one with the smaller loss. */
static void put_bin(mass_filler *f, const bin *b, int64_t small)
{
    f->data[slot(f->grid, small)] += b->at_low;
    f->data[slot(f->grid, small + 1)] += b->at_high * f->step_up;
    if (f->gap_data == NULL)
        f->tail_sum += (b->at_low + b->at_high * f->tail_step_up) * b->tail;
    else
        f->gap_data[slot(f->grid, small)] += b->gap;
    f->low = small < f->low ? small : f->low;
    f->high = small + 1 > f->high ? small + 1 : f->high;
}

static double tail_at(const mass_filler *f, int64_t k)
{
    return f->gap_data == NULL ? exp((f->grid->tail_tilt - f->grid->tilt) * above_origin(f, k)) : 0;
}

static double knot_offset(const mass_filler *f, int64_t k)
{
    return f->shift + (double)k * f->grid->spacing;
}

/* A bin of a piece on which no node needs libm (quick.c); false where that is not so. */
static bool add_quick(mass_filler *f, const dpi_piece *piece, bin *b, dpi_edge start, double end)
{
    dpi_abscissa nodes[DPI_MAX_NODES];
    int n = dpi_quick_nodes(piece, start, end, b->tilt, nodes);
    for (int i = 0; i < n; i++) {
        double part = nodes[i].offset < f->spread ? nodes[i].offset : f->spread;
        double other = other_part(f, part);
        bool rises = piece->sign > 0;
        split(f, b, nodes[i].mass, rises ? part : other, rises ? other : part, 2 * QUADRATURE);
    }
    return n > 0;
}

/* Adds what a piece has in the bin above knot k, between the knots' edges and within [x_low,
 * x_high]. */
static void add_bin(mass_filler *f, const dpi_piece *piece, int64_t k, double tail, dpi_edge start,
                    dpi_edge stop, const dpi_range *r)
{
    double dx = f->grid->spacing, low = knot_offset(f, k);
    bin b = {.tilt = f->grid->tilt * above_origin(f, k), .tail = tail};
    double x = r->x_low > start.x ? r->x_low : start.x;
    double end = r->x_high < stop.x ? r->x_high : stop.x;
    if (x == start.x && x < end && add_quick(f, piece, &b, start, end))
        x = end;
    while (x < end) {
        dpi_abscissa nodes[DPI_MAX_NODES];
        double next = dpi_stretch_end(piece, x, end);
        int n = dpi_stretch_nodes(piece, x, next, b.tilt, nodes);
        for (int i = 0; i < n; i++) {
            double d = fmin(fmax(nodes[i].offset - low, 0), dx);
            split_at(f, &b, nodes[i].mass, d, 2 * QUADRATURE);
        }
        x = next;
    }
    put_bin(f, &b, k);
}

/* Bins first ... last, by rising losses.  The tail's factor rises with them and is carried from bin
 * to bin, AGAIN times at most, which costs it 4u and a u of its exponent each. */
static void add_bins(mass_filler *f, const dpi_piece *piece, int64_t first, int64_t last,
                     const dpi_range *r)
{
    dpi_edge below = dpi_edge_at(piece, piece->sign * knot_offset(f, first));
    double tail = 0, up = f->tail_step_up / f->step_up;
    for (int64_t k = first; k <= last; k++) {
        tail = (k - first) % AGAIN == 0 || tail < FAINT ? tail_at(f, k) : tail * up;
        dpi_edge above = dpi_edge_at(piece, piece->sign * knot_offset(f, k + 1));
        add_bin(f, piece, k, tail, piece->sign > 0 ? below : above, piece->sign > 0 ? above : below,
                r);
        below = above;
    }
}

/* Splitting takes smooth neighbours to make good for it from below: atoms on both sides within a
 * bin. */
static bool is_dense(const dpi_pair *pair, size_t i, double dx)
{
    const dpi_atom *atom = pair->atom;
    return i > 0 && i + 1 < pair->n_atoms && atom[i].offset - atom[i - 1].offset < dx &&
           atom[i + 1].offset - atom[i].offset < dx;
}

/* An upper bound splits an atom onto the knots around it.  A lower one does that only to one of
 * many close ones; it moves a single one down to a knot. */
static void add_atom(mass_filler *f, size_t i)
{
    const dpi_atom *atom = &f->pair->atom[i];
    double dx = f->grid->spacing;
    bool down = f->gap_data != NULL && !is_dense(f->pair, i, dx);
    bool merged = atom->offset > f->lump_low && atom->offset < f->lump_high;
    int64_t k = (int64_t)floor((atom->offset - f->shift) / dx + (down ? MEETS : 0));
    if (merged || k < f->least || k >= f->most)
        return;
    bin b = {.tilt = f->grid->tilt * above_origin(f, k), .tail = tail_at(f, k)};
    double d = fmin(fmax(atom->offset - knot_offset(f, k), 0), dx);
    double mass = atom->mass * exp(b.tilt);
    if (down)
        b.at_low = mass;
    else
        split_at(f, &b, mass, d, 0);
    put_bin(f, &b, k);
}

/* Kahan sum; scales the masses to sum 1.  All of them are on the knots first ... last, which may go
 * around. */
static double normalise(const dpi_knots *grid, double *data, int64_t first, int64_t last)
{
    double sum = 0, carry = 0;
    if (last > first && last - first >= (int64_t)grid->size)
        last = first + (int64_t)grid->size - 1;
    for (int64_t k = first; k <= last; k++) {
        double y = data[slot(grid, k)] - carry;
        double t = sum + y;
        carry = (t - sum) - y;
        sum = t;
    }
    for (int64_t k = first; k <= last; k++)
        data[slot(grid, k)] /= sum;
    return sum;
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

double dpi_mass_knots(const dpi_pair *pair, const dpi_knots *grid, double log_cut)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < pair->n_pieces; i++) {
        dpi_range r = dpi_range_of(&pair->piece[i], grid, log_cut);
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

/* Knots between the base and the nearest loss, when all lie on one side of it. */
static int64_t nearest_knot(const dpi_pair *pair, const dpi_knots *grid, double log_cut)
{
    int64_t nearest = INT64_MAX;
    for (size_t i = 0; i < pair->n_pieces; i++) {
        dpi_range r = dpi_range_of(&pair->piece[i], grid, log_cut);
        nearest = r.first < nearest ? r.first : nearest;
    }
    return nearest;
}

/* The larger of two bounds on an error; not a number where one of them is none, unlike fmax. */
static double larger(double a, double b)
{
    return a >= b ? a : b > a ? b : NAN;
}

/* The mass of one piece in its range; the rest of it goes to the ends of `m`. */
static void add_piece(mass_filler *f, const dpi_piece *piece, double log_cut, dpi_mass *m)
{
    const dpi_piece_ops *ops = piece->ops;
    bool rises = piece->sign > 0;
    double dx = f->grid->spacing;
    dpi_range r = dpi_range_of(piece, f->grid, log_cut);
    double x_low = f->lump_low < f->lump_high
                       ? dpi_range_at(piece, &r, piece->sign > 0 ? f->lump_high : f->lump_low)
                       : r.x_low;
    double s_low = ops->excess(piece, x_low), s_high = ops->excess(piece, r.x_high);
    int64_t first = (int64_t)floor(((rises ? s_low : -s_high) - f->shift) / dx);
    int64_t last = (int64_t)floor(((rises ? s_high : -s_low) - f->shift) / dx);
    put_end(f, first + 1, ops->tail(piece, rises ? r.x_low : r.x_high, rises ? -1 : 1));
    first = first < f->least ? f->least : first;
    last = last > f->most - 1 ? f->most - 1 : last;
    if (x_low < r.x_high)
        add_bins(f, piece, first, last, &(dpi_range){.x_low = x_low, .x_high = r.x_high});
    m->infinite += ops->tail(piece, rises ? r.x_high : r.x_low, rises ? 1 : -1);
    double exponents = f->grid->tilt * (double)(r.last - r.first + 2) * dx;
    double error = ops->excess_error(piece, r.x_low, r.x_high);
    double quick = ops->sampled ? DPI_QUICK_ERROR * error : 0;
    m->loss_error = larger(m->loss_error, larger(error, quick));
    m->mass_error = larger(m->mass_error, ops->density_error(piece, r.x_low, r.x_high) + quick +
                                              4 * DBL_EPSILON * (fmin(exponents, 1500) + 64) +
                                              10 * QUADRATURE + 8 * DBL_EPSILON);
}

static void add_atoms(mass_filler *f, double log_cut, dpi_mass *m)
{
    const dpi_pair *pair = f->pair;
    atom_range r = atoms_for(pair, log_cut);
    if (pair->n_atoms == 0)
        return;
    for (size_t i = r.first; i < r.last; i++)
        add_atom(f, i);
    m->infinite += r.above * (1 + SUMMATION);
    if (r.first > 0)
        put_end(f, (int64_t)floor(pair->atom[r.first - 1].offset / f->grid->spacing) + 1,
                r.below * (1 + SUMMATION));
    double reach = fmax(fabs(pair->atom[0].offset), fabs(pair->atom[pair->n_atoms - 1].offset));
    m->loss_error = larger(m->loss_error,
                           pair->offset_error + 2 * DBL_EPSILON * reach + MEETS * f->grid->spacing);
    m->mass_error =
        larger(m->mass_error, pair->mass_error + 4 * DBL_EPSILON * (f->grid->tilt * reach + 64));
}

static mass_filler filler_of(const dpi_pair *pair, const dpi_knots *grid, double log_cut,
                             double *data)
{
    mass_filler f = {.pair = pair, .grid = grid, .data = data, .low = INT64_MAX, .high = INT64_MIN};
    /* Tilts are 1 at the knot with mass nearest to the base, when all losses lie on one side. */
    int way = dpi_way_of(pair);
    f.origin = way != 0 ? way * nearest_knot(pair, grid, log_cut) : 0;
    f.least = INT64_MIN;
    f.most = INT64_MAX;
    f.spread = -expm1(-grid->spacing);
    f.step_up = exp(grid->tilt * grid->spacing);
    f.tail_step_up = exp(grid->tail_tilt * grid->spacing);
    return f;
}

static void fill(mass_filler *f, double log_cut, dpi_mass *mass)
{
    for (size_t i = 0; i < f->pair->n_pieces; i++)
        add_piece(f, &f->pair->piece[i], log_cut, mass);
    add_atoms(f, log_cut, mass);
}

/* Scaling turns tilts around the origin into tilts around knot 0. */
static void finish(const mass_filler *f, double sum, dpi_mass *mass)
{
    double exponent = f->grid->tilt * (double)f->origin * f->grid->spacing;
    mass->log_sum = log(sum) + exponent;
    mass->log_error = 4 * DBL_EPSILON * (fabs(log(sum)) + fabs(exponent) + 4);
    mass->gap = f->gap / sum;
    mass->top = f->high;
    mass->bottom = f->low;
}

void dpi_mass_upper(const dpi_pair *pair, const dpi_knots *grid, double log_cut, double *data,
                    dpi_mass *mass)
{
    mass_filler f = filler_of(pair, grid, log_cut, data);
    *mass = (dpi_mass){.infinite = pair->infinite + pair->lost};
    fill(&f, log_cut, mass);
    finish(&f, normalise(grid, data, f.low, f.high), mass);
    double exponent = grid->tail_tilt * (double)f.origin * grid->spacing;
    mass->log_tail_sum = log(f.tail_sum) + exponent + SUMMATION + 4 * DBL_EPSILON * fabs(exponent);
}

/* As many knots as the window has: from the nearest loss on, from the top down where there is one,
 * or around the base. */
static void make_room(mass_filler *f, double log_cut)
{
    const int64_t margin = 8, room = (int64_t)f->grid->size - 3 * margin;
    int way = dpi_way_of(f->pair);
    double top = dpi_pair_top(f->pair) - f->pair->base;
    if (way > 0)
        f->least = nearest_knot(f->pair, f->grid, log_cut) - margin;
    else if (way < 0)
        f->least = margin - nearest_knot(f->pair, f->grid, log_cut) - room;
    else if (top < INFINITY)
        f->least = (int64_t)ceil((top - f->shift) / f->grid->spacing) + margin - room;
    else
        f->least = -room / 2;
    f->most = f->least + room;
}

/* All outcomes merged into one, of loss 0: where the spacing is too wide for anything better.  In a
 * list with terms of very different sizes the small ones cost little that way. */
static void tell_nothing(const dpi_pair *pair, double *data, dpi_mass *mass)
{
    data[0] = 1;
    *mass = (dpi_mass){.shift = -pair->base};
}

void dpi_mass_lower(const dpi_pair *pair, const dpi_knots *grid, double log_cut, double *data,
                    double *work, dpi_mass *mass)
{
    mass_filler f = filler_of(pair, grid, log_cut, work);
    dpi_lumps lumps = dpi_lumps_of(pair, grid, log_cut);
    f.gap_data = data;
    f.shift = lumps.shift;
    f.lump_low = lumps.low;
    f.lump_high = lumps.high;
    make_room(&f, log_cut);
    *mass = (dpi_mass){.shift = f.shift};
    fill(&f, log_cut, mass);
    /* What quadrature adds to both knots of a bin moves losses by less than this. */
    mass->loss_error += 6 * QUADRATURE * grid->spacing;
    for (int k = 0; k < 2; k++)
        if (lumps.mass[k] > 0)
            put_mass(&f, lumps.way * k, lumps.mass[k]);
    if (f.low < f.high && dpi_lower_masses(grid, f.low, f.high, work, data))
        finish(&f, normalise(grid, data, f.low - 1, f.high), mass);
    else
        tell_nothing(pair, data, mass);
}
