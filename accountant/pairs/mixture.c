/* A mixture of sensitivities: the unit moves the sum by mean_j C with probability p_j,
 *     M = sum_j p_j N(mean_j, sigma^2),   B = N(0, sigma^2);   remove: (M, B), add: (B, M).
 * doc/design/mechanisms.md proves that the pair on a line dominates all vectors with these norms.
 *
 * p_0 > 0, the mass at mean 0.  M/B = p_0 (1 + e^g),  g(x) = log sum_{j>0} e^(c_j + mean_j
 * x/sigma^2), c_j = log(p_j / p_0) - mean_j^2 / 2 sigma^2.  One piece over the whole line, base log
 * p_0 (add: its negative), s = log(1 + e^g).
 * p_0 = 0.  L = g with log p_j for log(p_j / p_0), over all of the line.  It is cut at its root: a
 * piece to the right, s = g, and one to the left reflected, s = -g; base 0.
 *
 * g is convex and rises.  Its inverse is Newton's iteration from the right of the root, where it
 * decreases monotonically: g >= each of its terms, so the least root of a single term is there.
 *
 * Parts whose probability is below NEGLIGIBLE are left out.  Of P, for an upper bound: their mass
 * counts as a loss of +INFINITY; for a lower one it is dropped.  Of Q: an upper bound may drop mass
 * of Q, a lower one moves it to the largest mean kept (less sensitivity, less loss).
 *
 * Rounding (u = 2^-53): a term of g errs by (6 (|log weight| + mean^2 / 2 sigma^2) + 5 |mean x| /
 * sigma^2) u and by the error of its weight; terms e^-40 below the largest are left out of the sum
 * (64 e^-40 < 3u), which adds at most 80 u.  s moves by min(1, s) times that plus 4 s u.  What log
 * p_0 is off by counts with s, since the loss is their sum.
 *
 * Roughness: the means of normal.c reach to A = the largest mean instead of 1. */
#include "accountant/pairs/make.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/pairs/normal.h"
#include "base/alloc.h"
#include "base/error.h"

enum { MAX_PARTS = 65, MAX_NEWTON = 100 };

static const double NEGLIGIBLE = 1e-60;
static const double DEEP = 40; /* e^-40 < u / 20 */

/* Parts with mean > 0, and what is at 0. */
struct dpi_mixture {
    size_t n;
    double mean[MAX_PARTS], log_weight[MAX_PARTS];
    double constant[MAX_PARTS]; /* c_j */
    double log_rest;            /* log p_0 */
    double largest;             /* mean */
    double weight_error;        /* of log_weight, absolute */
    double rest_error;          /* of log_rest, absolute, beyond its relative rounding */
};

/* g at r = x / sigma^2, and dg/dr. */
static double log_sum(const dpi_mixture *m, double r, double *slope)
{
    double top = -INFINITY, sum = 0, first = 0;
    for (size_t j = 0; j < m->n; j++)
        top = fmax(top, m->constant[j] + m->mean[j] * r);
    for (size_t j = 0; j < m->n; j++) {
        double t = m->constant[j] + m->mean[j] * r - top;
        if (t < -DEEP)
            continue;
        double e = exp(t);
        sum += e;
        first += m->mean[j] * e;
    }
    *slope = first / sum;
    return top + log(sum);
}

/* The r at which g is `target`. */
static double solve(const dpi_mixture *m, double target)
{
    double r = INFINITY;
    for (size_t j = 0; j < m->n; j++)
        r = fmin(r, (target - m->constant[j]) / m->mean[j]);
    for (int i = 0; i < MAX_NEWTON && isfinite(r); i++) {
        double slope, step = (log_sum(m, r, &slope) - target) / slope;
        if (!(step > 2 * DBL_EPSILON * fabs(r)))
            break;
        r -= step;
    }
    return r;
}

static double clip(const dpi_piece *piece, double x)
{
    return fmin(fmax(x, piece->from), piece->to);
}

static double variance(const dpi_piece *piece)
{
    return piece->sigma * piece->sigma;
}

