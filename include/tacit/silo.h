/* One fit over several owners, each with records that may not leave its house: libtacit-serve.
 *
 *   plan    made by one of them: model, budget, owners, scheme.  Its text says what leaves each
 *           house and who sees it; its hash is what all sign
 *   sign    each owner, after reading it
 *   run     each owner, a process beside its own records; all get the same fit
 *
 *   dp_silo_plan_load("joint.plan", &plan, &err)
 *   dp_silo_run(plan, model, data, &opts, &fit, &err)
 *
 * doc/silo.md says what each scheme protects from whom, doc/design/silo.md why. */
#ifndef TACIT_SILO_H
#define TACIT_SILO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/fit.h>
#include <tacit/infer.h>
#include <tacit/ledger.h>
#include <tacit/owners.h>
#include <tacit/silo-trio.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- who an owner is ---- */

typedef struct dp_silo_key dp_silo_key;

enum { DP_SILO_PUBLIC_TEXT = 12 + 64 + 1 }; /* "tacit-owner:", digits, the final zero */

/* Makes a new key and its file, which its owner alone can read; a file that is there is never
 * overwritten.
 *   *key  [out] owned by the caller; NULL on error
 * DP_EIO the file exists or cannot be written; DP_EENTROPY, DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_key_new(const char *path, dp_silo_key **key, dp_error *err)
    DP_NONNULL(1, 2);

/* Reads a key from its file, which nobody else may read or write.
 * DP_EIO; DP_EPRIVACY others can read it; DP_EDATA it is no key; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_key_load(const char *path, dp_silo_key **key, dp_error *err)
    DP_NONNULL(1, 2);

/* "tacit-owner:" and 64 hexadecimal digits of its public half, by which others know the owner. */
DP_API const char *dp_silo_key_public(const dp_silo_key *key) DP_NONNULL(1);

/* Wipes it; NULL is allowed. */
DP_API void dp_silo_key_free(dp_silo_key *key);

/* ---- what is planned ---- */

typedef struct dp_silo_plan dp_silo_plan;

typedef struct dp_silo_owner {
    const char *name; /* 1 to 15 of a-z, 0-9, _ and -, the first a letter */
    const char *key;  /* its public text */
} dp_silo_owner;

/* A regression over columns of the same people at two owners, by steps over all rows that both
 * have: w -= step (gradient / rows + ridge w), from 0.  All of it is public; bounds are to be
 * chosen without looking at records. */
typedef struct dp_silo_columns {
    bool logistic;  /* outcomes 0 and 1, by the second order of the loss around 0; else squares */
    size_t outcome; /* the owner that has outcomes, 0 or 1 */
    size_t columns[2];  /* of each owner, 1 ... 1024 */
    double row_most[2]; /* of each owner: norms of its rows, which are shortened to it */
    double
        addend_most[2]; /* magnitudes of what it adds to a residual: its part of the score, less the
                            * outcome (logistic: a quarter of it, less or more 1/2); cut to it */
    uint64_t steps;     /* 1 ... 100 000 */
    double step, ridge; /* > 0; >= 0 */
    const char *ids;    /* what ids are of, as "patients": 1 to 60 printable characters of ASCII */
    /* Where a formula says what the regression is (dp_silo_opts.source): the columns of its schema
     * that each owner has, with commas between, for dp_formula_part_new.  Both or none.  That the
     * numbers above are those of the formula is looked at by tacit silo, and not here. */
    const char *held[2];
    bool told; /* at the end each tells the other its coefficients */
    /* Of scheme split alone, which has neither bounds of rows nor of addends (0 all of them) and
     * takes the logistic loss as it is.  Steps are of `batch` rows (0: of all) in an order that
     * follows from the plan's seed, and have momentum in [0, 1): v = momentum v + gradient / rows +
     * ridge w, w -= step v. */
    size_t batch;
    double momentum;
    /* There the plan may be of a model (dp_silo_opts.model) in place of a regression, of parameters
     * without distributions: `held` are then the columns of the model, and outcome, columns (here
     * parameters) and width are found out and not looked at.  It is cut in two at a value of
     * records that the model names, NULL: at the last one that has all of one owner's columns
     * behind it; the parameters behind it are of that owner, all others of the other one. */
    const char *cut;
    size_t width; /* numbers of each record that are told at the cut; of a regression 1 */
} dp_silo_columns;

