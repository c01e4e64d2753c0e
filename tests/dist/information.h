/* Fisher information of the families, in closed form; the usual ones are in Johnson, Kotz and
 * Balakrishnan. */
#ifndef TESTS_DIST_INFORMATION_H
#define TESTS_DIST_INFORMATION_H

#include "dist/family.h"

/* f[K][K] of K arguments, or numbers of a vector argument; 0 for those that are not inferred.
 * Fails for a family that has none here. */
void information(const dpi_family *family, const double arg[], double f[]);

#endif
