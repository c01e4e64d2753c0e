/* Records for fits, and a model whose records have latents. */
#ifndef TESTS_FIT_RECORDS_H
#define TESTS_FIT_RECORDS_H

#include "tests/fit/scene.h"

enum { N = 600, K = 3 }; /* records, more than a chunk; groups */

extern double x[N], y[N], z_given[N];
extern int32_t group[N], label[N];
extern unsigned char odds[N];

/* Gives them their values. */
void test_fill(void);

/* Columns "x", "g" (group) and "y". */
dp_dataset *test_records(void);

dp_rng *test_source(uint64_t seed);
dp_draws *test_draws(const dp_fit *fit, size_t n, uint64_t seed);

/* z_i ~ Normal(mu, 2), y_i ~ Normal(slope z_i, 0.5), v_i ~ Bernoulli(logit = z_i); the guide reads
 * y, or v where that is drawn: z_i ~ Normal(y_i / 2 + 1 / 8, e^-1), mu ~ Normal(-3, 0.1); slope is
 * 1.5. */
dp_fit *fit_with_latents(bool drawn);

#endif
