/* Lumps.
 *
 * To merge outcomes is post-processing: the pair of what is left is dominated by the pair.  All
 * losses of an interval become one, at the loss -log(Q-mass / P-mass).  At small sampling rates
 * most of the mass lies within much less than a spacing of the base; lower masses (lower.c) would
 * lose a part of it at their lowest knot.
 *
 * Losses above the base: lump 0 takes [0, b), its place is the knot 0, and b is chosen half a
 * spacing above it; lump 1 takes [b, b'), with b' such that it lies one spacing above lump 0.  From
 * b' on the grid takes over; what its lowest gap takes away comes from lump 1.  Losses below the
 * base: the same, mirrored.
 *
 * Losses on both sides: one lump takes what lies within a little more than one spacing of the base.
 *
 * Places are rounded down: errors of quadrature and rounding are below SURE of the mean offset. */
#include "accountant/grid/lump.h"

#include <math.h>

#include "accountant/grid/quadrature.h"

enum { TURNS = 4, BISECTIONS = 40 };

static const double SURE = 1e-12;
static const double REACH = 1.01;

typedef struct lump {
    double mass, moment, size; /* of P, of 1 - e^-offset, of |offset| */
} lump;

int dpi_way_of(const dpi_pair *pair)
{
    int way = pair->n_atoms > 0 || pair->n_pieces == 0 ? 0 : pair->piece[0].sign;
    for (size_t i = 1; i < pair->n_pieces; i++)
        way = pair->piece[i].sign == way ? way : 0;
    return way;
}

static void add(lump *l, double mass, double offset)
{
    l->mass += mass;
    l->moment += mass * -expm1(-offset);
    l->size += mass * fabs(offset);
}

static void add_piece(lump *l, const dpi_piece *piece, const dpi_range *r, double low, double high)
{
    double first = dpi_range_at(piece, r, piece->sign > 0 ? low : high);
    double end = dpi_range_at(piece, r, piece->sign > 0 ? high : low);
    for (double x = first, next; x < end; x = next) {
        dpi_abscissa nodes[DPI_MAX_NODES];
        next = dpi_stretch_end(piece, x, end);
        for (int i = 0, n = dpi_stretch_nodes(piece, x, next, 0, nodes); i < n; i++)
            add(l, nodes[i].mass, nodes[i].offset);
    }
}

/* Losses with offsets in (low, high). */
static lump lump_of(const dpi_pair *pair, const dpi_knots *grid, double log_cut, double low,
                    double high)
{
    lump l = {0};
    for (size_t i = 0; i < pair->n_pieces; i++) {
        dpi_range r = dpi_range_of(&pair->piece[i], grid, log_cut);
        add_piece(&l, &pair->piece[i], &r, low, high);
    }
    for (size_t i = 0; i < pair->n_atoms; i++)
        if (pair->atom[i].offset > low && pair->atom[i].offset < high)
            add(&l, pair->atom[i].mass, pair->atom[i].offset);
    return l;
}

static double place_of(const lump *l)
{
    return l->mass > 0 ? -log1p(-l->moment / l->mass) - SURE * l->size / l->mass : 0;
}

static dpi_lumps around_base(const dpi_pair *pair, const dpi_knots *grid, double log_cut)
{
    dpi_lumps lumps = {.way = 1};
    for (int i = 0; i < TURNS; i++) {
        lumps.low = lumps.shift - REACH * grid->spacing;
        lumps.high = lumps.shift + REACH * grid->spacing;
        lump l = lump_of(pair, grid, log_cut, lumps.low, lumps.high);
        lumps.mass[0] = l.mass;
        lumps.shift = place_of(&l);
    }
    return lumps;
}

/* First lump, next to the base. */
static void first_lump(const dpi_pair *pair, const dpi_knots *grid, double log_cut,
                       dpi_lumps *lumps)
{
    double far = lumps->way > 0 ? -INFINITY : INFINITY;
    for (int i = 0; i < TURNS; i++) {
        double near = lumps->shift + lumps->way * 0.5 * grid->spacing;
        lumps->low = fmin(far, near);
        lumps->high = fmax(far, near);
        lump l = lump_of(pair, grid, log_cut, lumps->low, lumps->high);
        lumps->mass[0] = l.mass;
        lumps->shift = place_of(&l);
    }
}

/* Losses from the end of the first lump as far as `end`. */
static lump lump_to(const dpi_pair *pair, const dpi_knots *grid, double log_cut,
                    const dpi_lumps *lumps, double end)
{
    return lumps->way > 0 ? lump_of(pair, grid, log_cut, lumps->high, end)
                          : lump_of(pair, grid, log_cut, end, lumps->low);
}

static dpi_lumps beside_base(const dpi_pair *pair, const dpi_knots *grid, double log_cut, int way)
{
    dpi_lumps lumps = {.way = way};
    first_lump(pair, grid, log_cut, &lumps);
    double knot = lumps.shift + way * grid->spacing;
    double near = way > 0 ? lumps.high : lumps.low, far = lumps.shift + way * 4 * grid->spacing;
    lump second = lump_to(pair, grid, log_cut, &lumps, far);
    if (!(lumps.mass[0] > 0) || way * (place_of(&second) - knot) < 0)
        return lumps;
    for (int i = 0; i < BISECTIONS && fabs(far - near) > 1e-9 * grid->spacing; i++) {
        double middle = (near + far) / 2;
        second = lump_to(pair, grid, log_cut, &lumps, middle);
        if (second.mass > 0 && way * (place_of(&second) - knot) >= 0)
            far = middle;
        else
            near = middle;
    }
    /* The end at which the lump lies at the knot or above it. */
    double end = way > 0 ? far : near;
    second = lump_to(pair, grid, log_cut, &lumps, end);
    if (second.mass > 0 && place_of(&second) >= knot) {
        lumps.mass[1] = second.mass;
        lumps.low = fmin(lumps.low, end);
        lumps.high = fmax(lumps.high, end);
    }
    return lumps;
}

dpi_lumps dpi_lumps_of(const dpi_pair *pair, const dpi_knots *grid, double log_cut)
{
    int way = dpi_way_of(pair);
    return way == 0 ? around_base(pair, grid, log_cut) : beside_base(pair, grid, log_cut, way);
}