static double whole_excess(const dpi_piece *piece, double x)
{
    double slope, g = log_sum(piece->mixture, x / variance(piece), &slope);
    return g > 30 ? g + log1p(exp(-g)) : log1p(exp(g));
}

static double whole_inverse(const dpi_piece *piece, double s)
{
    double g = s > 30 ? s + log1p(-exp(-s)) : log(expm1(s));
    return clip(piece, variance(piece) * solve(piece->mixture, g));
}

/* A cut piece is turned by `mirror`: its x counts away from the root of the loss. */
static double cut_excess(const dpi_piece *piece, double x)
{
    double slope, g = log_sum(piece->mixture, piece->mirror * x / variance(piece), &slope);
    return fmax(0, piece->mirror * g);
}

static double cut_inverse(const dpi_piece *piece, double s)
{
    return clip(piece, piece->mirror * variance(piece) * solve(piece->mixture, piece->mirror * s));
}

/* P = B. */
static double log_plain_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    return dpi_normal_log(piece, x, 0);
}

/* P = M. */
static double log_whole_density(const dpi_piece *piece, double x, double s)
{
    return dpi_normal_log(piece, x, 0) + piece->mixture->log_rest + s;
}

static double log_cut_density(const dpi_piece *piece, double x, double s)
{
    return dpi_normal_log(piece, x, 0) + piece->mirror * s;
}

static double roughness(const dpi_piece *piece, double x)
{
    double sigma = piece->sigma;
    return (fabs(x) + sigma / 4 + piece->mixture->largest) / variance(piece) + 1 / sigma;
}

static double plain_quantile(const dpi_piece *piece, double log_p, int side)
{
    double end = side < 0 ? piece->from : piece->to;
    return isfinite(end) ? end : clip(piece, side * piece->sigma * dpi_normal_quantile(log_p));
}

static double mixed_quantile(const dpi_piece *piece, double log_p, int side)
{
    const dpi_mixture *m = piece->mixture;
    double end = side < 0 ? piece->from : piece->to;
    if (isfinite(end))
        return end;
    double far = -INFINITY;
    if (m->log_rest > -INFINITY)
        far = piece->sigma * dpi_normal_quantile(log_p - m->log_rest);
    for (size_t j = 0; j < m->n; j++)
        far = fmax(far, side * piece->mirror * m->mean[j] +
                            piece->sigma * dpi_normal_quantile(log_p - m->log_weight[j]));
    return clip(piece, side * far);
}

static double plain_tail(const dpi_piece *piece, double x, int side)
{
    if (side < 0 ? x <= piece->from : x >= piece->to)
        return 0;
    return dpi_normal_tail(side * x / piece->sigma);
}

static double mixed_tail(const dpi_piece *piece, double x, int side)
{
    const dpi_mixture *m = piece->mixture;
    if (side < 0 ? x <= piece->from : x >= piece->to)
        return 0;
    double sum = exp(m->log_rest) * dpi_normal_tail(side * x / piece->sigma);
    for (size_t j = 0; j < m->n; j++)
        sum += exp(m->log_weight[j]) *
               dpi_normal_tail(side * (x - piece->mirror * m->mean[j]) / piece->sigma);
    return sum * (1 + 1e-12 + 2 * m->weight_error);
}

/* Bound on the error of g. */
static double log_sum_error(const dpi_piece *piece, double x_low, double x_high)
{
    const dpi_mixture *m = piece->mixture;
    double r = fmax(fabs(x_low), fabs(x_high)) / variance(piece), worst = 0;
    for (size_t j = 0; j < m->n; j++) {
        double half = m->mean[j] * m->mean[j] / (2 * variance(piece));
        double weight = fabs(m->constant[j]) + half;
        worst = fmax(worst, 6 * (weight + half) + 5 * m->mean[j] * r);
    }
    return DPI_UNIT * (worst + 80) + m->weight_error;
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    double s = piece->ops->excess(piece, x_high);
    bool whole = !isfinite(piece->from);
    return log_sum_error(piece, x_low, x_high) * (whole ? fmin(1, s) : 1) + 4 * DPI_UNIT * s +
           piece->mixture->rest_error;
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    double far = fmax(fabs(x_low), fabs(x_high));
    double error = dpi_normal_log_error(piece, far);
    if (piece->share > 0) { /* P = M */
        double rest = piece->mixture->log_rest;
        double s = fmax(piece->ops->excess(piece, x_low), piece->ops->excess(piece, x_high));
        error += excess_error(piece, x_low, x_high) +
                 DPI_UNIT * 4 * (s + (isfinite(rest) ? fabs(rest) : 0));
    }
    return error;
}

