/* Calibration: the least noise for an epsilon. */
#ifndef DPI_ACCOUNTANT_SIGMA_H
#define DPI_ACCOUNTANT_SIGMA_H

#include <tacit/accountant.h>

/* Least sigma, within 1e-4, whose bound at delta is at most epsilon; m->sigma is not read.  All
 * arguments have been checked. */
dp_status dpi_sigma_search(const dp_mechanism *m, double epsilon, double delta, double *sigma,
                           dp_error *err);

#endif
