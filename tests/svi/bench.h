/* A model, data and perhaps a ledger on which runs are started, saved and resumed, for tests.
 * Files lie in the folder of tests/ledger/folder.h. */
#ifndef TESTS_INFER_BENCH_H
#define TESTS_INFER_BENCH_H

#include "svi/svi.h"

enum { N = 40 };

extern double x[N], y[N]; /* of all data sets; filled when one is made */

/* 100 full batches. */
extern const dp_svi_opts plain;

/* The same with a loss every three steps and a clip norm that follows a quantile. */
dp_svi_opts with_extras(dp_precision precision);

typedef struct bench {
    dp_model *model; /* y ~ N(x w, 1) with w ~ N(0, 1) */
    dp_dataset *data;
    dp_ledger *ledger;
    dp_svi_opts opts;
} bench;

/* In an empty folder, with a ledger where epsilon > 0, in which the data are "columns". */
bench set_up_for(const dp_svi_opts *opts, double epsilon, dp_adjacency adjacency);
bench set_up(const dp_svi_opts *opts, double epsilon); /* neighbours by adding or removing */
void tear_down(bench *b);

/* The bench's model with w ~ N(0, scale). */
dp_model *make_model(double scale);

dp_svi *start(const bench *b);
void walk(dp_svi *svi, int steps);
void save(dp_svi *svi, const char *name);

/* Resumes from a file; go_on fails the test where that cannot be done. */
dp_status try(const bench *b, const char *name, dp_svi **svi, dp_error *err);
dp_svi *go_on(const bench *b, const char *name);

/* The last entry: steps reserved and begun of its first mechanism, and whether it is settled. */
void entry_is(const bench *b, uint64_t reserved, uint64_t begun, bool settled);

#endif
