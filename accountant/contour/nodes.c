/* Nodes of a step's loss.
 *
 * A piece that fills the whole line is integrated by the trapezoidal rule, whose error falls like
 * e^(-2 pi d / h) with the half-width d of the strip in which the integrand is analytic: halving h
 * squares it.  So |rule(h) - rule(2h)|, which costs nothing, is about the root of rule(h)'s error
 * (Trefethen and Weideman, SIAM Review 2014).  A piece with an end is cut into panels of 16-point
 * Gauss-Legendre: on a panel the integrand's exponent changes by at most TURNS + SMOOTH; with that
 * as 2a, the error of e^(ax) on [-1, 1] is below 3e-45 a^32, 1e-16 at a = 6.
 *
 * Range: a P-mass of e^log_cut at either end is left out.  It changes delta by no more than that a
 * step, whatever the tilt, so tails that matter under the tilt alone are left out on purpose: what
 * remains is a law of its own with almost the same delta.
 *
 * Weights are scaled to their known sum: roundings common to all of them (of log(sigma), say) would
 * be multiplied by the number of steps. */
#include "accountant/contour/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { ORDER = DPI_GAUSS_ORDER, MAX_NODES = 1 << 20, FIRST_CAPACITY = 256 };

static const double TURNS = 8, SMOOTH = 4;
static const double LARGE = 500; /* e^LARGE is far from overflow */

/* The positive half of 16-point Gauss-Legendre on [-1, 1]. */
static const double gauss_node[ORDER / 2] = {
    0.095012509837637454, 0.28160355077925892, 0.45801677765722737, 0.61787624440264377,
    0.75540440835500300,  0.86563120238783176, 0.94457502307323260, 0.98940093499164994};
static const double gauss_weight[ORDER / 2] = {
    0.18945061045506845, 0.18260341504492361,  0.16915651939500256,  0.14959598881657671,
    0.12462897125553388, 0.095158511682492786, 0.062253523938647894, 0.027152459411754096};

static dp_status too_many(dp_error *err)
{
    return dpi_fail(
        err, DP_EACCURACY,
        "the privacy loss of a step needs more than %d nodes in the inversion integral; "
        "take the certified interval",
        MAX_NODES);
}

/* Makes room for `more` nodes. */
static dp_status reserve(dpi_contour_nodes *nodes, size_t more, dp_error *err)
{
    size_t needed = nodes->n + more, capacity = nodes->capacity;
    if (needed <= capacity)
        return DP_OK;
    if (needed > MAX_NODES)
        return too_many(err);
    while (capacity < needed)
        capacity = capacity == 0 ? FIRST_CAPACITY : 2 * capacity;
    double *block = dpi_alloc(capacity, 4 * sizeof *block);
    if (block == NULL)
        return dpi_fail_nomem(err);
    double **array[] = {&nodes->weight, &nodes->loss, &nodes->weight_im, &nodes->loss_im};
    double *old = nodes->weight;
    for (int i = 0; i < 4; i++) {
        double *part = block + (size_t)i * capacity;
        if (nodes->n > 0)
            memcpy(part, *array[i], nodes->n * sizeof *part);
        *array[i] = part;
    }
    dpi_free(old);
    nodes->capacity = capacity;
    return DP_OK;
}

static void push(dpi_contour_nodes *nodes, double weight, double loss)
{
    nodes->weight[nodes->n] = weight;
    nodes->loss[nodes->n] = loss;
    nodes->n++;
}

static bool whole_line(const dpi_piece *piece)
{
    return piece->ops->step(piece, 0) > 0;
}

/* Room has been made. */
static void push_at(dpi_contour_nodes *nodes, const dpi_pair *pair, const dpi_piece *piece,
                    double x, double width)
{
    double s = piece->ops->excess(piece, x);
    push(nodes, width * exp(piece->ops->log_density(piece, x, s)), pair->base + piece->sign * s);
}

/* Node of a line moved by id, d = sign min(sigma, sigma^2): there log(1 + odds e^(y + i theta)),
 * theta = d / sigma^2, has an imaginary part of d's sign, and the losses' is positive. */
static void push_moved(dpi_contour_nodes *nodes, const dpi_pair *pair, const dpi_piece *piece,
                       double x, double width)
{
    double variance = piece->sigma * piece->sigma;
    double d = piece->sign * fmin(piece->sigma, variance), theta = d / variance;
    double t = piece->log_odds + (2 * x - 1) / (2 * variance);
    double large = fmax(t, 0), e = exp(-fabs(t)), square = e * (2 * cos(theta) + e);
    double re = large + 0.5 * log1p(square);
    double im = atan2(e * sin(theta), 1 + e * cos(theta));
    if (t > 0)
        im = theta - im;
    double angle = (piece->sign > 0 ? im : 0) - x * theta;
    double size = width * exp(piece->ops->log_density(piece, x, re) + d * d / (2 * variance));
    nodes->weight_im[nodes->n] = size * sin(angle);
    nodes->loss_im[nodes->n] = piece->sign * im;
    push(nodes, size * cos(angle), pair->base + piece->sign * re);
}

