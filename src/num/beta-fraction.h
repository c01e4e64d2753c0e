/* The continued fraction of the incomplete beta function, with derivatives. */
#ifndef DPI_NUM_BETA_FRACTION_H
#define DPI_NUM_BETA_FRACTION_H

#include "num/jet.h"

/* I_x(a, b) B(a, b) / (x^a y^b) with y = 1 - x, in Taylor polynomials up to `order`; what is above
 * that is of no meaning.  It converges fast where x is below (a + 1) / (a + b + 2).  NaN where it
 * does not converge at all. */
dpi_jet dpi_beta_fraction(size_t order, dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y);

#endif
