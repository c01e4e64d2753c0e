/* Laplace noise of scale b on numbers that a record moves by at most 1 (vectors: L1 norm), each
 * record sampled with probability q:
 *     P = (1-q) Lap(0, b) + q Lap(1, b),   Q = Lap(0, b)   (remove; add is the reverse).
 *
 * The loss is constant below 0 and above 1: two atoms with the Q-masses 1/2 and e^(-1/b)/2.
 * Between them
 *     L(x) = log(1 - q + q e^((2x-1)/b)) = base + s(x),   s = log1p(g (e^(2x/b) - 1)),
 *     base = log(1 - q + q e^(-1/b)),   g = q e^(-1/b) / (1 - q + q e^(-1/b)),
 * so the lower atom lies at base and the upper one at base + s(1).  At q = 1 most mass lies on the
 * other atom of remove; as both directions are then the same up to reflection, add serves for both.
 *
 * Roughness 3/b: within 2.25 b/3 the exponentials' arguments move by 0.75 and 1.5 at most, and 1 -
 * q + q e^y keeps away from 0 where |Im y| <= 1.5 < pi/2.
 *
 * Rounding (u = 2^-53): g has relative error (1/b + 8) u, e^(2x/b) - 1 has (4x/b + 2) u. */
#include "accountant/pairs/make.h"

#include <math.h>
#include <stdbool.h>

#include "accountant/pairs/normal.h"
#include "base/alloc.h"
#include "base/error.h"

/* In these pieces sigma is b, odds is g, share is the weight of Lap(1, b) in P. */

static double excess(const dpi_piece *piece, double x)
{
    return log1p(piece->odds * expm1(2 * x / piece->sigma));
}

static double inverse(const dpi_piece *piece, double s)
{
    return fmin(piece->sigma / 2 * log1p(expm1(s) / piece->odds), 1);
}

/* Q's density is e^(-x/b) / 2b; log_rest is base where P is the mixture. */
static double log_mixed_density(const dpi_piece *piece, double x, double s)
{
    return piece->log_scale - x / piece->sigma + piece->log_rest + s;
}

static double log_plain_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    return piece->log_scale - x / piece->sigma;
}

static double roughness(const dpi_piece *piece, double x)
{
    (void)x;
    return 3 / piece->sigma;
}

static double quantile(const dpi_piece *piece, double log_p, int side)
{
    (void)log_p;
    return side < 0 ? piece->from : piece->to;
}

static double tail(const dpi_piece *piece, double x, int side)
{
    double b = piece->sigma, q = piece->share;
    if (side < 0 ? x <= piece->from : x >= piece->to)
        return 0;
    double length = side < 0 ? x : 1 - x;
    double near = -expm1(-length / b) / 2, far = exp(-1 / b) * expm1(length / b) / 2;
    double still = side < 0 ? near : far, moved = side < 0 ? far : near;
    return ((1 - q) * still + q * moved) * (1 + 1e-12);
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    (void)x_low;
    double s = excess(piece, x_high);
    return DPI_UNIT * ((6 * x_high / piece->sigma + 2 / piece->sigma + 20) * fmin(1, s) + 4 * s);
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    double s = piece->share > 0 ? excess(piece, x_high) + fabs(piece->log_rest) : 0;
    double mixed = piece->share > 0 ? excess_error(piece, x_low, x_high) : 0;
    return DPI_UNIT * (16 + 4 / piece->sigma + 8 * fabs(piece->log_scale) + 4 * s) + mixed;
}

static const dpi_piece_ops remove_ops = {excess,      inverse, log_mixed_density, roughness,
                                         quantile,    tail,    excess_error,      density_error,
                                         dpi_no_step, false};
static const dpi_piece_ops add_ops = {excess,      inverse, log_plain_density, roughness,
                                      quantile,    tail,    excess_error,      density_error,
                                      dpi_no_step, false};

dp_status dpi_make_laplace(double b, double q, dpi_direction direction, dpi_pair *pair,
                           dp_error *err)
{
    bool remove = direction == DPI_REMOVE && q < 1;
    double decay = exp(-1 / b), still = 1 - q, low = still + q * decay, high = still * decay + q;
    double drop = q * expm1(-1 / b);
    double base = drop > -0.5 ? log1p(drop) : log(low);
    *pair = (dpi_pair){.base = remove ? base : -base, .n_pieces = 1};
    pair->piece[0] = (dpi_piece){.ops = remove ? &remove_ops : &add_ops,
                                 .sign = remove ? 1 : -1,
                                 .from = 0,
                                 .to = 1,
                                 .weight = 1,
                                 .sigma = b,
                                 .share = remove ? q : 0,
                                 .odds = q * decay / low,
                                 .log_rest = base,
                                 .log_scale = -log(2 * b)};
    pair->atom = dpi_alloc(2, sizeof *pair->atom);
    if (pair->atom == NULL) {
        *pair = (dpi_pair){0};
        return dpi_fail_nomem(err);
    }
    pair->n_atoms = 2;
    double top = excess(&pair->piece[0], 1);
    if (remove) {
        pair->atom[0] = (dpi_atom){0, low / 2};
        pair->atom[1] = (dpi_atom){top, high / 2};
    } else {
        pair->atom[0] = (dpi_atom){-top, decay / 2};
        pair->atom[1] = (dpi_atom){0, 0.5};
    }
    pair->offset_error = excess_error(&pair->piece[0], 0, 1);
    pair->mass_error = DPI_UNIT * (2 / b + 16);
    return DP_OK;
}