static bool movable(const dpi_piece *piece)
{
    double variance = piece->sigma * piece->sigma;
    if (!(piece->sigma > 0 && piece->odds > 0 && piece->odds < INFINITY))
        return false;
    for (int i = -2; i <= 4; i += 3) {
        double x = i * piece->sigma, s = piece->ops->excess(piece, x);
        double t = piece->log_odds + (2 * x - 1) / (2 * variance);
        double known = fmax(t, 0) + log1p(exp(-fabs(t)));
        double density = -x * x / (2 * variance) - log(piece->sigma) - 0.5 * log(2 * M_PI) +
                         (piece->sign > 0 ? piece->log_rest + s : 0);
        if (!(fabs(s - known) <= 1e-9 * known) ||
            !(fabs(piece->ops->log_density(piece, x, s) - density) <= 1e-9))
            return false;
    }
    return true;
}

bool dpi_contour_movable(const dpi_pair *pair)
{
    for (size_t i = 0; i < pair->n_pieces; i++)
        if (whole_line(&pair->piece[i]) && !movable(&pair->piece[i]))
            return false;
    return true;
}

static dp_status add_line(dpi_contour_nodes *nodes, const dpi_pair *pair, const dpi_piece *piece,
                          const dpi_fineness *fineness, dp_error *err)
{
    double low = piece->ops->quantile(piece, fineness->log_cut, -1);
    double high = piece->ops->quantile(piece, fineness->log_cut, 1);
    double h = piece->ops->step(piece, 0) * exp2(-0.5 * fineness->sharpness);
    double count = (high - low) / h + 2;
    if (!(count < MAX_NODES))
        return too_many(err);
    dp_status status = reserve(nodes, (size_t)count, err);
    if (status != DP_OK)
        return status;
    for (size_t j = 0; j < (size_t)count; j++) {
        double x = low + (double)j * h;
        if (fineness->moved)
            push_moved(nodes, pair, piece, x, h);
        else
            push_at(nodes, pair, piece, x, h);
    }
    nodes->line[++nodes->n_lines] = nodes->n;
    return DP_OK;
}

void dpi_gauss_panel(double x, double width, double node[DPI_GAUSS_ORDER],
                     double weight[DPI_GAUSS_ORDER])
{
    double half = width / 2, middle = x + half;
    for (int i = 0; i < ORDER / 2; i++) {
        node[i] = middle - half * gauss_node[i];
        node[ORDER - 1 - i] = middle + half * gauss_node[i];
        weight[i] = weight[ORDER - 1 - i] = half * gauss_weight[i];
    }
}

double dpi_gauss_width(const dpi_piece *piece, double x, double most, double speed, int way)
{
    double width = fmin(most, SMOOTH / piece->ops->roughness(piece, x));
    width = fmin(width, SMOOTH / piece->ops->roughness(piece, x + way * width));
    double s = piece->ops->excess(piece, x);
    for (int i = 0; i < 64; i++) {
        double turns = speed * fabs(piece->ops->excess(piece, x + way * width) - s);
        if (!(turns > TURNS))
            break;
        width *= fmax(0.25, fmin(0.9, TURNS / turns));
    }
    return width;
}

static dp_status add_panels(dpi_contour_nodes *nodes, const dpi_pair *pair, const dpi_piece *piece,
                            const dpi_fineness *fineness, dp_error *err)
{
    double x = fmax(piece->from, piece->ops->quantile(piece, fineness->log_cut, -1));
    double end = fmin(piece->to, piece->ops->quantile(piece, fineness->log_cut, 1));
    while (x < end) {
        double node[ORDER], weight[ORDER];
        double width = dpi_gauss_width(piece, x, end - x, fineness->speed, 1);
        if (!(x + width > x))
            return too_many(err);
        dp_status status = reserve(nodes, ORDER, err);
        if (status != DP_OK)
            return status;
        dpi_gauss_panel(x, width, node, weight);
        for (int i = 0; i < ORDER; i++)
            push_at(nodes, pair, piece, node[i], weight[i]);
        x += width;
    }
    return DP_OK;
}

static dp_status add_atoms(dpi_contour_nodes *nodes, const dpi_pair *pair, dp_error *err)
{
    dp_status status = reserve(nodes, pair->n_atoms, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < pair->n_atoms; i++)
        push(nodes, pair->atom[i].mass, pair->base + pair->atom[i].offset);
    nodes->n_atoms = nodes->n;
    return DP_OK;
}

