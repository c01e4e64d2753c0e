/* Choice of the grid.
 *
 * Spacing: splitting losses onto knots dx apart adds about dx^2 c(c+1) / 12 to K(c), so T steps add
 * w = T dx^2 c(c+1) / 12 to log delta, which is w / c in epsilon (c the saddle's tilt).
 *
 * Window: tilted by c, a circular convolution of length Lam adds e^(k c Lam) delta(eps + k Lam) for
 * every k != 0: all terms are positive, so the bound stays one.  For k = -1 that is at most
 * e^(-c Lam); for k = 1, by Markov's inequality at any c' > c,
 *     e^(c Lam) exp(T K(c') - c' (eps + Lam)) c'^c' / (1+c')^(1+c').
 * Both must be small against delta.
 *
 * Rounding of the FFT: T e (fft.c) in every tilted mass, for delta about T e times the second-order
 * estimate of saddle.c at the tilt used instead of the saddle's.
 *
 * Losses on a lattice get knots on it: nothing is then split, and a lower bound need not be rounded
 * down.
 *
 * The tilt with the shortest window is taken among those whose rounding is small enough. */
#include "accountant/grid/plan.h"

#include <math.h>

#include "accountant/grid/blend.h"
#include "accountant/grid/fft.h"
#include "accountant/grid/lump.h"

enum {
    BELOW = 12,
    ABOVE = 30,
    N_TILTS = BELOW + 1 + ABOVE,
    MIN_POINTS = 1 << 10,
    PLANNED_POINTS = 1 << 24 /* for which rounding is estimated */
};

static const double TILT_STEP = 1.15;
static const double CHEAP_POINTS = 1 << 20;
static const double MAX_SPACING = 0.15;
static const double MAX_EXCESS = 1; /* of log delta; more would move the loss out of the window */

/* log of sup over l of (1 - e^-l)_+ e^(-c l). */
static double log_kernel(double c)
{
    return c * log(c) - (1 + c) * log1p(c);
}

/* The tilts looked at. */
typedef struct tilts {
    double tilt[N_TILTS];
    double bound[N_TILTS]; /* T K(c) - c eps */
    double noise[N_TILTS]; /* log of the FFT's rounding in delta */
} tilts;

static void fill_tilts(tilts *t, const dpi_loss_law *law, const dpi_saddle *saddle)
{
    double offset = saddle->epsilon - law->base;
    double rounding = log(law->steps * dpi_fft_error(PLANNED_POINTS));
    for (int m = 0; m < N_TILTS; m++) {
        double c = saddle->tilt * pow(TILT_STEP, m - BELOW), variance = 0;
        t->tilt[m] = c;
        t->bound[m] = dpi_loss_law_cumulant(law, c, NULL, &variance) - c * offset;
        t->noise[m] = rounding + t->bound[m] - log(c) - log1p(c) -
                      0.5 * log(2 * M_PI * (variance + 1 / (c * c)));
    }
}

typedef struct window {
    double length, tilt, tail_tilt;
} window;

/* Shortest window for tilt number m, and the tail's tilt that shows it. */
static window window_for(const tilts *t, int m, double log_alias)
{
    double c = t->tilt[m];
    window w = {.length = INFINITY, .tilt = c, .tail_tilt = c};
    for (int k = m + 1; k < N_TILTS; k++) {
        double length = (t->bound[k] + log_kernel(t->tilt[k]) - log_alias) / (t->tilt[k] - c);
        if (length < w.length) {
            w.length = length;
            w.tail_tilt = t->tilt[k];
        }
    }
    w.length = fmax(w.length, -log_alias / c);
    return w;
}

static window shortest_window(const tilts *t, double log_alias, double log_noise)
{
    double least_noise = INFINITY;
    for (int m = 0; m + 1 < N_TILTS; m++)
        least_noise = fmin(least_noise, t->noise[m]);
    window best = {.length = INFINITY};
    for (int m = 0; m + 1 < N_TILTS; m++) {
        window w = window_for(t, m, log_alias);
        if (t->noise[m] <= fmax(log_noise, least_noise + 0.1) && w.length < best.length)
            best = w;
    }
    return best;
}

/* Points that a power of two has beyond those needed make it finer, by no more than this: another
 * round costs more, but knots cost, too. */