/* Zero means the default, but for epsilon and delta, which have none where the scheme has noise. */
typedef struct dp_silo_opts {
    const char *name;      /* of the plan, as an owner's */
    const char *scheme;    /* dp_silo_schemes */
    const dp_model *model; /* what is fitted; the plan has its hash */
    /* In its place, or beside it with scheme split, with the schemes of columns: two owners, one
     * colluder, no rounds, draws or dropouts; a source without priors, or none.  Epsilon is of a
     * record in place of another, at both owners together. */
    const dp_silo_columns *columns;
    /* In place of both, with the schemes of three parties: three owners, of whom those without
     * columns and outcomes help; one colluder, and the rest as of columns.  Its name, epsilon and
     * delta are not looked at: the plan's count.  most_records is its rows, and may be left 0. */
    const dp_silo_trio *trio;
    /* With a source: the columns of its schema that each of the three has, as of columns; NULL for
     * who helps. */
    const char *trio_held[DP_SILO_TRIO];
    const dp_fit_source *source; /* formula and schema of it, nullable: for a model in C */
    size_t n_owners;             /* 1 ... DP_OWNERS_MOST; the first one adds up */
    const dp_silo_owner *owners;
    double epsilon, delta;
    uint64_t rounds; /* as in dp_fit_opts */
    size_t draws;
    /* Of a scheme with steps of each owner's own (dp_silo_scheme.averages), and there without a
     * default: how many each takes by itself between two openings (dp_owners), 1 ...
     * DP_OWNERS_LOCAL_STEPS.  Else 0. */
    uint64_t local_steps;
    /* Owners that may put together what they know, and owners that may drop out.  Default: 1 of the
     * former, as each owner is a stranger to the others, and none of the latter. */
    size_t colluders, dropouts;
    bool trusting;         /* there are no colluders: with it the default is 0 */
    uint64_t most_records; /* of one owner; default 2^20 */
    uint64_t seed;         /* public; default: drawn */
} dp_silo_opts;

/* Makes a plan: what each owner runs is worked out and checked, so that nothing can be seen by
 * somebody whom it is not of, but noisy releases and what a clause of the scheme names.
 *   *plan  [out] owned by the caller; NULL on error
 * DP_EINVAL, DP_EDOMAIN options; DP_ENAME no such scheme; DP_EUNSUPPORTED the model is not fitted
 * so; DP_EPRIVACY the checks refuse it, with the variable, the operation and the party;
 * DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_new(const dp_silo_opts *opts, dp_silo_plan **plan,
                                                dp_error *err) DP_NONNULL(1, 2);

/* A plan from its text or file.  Its programs are made anew and compared with those that it shows,
 * and signatures are checked: a plan that was changed by as much as a letter is refused.
 *   name  of the text, in messages
 * DP_EDATA with the line; DP_EIO; DP_ENOMEM; otherwise as dp_silo_plan_new. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_parse(const char *text, size_t n, const char *name,
                                                  dp_silo_plan **plan, dp_error *err)
    DP_NONNULL(1, 3, 4);
DP_API DP_MUST_CHECK dp_status dp_silo_plan_load(const char *path, dp_silo_plan **plan,
                                                 dp_error *err) DP_NONNULL(1, 2);

/* Its text with the signatures; valid until the next signature. */
DP_API const char *dp_silo_plan_text(const dp_silo_plan *plan) DP_NONNULL(1);

/* What it was made of, without the model; borrowed from the plan. */
DP_API const dp_silo_opts *dp_silo_plan_opts(const dp_silo_plan *plan) DP_NONNULL(1);

enum { DP_SILO_HASH = 32 };
/* The hash of its text without signatures. */
DP_API void dp_silo_plan_hash(const dp_silo_plan *plan, unsigned char hash[DP_SILO_HASH])
    DP_NONNULL(1);

