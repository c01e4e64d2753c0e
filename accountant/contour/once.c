/* delta, P- and Q-tail of one step by quadrature over {x : L(x) > eps}.
 *
 * All terms are positive, so every digit survives at any delta.  Panels of 16-point Gauss-Legendre
 * walk from the edge L(x) = eps outwards, each so wide that the exponents change by about 12, until
 * the bulk is passed and nothing more is added.  Densities are scaled by the one at the edge, so
 * that nothing underflows.  Cost: some 20 panels a piece. */
#include "accountant/contour/once.h"

#include <math.h>
#include <stdbool.h>

#include "accountant/contour/nodes.h"

enum { MAX_PANELS = 100000, BISECTIONS = 200 };

static const double NEGLIGIBLE = 1e-18;
static const double BULK = -45; /* log of the mass that lies beyond what is called bulk */

/* Sums over part of a piece, without the factor e^scale. */
typedef struct panel_sums {
    double scale, delta, p, q;
} panel_sums;

static void add(panel_sums *s, double mass, double above)
{
    s->delta -= mass * expm1(-above);
    s->p += mass;
    s->q += mass * exp(-above);
}

/* The panel from x to x + width (width < 0: to the left). */
static void add_panel(panel_sums *s, const dpi_pair *pair, const dpi_piece *piece, double x,
                      double width, double epsilon)
{
    double node[DPI_GAUSS_ORDER], weight[DPI_GAUSS_ORDER];
    dpi_gauss_panel(fmin(x, x + width), fabs(width), node, weight);
    for (int i = 0; i < DPI_GAUSS_ORDER; i++) {
        double excess = piece->ops->excess(piece, node[i]);
        double density = piece->ops->log_density(piece, node[i], excess);
        double above = pair->base - epsilon + piece->sign * excess;
        add(s, weight[i] * exp(density - s->scale), fmax(above, 0));
    }
}

/* Panels from x towards `end`; the bulk lies before `bulk`. */
static void walk(panel_sums *s, const dpi_pair *pair, const dpi_piece *piece, double x, double end,
                 double bulk, double epsilon)
{
    double way = end > x ? 1 : -1;
    for (int i = 0; i < MAX_PANELS && way * (end - x) > 0; i++) {
        double width = way * dpi_gauss_width(piece, x, fmin(way * (end - x), 1e300), 1, (int)way);
        double before = s->p + s->delta;
        add_panel(s, pair, piece, x, width, epsilon);
        bool past = way * (x - bulk) >= 0;
        x += width;
        if (past && s->p + s->delta - before <= NEGLIGIBLE * before)
            break;
    }
}

/* The piece's part with loss above epsilon. */
static panel_sums piece_sums(const dpi_pair *pair, const dpi_piece *piece, double epsilon)
{
    double low = fmax(piece->from, piece->ops->quantile(piece, BULK, -1));
    double high = fmin(piece->to, piece->ops->quantile(piece, BULK, 1));
    double edge = piece->sign * (epsilon - pair->base), start;
    bool rises = piece->sign > 0;
    if (rises)
        start = edge > piece->shift ? fmax(piece->ops->inverse(piece, edge), low) : low;
    else
        start = edge > piece->shift ? fmin(piece->ops->inverse(piece, edge), high) : -INFINITY;
    panel_sums s = {.scale = -INFINITY};
    if (!(start > -INFINITY && start < INFINITY))
        return s;
    s.scale = piece->ops->log_density(piece, start, piece->ops->excess(piece, start));
    walk(&s, pair, piece, start, rises ? piece->to : piece->from, rises ? high : low, epsilon);
    return s;
}

static double log_add(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

static void gather(dpi_once_answer *all, const panel_sums *s)
{
    all->log_delta = log_add(all->log_delta, s->scale + log(s->delta));
    all->log_p = log_add(all->log_p, s->scale + log(s->p));
    all->log_q = log_add(all->log_q, s->scale + log(s->q));
}

dpi_once_answer dpi_once(const dpi_pair *pair, double epsilon)
{
    double log_infinite = log(pair->infinite);
    dpi_once_answer all = {log_infinite, log_infinite, -INFINITY};
    panel_sums atoms = {.scale = 0};
    for (size_t i = 0; i < pair->n_atoms; i++) {
        double above = pair->base - epsilon + pair->atom[i].offset;
        if (above > 0)
            add(&atoms, pair->atom[i].mass, above);
    }
    gather(&all, &atoms);
    for (size_t i = 0; i < pair->n_pieces; i++) {
        panel_sums s = piece_sums(pair, &pair->piece[i], epsilon);
        if (s.scale > -INFINITY)
            gather(&all, &s);
    }
    all.log_q -= epsilon;
    return all;
}

double dpi_once_epsilon(const dpi_pair *pair, double log_delta)
{
    if (dpi_once(pair, 0).log_delta <= log_delta)
        return 0;
    if (log(pair->infinite) >= log_delta)
        return INFINITY;
    double low = 0, high = 1e-3;
    while (high < 1e300 && dpi_once(pair, high).log_delta > log_delta) {
        low = high;
        high *= 2;
    }
    double x = high;
    for (int i = 0; i < BISECTIONS && high - low > 1e-15 * high; i++) {
        dpi_once_answer here = dpi_once(pair, x);
        if (here.log_delta > log_delta)
            low = x;
        else
            high = x;
        /* The derivative of delta is -Q(L > x) e^x. */
        double step = (here.log_delta - log_delta) * exp(here.log_delta - here.log_q - x);
        double next = x + step;
        if (fabs(step) <= 1e-14 * x)
            return next;
        x = next > low && next < high && i % 8 != 7 ? next : low + (high - low) / 2;
    }
    return high;
}
