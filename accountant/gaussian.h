/* The Gaussian mechanism without sampling, in closed form. */
#ifndef DPI_ACCOUNTANT_GAUSSIAN_H
#define DPI_ACCOUNTANT_GAUSSIAN_H

/* log of an upper bound on delta at `epsilon` >= 0 for mu = sqrt(steps) / sigma > 0. */
double dpi_gaussian_log_delta(double mu, double epsilon);

/* Smallest epsilon >= 0 (within 1e-12, from above) with that at most log_delta < 0; +INFINITY when
 * none is found. */
double dpi_gaussian_epsilon(double mu, double log_delta);

#endif
