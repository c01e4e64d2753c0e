/* The modified Bessel function I_0 in logarithms. */
#ifndef DPI_NUM_BESSEL_H
#define DPI_NUM_BESSEL_H

#include <stddef.h>

/* log(I_0(a) e^-a), or its derivative of order 1 (I_1 / I_0 - 1) to 4: to 4e-15 relative, of orders
 * 3 and 4, which have zeros, or 4e-15 absolute.  NaN for a < 0 and higher orders. */
double dpi_log_bessel(size_t order, double a);

#endif
