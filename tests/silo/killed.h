/* Two owners of columns in processes that are killed at a moment: before or after a letter leaves,
 * or the state is replaced.  For programs linked with -Wl,--wrap=link -Wl,--wrap=rename. */
#ifndef TESTS_SILO_KILLED_H
#define TESTS_SILO_KILLED_H

#include "tests/silo/registers.h"

/* Steps, letters of an owner, and moments of a run: each letter and its state, the key and what is
 * written besides. */
enum {
    KILLED_STEPS = 4,
    KILLED_LETTERS = 4 + 1 + KILLED_STEPS + 1,
    KILLED_MOMENTS = 4 * KILLED_LETTERS + 2
};

/* What an owner comes to. */
typedef struct killed_outcome {
    double w[MOST_D], others[MOST_D];
    size_t common;
} killed_outcome;

extern joint killed_scene;
extern dp_silo_columns killed_terms;
extern killed_outcome killed_expected[2];

/* States that no letter has left of, in copies, and from these a run that is not interrupted, whose
 * letters are in a folder of their own, "before".  Ended by registers_end. */
void killed_begin(const char *scheme);

/* The copies in the place of states, of both in an empty mailbox, or of one. */
void killed_begin_again(void);
void killed_put_back(size_t k);

/* Begins an owner's process, that ends at a moment (0: never), or with its status. */
pid_t killed_start(size_t k, int at, bool pays);
void killed_ends_well(size_t k, pid_t process);

/* Both run, and each that is killed at its moment again, as the other may wait for it; which were.
 */
unsigned killed_run(const int at[2], bool pays);

/* That owner k's run ends with a status and a message, and no letter leaves. */
void killed_is_refused(size_t k, int status, const char *why);

/* That the letters are those of the run that was not interrupted, byte by byte, and so are
 * coefficients. */
void killed_same(void);

/* A ledger for each owner; and that it has one entry, of all of the plan, that is settled. */
void killed_make_ledgers(void);
void killed_ledger(size_t k);
void killed_ledgers(void);

void killed_write(const char *path, const void *bytes, size_t n);
void killed_copy(const char *from, const char *to); /* a folder of files */

#endif
