/* Batches of a fixed size without replacement, one record replaced: the dominating pair.
 *
 * Theorem 11 of Zhu, Dong and Wang (AISTATS 2022): when (A, B) dominates one release under
 * replacement, here A = N(1, sigma^2) and B = N(0, sigma^2) with sigma in units of 2C, then the
 * sampled release satisfies delta(eps) = H(q A + (1-q) B || B) for eps >= 0 and H(A || q B + (1-q)
 * A) for eps < 0.  The profile is symmetric, delta(-eps) = 1 - e^-eps + e^-eps delta(eps), so both
 * directions have the same pair, with these losses under P:
 *     L > 0     as under (q A + (1-q) B, B):  s = log(1 + q (e^y - 1)), y = x / sigma^2, x > 0
 *               counted from the middle between the means;
 *     L = -s    with the density of Q there, e^-s times that of P, as f(-l) = e^-l f(l);
 *     L = 0     what is left.  P- and Q-mass of L > 0 are (1-q) F + q (1 - F) and F with
 *               F = Phi(-1 / 2 sigma), so it is 1 - their sum = (1-q) (1 - 2 F).
 * At q = 1 the atom is empty and this is the Gaussian at sigma.
 *
 * It is the pointwise supremum of pairs that some data realise; one of them is
 * (q A + (1-q) B, B) itself, which is the lower bound.
 *
 * Rounding: y has relative error 2u and moves s by at most min(1, q e^y) as much; the argument of
 * log1p carries 4u more, the logarithm 2u of s. */
#include "accountant/pairs/make.h"

#include <float.h>
#include <math.h>

#include "accountant/pairs/normal.h"
#include "base/alloc.h"
#include "base/error.h"

static const double LARGE = 600; /* e^600 q is far above 1, and finite */

static double exponent(const dpi_piece *piece, double x)
{
    return x / (piece->sigma * piece->sigma);
}

static double excess(const dpi_piece *piece, double x)
{
    double y = exponent(piece, x);
    return y > LARGE ? y + log(piece->q) : log1p(piece->q * expm1(y));
}

static double inverse(const dpi_piece *piece, double s)
{
    double y = s > LARGE ? s - log(piece->q) : log1p(expm1(s) / piece->q);
    return fmax(0, piece->sigma * piece->sigma * y);
}

static double log_right_density(const dpi_piece *piece, double x, double s)
{
    return dpi_normal_log(piece, x, piece->mean) + s;
}

static double log_left_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    return dpi_normal_log(piece, x, piece->mean);
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    (void)x_low;
    double y = exponent(piece, x_high), s = excess(piece, x_high);
    double slope = y > LARGE ? 1 : fmin(1, piece->q * exp(y));
    return DPI_UNIT * (3 * y * slope + 8 * fmin(1, s) + 4 * s);
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    double s = piece->sign > 0 ? excess(piece, x_high) : 0;
    return dpi_normal_log_error(piece, x_high + 0.5) + excess_error(piece, x_low, x_high) +
           2 * DPI_UNIT * s;
}

static const dpi_piece_ops right_ops = {
    .excess = excess,
    .inverse = inverse,
    .log_density = log_right_density,
    .roughness = dpi_normal_roughness,
    .quantile = dpi_normal_piece_quantile,
    .tail = dpi_normal_piece_tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = dpi_no_step,
};

static const dpi_piece_ops left_ops = {
    .excess = excess,
    .inverse = inverse,
    .log_density = log_left_density,
    .roughness = dpi_normal_roughness,
    .quantile = dpi_normal_piece_quantile,
    .tail = dpi_normal_piece_tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = dpi_no_step,
};

static dpi_piece half(double sigma, double q, int sign)
{
    return (dpi_piece){.ops = sign > 0 ? &right_ops : &left_ops,
                       .sign = sign,
                       .from = 0,
                       .to = INFINITY,
                       .weight = 1,
                       .sigma = sigma,
                       .q = q,
                       .mean = -0.5,
                       .moved = 0.5,
                       .share = sign > 0 ? q : 0,
                       .log_scale = dpi_normal_log_scale(1, sigma)};
}

dp_status dpi_make_fixed(double sigma, double q, dpi_pair *pair, dp_error *err)
{
    *pair = (dpi_pair){.n_pieces = 2};
    pair->piece[0] = half(sigma, q, 1);
    pair->piece[1] = half(sigma, q, -1);
    pair->atom = dpi_alloc(1, sizeof *pair->atom);
    if (pair->atom == NULL) {
        *pair = (dpi_pair){0};
        return dpi_fail_nomem(err);
    }
    pair->n_atoms = 1;
    pair->atom[0] = (dpi_atom){0, (1 - q) * erf(M_SQRT1_2 / (2 * sigma))};
    pair->mass_error = 16 * DPI_UNIT;
    return DP_OK;
}
