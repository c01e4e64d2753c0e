/* Gamma functions of a + b less those of a, whose digits cancel where a is large beside b. */
#ifndef DPI_NUM_RISING_H
#define DPI_NUM_RISING_H

#include <stddef.h>

/* log Gamma(a + b) - log Gamma(a), the logarithm of a (a + 1) ... (a + b - 1) for whole b, and the
 * derivatives of `order` 1 to 100 of that difference with respect to a: psi_(order - 1)(a + b) -
 * psi_(order - 1)(a).  To 4e-14 relative for whole b (near zeros of the logarithm, 1e-14 absolute);
 * for b that is not whole, of the larger of 1 and itself.  NaN for a <= 0 and for b < 0. */
double dpi_rising(size_t order, double a, double b);

#endif
