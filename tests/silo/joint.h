/* Owners in processes of their own, who share a folder and nothing else. */
#ifndef TESTS_SILO_JOINT_H
#define TESTS_SILO_JOINT_H

#include <sys/types.h>

#include "tests/silo/plans.h"

enum { JOINT_FILE = 1 << 20, JOINT_KILLED = -1, JOINT_STRANGE = -2, JOINT_RUNNING = -3 };

/* One owner's process. */
typedef struct joint_owner {
    size_t k;
    uint64_t stop_at; /* releases after which its watch stops it; 0: never */
    uint64_t kill_at; /* ... it is killed */
    uint64_t jam_at;  /* ... its journal cannot be written any more */
    bool pays;        /* from its ledger */
    bool audited;
    uint32_t patience_ms;
} joint_owner;

typedef struct joint {
    plans p;
    dp_silo_plan *plan; /* that all have signed */
    uint64_t planned;   /* releases */
    uint64_t sums;      /* that are opened: the same, but where releases are owners' own */
} joint;

/* Makes the plan of j->p and an empty folder for everything; frees both, and j->p. */
void joint_begin(joint *j);
void joint_end(joint *j);

/* A path in the folder: of the mailbox, or "state-1" of owner 1. */
const char *joint_path(const char *name, size_t k);

/* The options of owner k's run. */
dp_silo_run_opts joint_opts(const joint *j, size_t k);

/* Empties the mailbox, and forgets what is kept of runs. */
void joint_clear(void);

/* Letters in the mailbox, which others can take: not one that is being written, under a hidden name;
 * and rounds of which there is one. */
size_t joint_letters(void);
size_t joint_rounds(void);

/* Makes a ledger for each owner whose budget the plan fits into once. */
void joint_make_ledgers(const joint *j);

/* Begins an owner's process, and waits for it: its status, or JOINT_KILLED.  Its fit is in "fit-k",
 * its message in "message-k". */
pid_t joint_start(const joint *j, const joint_owner *o);
int joint_wait(pid_t process);

/* The same without waiting: JOINT_RUNNING. */
int joint_look(pid_t process);

/* Runs all owners as they are until each has its fit: those that end early run again. */
void joint_run(const joint *j, const joint_owner owners[PLANS_OWNERS]);

/* A file of the folder, whose bytes are valid until the next call of the same `slot`. */
const unsigned char *joint_load(const char *name, size_t k, int slot, size_t *n);

/* The same of a letter in a folder. */
const unsigned char *joint_letter(const char *mailbox, const char *name, int slot, size_t *n);

/* That all owners have the same fit, which opened each sum once. */
void joint_same(const joint *j);

/* That each owner's journal, and each ledger's only entry, has all releases, once. */
void joint_journals(const joint *j);
void joint_ledgers(const joint *j);

/* Runs all owners, who pay, where some end early; each release and each opening is made once, and
 * paid once. */
void joint_run_paid(const joint *j, joint_owner owners[PLANS_OWNERS]);

#endif
