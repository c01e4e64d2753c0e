/* The Gaussian mechanism without sampling, in closed form. */
#ifndef DPI_ACCOUNTANT_ANSWERS_GAUSSIAN_H
#define DPI_ACCOUNTANT_ANSWERS_GAUSSIAN_H

#include "accountant/pairs/pair.h"

/* log of a bound on delta at `epsilon` >= 0 for mu = sqrt(steps) / sigma > 0: an upper one, at most
 * 0, or a lower one, -INFINITY where nothing is proved. */
double dpi_gaussian_log_delta(double mu, double epsilon, dpi_side side);

/* Upper: an epsilon >= 0 with that at most log_delta < 0, +INFINITY when none is found.  Lower: one
 * that is not above the exact epsilon.  Each within 1e-12 or so. */
double dpi_gaussian_epsilon(double mu, double log_delta, dpi_side side);

#endif
