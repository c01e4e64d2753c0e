/* How far draws of Markov chains can be trusted. */
#ifndef DPI_INFER_MIXING_H
#define DPI_INFER_MIXING_H

#include <stddef.h>

#include <tacit/status.h>

typedef struct dpi_mixing {
    double r_hat; /* worst over coordinates; INFINITY where nothing can be said */
    double ess;   /* least over coordinates; 0 where nothing can be said */
} dpi_mixing;

/* Rank-normalised split R-hat, the larger one of draws and of draws folded about their median, and
 * bulk effective sample size (Vehtari, Gelman, Simpson, Carpenter and Buerkner 2021).
 *   draws[chains][count][n]  finite; fewer than 4 of a chain say nothing
 * DP_ENOMEM.  Thread-safe. */
dp_status dpi_mixing_of(size_t chains, size_t count, size_t n, const double *draws,
                        dpi_mixing *mixing, dp_error *err);

#endif
