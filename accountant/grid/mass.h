/* One step's privacy loss on a grid, tilted: the connect-the-dots discretisation, an upper bound,
 * and one below it. */
#ifndef DPI_ACCOUNTANT_GRID_MASS_H
#define DPI_ACCOUNTANT_GRID_MASS_H

#include <stddef.h>
#include <stdint.h>

#include "accountant/pairs/pair.h"

/* Where the grid lies.  Knot o is the loss  base + o * spacing  of one step, and
 * steps * base + o * spacing  of all. */
typedef struct dpi_knots {
    double spacing;
    double tilt;      /* c > 0: masses carry e^(c o spacing) */
    double tail_tilt; /* c' > c, for the Chernoff bound beyond the window */
    int64_t low;      /* first knot of the composed window */
    size_t size;      /* number of knots, a power of two */
} dpi_knots;

typedef struct dpi_mass {
    double shift;        /* knot o lies at base + shift + o * spacing; 0 for DPI_UPPER */
    double log_sum;      /* log of the sum of tilted masses (they are scaled to sum 1) */
    double log_error;    /* bound on its rounding error */
    double log_tail_sum; /* the same sum at tail_tilt, rounded up; of DPI_UPPER */
    double infinite;     /* P-mass beyond the range: loss +INFINITY; of DPI_UPPER */
    double gap;          /* tilted mean of (l-a)(b-l), a and b the knots around l */
    double loss_error;   /* rounding of the loss, absolute */
    double mass_error;   /* the true tilted masses are within (1 +- mass_error) times these */
    int64_t top, bottom; /* highest and lowest knot of one step */
} dpi_mass;

/* Fills data[grid->size] (zeroed by the caller), knot o at index o mod size, with masses of sum 1
 * that dominate the pair's loss shifted by at most loss_error, apart from `infinite`; P-mass of
 * about e^log_cut is given up at either end. */
void dpi_mass_upper(const dpi_pair *pair, const dpi_knots *grid, double log_cut, double *data,
                    dpi_mass *mass);

/* The same with masses that the pair dominates.  work[grid->size] is zeroed by the caller, too. */
void dpi_mass_lower(const dpi_pair *pair, const dpi_knots *grid, double log_cut, double *data,
                    double *work, dpi_mass *mass);

/* Number of knots that one step touches, for a look at the cost beforehand. */
double dpi_mass_knots(const dpi_pair *pair, const dpi_knots *grid, double log_cut);

#endif
