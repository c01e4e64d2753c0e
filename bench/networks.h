/* Networks on images, for benchmarks that fit them. */
#ifndef BENCH_NETWORKS_H
#define BENCH_NETWORKS_H

#include <tacit/tacit.h>

#include "examples/images.h"

enum { NETWORK_CLASSES = 10 };

/* "cnn" or "logistic", of columns x and y; the caller's.  Ends the process after an error. */
dp_model *network_new(const char *name, size_t pixels);

/* The share of test images that a fit tells right. */
double network_right(const dp_fit *fit, const images *s);

#endif
