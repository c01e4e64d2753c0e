/* The ledger: what has been spent on a data set, in one file that its owner keeps beside the data.
 *
 * A ledger holds data sets, each with a budget that is set once, and entries: what was reserved on
 * them, as mechanisms of tacit/accountant.h.  A run reserves all its steps before the first and is
 * refused (DP_EPRIVACY) when the composition of everything reserved would exceed the budget, with a
 * message that says what would fit.  A crash at any point, kill -9 and full disks included, leaves
 * what was reserved spent.  doc/design/ledger.md has the rules and what they rest on.
 *
 * The file is as secret as the data: it holds keyed hashes of them, and of single values, beside
 * the key.  It guards against mistakes and forgetting, not against an owner who puts back an old
 * copy.
 *
 * Composition is proved for noise, rates and steps that are not chosen in view of earlier results.
 *
 * Errors of all calls, beside those named: DP_EIO the file cannot be read or written (then nothing
 * was reserved); DP_EDATA it is damaged or no ledger; DP_ESTATE another process holds it for a
 * minute; DP_ENOMEM.
 * Threads and processes: any number may have the same file open, each with its own dp_ledger; one
 * dp_ledger is used by one thread at a time.  A child of fork is refused (DP_ESTATE): steps that
 * are reserved once would be taken by both.  It opens the file anew. */
#ifndef TACIT_LEDGER_H
#define TACIT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tacit/accountant.h>
#include <tacit/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_ledger dp_ledger;

/* Makes an empty ledger at `path`, which must not exist, readable by its owner alone.
 * *ledger [out] owned by the caller (dp_ledger_close); NULL on any error.  DP_EENTROPY too. */
DP_API DP_MUST_CHECK dp_status dp_ledger_create(const char *path, dp_ledger **ledger, dp_error *err)
    DP_NONNULL(1, 2);

/* Opens a ledger. */
DP_API DP_MUST_CHECK dp_status dp_ledger_open(const char *path, dp_ledger **ledger, dp_error *err)
    DP_NONNULL(1, 2);

/* Closes it; NULL is allowed.  Runs and reservations that use it must be freed before. */
DP_API void dp_ledger_close(dp_ledger *ledger);

/* ---- data sets ---- */

/* What a data set is known by: the bytes of a file, or columns in memory.  One of the two. */
typedef struct dp_ledger_source {
    const char *path;          /* hashed now and before every run; kept as an absolute path */
    const dp_dataset *records; /* borrowed for the call */
    bool overlap_allowed;      /* values that other data sets of the ledger have, too, are no error:
                                * they are of other people, or both budgets are meant for them */
} dp_ledger_source;

/* What may be lost, by neighbouring data sets in the sense of `adjacency`. */
typedef struct dp_budget {
    double epsilon;         /* > 0, finite, nats */
    double delta;           /* (0, 1), well below one over the number of records */
    dp_adjacency adjacency; /* DP_ADD_REMOVE or DP_REPLACE_ONE */
    const char *unit;       /* NULL: one record is one unit; else the column that tells units, and
                             * neighbours differ in all records of one unit */
} dp_budget;

/* Adds a data set.  The budget cannot be changed afterwards.
 *   name   1 to 200 bytes without control characters; borrowed
 * DP_ENAME the name, or the same data under another name, is there already (columns also in another
 * order, with more of them or with fewer); DP_EPRIVACY the data share records, or a column of
 * measurements, with another data set, whatever names, order and kinds, and overlap_allowed is not
 * set; DP_EDOMAIN the budget; DP_EINVAL the name or the source.
 * What is shared is told from keyed sketches (doc/design/ledger.md): some 60 records or values in
 * common are enough; columns with few values, and lists such as numbers of rows, do not count.
 * Two passes over the data. */
DP_API DP_MUST_CHECK dp_status dp_ledger_add_data(dp_ledger *ledger, const char *name,
                                                  const dp_ledger_source *source,
                                                  const dp_budget *budget, dp_error *err)
    DP_NONNULL(1, 2, 3, 4);

/* Says that a data set has changed or moved and is still about the same records (an error was
 * corrected, a column added).  Budget and spending stay.  Not for data on other people, and not for
 * further records: they are a data set of their own.  DP_ENAME unknown; DP_EPRIVACY as above, of
 * another data set than this. */
DP_API DP_MUST_CHECK dp_status dp_ledger_update_data(dp_ledger *ledger, const char *name,
                                                     const dp_ledger_source *source, dp_error *err)
    DP_NONNULL(1, 2, 3);

/* Epsilon, at the budget's delta, of everything reserved on a data set so far; [0, 0] when that is
 * nothing.  A 2^-40th of delta is kept for failures of the sampler of noise, so that the figure is
 * the program's; where that is not enough, above some 60 nats, the upper end is +INFINITY.  {0,
 * +INFINITY, NaN} on any error: DP_ENAME, those of dp_account_epsilon. */
DP_API DP_MUST_CHECK dp_status dp_ledger_spent(dp_ledger *ledger, const char *data,
                                               dp_interval *epsilon, dp_error *err)
    DP_NONNULL(1, 2, 3);

