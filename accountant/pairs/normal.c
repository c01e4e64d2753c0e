/* Normal densities, tails and what they mean for quadrature.
 *
 * Rounding: z = (x - mean)/sigma carries 2u relative (u = 2^-53), z^2/2 5u, so the exponent errs by
 * 3u z^2 at most, and by u times the size of every number added to it; exp adds 2u.
 *
 * Roughness.  Let p and q be the densities of P and Q, mixtures of normals with means within 1 of
 * 0, or of -1/2 or 1/2 in x >= 0, each mixture with means at most 1 apart, and
 *     D(x) = (|x| + sigma/4 + 1) / sigma^2 + 1 / sigma.
 * At x + w, |w| <= 2.25/D, a normal density changes in size by at most
 *     exp((|x - mean| |w| + |w|^2/2) / sigma^2) <= e^(2.25 + 2.6)
 * either way.  The phases of a mixture's terms differ by at most |Im w| / sigma^2 <= 2.25, so
 * turned by half of that they lie within 1.125 of the real line, and the sum is at least cos 1.125
 * = 0.43 times the sum of sizes: p and q have no zeros there, log p, log q and the loss are
 * analytic and change by O(1), and p, q, p^2/q (which is what P e^L is) grow by bounded factors.
 * That is what mass.c and lower.c ask for. */
#include "accountant/pairs/normal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

double dpi_normal_log(const dpi_piece *piece, double x, double mean)
{
    double z = (x - mean) / piece->sigma;
    return piece->log_scale - 0.5 * z * z;
}

double dpi_normal_log_scale(double weight, double sigma)
{
    return log(weight) - log(sigma) - LOG_SQRT_2PI;
}

double dpi_normal_log_error(const dpi_piece *piece, double far)
{
    double z = far / piece->sigma;
    return DPI_UNIT * (16 + 4 * z * z + 8 * fabs(log(piece->sigma)) + 8 * fabs(piece->log_scale));
}

double dpi_softplus(double odds, double log_odds, double y)
{
    double t = log_odds + y;
    return t > 30 ? t + log1p(exp(-t)) : log1p(odds * exp(y));
}

/* Phi(-z) ~ exp(-z^2 / 2) / (z sqrt(2 pi)), one fixed-point step. */
double dpi_normal_quantile(double log_p)
{
    double first = sqrt(fmax(0, -2 * log_p));
    return sqrt(fmax(0, -2 * (log_p + LOG_SQRT_2PI + log(fmax(first, 1)))));
}

/* erfc is within a few ulp; 1e-12 covers that and the rounding of its argument at |z| < 40. */
double dpi_normal_tail(double z)
{
    return fmin(0.5 * erfc(z * M_SQRT1_2) * (1 + 1e-12) + DBL_MIN, 1);
}

double dpi_normal_roughness(const dpi_piece *piece, double x)
{
    double sigma = piece->sigma;
    return (fabs(x) + sigma / 4 + 1) / (sigma * sigma) + 1 / sigma;
}

/* Beyond either component's own quantile. */
double dpi_normal_piece_quantile(const dpi_piece *piece, double log_p, int side)
{
    double end = side < 0 ? piece->from : piece->to;
    if (isfinite(end))
        return end;
    log_p -= log(piece->weight);
    double x =
        side * piece->mean + piece->sigma * dpi_normal_quantile(log_p - log1p(-piece->share));
    if (piece->share > 0)
        x = fmax(x, side * piece->moved +
                        piece->sigma * dpi_normal_quantile(log_p - log(piece->share)));
    return fmin(fmax(side * x, piece->from), piece->to);
}

/* Tails of the whole line: an upper bound within the piece as well. */
double dpi_normal_piece_tail(const dpi_piece *piece, double x, int side)
{
    if (side < 0 ? x <= piece->from : x >= piece->to)
        return 0;
    double sigma = piece->sigma;
    double still = (1 - piece->share) * dpi_normal_tail(side * (x - piece->mean) / sigma);
    double moved = piece->share > 0 ? dpi_normal_tail(side * (x - piece->moved) / sigma) : 0;
    return piece->weight * (still + piece->share * moved) * (1 + 8 * DBL_EPSILON);
}

double dpi_no_step(const dpi_piece *piece, double u)
{
    (void)piece;
    (void)u;
    return 0;
}
