/* What the pieces of all Gaussian mechanisms share. */
#ifndef DPI_ACCOUNTANT_PAIRS_NORMAL_H
#define DPI_ACCOUNTANT_PAIRS_NORMAL_H

#include "accountant/pairs/pair.h"

/* Unit roundoff of a double. */
#define DPI_UNIT 0x1p-53

/* log of the density of N(mean, sigma^2) at x, times the weight: piece->log_scale holds what does
 * not depend on x. */
double dpi_normal_log(const dpi_piece *piece, double x, double mean);

/* log(weight) - log(sigma) - log sqrt(2 pi), for log_scale. */
double dpi_normal_log_scale(double weight, double sigma);

/* Relative rounding error of exp(dpi_normal_log) at distances up to `far` from the mean. */
double dpi_normal_log_error(const dpi_piece *piece, double far);

/* log(1 + odds e^y), log_odds = log(odds). */
double dpi_softplus(double odds, double log_odds, double y);

/* About the z with Phi(-z) = p, 0 for p >= 1/2. */
double dpi_normal_quantile(double log_p);

/* Upper bound on Phi(-z). */
double dpi_normal_tail(double z);

/* Rows of dpi_piece_ops for pieces with P = weight ((1 - share) N(mean) + share N(moved)). */
double dpi_normal_roughness(const dpi_piece *piece, double x);
double dpi_normal_piece_quantile(const dpi_piece *piece, double log_p, int side);
double dpi_normal_piece_tail(const dpi_piece *piece, double x, int side);
double dpi_no_step(const dpi_piece *piece, double u);

#endif
