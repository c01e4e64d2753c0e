/* Two registers of people, each with columns of them: a scene for plans of columns. */
#ifndef TESTS_SILO_REGISTERS_H
#define TESTS_SILO_REGISTERS_H

#include "tests/silo/joint.h"

enum { PEOPLE = 300, MOST_D = 8, ROOM = 64 * 1024 };

/* What one owner has, and gets. */
typedef struct register_side {
    size_t k;
    const joint *j;
    size_t rows, who[PEOPLE];
    char ids[PEOPLE][16];
    const char *at[PEOPLE];
    double x[PEOPLE * MOST_D], y[PEOPLE], w[MOST_D];
    size_t common;
    char mailbox[256], state[256];
    dp_silo_run_opts opts;
    dp_status status;
    dp_error err;
} register_side;

extern const dp_silo_columns registers_usual;
extern register_side registers[2];
extern double register_table[2][PEOPLE * MOST_D], register_outcomes[PEOPLE];

/* A plan of columns, and people of whom the first owner has those whose number is no multiple of 5,
 * the other those whose is none of 3. */
void registers_begin(joint *j, const dp_silo_columns *c, const char *scheme);
void registers_end(joint *j);

/* Takes letters out of the mailbox: all, or those with a word in their name; how many. */
size_t registers_take(const char *word);

/* The coefficients of all at one place, of those that both have: by the logistic loss itself, or by
 * its second order around 0. */
void registers_solve(const dp_silo_columns *c, bool exact, double w[2][MOST_D]);

/* One owner's run, and both owners', as threads. */
void *register_act(void *of);
void registers_run(void);

#endif
