/* Two owners and a helper who run dp_silo_trio_run as threads, over TCP. */
#ifndef TESTS_SILO_TRIO_TOWN_H
#define TESTS_SILO_TRIO_TOWN_H

#include <tacit/silo-trio.h>

#include "tests/lib/check.h"

enum {
    TOWN_N = 200, /* rows */
    TOWN_D0 = 3,
    TOWN_D1 = 2, /* columns of either owner */
    TOWN_D = TOWN_D0 + TOWN_D1,
    TOWN_PATIENCE = 60000,
    MS = 1000
};

typedef struct town_side {
    dp_silo_trio terms;
    dp_silo_trio_opts opts;
    dp_silo_trio_data data;
    double w[TOWN_D];
    size_t rows;
    dp_status status;
    dp_error err;
    bool late; /* begins after the others */
} town_side;

extern town_side town_sides[3];
extern dp_identity *town_who[3];
extern char town_folder[64], town_ledger[96]; /* the latter for a file */
extern double town_x[2][TOWN_N * TOWN_D0], town_y[TOWN_N];

/* Identities and data; in a group's fixture. */
int town_make(void **state);
int town_clear(void **state);

/* Linear, outcomes at the second owner; epsilon 0: no noise. */
void town_set_up(double epsilon);

/* One side's part; all three as threads. */
void *town_act(void *side);
void town_run(void);
void town_run_well(void);
void town_assert_nothing(const town_side *s);

/* The same of the first n rows of one table, in floating point. */
void town_solve(size_t n, double w[TOWN_D]);

/* Seconds since some moment. */
double town_now(void);

#endif