/* ---- reservations ----
 *
 * dp_svi_opts.ledger does this by itself; the calls are for other users of the accountant. */

/* What is going to be done. */
typedef struct dp_spending {
    const char *data;          /* name of the data set */
    const char *label;         /* nullable: the caller's words, at most 200 bytes */
    const char *columns;       /* nullable: which columns, in words, at most 1000 bytes */
    const char *unit;          /* nullable: the unit column of the guarantee; the budget's, or else
                                * DP_EMISMATCH */
    const dp_mechanism *list;  /* [n]; adjacency 0 is the budget's where the accountant has it */
    size_t n;                  /* 1 ... 1000 */
    const dp_dataset *records; /* nullable: columns that must be those of the data set, where it was
                                * added as columns */
} dp_spending;

typedef struct dp_reservation dp_reservation;

/* Reserves; with DP_OK it is on the disk.
 *   *reservation  [out] owned by the caller; NULL on any error
 * DP_EPRIVACY it does not fit into the budget; DP_EMISMATCH another adjacency than the budget's;
 * DP_EDATA the data have changed; DP_ENAME unknown data; DP_EINVAL; those of dp_account_epsilon.
 * Composes while others may use the ledger; DP_ESTATE when the same data set was reserved, settled
 * or resumed by others 16 times meanwhile: try again. */
DP_API DP_MUST_CHECK dp_status dp_ledger_reserve(dp_ledger *ledger, const dp_spending *what,
                                                 dp_reservation **reservation, dp_error *err)
    DP_NONNULL(1, 2, 3);

/* Takes over the reservation of entry `id` (dp_ledger_read) as it stands, for a run that goes on
 * behind a crash: nothing more is reserved, and who had it can settle it no more.  Of `what` the
 * list must be the entry's, but for steps, and the unit the budget's; the label is not read.
 *   *reservation  [out] owned by the caller; NULL on any error
 * DP_EMISMATCH, DP_EDATA it is another entry; those of dp_ledger_reserve. */
DP_API DP_MUST_CHECK dp_status dp_ledger_take_over(dp_ledger *ledger, uint64_t id,
                                                   const dp_spending *what,
                                                   dp_reservation **reservation, dp_error *err)
    DP_NONNULL(1, 3, 4);

/* Lowers the reservation to what was begun: steps[n], for each mechanism the releases that were
 * begun, at most those reserved (DP_EINVAL); a begun epoch of random allocation counts whole.  Only
 * where the number has nothing to do with what was released.  DP_ESTATE when it is settled
 * already. */
DP_API DP_MUST_CHECK dp_status dp_reservation_settle(dp_reservation *reservation,
                                                     const uint64_t *steps, dp_error *err)
    DP_NONNULL(1, 2);

/* Forgets the reservation; unless settled, all of it stays spent.  NULL is allowed. */
DP_API void dp_reservation_free(dp_reservation *reservation);

/* ---- reading ---- */

/* One reservation, as it stands.  Times are seconds since 1970, UTC. */
typedef struct dp_ledger_entry {
    uint64_t id;              /* 1, 2, ... in the order of reservation */
    int64_t made;             /* when it was reserved, or resumed last */
    int64_t settled;          /* when its end was written; 0: running, or broken off */
    const char *label;        /* NULL: none */
    const char *columns;      /* NULL: not told */
    const char *model;        /* hash of the model in hexadecimal digits; NULL: none */
    const dp_mechanism *list; /* [n]; `steps` are those that count as spent, 0 allowed */
    const uint64_t *planned;  /* [n] steps asked for at first */
    const uint64_t *begun;    /* [n] steps that may have been begun, at most those spent */
    size_t n;
} dp_ledger_entry;

typedef struct dp_ledger_data {
    const char *name;
    const char *path; /* NULL: columns in memory */
    dp_budget budget;
    int64_t added, updated; /* updated 0: never */
    bool overlap_allowed;   /* was said when it was added or in an update: its people may have
                             * budgets of other data sets, too.  False of before format 4 */
    const dp_ledger_entry *entries; /* [n] */
    size_t n;
} dp_ledger_data;

/* Everything in a ledger, read at one moment. */
typedef struct dp_ledger_statement {
    const dp_ledger_data *data; /* [n] in the order in which they were added */
    size_t n;
} dp_ledger_statement;

/* *statement [out] owned by the caller (dp_ledger_statement_free); NULL on any error. */
DP_API DP_MUST_CHECK dp_status dp_ledger_read(dp_ledger *ledger,
                                              const dp_ledger_statement **statement, dp_error *err)
    DP_NONNULL(1, 2);
DP_API void dp_ledger_statement_free(const dp_ledger_statement *statement);

/* Looks for faults: of the file (SQLite's integrity check), of rows (their hashes, gaps in their
 * numbers, ranges, steps), of spending above the budget, and of data files that are missing or have
 * changed.  Writes a line for each to `out` (nullable).
 *   *faults  [out] how many; SIZE_MAX on any error */
DP_API DP_MUST_CHECK dp_status dp_ledger_check(dp_ledger *ledger, FILE *out, size_t *faults,
                                               dp_error *err) DP_NONNULL(1, 3);

#ifdef __cplusplus
}
#endif
#endif
