/* One step alone: no inversion, the definitions integrated as they stand. */
#ifndef DPI_ACCOUNTANT_CONTOUR_ONCE_H
#define DPI_ACCOUNTANT_CONTOUR_ONCE_H

#include "accountant/pairs/pair.h"

typedef struct dpi_once_answer {
    double log_delta;    /* log E_P (1 - e^(epsilon - L))_+, infinite losses included */
    double log_p, log_q; /* log P(L > epsilon), log Q(L > epsilon) */
} dpi_once_answer;

/* To about 1e-13 relative; -INFINITY for what is zero. */
dpi_once_answer dpi_once(const dpi_pair *pair, double epsilon);

/* Least epsilon >= 0 with log delta at most log_delta < 0; +INFINITY when there is none. */
double dpi_once_epsilon(const dpi_pair *pair, double log_delta);

#endif
