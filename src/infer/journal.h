/* A journal: what a fit has released, on the disk before anything else uses it, so that a fit whose
 * process ends goes on with the same releases.
 *
 *   header   what the run is, and its hash
 *   keys     [releases] of 32 bytes, one of each group; zeros: no such group
 *   release  its place, phase, size, noise, how many of its group follow; a hash of what was asked
 *            and the numbers, under the key of its group; a hash of all that under the key and of
 *            the hash before it
 *
 * Releases are added in memory, where they wait, and are written in groups, twice.
 * dpi_journal_seal puts those that wait into the file under a key that is nowhere else but in
 * memory, and waits for the disk; dpi_journal_open_seal puts the key into its place, which lies in
 * one sector, and waits for the disk again.  So a crash leaves either all of a group or random
 * bits, which tell nothing of it and are forgotten; and a file that lacks the end of what it has
 * keys for is damaged and is refused.  What a release was asked for follows from those before it,
 * and so is under the key as well.
 *
 * It holds no key of noise, and of the records nothing but releases.  One process has it at a time
 * (flock); a child of fork is refused.  doc/design/resume.md. */
#ifndef DPI_INFER_JOURNAL_H
#define DPI_INFER_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "model/store.h"

enum {
    DPI_JOURNAL_HASH = 32,
    DPI_JOURNAL_TAG = 16,
    DPI_JOURNAL_PHASES = 16,
    DPI_JOURNAL_MOST = 2048,
    DPI_JOURNAL_NUMBERS = 1 << 16 /* of a release */
};

/* What a run is: all that its releases and its answer follow from, but for the records and the
 * noise. */
typedef struct dpi_journal_run {
    unsigned char model[DPI_PRINT];
    double epsilon, delta, clip; /* options */
    uint64_t rounds, draws, seed;
    uint64_t random;   /* seed of what is no noise */
    uint64_t releases; /* 1 ... DPI_JOURNAL_MOST in all */
    uint64_t phases;   /* 1 ... DPI_JOURNAL_PHASES */
    uint64_t ledgered; /* 1: the rest is of the ledger's entry */
    unsigned char ledger[DPI_JOURNAL_TAG];
    uint64_t entry;
} dpi_journal_run;

/* One release. */
typedef struct dpi_journal_release {
    uint64_t phase;
    uint64_t n; /* numbers, 1 ... DPI_JOURNAL_NUMBERS */
    double sigma;
    unsigned char
        question[DPI_JOURNAL_HASH]; /* of all that the sum follows from, but the records */
} dpi_journal_release;

typedef struct dpi_journal dpi_journal;

/* Makes a journal at `path`, which must not exist, readable by its owner alone.
 * *j [out] owned by the caller; NULL on error.  DP_ESTATE there is one; DP_EIO, DP_ENOMEM. */
dp_status dpi_journal_new(const char *path, const dpi_journal_run *run, dpi_journal **j,
                          dp_error *err) DP_MUST_CHECK;

/* Opens one, and looks at all releases in it.  DP_ESTATE there is none, or another process has it;
 * DP_EDATA it is none, or damaged; DP_EPRIVACY others may write it; DP_EUNSUPPORTED another
 * version; DP_EIO, DP_ENOMEM. */
dp_status dpi_journal_open(const char *path, dpi_journal **j, dp_error *err) DP_MUST_CHECK;
void dpi_journal_free(dpi_journal *j);

const dpi_journal_run *dpi_journal_run_of(const dpi_journal *j);

/* Releases that are in it; of one phase, with those that are sealed; and those that wait. */
uint64_t dpi_journal_count(const dpi_journal *j);
uint64_t dpi_journal_count_of(const dpi_journal *j, uint64_t phase);
uint64_t dpi_journal_waiting(const dpi_journal *j);

/* Whether the next one is, which dpi_journal_read then reads into out[n]: where the run asks for
 * just that.  DP_EMISMATCH it asks for another; DP_EDATA, DP_EIO. */
bool dpi_journal_is_ahead(const dpi_journal *j);
dp_status dpi_journal_read(dpi_journal *j, const dpi_journal_release *what, double *out,
                           dp_error *err) DP_MUST_CHECK;

/* Whether one more of n numbers may wait. */
bool dpi_journal_has_room(const dpi_journal *j, uint64_t n);

/* Where none is ahead and none is sealed: puts the next one behind those that wait.  DP_ESTATE in a
 * child of fork; DP_EIO there is no room, or an error before. */
dp_status dpi_journal_add(dpi_journal *j, const dpi_journal_release *what, const double *numbers,
                          dp_error *err) DP_MUST_CHECK;

/* Writes those that wait, at least one, in two steps.  After an error nothing more can be written.
 * DP_ESTATE in a child of fork; DP_EENTROPY; DP_EIO. */
dp_status dpi_journal_seal(dpi_journal *j, dp_error *err) DP_MUST_CHECK;
dp_status dpi_journal_open_seal(dpi_journal *j, dp_error *err) DP_MUST_CHECK;

/* Takes the file away, where nothing is in it. */
void dpi_journal_drop(dpi_journal *j);

#endif
