/* The factor of the sampler's coordinates, learnt from what it has drawn. */
#ifndef DPI_INFER_WHITEN_H
#define DPI_INFER_WHITEN_H

#include <stddef.h>

typedef struct dpi_hmc_window {
    size_t chains, draws, n;
    double *x; /* [chains][draws][n], in the coordinates of the factor so far */
} dpi_hmc_window;

/* factor = factor C, both lower, C the Cholesky factor of the shrunken covariance of the window,
 * whose draws are centred in place.  The factor stays when a chain has fewer than four draws.
 *   scratch[n][n]  is written to */
void dpi_whiten_learn(const dpi_hmc_window *window, double *scratch, double *factor /* [n][n] */);

#endif
