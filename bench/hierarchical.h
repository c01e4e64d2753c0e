/* The hierarchical logistic regression of the benchmarks, after Prediger et al. 2022, section 5.3:
 * M_k ~ N(0, 4), w_l ~ N(M_l, 1), P(y) = logit^-1(x . w_l); D numbers a record, K factors, L
 * groups. */
#ifndef TACIT_BENCH_HIERARCHICAL_H
#define TACIT_BENCH_HIERARCHICAL_H

#include <tacit/tacit.h>

enum { D = 5, K = 3, L = 3, BATCH = 10 };

/* Records 0 ... n - 1 train, n ... 2 n - 1 test. */
typedef struct simulated {
    size_t n;
    double *x; /* [2 n][D] */
    double *y; /* [2 n] */
    int32_t *group;
    double factors[L][D], weights[L][D];
} simulated;

/* The published data for n records; false when out of memory. */
bool hierarchical_simulate(size_t n, simulated *data);
void hierarchical_free(simulated *data);

/* x . w */
double hierarchical_score(const double *x, const double *w);

/* The model, and d3p's guide, which learns M and draws w from the model. */
void hierarchical_model(dp_model *m);
void hierarchical_guide(dp_model *guide);

/* The training half, nullable when out of memory; data must stay. */
dp_dataset *hierarchical_records(const simulated *data);

/* loc and log_scale of d3p's guide start at independent N(0, 1) numbers. */
dp_status hierarchical_start(dp_svi *svi, uint64_t seed, dp_error *err);

#endif
