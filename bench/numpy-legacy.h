/* The generator of numpy.random.seed: enough of it to draw a published data set again.
 * For data only; nothing here is fit for privacy. */
#ifndef TACIT_BENCH_NUMPY_LEGACY_H
#define TACIT_BENCH_NUMPY_LEGACY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct numpy_legacy {
    uint32_t state[624];
    int next;
    bool has_spare;
    double spare;
} numpy_legacy;

void numpy_legacy_seed(numpy_legacy *g, uint32_t seed);

/* randn() */
double numpy_legacy_normal(numpy_legacy *g);

/* randint(0, n), 1 <= n <= 2^32 - 1 */
uint32_t numpy_legacy_below(numpy_legacy *g, uint32_t n);

/* binomial(1, p) */
bool numpy_legacy_bernoulli(numpy_legacy *g, double p);

#endif
