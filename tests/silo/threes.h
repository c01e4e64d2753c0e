/* Three parties of a plan in processes that are killed at a moment: before and after anything is
 * sent, taken or kept.  Whatever is told or heard of openings is noted, and must be the same each
 * time; and when it is told all three must have on their disks that it may be.  For programs linked
 * with --wrap of the functions that threes.c wraps. */
#ifndef TESTS_SILO_THREES_H
#define TESTS_SILO_THREES_H

#include <sys/types.h>

#include "tests/silo/joint.h"
#include "tests/silo/trio-town.h"

enum { THREES = 3, THREES_STEPS = 3, THREES_LACKING = 40, THREES_PATIENCE = 2000 };

/* What a party comes to, and how many moments that took. */
typedef struct threes_outcome {
    double w[TOWN_D];
    size_t rows;
    int moments;
} threes_outcome;

extern joint threes_scene;
extern const int threes_never[THREES];

/* Data of the two owners, in other orders and not of all the same people. */
extern char threes_names[TOWN_N + THREES_LACKING][16];
extern const char *threes_ids[2][TOWN_N];
extern double threes_x[TOWN_N * TOWN_D1];

/* A plan that all have signed; ended by joint_end. */
void threes_begin(bool noisy);

/* As if nothing was run. */
void threes_begin_again(void);

/* Begins a party's process, that ends at a moment (0: never), or with its status. */
pid_t threes_start(size_t k, int when, uint32_t patience);
const char *threes_message(size_t k);
const threes_outcome *threes_result(size_t k);

/* All three run, and each that ends early runs again, with those that it may need, until all have
 * come to something.  Which were killed. */
unsigned threes_run(const int when[THREES]);

/* Moments of a run that is not interrupted. */
void threes_count(int count[THREES]);

/* That all have the same coefficients, or these, and what was seen of openings was one. */
void threes_same(const double *w /* nullable */);

/* All that was seen of one thing is one, at any time; and of sums at any party.  How much was. */
size_t threes_sights(void);

/* A ledger for each owner; and that each has paid once for all of the plan. */
void threes_make_ledgers(void);
void threes_ledgers(void);

const char *threes_state(size_t k); /* the file */
void threes_put(const char *path, const void *bytes, size_t n);

#endif
