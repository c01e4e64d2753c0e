/* The Gaussian mechanism without sampling: P = N(1, sigma^2) and Q = N(0, sigma^2), by reflection
 * the same in both directions.
 *
 * Counted from the middle, x -> x + 1/2, the loss is x / sigma^2.  It is cut at 0: two pieces on
 * x >= 0, one with P around 1/2 and rising loss, and its mirror image with P around -1/2 and
 * falling loss; base 0, s(x) = x / sigma^2 in both.  For records that are vectors the pair along
 * one line is the worst (Dong, Roth and Su, JRSSB 2022, theorem 2).
 *
 * Rounding: s has relative error 2u; see normal.c for the density. */
#include "accountant/pairs/make.h"

#include <math.h>

#include "accountant/pairs/normal.h"

static double excess(const dpi_piece *piece, double x)
{
    return x / (piece->sigma * piece->sigma);
}

static double inverse(const dpi_piece *piece, double s)
{
    return fmax(0, s * (piece->sigma * piece->sigma));
}

static double log_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    return dpi_normal_log(piece, x, piece->mean);
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    (void)x_low;
    return 4 * DPI_UNIT * excess(piece, x_high);
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    (void)x_low;
    return dpi_normal_log_error(piece, x_high + 0.5);
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

static dpi_piece half(double sigma, int sign)
{
    return (dpi_piece){.ops = &ops,
                       .sign = sign,
                       .from = 0,
                       .to = INFINITY,
                       .weight = 1,
                       .sigma = sigma,
                       .mean = sign * 0.5,
                       .log_scale = dpi_normal_log_scale(1, sigma)};
}

dpi_pair dpi_make_full(double sigma)
{
    dpi_pair pair = {.n_pieces = 2, .normal_mu = 1 / sigma};
    pair.piece[0] = half(sigma, 1);
    pair.piece[1] = half(sigma, -1);
    return pair;
}
