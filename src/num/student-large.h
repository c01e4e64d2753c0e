/* Student's t of so many degrees of freedom that it is nearly normal. */
#ifndef DPI_NUM_STUDENT_LARGE_H
#define DPI_NUM_STUDENT_LARGE_H

#include <stdbool.h>

#include "num/jet.h"

/* For df >= 1e4, in Taylor polynomials of df whose coefficients keep their digits: the log density
 * at z, and for |z| < 1e150 log P(|T| > |z|) or, within, log P(|T| <= |z|). */
dpi_jet dpi_student_large_density(double df, double z);
dpi_jet dpi_student_large_share(bool within, double df, double z);

#endif