/* Signs for the owner of the key.  DP_ENAME it is none of the plan's owners; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_sign(dp_silo_plan *plan, const dp_silo_key *key,
                                                 dp_error *err) DP_NONNULL(1, 2);

/* Adds the signatures of another copy of the same plan.  DP_EMISMATCH it is another plan;
 * DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_join(dp_silo_plan *plan, const dp_silo_plan *other,
                                                 dp_error *err) DP_NONNULL(1, 2);

/* Epsilon at the plan's delta against somebody who knows the shares of noise of `known` owners: 0,
 * who sees the fit alone; 1, an owner.
 *   *epsilon  [out] +INFINITY where nothing bounds it: without noise, where no share is unknown,
 *             and on any error
 * Errors of dp_account_epsilon. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_spent(const dp_silo_plan *plan, size_t known,
                                                  double *epsilon, dp_error *err) DP_NONNULL(1, 3);

/* Whether owner k has signed. */
DP_API bool dp_silo_plan_signed(const dp_silo_plan *plan, size_t k) DP_NONNULL(1);

/* NULL is allowed. */
DP_API void dp_silo_plan_free(dp_silo_plan *plan);

/* ---- running it ---- */

typedef struct dp_silo_run_opts {
    const dp_silo_key *key; /* whose process this is; borrowed */
    /* Nullable: this process is one of several of the owner, each with a shard of its records
     * (dp_owners.group); borrowed.  All call dp_silo_run together with the same plan.  Rank 0 runs
     * what is between owners: key, mailbox, policy, state, log and ledger are its own, and in the
     * others not looked at.  Its ledger compares its shard alone, whose name must stand for all
     * shards, and be kept: let the same shard be rank 0's in each run, and have no other shard
     * under a name of its own.  All get the fit; a rank that fails ends the run in all of them.  A
     * run that goes on does with all ranks and the same shards.  Of dp_silo_run alone, and not of
     * schemes whose owners take steps by themselves. */
    const dp_group *group;
    /* Where letters are left: a folder that all owners reach, or https://HOST[:PORT]/PATH of a
     * server that keeps what is put there (doc/silo.md). */
    const char *mailbox;
    /* PEM files for a server, nullable: this side's certificate and its key, and who may sign the
     * server's. */
    const char *certificate, *certificate_key, *authorities;
    const char *policy; /* a file of what this site allows, nullable (doc/silo.md) */
    /* A folder for what must outlive a crash, made where there is none; a run that ended early goes
     * on from it.  It may be seen by whoever may see this owner's records.  NULL: a run that ends
     * early is lost, and stays spent.  Of fedsgd and fedavg nothing is kept.  Of columns it is
     * secrets and a count of letters: who reads it together with the key can make this owner's
     * noise, until it is taken away (dp_silo_forget).  Of three parties it is this party's part of
     * one sum, and what was opened. */
    const char *state;
    const char *audit;    /* a file that tells of each letter (below), nullable */
    uint32_t patience_ms; /* for another owner, also while it takes local steps; default 600 000 */
    size_t threads;       /* as in dp_fit_opts, as are the others */
    bool hopeless_allowed;
    dp_ledger *ledger;
    const char *ledger_data, *ledger_label;
    dp_fit_watch *watch;
    void *watch_user;
    /* Of a plan of three parties: where each is reached, in the plan's order, of whom the last is
     * by nobody; fingerprints and names are those of the plan, and not looked at.  And where this
     * one listens, NULL: at its own place there.  Addresses are no part of what is signed: whoever
     * is found there must have the key that the plan has. */
    const dp_silo_trio_party *at; /* [DP_SILO_TRIO] */
    const char *host, *port;
    double *others; /* [out] [columns of the other] its coefficients, where a plan of columns says
                     * that they are told; nullable.  Zeros after an error */
    dp_fit **fit; /* [out] the whole fit, where they are told and the plan is of a model; nullable.
                     * Owned by the caller; NULL after an error */
} dp_silo_run_opts;

/* Whether this owner may run the plan, as far as can be told without records: that the key is of
 * one of its owners, that all have signed, and what the site's policy says; of opts only key and
 * policy are looked at.
 *   model  of a plan of columns or of three parties not looked at, and may be NULL
 * Errors as of dp_silo_run, which asks the same.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_run_check(const dp_silo_plan *plan, const dp_model *model,
                                                 const dp_silo_run_opts *opts, dp_error *err)
    DP_NONNULL(1, 3);

/* This owner's part of the fit; all owners run it at about the same time.  Nothing leaves before
 * the plan, the site's policy, the model, the records and the ledger are found to be in order.
 *   *fit  [out] as of dp_fit_private; NULL on error
 * DP_EPRIVACY not all have signed, or the site's policy forbids it; DP_ENAME the key is of none of
 * the plan's owners; DP_EMISMATCH the model, or what it opens, is another than the plan's;
 * DP_EUNSUPPORTED this version does not carry letters there;
 * DP_ETIMEOUT an owner is not heard; DP_EPEER one breaks the protocol; DP_ESTATE the state is of
 * another plan, or another process has it; DP_EIO; errors of dp_fit_private and of
 * dp_silo_audit_check. */
