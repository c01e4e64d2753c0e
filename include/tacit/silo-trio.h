/* Linear and logistic regressions over columns of the same people, or rows of one table, by three
 * parties of whom each sees uniform numbers and what is opened: libtacit-serve.
 *
 * Owners of columns or rows, one to three of the parties themselves, share them among the three; a
 * party without any helps.  All three run the same call at about the same time, with the same
 * terms, and reach each other by TCP.
 *
 *   dp_silo_trio_check(&terms, &err)                                       beforehand, by anybody
 *   dp_silo_trio_run(&terms, &opts, &data, &rows, w, &err)                 at each party
 *
 * It protects from one party that keeps to the protocol, and from who listens.  Any two parties
 * together know all rows; one that sends wrong numbers is not found, and may learn by what is
 * opened what it should not.  doc/silo.md says what is protected from whom, and
 * doc/design/silo-trio.md why. */
#ifndef TACIT_SILO_TRIO_H
#define TACIT_SILO_TRIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/ledger.h>
#include <tacit/serve.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DP_SILO_TRIO = 3 };

/* All of it is public and the same at all parties, which compare a hash of it before a row leaves;
 * bounds are to be chosen without looking at records.  Steps go over all rows: w -= step (gradient
 * / rows + ridge w), from 0, with the gradient of half the squared residuals or of the logistic
 * loss, whose sigmoid is within 2^-10.
 *
 * With epsilon and delta each step opens the gradient to all three, with noise of each of them: the
 * epsilon is against any one of them, for a record in place of another.  Without (both 0) nothing
 * is opened but the coefficients at the end, which then have no privacy: what follows from them is
 * told. */
typedef struct dp_silo_trio {
    const char *name; /* of the run, 1 to 60 printable characters of ASCII; of all runs another */
    bool logistic;    /* outcomes 0 and 1; else squares */
    /* Without ids: rows of the same people in the same order at all owners, which nothing here
     * looks at.  With them: the most that an owner has, 1 ... 2^20. */
    size_t rows;
    /* NULL, or what ids are of, as "patients", 1 to 60 printable characters of ASCII.  Two owners
     * link theirs first: each learns how many the other has and which of its own are common, and
     * the third party how many are.  Three must have the same ids in the same order, of which each
     * pair learns whether it is so.  No epsilon covers that. */
    const char *ids;
    /* All 0, or in place of columns of the same people rows of one table: so many at each party,
     * `rows` in all, with outcomes.  Then `columns` are the same wherever there are rows, else 0;
     * ids are NULL and outcome is 0, and coefficients are opened to all that have rows. */
    size_t rows_of[DP_SILO_TRIO];
    size_t outcome;                /* the party that has outcomes, 0 ... 2 */
    size_t columns[DP_SILO_TRIO];  /* of each party, 0 ... 1024; one at least in all */
    double row_most[DP_SILO_TRIO]; /* norms of the rows of each, 0 where it has none.  With noise
                                    * longer ones are shortened to it, without they are an error */
    double outcome_most;           /* magnitudes of outcomes, likewise; 0 where logistic */
    double residual_most; /* with noise: magnitudes of residuals, which are cut to it on shares, at
                           * most 1024 outcome_most; 0 without noise and where logistic */
    uint64_t steps;       /* 1 ... 100 000 */
    double step, ridge;   /* > 0; >= 0.  Without noise step (R^2 + ridge), with R^2 the sum of
                           * squares of row_most (a quarter of it, logistic), is at most 7/4 */
    double epsilon, delta;
    bool told; /* without noise: all coefficients are opened to all, and not each to its owner */
} dp_silo_trio;

/* Whether there are integers of 64 bits that hold such a regression whatever the data, and noise
 * for its epsilon.
 * DP_EINVAL, DP_EDOMAIN terms; DP_EUNSUPPORTED no integers hold it; errors of dp_calibrate_sigma.
 * Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_trio_check(const dp_silo_trio *terms, dp_error *err)
    DP_NONNULL(1);

/* Epsilon at the delta of the terms against somebody who knows the shares of noise of `known`
 * parties: 0, who sees coefficients and is no party; 1, a party.
 *   *epsilon  [out] +INFINITY where nothing bounds it: two parties, no noise, and on any error
 * Errors of dp_silo_trio_check and dp_account_epsilon.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_trio_spent(const dp_silo_trio *terms, size_t known,
                                                  double *epsilon, dp_error *err) DP_NONNULL(1, 3);

/* Where a party is reached, and who it is. */
typedef struct dp_silo_trio_party {
    const char *host, *port; /* party 2 is reached by nobody */
    const char *fingerprint; /* dp_identity_fingerprint, told by a way that is trusted */
    const char *name;        /* in messages; NULL: "party 0" and so on */
} dp_silo_trio_party;

typedef struct dp_silo_trio_opts {
    const dp_identity *identity;            /* of one of the parties: this one */
    dp_silo_trio_party party[DP_SILO_TRIO]; /* in the same order at all three */
    const char *host, *port; /* to listen at, of parties 0 and 1; NULL: those of its line */
    size_t threads;          /* that link ids; 0: 1 */
    /* For the others to come, and for their next message, also while they link ids; 0: 60 000. */
    uint32_t patience_ms;
    /* Pays for the whole run before anything leaves, from a data set whose budget is of records
     * that are replaced; NULL: nothing is counted, and each run spends epsilon again.  A run that
     * ends before its first opening gives it back.  Of a party that has records, with noise. */
    dp_ledger *ledger;
    const char *ledger_data, *ledger_label;
} dp_silo_trio_opts;

/* What a party has; zeros and NULL where it has no records. */
typedef struct dp_silo_trio_data {
    size_t rows; /* those of the terms, or with ids up to them, or of rows_of */
    const char *const
        *ids;        /* [rows] of the people, each once; blanks around and capitals do not count */
    const double *x; /* [rows][columns of this party], finite; NULL where it has none */
    const double *y; /* [rows] finite, or 0 and 1, of the party that has outcomes; else NULL */
} dp_silo_trio_data;

/* This party's part of the regression.
 *   *rows  [out] that were gone over: with ids those of common people
 *   w      [out] [columns of all, those of party 0 first; of rows those of one]; where only its own
 *          are opened to a party the others are 0.  Zeros after an error, but one of the terms
 * DP_EINVAL data or parties that are not those of the terms; DP_ENAME the identity is of none of
 * them; DP_EDATA rows or outcomes that are no numbers, or without noise beyond their bounds, ids
 * that are twice, none in common, or of three owners not the same; DP_ETIMEOUT a party is not
 * heard; DP_EPEER one breaks the protocol, was given other terms or has ended with an error of its
 * own; DP_EACCURACY with noise: coefficients left the integers, which follows from what was opened;
 * DP_EIO, DP_EENTROPY, DP_ENOMEM; errors of dp_silo_trio_check and of the ledger.  Threads may run
 * different regressions at a time; a ledger is one thread's. */
DP_API DP_MUST_CHECK dp_status dp_silo_trio_run(const dp_silo_trio *terms,
                                                const dp_silo_trio_opts *opts,
                                                const dp_silo_trio_data *data, size_t *rows,
                                                double *w, dp_error *err) DP_NONNULL(1, 2, 3, 4, 5);

#ifdef __cplusplus
}
#endif
#endif
