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

#define LOG_SQRT_2PI 0.91893853320467274178
static const double UNIT = DBL_EPSILON / 2;

static double exponent(const dpi_pair *pair, double x)
{
    return (2 * x - 1) / (2 * pair->sigma * pair->sigma);
}

static double excess(const dpi_pair *pair, double x)
{
    double t = pair->log_odds + exponent(pair, x);
    return t > 30 ? t + log1p(exp(-t)) : log1p(pair->odds * exp(exponent(pair, x)));
}

static double place(const dpi_pair *pair, double s)
{
    double y = (s > 30 ? s + log1p(-exp(-s)) : log(expm1(s))) - pair->log_odds;
    return pair->sigma * pair->sigma * y + 0.5;
}

static double log_base_density(const dpi_pair *pair, double x)
{
    double z = x / pair->sigma;
    return -0.5 * z * z - log(pair->sigma) - LOG_SQRT_2PI;
}

static double log_mixture_density(const dpi_pair *pair, double x, double s)
{
    return log_base_density(pair, x) + pair->log_rest + s;
}

static double log_plain_density(const dpi_pair *pair, double x, double s)
{
    (void)s;
    return log_base_density(pair, x);
}

/* d/dx of x^2 / 2 sigma^2, of y, and the width of the Gaussian itself, with room for a quarter of
 * sigma to either side. */
static double roughness(const dpi_pair *pair, double x)
{
    double sigma = pair->sigma;
    return (fabs(x) + sigma / 4) / (sigma * sigma) + 1 / sigma + 1 / (sigma * sigma);
}

/* z with Phi(-z) about p: Phi(-z) ~ exp(-z^2 / 2) / (z sqrt(2 pi)), one fixed-point step. */
static double normal_quantile(double log_p)
{
    double first = sqrt(fmax(0, -2 * log_p));
    return sqrt(fmax(0, -2 * (log_p + LOG_SQRT_2PI + log(fmax(first, 1)))));
}

static double quantile(const dpi_pair *pair, double log_p, int side)
{
    double x = pair->sigma * normal_quantile(log_p);
    if (pair->sign > 0 && side > 0)
        x = fmax(x, 1 + pair->sigma * normal_quantile(log_p - log(pair->q)));
    return side * x;
}

/* erfc is within a few ulp; 1e-12 covers that and the rounding of its argument at |z| < 40. */
static double normal_tail(double z)
{
    return 0.5 * erfc(z * M_SQRT1_2) * (1 + 1e-12) + DBL_MIN;
}

static double tail(const dpi_pair *pair, double x, int side)
{
    double from_base = normal_tail(side * x / pair->sigma);
    if (pair->sign < 0)
        return from_base;
    return (1 - pair->q) * from_base + pair->q * normal_tail(side * (x - 1) / pair->sigma);
}

static double largest_exponent(const dpi_pair *pair, double x_low, double x_high)
{
    return fmax(fabs(exponent(pair, x_low)), fabs(exponent(pair, x_high)));
}

static double excess_error(const dpi_pair *pair, double x_low, double x_high)
{
    double s = excess(pair, x_high);
    double y = largest_exponent(pair, x_low, x_high) + fabs(pair->log_odds);
    return UNIT * ((3 * y + 8) * fmin(1, s) + 4 * s);
}

static double density_error(const dpi_pair *pair, double x_low, double x_high)
{
    double z = fmax(fabs(x_low), fabs(x_high)) / pair->sigma;
    double s = pair->sign > 0 ? 4 * (excess(pair, x_high) + fabs(pair->log_rest)) : 0;
    return UNIT * (16 + 2 * z * z + s + 4 * fabs(log(pair->sigma))) +
           (pair->sign > 0 ? excess_error(pair, x_low, x_high) : 0);
}

/* The integrand is analytic in the strip |Im x| < pi sigma^2 and decays like a Gaussian. */
static double step(const dpi_pair *pair)
{
    return fmin(0.5 * pair->sigma, 0.4 * pair->sigma * pair->sigma);
}

static const dpi_pair_ops remove_ops = {
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

static const dpi_pair_ops add_ops = {
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
    return (dpi_pair){
        .ops = direction == DPI_REMOVE ? &remove_ops : &add_ops,
        .base = direction == DPI_REMOVE ? log_rest : -log_rest,
        .sign = direction == DPI_REMOVE ? 1 : -1,
        .sigma = sigma,
        .q = q,
        .odds = q / (1 - q),
        .log_odds = log(q) - log_rest,
        .log_rest = log_rest,
    };
}
