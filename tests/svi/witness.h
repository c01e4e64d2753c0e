/* What a release makes of a sum before noise is added: whole numbers of steps of the grid, of which
 * the accountant says how far a unit moves them.  The release itself has fewer bits.  Linked with
 * --wrap=dpi_grid_round. */
#ifndef TESTS_INFER_WITNESS_H
#define TESTS_INFER_WITNESS_H

#include <stddef.h>

enum { WITNESS_MOST = 1024 };

/* Copies the last n <= WITNESS_MOST numbers that were put on the grid, in units of the noise's
 * standard deviation; fails when there were not as many since the last call. */
void witness_sum(size_t n, double *out /* [n] */);

#endif
