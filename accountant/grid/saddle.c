/* Saddle-point estimate of delta(epsilon).
 *
 * delta(eps) = (1 / 2 pi i) int exp(T K(z) - z eps) / (z (z+1)) dz along Re z = c > 0, for any c
 * (Alghamdi et al., ICML 2023).  The integrand is smallest along the real line where
 *     eps = T K'(c) - 1/c - 1/(c+1),
 * and there the second-order expansion gives
 *     log delta ~ T K(c) - c eps - log c - log(c+1) - log(2 pi V) / 2,  V = T K'' + c^-2 +
 *     (c+1)^-2.
 * eps rises and delta falls with c, so both queries are bisections on log c. */
#include "accountant/grid/saddle.h"

#include <math.h>

#include "accountant/grid/blend.h"
#include "base/alloc.h"
#include "num/linalg.h"

static const double FAR = 300; /* exponents beyond which a shift is worth it */

enum { MAX_NODES = 1 << 16, PANELS = 600, BISECTIONS = 48 };

/* Trapezoidal rule over the range of one piece. */
typedef struct stretch {
    double low, h;
    size_t n;
} stretch;

static stretch stretch_of(const dpi_piece *piece, double log_cut)
{
    double low = piece->ops->quantile(piece, log_cut, -1);
    double high = fmax(piece->ops->quantile(piece, log_cut, 1), low);
    double step = piece->ops->step(piece, 0);
    double h = fmax(step > 0 ? step : (high - low) / PANELS, (high - low) / MAX_NODES);
    stretch s = {.low = low, .n = high > low ? (size_t)((high - low) / h) + 3 : 1};
    s.h = s.n > 1 ? (high - low) / (double)(s.n - 1) : 0;
    return s;
}

static void fill(const dpi_piece *piece, const stretch *s, double *weight, double *offset)
{
    for (size_t j = 0; j < s->n; j++) {
        double x = s->low + (double)j * s->h;
        double excess = piece->ops->excess(piece, x);
        weight[j] = s->h * exp(piece->ops->log_density(piece, x, excess));
        offset[j] = piece->sign * excess;
    }
    weight[0] /= 2;
    weight[s->n - 1] /= 2;
}

bool dpi_nodes_new(const dpi_pair *pair, double log_cut, dpi_nodes *nodes)
{
    stretch s[DPI_MAX_PIECES];
    size_t n = pair->n_atoms;
    for (size_t i = 0; i < pair->n_pieces; i++) {
        s[i] = stretch_of(&pair->piece[i], log_cut);
        n += s[i].n;
    }
    nodes->n = n;
    nodes->weight = dpi_alloc(n, 2 * sizeof(double));
    if (nodes->weight == NULL)
        return false;
    nodes->offset = nodes->weight + n;
    size_t done = 0;
    for (size_t i = 0; i < pair->n_pieces; done += s[i++].n)
        fill(&pair->piece[i], &s[i], nodes->weight + done, nodes->offset + done);
    double cut = exp(log_cut), above = 0;
    for (size_t j = pair->n_atoms; j-- > 0;) {
        above += pair->atom[j].mass;
        nodes->weight[done + j] = above > cut ? pair->atom[j].mass : 0;
        nodes->offset[done + j] = above > cut ? pair->atom[j].offset : 0;
    }
    return true;
}

void dpi_nodes_free(dpi_nodes *nodes)
{
    dpi_free(nodes->weight);
    *nodes = (dpi_nodes){0};
}

/* Losses far from the base, all on one side of it, overflow or vanish at tilts that are moderate
 * for them: of these the nearest is taken off. */
static double shift_of(const dpi_nodes *nodes, double c)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t j = 0; j < nodes->n; j++) {
        low = nodes->offset[j] < low ? nodes->offset[j] : low;
        high = nodes->offset[j] > high ? nodes->offset[j] : high;
    }
    const double nearest = low > 0 ? low : high < 0 ? high : 0;
    return fabs(c * nearest) > FAR ? c * nearest : 0;
}

double dpi_cumulant(const dpi_nodes *nodes, double c, double *mean, double *variance)
{
    double sum = 0, excess = 0, first = 0, second = 0, shift = shift_of(nodes, c);
    for (size_t j = 0; j < nodes->n; j++) {
        double l = nodes->offset[j];
        double t = c * l - shift;
        double e = exp(t);
        double p = nodes->weight[j] * e;
        sum += p;
        excess += nodes->weight[j] * (fabs(t) < 0.5 ? expm1(t) : e - 1);
        first += p * l;
        second += p * l * l;
    }
    if (!(sum < INFINITY) || sum <= 0)
        return INFINITY;
    if (mean != NULL)
        *mean = first / sum;
    if (variance != NULL)
        *variance = fmax(0, second / sum - (first / sum) * (first / sum));
    return shift + (fabs(excess) < 0.5 ? log1p(excess) : log(sum));
}

