/* What numbers are like: those of a summary, of draws. */
#ifndef TOOLS_SPREAD_H
#define TOOLS_SPREAD_H

#include <tacit/fit.h>

/* Mean, standard deviation and quantiles of n >= 1 numbers, which are sorted on the way. */
dp_summary spread_of(double *values, size_t n);

#endif
