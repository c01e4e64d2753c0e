/* Runs of owners who take steps by themselves, over parts of one set of records. */
#ifndef TESTS_SVI_WALKERS_H
#define TESTS_SVI_WALKERS_H

#include <tacit/tacit.h>

#include "tests/infer/loop-models.h"
#include "tests/infer/table.h"

enum { MOST = 4, N = LOOP_N, D = LOOP_D, ROOM = 16 };

/* Of all runs; drawn by loop_draw. */
extern loop_records records;

/* A run over records first ... end - 1, each `times` times. */
typedef struct walker {
    dp_svi_opts opts;
    size_t model, first, end, times;
    const struct walker *behind; /* a run of fewer steps, to go on from; NULL: a new one */
    double theta[ROOM], memory[2][ROOM];
    uint64_t done, until; /* steps */
    dp_status status;
    dp_error err;
} walker;

walker walker_of(size_t model, dp_optimizer optimizer, double step, uint64_t steps);

/* A walker's run, for a thread of its own; and here, where it must end well. */
void *walk(void *of);
void alone(walker *w);

/* Owners, each with its part of the records, or all of them with all of these (ends NULL). */
void start_all(table *t, size_t n, const size_t *ends, const walker *like, uint64_t local_steps,
               walker owner[MOST]);

/* The same, of whom all have the same parameters then: those of the first are in *like. */
void together(table *t, size_t n, const size_t *ends, walker *like, uint64_t local_steps);

typedef dp_status opener(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                         uint64_t *values, dp_error *err);

dp_owners one_of_two(uint64_t local_steps, opener *open, void *context);

#endif