/* The loss keeps its analytic continuation while no two terms differ in phase by pi. */
static double step(const dpi_piece *piece, double u)
{
    const double digits = 32;
    double sigma = piece->sigma, reach = piece->mixture->largest;
    double d = fmin(sigma * sqrt(2 * digits), 1.5 * sigma * sigma / reach);
    return 2 * M_PI * d /
           (digits + d * d / (2 * variance(piece)) + fabs(u) * d * reach / variance(piece));
}

static const dpi_piece_ops whole_remove = {
    whole_excess, whole_inverse, log_whole_density, roughness, mixed_quantile,
    mixed_tail,   excess_error,  density_error,     step,      false};
static const dpi_piece_ops whole_add = {
    whole_excess, whole_inverse, log_plain_density, roughness, plain_quantile,
    plain_tail,   excess_error,  density_error,     step,      false};
static const dpi_piece_ops cut_remove = {
    cut_excess, cut_inverse,  log_cut_density, roughness,   mixed_quantile,
    mixed_tail, excess_error, density_error,   dpi_no_step, false};
static const dpi_piece_ops cut_add = {cut_excess,     cut_inverse, log_plain_density, roughness,
                                      plain_quantile, plain_tail,  excess_error,      density_error,
                                      dpi_no_step,    false};

static dpi_piece piece_of(const dpi_mixture *m, double sigma, dpi_direction direction, int mirror)
{
    bool remove = direction == DPI_REMOVE;
    return (dpi_piece){.sign = remove ? mirror : -mirror,
                       .from = -INFINITY,
                       .to = INFINITY,
                       .weight = 1,
                       .sigma = sigma,
                       .share = remove,
                       .mirror = mirror,
                       .log_scale = dpi_normal_log_scale(1, sigma),
                       .mixture = m};
}

static void fill_whole(dpi_pair *pair, const dpi_mixture *m, double sigma, dpi_direction direction)
{
    bool remove = direction == DPI_REMOVE;
    pair->n_pieces = 1;
    pair->base = remove ? m->log_rest : -m->log_rest;
    pair->piece[0] = piece_of(m, sigma, direction, 1);
    pair->piece[0].ops = remove ? &whole_remove : &whole_add;
}

static void fill_cut(dpi_pair *pair, const dpi_mixture *m, double sigma, dpi_direction direction)
{
    double root = sigma * sigma * solve(m, 0);
    pair->n_pieces = 2;
    for (int i = 0; i < 2; i++) {
        int mirror = i == 0 ? 1 : -1;
        pair->piece[i] = piece_of(m, sigma, direction, mirror);
        pair->piece[i].ops = direction == DPI_REMOVE ? &cut_remove : &cut_add;
        pair->piece[i].from = mirror * root;
    }
}

/* Leaves out what is negligible; says how much. */
static double leave_out(dpi_mixture *m)
{
    size_t kept = 0;
    double out = 0;
    for (size_t j = 0; j < m->n; j++) {
        if (m->log_weight[j] < log(NEGLIGIBLE)) {
            out += exp(m->log_weight[j]) * (1 + 1e-9) + DBL_MIN;
            continue;
        }
        m->mean[kept] = m->mean[j];
        m->log_weight[kept++] = m->log_weight[j];
    }
    m->n = kept;
    return out;
}

static void set_constants(dpi_mixture *m, double sigma)
{
    double rest = isfinite(m->log_rest) ? m->log_rest : 0;
    for (size_t j = 0; j < m->n; j++) {
        m->constant[j] = m->log_weight[j] - rest - m->mean[j] * m->mean[j] / (2 * sigma * sigma);
        m->largest = fmax(m->largest, m->mean[j]);
    }
}

