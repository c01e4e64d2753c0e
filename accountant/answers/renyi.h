/* Renyi divergences of single releases. */
#ifndef DPI_ACCOUNTANT_ANSWERS_RENYI_H
#define DPI_ACCOUNTANT_ANSWERS_RENYI_H

#include <tacit/accountant.h>

/* Upper bound on the Renyi divergence of order alpha > 1 of one release, in the worse direction; m
 * has been checked.  DP_EMISMATCH where there is no formula, DP_EACCURACY when alpha is above
 * 1e5. */
dp_status dpi_renyi(const dp_mechanism *m, double alpha, double *divergence, dp_error *err);

#endif