/* Lines first: their places among the nodes are remembered. */
static dp_status add_pieces(dpi_contour_nodes *nodes, const dpi_pair *pair,
                            const dpi_fineness *fineness, dp_error *err)
{
    dp_status status = DP_OK;
    nodes->line[0] = nodes->n;
    for (size_t i = 0; i < pair->n_pieces && status == DP_OK; i++)
        if (whole_line(&pair->piece[i]))
            status = add_line(nodes, pair, &pair->piece[i], fineness, err);
    for (size_t i = 0; i < pair->n_pieces && status == DP_OK; i++)
        if (!whole_line(&pair->piece[i]))
            status = add_panels(nodes, pair, &pair->piece[i], fineness, err);
    return status;
}

static void normalise(dpi_contour_nodes *nodes)
{
    double sum = 0, carry = 0, mean = 0;
    for (size_t j = 0; j < nodes->n; j++) {
        double y = nodes->weight[j] - carry, t = sum + y;
        carry = (t - sum) - y;
        sum = t;
    }
    nodes->greatest = -INFINITY;
    for (size_t j = 0; j < nodes->n; j++) {
        nodes->weight[j] *= (1 - nodes->infinite) / sum;
        nodes->weight_im[j] *= (1 - nodes->infinite) / sum;
        mean += nodes->weight[j] * nodes->loss[j];
        nodes->greatest = fmax(nodes->greatest, nodes->loss[j]);
    }
    nodes->mean = mean;
}

dp_status dpi_contour_nodes_new(const dpi_pair *pair, const dpi_fineness *fineness,
                                dpi_contour_nodes *nodes, dp_error *err)
{
    *nodes = (dpi_contour_nodes){.infinite = pair->infinite, .normal_mu = pair->normal_mu};
    if (pair->normal_mu > 0) {
        nodes->greatest = INFINITY;
        nodes->mean = pair->normal_mu * pair->normal_mu / 2;
        return DP_OK;
    }
    dp_status status = add_atoms(nodes, pair, err);
    if (status == DP_OK)
        status = add_pieces(nodes, pair, fineness, err);
    if (status == DP_OK)
        normalise(nodes);
    return status;
}

void dpi_contour_nodes_free(dpi_contour_nodes *nodes)
{
    dpi_free(nodes->weight);
    *nodes = (dpi_contour_nodes){0};
}

/* log of the sum of w e^t with the greatest exponent taken out. */
static double large_cumulant(const dpi_contour_nodes *nodes, double c, double *mean,
                             double *variance)
{
    double sum = 0, first = 0, second = 0;
    for (size_t j = 0; j < nodes->n; j++) {
        double l = nodes->loss[j] - nodes->greatest;
        double p = nodes->weight[j] * exp(c * l);
        sum += p;
        first += p * l;
        second += p * l * l;
    }
    *mean = nodes->greatest + first / sum;
    *variance = fmax(0, second / sum - (first / sum) * (first / sum));
    return c * nodes->greatest + log(sum);
}

double dpi_contour_cumulant(const dpi_contour_nodes *nodes, double c, double *mean,
                            double *variance)
{
    double mu2 = nodes->normal_mu * nodes->normal_mu;
    if (mu2 > 0) {
        *mean = mu2 * (c + 0.5);
        *variance = mu2;
        return mu2 * c * (c + 1) / 2;
    }
    if (c * (nodes->greatest - nodes->mean) > LARGE)
        return large_cumulant(nodes, c, mean, variance);
    double sum = 0, first = 0, second = 0;
    for (size_t j = 0; j < nodes->n; j++) {
        double l = nodes->loss[j] - nodes->mean;
        double growth = nodes->weight[j] * expm1(c * l);
        double p = nodes->weight[j] + growth;
        sum += growth;
        first += p * l;
        second += p * l * l;
    }
    double total = 1 - nodes->infinite + sum;
    *mean = nodes->mean + first / total;
    *variance = fmax(0, second / total - (first / total) * (first / total));
    return c * nodes->mean + log1p(sum - nodes->infinite);
}

/* The alternating sum over one line, in modulus. */
static double alternating(const dpi_contour_nodes *nodes, size_t line, double c, double u,
                          double log_total)
{
    double re = 0, im = 0, sign = 1;
    for (size_t j = nodes->line[line]; j < nodes->line[line + 1]; j++) {
        double size = sign * exp(c * nodes->loss[j] - u * nodes->loss_im[j] - log_total);
        double angle = u * nodes->loss[j] + c * nodes->loss_im[j];
        double x = size * cos(angle), y = size * sin(angle);
        re += nodes->weight[j] * x - nodes->weight_im[j] * y;
        im += nodes->weight[j] * y + nodes->weight_im[j] * x;
        sign = -sign;
    }
    return hypot(re, im);
}

double dpi_contour_nodes_error(const dpi_contour_nodes *nodes, double c, double u, double log_total)
{
    double sum = 0;
    for (size_t i = 0; i < nodes->n_lines; i++)
        sum += alternating(nodes, i, c, u, log_total);
    return sum;
}