/* mu of all unsampled Gaussians, where they are to stand apart; else 0. */
static double normal_apart(const dpi_pair_times *term, size_t n)
{
    double squares = 0, lost = 0;
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        double mu = term[i].pair->normal_mu, square = term[i].times * mu * mu;
        dpi_add_compensated(1, &square, &squares, &lost);
        others += !(mu > 0);
    }
    double mu = sqrt(squares);
    return others > 0 && mu >= DPI_LEAST_BLENDED ? mu : 0;
}

bool dpi_loss_law_new(const dpi_pair_times *term, size_t n, dpi_loss_law *law)
{
    *law = (dpi_loss_law){.normal_mu = normal_apart(term, n)};
    law->term = dpi_alloc(n, sizeof *law->term);
    law->nodes = dpi_alloc(n, sizeof *law->nodes);
    if (law->term == NULL || law->nodes == NULL)
        return false;
    double lost = 0;
    for (size_t i = 0; i < n; i++) {
        if (law->normal_mu > 0 && term[i].pair->normal_mu > 0)
            continue;
        law->term[law->n++] = term[i];
        law->steps += term[i].times;
        const double base = term[i].times * term[i].pair->base;
        dpi_add_compensated(1, &base, &law->base, &lost);
        law->base_size += fabs(base);
    }
    return true;
}

bool dpi_loss_law_look(dpi_loss_law *law, double log_cut)
{
    for (size_t i = 0; i < law->n; i++) {
        dpi_nodes_free(&law->nodes[i]);
        if (!dpi_nodes_new(law->term[i].pair, log_cut, &law->nodes[i]))
            return false;
    }
    return true;
}

void dpi_loss_law_free(dpi_loss_law *law)
{
    for (size_t i = 0; law->nodes != NULL && i < law->n; i++)
        dpi_nodes_free(&law->nodes[i]);
    dpi_free(law->nodes);
    dpi_free(law->term);
    *law = (dpi_loss_law){0};
}

double dpi_loss_law_cumulant(const dpi_loss_law *law, double c, double *mean, double *variance)
{
    double square = law->normal_mu * law->normal_mu;
    double k = square * c * (c + 1) / 2, first = square * (c + 0.5), second = square;
    for (size_t i = 0; i < law->n; i++) {
        double times = law->term[i].times, m = 0, v = 0;
        k += times * dpi_cumulant(&law->nodes[i], c, &m, &v);
        first += times * m;
        second += times * v;
    }
    if (mean != NULL)
        *mean = first;
    if (variance != NULL)
        *variance = second;
    return k;
}

/* Epsilon is INFINITY and log delta -INFINITY where K overflows. */
static dpi_saddle saddle_at(const dpi_loss_law *law, double c)
{
    double mean = 0, variance = 0;
    double k = dpi_loss_law_cumulant(law, c, &mean, &variance);
    if (!(k < INFINITY))
        return (dpi_saddle){.tilt = c, .epsilon = INFINITY, .log_delta = -INFINITY};
    double eps = law->base + mean - 1 / c - 1 / (1 + c);
    double v = variance + 1 / (c * c) + 1 / ((1 + c) * (1 + c));
    double log_delta = k - c * (eps - law->base) - log(c) - log1p(c) - 0.5 * log(2 * M_PI * v);
    return (dpi_saddle){.tilt = c, .epsilon = eps, .log_delta = log_delta};
}

/* Tilts looked at.  A loss bounded above can ask for any tilt, the closer epsilon is to the bound;
 * beyond 1e9 / bound nothing is left to resolve. */
static double largest_tilt(const dpi_loss_law *law)
{
    double top = law->normal_mu > 0 ? INFINITY : 0;
    for (size_t i = 0; i < law->n; i++)
        top += law->term[i].times * dpi_pair_top(law->term[i].pair);
    return top > 0 && top < INFINITY ? fmin(1e9, 1e9 / top) : 1e9;
}

dpi_saddle dpi_saddle_for_delta(const dpi_loss_law *law, double log_delta)
{
    double low = 1e-9, high = largest_tilt(law);
    for (int i = 0; i < BISECTIONS && high > low * 1.0001; i++) {
        double middle = sqrt(low * high);
        if (saddle_at(law, middle).log_delta > log_delta)
            low = middle;
        else
            high = middle;
    }
    return saddle_at(law, low);
}

dpi_saddle dpi_saddle_for_epsilon(const dpi_loss_law *law, double epsilon)
{
    double low = 1e-9, high = largest_tilt(law);
    for (int i = 0; i < BISECTIONS && high > low * 1.0001; i++) {
        double middle = sqrt(low * high);
        if (saddle_at(law, middle).epsilon < epsilon)
            low = middle;
        else
            high = middle;
    }
    return saddle_at(law, low);
}
