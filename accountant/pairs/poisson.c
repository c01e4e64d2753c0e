/* The Poisson-subsampled Gaussian as a dominating pair.
 *
 * With B = N(0, sigma^2) and M = (1-q) B + q N(1, sigma^2), the ratio is
 *     M/B = (1-q) (1 + odds e^y),  odds = q/(1-q),  y = (2x - 1) / (2 sigma^2),
 * so the excess is  s(x) = log(1 + odds e^y)  in both directions: no cancellation, whatever q is.
 * remove: P = M, L = log(1-q) + s.  add: P = B, L = -log(1-q) - s.
 *
 * Rounding (u = 2^-53, libm's exp, log, log1p, expm1 within 2u): y has relative error 3u, e^y
 * (3|y| + 2)u, so s has absolute error at most (3|y| + 6)u min(1, s) + 3u s. */
#include "accountant/pairs/pair.h"

#include <math.h>
#include <stdbool.h>

#include "accountant/pairs/normal.h"

static double exponent(const dpi_piece *piece, double x)
{
    return (2 * x - 1) / (2 * piece->sigma * piece->sigma);
}

static double excess(const dpi_piece *piece, double x)
{
    return dpi_softplus(piece->odds, piece->log_odds, exponent(piece, x));
}

static double inverse(const dpi_piece *piece, double s)
{
    double y = (s > 30 ? s + log1p(-exp(-s)) : log(expm1(s))) - piece->log_odds;
    return piece->sigma * piece->sigma * y + 0.5;
}

static double log_mixture_density(const dpi_piece *piece, double x, double s)
{
    return dpi_normal_log(piece, x, 0) + piece->log_rest + s;
}

static double log_plain_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    return dpi_normal_log(piece, x, 0);
}

static double largest_exponent(const dpi_piece *piece, double x_low, double x_high)
{
    return fmax(fabs(exponent(piece, x_low)), fabs(exponent(piece, x_high)));
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    double s = excess(piece, x_high);
    double y = largest_exponent(piece, x_low, x_high) + fabs(piece->log_odds);
    return DPI_UNIT * ((3 * y + 8) * fmin(1, s) + 4 * s);
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    double error = dpi_normal_log_error(piece, fmax(fabs(x_low), fabs(x_high)));
    if (piece->sign < 0)
        return error;
    return error + excess_error(piece, x_low, x_high) +
           4 * DPI_UNIT * (excess(piece, x_high) + fabs(piece->log_rest));
}

/* The integrand P e^(zL) is analytic in the strip |Im x| < pi sigma^2; over a half-width d the
 * trapezoidal rule of step h errs by e^(d^2 / 2 sigma^2 + u d / sigma^2 - 2 pi d / h) at most,
 * apart from a factor of the order of one (Trefethen and Weideman, SIAM Review 2014); d is chosen
 * near its best. */
static double step(const dpi_piece *piece, double u)
{
    const double digits = 32; /* e^-32 < 2e-14 */
    double sigma = piece->sigma;
    double d = fmin(sigma * sqrt(2 * digits), 3 * sigma * sigma);
    return 2 * M_PI * d / (digits + d * d / (2 * sigma * sigma) + fabs(u) * d / (sigma * sigma));
}

static const dpi_piece_ops remove_ops = {
    .excess = excess,
    .inverse = inverse,
    .log_density = log_mixture_density,
    .roughness = dpi_normal_roughness,
    .quantile = dpi_normal_piece_quantile,
    .tail = dpi_normal_piece_tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = step,
    .sampled = true,
};

static const dpi_piece_ops add_ops = {
    .excess = excess,
    .inverse = inverse,
    .log_density = log_plain_density,
    .roughness = dpi_normal_roughness,
    .quantile = dpi_normal_piece_quantile,
    .tail = dpi_normal_piece_tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = step,
    .sampled = true,
};

dpi_pair dpi_pair_gaussian(double sigma, double q, dpi_direction direction)
{
    double log_rest = log1p(-q);
    bool remove = direction == DPI_REMOVE;
    dpi_pair pair = {.base = remove ? log_rest : -log_rest, .n_pieces = 1};
    pair.piece[0] = (dpi_piece){
        .ops = remove ? &remove_ops : &add_ops,
        .sign = remove ? 1 : -1,
        .from = -INFINITY,
        .to = INFINITY,
        .weight = 1,
        .sigma = sigma,
        .q = q,
        .moved = 1,
        .share = remove ? q : 0,
        .odds = q / (1 - q),
        .log_odds = log(q) - log_rest,
        .log_rest = log_rest,
        .log_scale = dpi_normal_log_scale(1, sigma),
    };
    return pair;
}