DP_API DP_MUST_CHECK dp_status dp_silo_run(const dp_silo_plan *plan, const dp_model *model,
                                           const dp_dataset *data, const dp_silo_run_opts *opts,
                                           dp_fit **fit, dp_error *err) DP_NONNULL(1, 2, 3, 4, 5);

/* What an owner of columns has. */
typedef struct dp_silo_columns_data {
    size_t rows; /* 1 ... 2^20 */
    const char *const
        *ids;        /* [rows] of the people, each once; blanks around and capitals do not count */
    const double *x; /* [rows][columns], finite */
    const double *y; /* [rows] finite; NULL at the owner that has no outcomes */
    /* In place of x and y, of a plan of a model: the model, and this owner's columns of it. */
    const dp_model *model;
    const dp_dataset *data; /* of `rows` records */
} dp_silo_columns_data;

/* This owner's part of a regression over columns; both run it at about the same time.  They link
 * ids first: each learns how many the other has, and which of its own are common, which no epsilon
 * covers, so that whether somebody has a row must not follow from a value; then they take the
 * plan's steps.  Nothing leaves before plan, policy and data are found to be in order.  A run that
 * ends early goes on with the same call: it does all again from what the state has, sends what had
 * not left, and comes to the same numbers, to the bit; all letters must be in the mailbox.
 *   opts     with noise `state` is needed; what is of a fit is not looked at.  `ledger` is charged
 *            with all of the plan before anything leaves, once, for a data set whose budget is of
 *            records that are replaced; a run that ends before its first step gives that back, and
 *            takes it again when it goes on.  Without a label the entry says that which people both
 *            have is not counted.  `watch` is asked while the other is waited for, and ends it with
 *            DP_ESTOPPED; `made` is of all steps once the first is begun
 *            Of scheme split a policy is needed, and `single-records = yes` in it
 *   *common  [out] rows that both have
 *   w        [out] [columns of this owner]; zeros after an error, but one of the key
 * DP_EINVAL a plan of no columns, or data that do not fit it; DP_EDATA ids that are twice, or
 * numbers that are none; DP_ESTATE the state is of other rows, or an older copy; DP_EPRIVACY
 * letters or numbers are not those of before the run ended; DP_EUNSUPPORTED; otherwise as
 * dp_silo_run. */
DP_API DP_MUST_CHECK dp_status dp_silo_run_columns(const dp_silo_plan *plan,
                                                   const dp_silo_columns_data *data,
                                                   const dp_silo_run_opts *opts, size_t *common,
                                                   double *w, dp_error *err)
    DP_NONNULL(1, 2, 3, 4, 5);

/* This party's part of a regression by three, of a plan with dp_silo_opts.trio; all three run it at
 * about the same time, over links between each two (`at`), and helpers without records too.  Keys
 * of the run are bound to the plan's hash.  Nothing leaves before plan, policy and data are found
 * to be in order.  A run that ends early goes on when all three make the same call: each sum is
 * opened once, and steps of which nothing was opened are taken anew.  Of one that is over it tells
 * the coefficients again, and opens nothing.
 *   opts   with noise `state` is needed.  `ledger` as of dp_silo_trio_run, of a party that has
 *          records; a run pays once, however often it ends.  `patience_ms` by default 60 000.
 *          `audit` has a line for each party before a link to it, and before anything is opened,
 *          and what went over the links of a run that is over, which tells how many rows and ids
 *          there are.
 *          `watch` is asked while the others are waited for to come, and before each step, and ends
 *          it with DP_ESTOPPED; `mailbox` is not looked at
 *   data, *rows, w  as of dp_silo_trio_run
 * DP_EINVAL a plan of no three parties, or data that do not fit it; DP_ESTATE the state is of other
 * rows, or a party has an older copy; DP_EPRIVACY another has sent other ids than before;
 * DP_EMISMATCH this version runs other steps than the plan has; otherwise as dp_silo_run_check and
 * dp_silo_trio_run. */
