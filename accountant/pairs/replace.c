/* Poisson sampling of a Gaussian, one record replaced:
 *     P = (1-q) N(0, sigma^2) + q N(1, sigma^2),   Q = (1-q) N(0, sigma^2) + q N(-1, sigma^2).
 * (Koskela, Jaelkoe and Honkela, AISTATS 2020, name the pair; doc/design/mechanisms.md proves that
 * it dominates.)  Reflection swaps P and Q: the loss is odd and both directions are the same.
 *
 * With y+- = (+-2x - 1) / 2 sigma^2 the loss at x >= 0 is
 *     s(x) = log (1 + odds e^y+) / (1 + odds e^y-)
 *          = log1p(2 k sinh(x / sigma^2) / (1 + odds e^y-)),   k = odds e^(-1 / 2 sigma^2),
 * without cancellation, and e^s = (1 + k w) / (1 + k / w) with w = e^(x / sigma^2) solves to
 *     x = sigma^2 (s/2 + asinh(sinh(s/2) / k)).
 * Two pieces on x >= 0: the right half, rising, and the left half reflected, falling; base 0.
 *
 * Rounding: with M = (x + 1) / sigma^2 the argument of log1p has relative error (6 M + 20) u at
 * most (3u for x / sigma^2 and y-, 2u for each function), which moves s by min(1, s) times that;
 * log1p and the sum used for large x add 8 s u. */
#include "accountant/pairs/make.h"

#include <math.h>

#include "accountant/pairs/normal.h"

static const double LARGE = 600; /* sinh and exp stay finite below */

static double exponent(const dpi_piece *piece, double x)
{
    return (2 * x - 1) / (2 * piece->sigma * piece->sigma);
}

static double log_k(const dpi_piece *piece)
{
    return piece->log_odds + exponent(piece, 0);
}

static double excess(const dpi_piece *piece, double x)
{
    double r = x / (piece->sigma * piece->sigma);
    if (r > LARGE)
        return dpi_softplus(piece->odds, piece->log_odds, exponent(piece, x));
    double k = piece->odds * exp(exponent(piece, 0));
    return log1p(2 * k * sinh(r) / (1 + piece->odds * exp(exponent(piece, -x))));
}

static double inverse(const dpi_piece *piece, double s)
{
    double log_sinh = s / 2 + log(-expm1(-s)) - M_LN2; /* of s / 2 */
    double ratio = log_sinh - log_k(piece);
    double turn = ratio > LARGE ? ratio + M_LN2 : asinh(sinh(s / 2) * exp(-log_k(piece)));
    return s > 0 ? piece->sigma * piece->sigma * (s / 2 + turn) : 0;
}

/* P at x; the reflected piece has its record at -1. */
static double log_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    double y = exponent(piece, piece->sign * x);
    return dpi_normal_log(piece, x, 0) + piece->log_rest +
           dpi_softplus(piece->odds, piece->log_odds, y);
}

static double steepness(const dpi_piece *piece, double x)
{
    return (x + 1) / (piece->sigma * piece->sigma);
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    (void)x_low;
    double s = excess(piece, x_high);
    return DPI_UNIT * ((6 * steepness(piece, x_high) + 20) * fmin(1, s) + 8 * s);
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    (void)x_low;
    double softplus = steepness(piece, x_high) + fabs(piece->log_odds) + 1;
    return dpi_normal_log_error(piece, x_high + 1) +
           DPI_UNIT * (16 + 8 * softplus + 4 * fabs(piece->log_rest));
}

static const dpi_piece_ops ops = {
    .excess = excess,
    .inverse = inverse,
    .log_density = log_density,
    .roughness = dpi_normal_roughness,
    .quantile = dpi_normal_piece_quantile,
    .tail = dpi_normal_piece_tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = dpi_no_step,
};

static dpi_piece half(double sigma, double q, int sign)
{
    double log_rest = log1p(-q);
    return (dpi_piece){.ops = &ops,
                       .sign = sign,
                       .from = 0,
                       .to = INFINITY,
                       .weight = 1,
                       .sigma = sigma,
                       .moved = sign,
                       .share = q,
                       .log_scale = dpi_normal_log_scale(1, sigma),
                       .odds = q / (1 - q),
                       .log_odds = log(q) - log_rest,
                       .log_rest = log_rest};
}

dpi_pair dpi_make_replace(double sigma, double q)
{
    dpi_pair pair = {.n_pieces = 2};
    pair.piece[0] = half(sigma, q, 1);
    pair.piece[1] = half(sigma, q, -1);
    return pair;
}
