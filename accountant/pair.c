/* The Poisson-subsampled Gaussian as a dominating pair.
 *
 * With B = N(0, sigma^2) and M = (1-q) B + q N(1, sigma^2), the ratio is
 *     M/B = (1-q) (1 + odds e^y),  odds = q/(1-q),  y = (2x - 1) / (2 sigma^2),
 * so the excess is  s(x) = log(1 + odds e^y)  in both directions: no cancellation, whatever q is.
 * remove: P = M, L = log(1-q) + s.  add: P = B, L = -log(1-q) - s.
 *
 * Rounding (u = 2^-53, libm's exp, log, log1p, expm1 within 2u): y has relative error 3u, e^y
 * (3|y| + 2)u, so s has absolute error at most (3|y| + 6)u min(1, s) + 3u s. */
#include "accountant/pair.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"

#define LOG_SQRT_2PI 0.91893853320467274178
static const double UNIT = DBL_EPSILON / 2;

static double exponent(const dpi_piece *piece, double x)
{
    return (2 * x - 1) / (2 * piece->sigma * piece->sigma);
}

static double excess(const dpi_piece *piece, double x)
{
    double t = piece->log_odds + exponent(piece, x);
    return t > 30 ? t + log1p(exp(-t)) : log1p(piece->odds * exp(exponent(piece, x)));
}

static double place(const dpi_piece *piece, double s)
{
    double y = (s > 30 ? s + log1p(-exp(-s)) : log(expm1(s))) - piece->log_odds;
    return piece->sigma * piece->sigma * y + 0.5;
}

static double log_base_density(const dpi_piece *piece, double x)
{
    double z = x / piece->sigma;
    return -0.5 * z * z - log(piece->sigma) - LOG_SQRT_2PI;
}

static double log_mixture_density(const dpi_piece *piece, double x, double s)
{
    return log_base_density(piece, x) + piece->log_rest + s;
}

static double log_plain_density(const dpi_piece *piece, double x, double s)
{
    (void)s;
    return log_base_density(piece, x);
}

/* d/dx of x^2 / 2 sigma^2, of y, and the width of the Gaussian itself, with room for a quarter of
 * sigma to either side. */
static double roughness(const dpi_piece *piece, double x)
{
    double sigma = piece->sigma;
    return (fabs(x) + sigma / 4) / (sigma * sigma) + 1 / sigma + 1 / (sigma * sigma);
}

/* z with Phi(-z) about p: Phi(-z) ~ exp(-z^2 / 2) / (z sqrt(2 pi)), one fixed-point step. */
static double normal_quantile(double log_p)
{
    double first = sqrt(fmax(0, -2 * log_p));
    return sqrt(fmax(0, -2 * (log_p + LOG_SQRT_2PI + log(fmax(first, 1)))));
}

static double quantile(const dpi_piece *piece, double log_p, int side)
{
    double x = piece->sigma * normal_quantile(log_p);
    if (piece->sign > 0 && side > 0)
        x = fmax(x, 1 + piece->sigma * normal_quantile(log_p - log(piece->q)));
    return side * x;
}

/* erfc is within a few ulp; 1e-12 covers that and the rounding of its argument at |z| < 40. */
static double normal_tail(double z)
{
    return 0.5 * erfc(z * M_SQRT1_2) * (1 + 1e-12) + DBL_MIN;
}

static double tail(const dpi_piece *piece, double x, int side)
{
    double from_base = normal_tail(side * x / piece->sigma);
    if (piece->sign < 0)
        return from_base;
    return (1 - piece->q) * from_base + piece->q * normal_tail(side * (x - 1) / piece->sigma);
}

static double largest_exponent(const dpi_piece *piece, double x_low, double x_high)
{
    return fmax(fabs(exponent(piece, x_low)), fabs(exponent(piece, x_high)));
}

static double excess_error(const dpi_piece *piece, double x_low, double x_high)
{
    double s = excess(piece, x_high);
    double y = largest_exponent(piece, x_low, x_high) + fabs(piece->log_odds);
    return UNIT * ((3 * y + 8) * fmin(1, s) + 4 * s);
}

static double density_error(const dpi_piece *piece, double x_low, double x_high)
{
    double z = fmax(fabs(x_low), fabs(x_high)) / piece->sigma;
    double s = piece->sign > 0 ? 4 * (excess(piece, x_high) + fabs(piece->log_rest)) : 0;
    return UNIT * (16 + 2 * z * z + s + 4 * fabs(log(piece->sigma))) +
           (piece->sign > 0 ? excess_error(piece, x_low, x_high) : 0);
}

/* The integrand P e^(zL) is analytic in the strip |Im x| < pi sigma^2; over a half-width d the trapezoidal
 * rule of step h errs by e^(d^2 / 2 sigma^2 + u d / sigma^2 - 2 pi d / h) at most, apart from a factor of
 * the order of one (Trefethen and Weideman, SIAM Review 2014); d is chosen near its best. */
static double step(const dpi_piece *piece, double u)
{
    const double digits = 32; /* e^-32 < 2e-14 */
    double sigma = piece->sigma;
    double d = fmin(sigma * sqrt(2 * digits), 3 * sigma * sigma);
    return 2 * M_PI * d / (digits + d * d / (2 * sigma * sigma) + fabs(u) * d / (sigma * sigma));
}

static const dpi_piece_ops remove_ops = {
    .excess = excess,
    .place = place,
    .log_density = log_mixture_density,
    .roughness = roughness,
    .quantile = quantile,
    .tail = tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = step,
};

static const dpi_piece_ops add_ops = {
    .excess = excess,
    .place = place,
    .log_density = log_plain_density,
    .roughness = roughness,
    .quantile = quantile,
    .tail = tail,
    .excess_error = excess_error,
    .density_error = density_error,
    .step = step,
};

dpi_pair dpi_pair_gaussian(double sigma, double q, dpi_direction direction)
{
    double log_rest = log1p(-q);
    dpi_pair pair = {.base = direction == DPI_REMOVE ? log_rest : -log_rest, .n_pieces = 1};
    pair.piece[0] = (dpi_piece){
        .ops = direction == DPI_REMOVE ? &remove_ops : &add_ops,
        .sign = direction == DPI_REMOVE ? 1 : -1,
        .from = -INFINITY,
        .to = INFINITY,
        .weight = 1,
        .sigma = sigma,
        .q = q,
        .odds = q / (1 - q),
        .log_odds = log(q) - log_rest,
        .log_rest = log_rest,
    };
    return pair;
}

void dpi_pair_free(dpi_pair *pair)
{
    dpi_free(pair->atom);
    dpi_free(pair->owned);
    *pair = (dpi_pair){0};
}

double dpi_pair_top(const dpi_pair *pair)
{
    double top = 0;
    for (size_t i = 0; i < pair->n_pieces; i++)
        if (pair->piece[i].sign > 0)
            return INFINITY;
    if (pair->n_atoms > 0)
        top = fmax(0, pair->atom[pair->n_atoms - 1].offset + pair->offset_error);
    return pair->base + top + 4 * DBL_EPSILON * fabs(pair->base);
}