DP_API DP_MUST_CHECK dp_status dp_silo_run_trio(const dp_silo_plan *plan,
                                                const dp_silo_trio_data *data,
                                                const dp_silo_run_opts *opts, size_t *rows,
                                                double *w, dp_error *err) DP_NONNULL(1, 2, 3, 4, 5);

/* What a state's folder knows of runs of a plan. */
typedef struct dp_silo_kept {
    bool keeps;       /* runs of such a plan leave anything there; of fedsgd and fedavg not */
    bool begun;       /* one was, and goes on from there */
    size_t owner;     /* whose */
    uint64_t sums;    /* the number of the last one that was begun, 0: none; of columns, the step */
    uint64_t planned; /* sums that a run opens */
    int64_t changed;  /* when, in seconds since 1970; 0 where none was begun */
    bool over;        /* of three parties: it is, and tells its coefficients again */
} dp_silo_kept;

/* Looks, and changes nothing; also while a process runs with it.  DP_ESTATE what is there is of
 * another plan; DP_EPRIVACY others can read it; DP_EDATA it is damaged; DP_EIO, DP_EINVAL,
 * DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_silo_look(const dp_silo_plan *plan, const char *state,
                                            dp_silo_kept *kept, dp_error *err) DP_NONNULL(1, 2, 3);

/* Takes away what a run has kept in its state's folder, when what it has found is saved.  Without
 * it the same call of dp_silo_run opens nothing: it gives the fit again; and of
 * dp_silo_run_columns, from the letters in the mailbox, the coefficients.  Of three parties all
 * stays: it says that the plan was run. */
DP_API void dp_silo_forget(const char *state) DP_NONNULL(1);

/* ---- what has left, and what has come ---- */

/* A log is a file of lines that tell of each letter of a run, before it leaves or after it has
 * come: when, to or from whom, its tag, and its bytes, which are the same whatever the records
 * are; of a run of columns they tell how many people each owner has, and how many both.  Each line
 * ends with the hash of itself and of the one before it, so that what is changed, taken out or put
 * in another order is found.  Who cuts off the end, or writes a whole new file, is found by `head`
 * alone, where somebody else has noted it. */
typedef struct dp_silo_audit_peer {
    char name[16];                             /* of an owner */
    uint64_t sent, sent_bytes, got, got_bytes; /* letters, with those that were sent again */
} dp_silo_audit_peer;

typedef struct dp_silo_audit {
    unsigned char plan[DP_SILO_HASH];
    uint64_t lines, runs; /* runs that have begun: after a crash there is one more */
    uint64_t torn;        /* lines that a crash cut off; their letters have not left */
    char outcome[24];     /* of the last run, as "DP_OK"; "" where it has not ended */
    size_t n_peers;
    dp_silo_audit_peer peers[DP_OWNERS_MOST];
    char head[2 * DP_SILO_HASH + 1]; /* hexadecimal: the hash of the last line */
} dp_silo_audit;

/* Reads a log of letters and looks at its chain.
 *   plan    [DP_SILO_HASH] the hash of the plan whose log it must be; NULL: any
 *   *found  [out] zeros on error
 * DP_EDATA with the line that is not what was written there; DP_EMISMATCH it is of another plan;
 * DP_EIO.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_silo_audit_check(const char *path, const unsigned char *plan,
                                                   dp_silo_audit *found, dp_error *err)
    DP_NONNULL(1, 3);

/* ---- schemes ---- */

typedef struct dp_silo_scheme {
    const char *name, *about;
    bool noisy;      /* there is noise, so that a plan has epsilon and delta */
    bool by_columns; /* of dp_silo_opts.columns, and not of rows */
    /* What dp_silo_opts.local_steps of each owner's own come to is opened, and no sums of steps:
     * parameters, or where `noisy` what they change of each owner's factor. */
    bool averages;
    bool shared; /* of dp_silo_opts.trio */
    bool single; /* numbers of every single record are told, as they are */
} dp_silo_scheme;

/* list [*n], static. */
DP_API const dp_silo_scheme *dp_silo_schemes(size_t *n) DP_NONNULL(1);

#ifdef __cplusplus
}
#endif
#endif