static const double FINER = 0.75;

static double spacing_for(const dpi_saddle *saddle, double steps, double excess)
{
    double c = saddle->tilt;
    return fmin(MAX_SPACING, sqrt(12 * excess / (steps * c * (c + 1))));
}

/* Power of two not below `points`; 0 when that is too many. */
static size_t round_up(double points)
{
    size_t n = MIN_POINTS;
    while (n < DPI_MAX_POINTS && (double)n < points)
        n *= 2;
    return (double)n < points ? 0 : n;
}

/* Distance that all offsets of a pair's atoms are multiples of, or 0: then knots can meet the
 * atoms. */
static double lattice_of(const dpi_pair *pair)
{
    size_t n = pair->n_atoms, met = 0;
    const dpi_atom *atom = pair->atom;
    double period = n < 2 ? 0 : atom[1].offset - atom[0].offset;
    for (int half = 0; half < 2 && period > 0; half++, period /= 2) {
        double close = 1e-10 * (fabs(atom[0].offset) + fabs(atom[n - 1].offset));
        for (met = 0; met < n && fabs(remainder(atom[met].offset, period)) <= close;)
            met++;
        if (met == n)
            return period;
    }
    return 0;
}

/* The spacing next below dx with a knot on every atom of the first pair that lies on a lattice. */
static double align(const dpi_loss_law *law, double dx)
{
    for (size_t i = 0; i < law->n; i++) {
        double period = lattice_of(law->term[i].pair);
        if (period > 0.5 * dx)
            return period / ceil(period / dx);
    }
    return dx;
}

/* How far below epsilon the window starts.  Beside a Gaussian release smaller losses matter, too,
 * as far as its own delta reaches or there are any. */
static double reach_below(const dpi_loss_law *law, const dpi_saddle *saddle, double margin,
                          double log_small)
{
    if (!(law->normal_mu > 0))
        return margin;
    double reach = fmax(margin, dpi_blend_reach(law->normal_mu, log_small));
    for (size_t i = 0; i < law->n; i++)
        if (dpi_way_of(law->term[i].pair) <= 0)
            return reach;
    return fmin(reach, fmax(saddle->epsilon - law->base, 0) + 1e-9);
}

bool dpi_plan_grid(const dpi_loss_law *law, const dpi_saddle *saddle, const dpi_aim *aim,
                   double bottom_margin, double log_cut, dpi_knots *grid)
{
    double unit = fmax(0, saddle->tilt * saddle->epsilon); /* epsilon in terms of log delta */
    double excess = fmin(fmax(aim->width * unit, aim->slack), MAX_EXCESS);
    double log_delta = fmax(fmin(saddle->log_delta, -1e-3), -550);
    tilts t;
    fill_tilts(&t, law, saddle);
    window w = shortest_window(&t, log_delta + log(aim->alias * excess),
                               log_delta + log(aim->noise * excess));
    double below = reach_below(law, saddle, bottom_margin * (1 / saddle->tilt + 0.03 * w.length),
                               log_delta + log(aim->alias * excess));
    double length = w.length * 1.02 + below;
    if (!(length < INFINITY))
        return false;
    double dx = spacing_for(saddle, law->steps, excess);
    double widest =
        spacing_for(saddle, law->steps, fmax(excess, fmin(aim->widest * unit, MAX_EXCESS)));
    dx = align(law, fmin(widest, fmax(dx, length / CHEAP_POINTS)));
    const size_t size = round_up(length / dx);
    if (size > 0)
        dx = fmin(dx, align(law, fmax(length / (double)size, FINER * dx)));
    *grid = (dpi_knots){.size = size, .spacing = dx, .tilt = w.tilt, .tail_tilt = w.tail_tilt};
    for (size_t i = 0; grid->size > 0 && i < law->n; i++)
        if (dpi_mass_knots(law->term[i].pair, grid, log_cut) > DPI_MAX_POINTS)
            return false;
    if (grid->size == 0)
        return false;
    double bottom = saddle->epsilon - below - law->base;
    if (!(fabs(bottom / dx) < 0x1p52))
        return false;
    grid->low = (int64_t)floor(bottom / dx) - 1;
    return true;
}