/* Q's negligible mass, on the largest mean. */
static void move_down(dpi_mixture *m, double mass)
{
    size_t top = 0;
    for (size_t j = 1; j < m->n; j++)
        if (m->mean[j] > m->mean[top])
            top = j;
    m->log_weight[top] += log1p(mass * exp(-m->log_weight[top]));
}

/* No part has a mean above 0: nothing is ever lost. */
static dp_status make_still(double infinite, dpi_pair *pair, dp_error *err)
{
    pair->atom = dpi_alloc(1, sizeof *pair->atom);
    if (pair->atom == NULL)
        return dpi_fail_nomem(err);
    pair->n_atoms = 1;
    pair->atom[0] = (dpi_atom){0, 1};
    pair->infinite = infinite;
    return DP_OK;
}

/* The pair of given parts; `m` belongs to it afterwards. */
static dp_status make(dpi_mixture *m, double sigma, dpi_direction direction, dpi_side side,
                      dpi_pair *pair, dp_error *err)
{
    double out = leave_out(m);
    double infinite = direction == DPI_REMOVE && side == DPI_UPPER ? out : 0;
    if (out > 0 && m->n > 0 && direction == DPI_ADD && side == DPI_LOWER)
        move_down(m, out);
    *pair = (dpi_pair){.infinite = infinite, .owned = m};
    if (m->n == 0)
        return make_still(side == DPI_UPPER ? out : 0, pair, err);
    set_constants(m, sigma);
    if (isfinite(m->log_rest)) {
        fill_whole(pair, m, sigma, direction);
    } else if (m->n == 1) {
        double one = m->mean[0];
        dpi_free(m);
        *pair = dpi_make_full(sigma / one);
        pair->infinite = infinite;
    } else {
        fill_cut(pair, m, sigma, direction);
    }
    return DP_OK;
}

static dp_status finish(dp_status status, dpi_pair *pair)
{
    if (status != DP_OK)
        dpi_pair_free(pair);
    return status;
}

dp_status dpi_make_jumps(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                         dpi_pair *pair, dp_error *err)
{
    *pair = (dpi_pair){0};
    dpi_mixture *x = dpi_alloc(1, sizeof *x);
    if (x == NULL)
        return dpi_fail_nomem(err);
    double sum = 0, rest = 0;
    for (size_t j = 0; j < m->n_jumps; j++)
        sum += m->chances[j];
    for (size_t j = 0; j < m->n_jumps; j++) {
        if (m->jumps[j] == 0)
            rest += m->chances[j] / sum;
        else if (m->chances[j] > 0) {
            x->mean[x->n] = m->jumps[j];
            x->log_weight[x->n++] = log(m->chances[j] / sum);
        }
    }
    x->log_rest = x->n == 0 ? 0 : log(rest);
    x->weight_error = x->rest_error = DPI_UNIT * 4 * (MAX_PARTS + 4);
    return finish(make(x, m->sigma, direction, side, pair, err), pair);
}

/* Each of k rows is sampled by itself: binomial chances. */
dp_status dpi_make_rows(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                        dpi_pair *pair, dp_error *err)
{
    *pair = (dpi_pair){0};
    dpi_mixture *x = dpi_alloc(1, sizeof *x);
    if (x == NULL)
        return dpi_fail_nomem(err);
    double k = m->rows, log_q = log(m->rate), log_rest = log1p(-m->rate), log_choose = 0;
    for (uint32_t j = 1; j <= m->rows; j++) {
        log_choose += log((k - j + 1) / j);
        x->mean[x->n] = j;
        x->log_weight[x->n++] = log_choose + j * log_q + (k - j) * log_rest;
    }
    x->log_rest = k * log_rest;
    x->weight_error = DPI_UNIT * 8 * (k * (1 + fabs(log_q) + fabs(log_rest)) + 4 * k + 8);
    return finish(make(x, m->sigma, direction, side, pair, err), pair);
}
