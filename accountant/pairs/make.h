/* Makers of the pairs of single mechanisms; dpi_pair_of (pair.c) chooses among them.  Arguments are
 * checked before.  Pairs are owned by the caller, all zero on errors. */
#ifndef DPI_ACCOUNTANT_PAIRS_MAKE_H
#define DPI_ACCOUNTANT_PAIRS_MAKE_H

#include "accountant/pairs/pair.h"

/* N(1, sigma^2) and N(0, sigma^2); both directions. */
dpi_pair dpi_make_full(double sigma);

/* Poisson sampling, one record replaced, 0 < q < 1; both directions. */
dpi_pair dpi_make_replace(double sigma, double q);

/* Dominating pair of batches of a fixed size, 0 < q < 1, sigma in units of 2C; both directions. */
dp_status dpi_make_fixed(double sigma, double q, dpi_pair *pair, dp_error *err);

/* Poisson sampling with a largest batch.  Upper: a dominating pair.  Lower: one that some data
 * realise. */
dpi_pair dpi_make_truncated(const dp_mechanism *m, dpi_direction direction, dpi_side side);

/* Rows of one unit, or jumps and chances. */
dp_status dpi_make_rows(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                        dpi_pair *pair, dp_error *err);
dp_status dpi_make_jumps(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                         dpi_pair *pair, dp_error *err);

/* Laplace noise of scale b times the sensitivity, 0 < q <= 1. */
dp_status dpi_make_laplace(double b, double q, dpi_direction direction, dpi_pair *pair,
                           dp_error *err);

/* Discrete and rounded Gaussian. */
dp_status dpi_make_lattice(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                           dpi_pair *pair, dp_error *err);

/* Randomised response; both directions. */
dp_status dpi_make_response(double replaced, uint32_t categories, dpi_pair *pair, dp_error *err);

#endif
