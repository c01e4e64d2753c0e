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

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tacit/export.h>
#include <tacit/fit.h>
#include <tacit/infer.h>
#include <tacit/ledger.h>
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

/* Zero means the default, but for epsilon and delta, which have none where the scheme has noise. */
typedef struct dp_silo_opts {
    const char *name;            /* of the plan, as an owner's */
    const char *scheme;          /* dp_silo_schemes */
    const dp_model *model;       /* what is fitted; the plan has its hash */
    const dp_fit_source *source; /* formula and schema of it, nullable: for a model in C */
    size_t n_owners;             /* 1 ... DP_OWNERS_MOST; the first one adds up */
    const dp_silo_owner *owners;
    double epsilon, delta;
    uint64_t rounds; /* as in dp_fit_opts */
    size_t draws;
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
 * so; DP_EPRIVACY the checks refuse it, with the variable, the operation and the party. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_new(const dp_silo_opts *opts, dp_silo_plan **plan,
                                                dp_error *err) DP_NONNULL(1, 2);

/* A plan from its text or file.  Its programs are made anew and compared with those that it shows,
 * and signatures are checked: a plan that was changed by as much as a letter is refused.
 * DP_EDATA with the line; DP_EIO; DP_ENOMEM; otherwise as dp_silo_plan_new. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_parse(const char *text, size_t n, const char *name,
                                                  dp_silo_plan **plan, dp_error *err)
    DP_NONNULL(1, 3, 4);
DP_API DP_MUST_CHECK dp_status dp_silo_plan_load(const char *path, dp_silo_plan **plan,
                                                 dp_error *err) DP_NONNULL(1, 2);

/* Its text with the signatures; valid until the next signature. */
DP_API const char *dp_silo_plan_text(const dp_silo_plan *plan) DP_NONNULL(1);

/* What it was made of; borrowed from the plan. */
DP_API const dp_silo_opts *dp_silo_plan_opts(const dp_silo_plan *plan) DP_NONNULL(1);

enum { DP_SILO_HASH = 32 };
/* The hash of its text without signatures. */
DP_API void dp_silo_plan_hash(const dp_silo_plan *plan, unsigned char hash[DP_SILO_HASH])
    DP_NONNULL(1);

/* Signs for the owner of the key.  DP_ENAME it is none of the plan's owners; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_sign(dp_silo_plan *plan, const dp_silo_key *key,
                                                 dp_error *err) DP_NONNULL(1, 2);

/* Adds the signatures of another copy of the same plan.  DP_EMISMATCH it is another plan. */
DP_API DP_MUST_CHECK dp_status dp_silo_plan_join(dp_silo_plan *plan, const dp_silo_plan *other,
                                                 dp_error *err) DP_NONNULL(1, 2);

/* Whether owner k has signed. */
DP_API bool dp_silo_plan_signed(const dp_silo_plan *plan, size_t k) DP_NONNULL(1);

DP_API void dp_silo_plan_free(dp_silo_plan *plan);

/* ---- running it ---- */

typedef struct dp_silo_run_opts {
    const dp_silo_key *key; /* whose process this is; borrowed */
    /* Where letters are left: a folder that all reach, or https://HOST[:PORT]/BOX of a relay. */
    const char *mailbox;
    /* Files of PEM for a relay: this side's certificate and key, and whom to trust; nullable. */
    const char *certificate, *certificate_key, *authorities;
    const char *policy; /* a file of what this site allows, nullable (doc/silo.md) */
    /* A folder for what must outlive a crash: made where there is none.  It may be seen by whoever
     * may see this owner's records.  A run that ended early goes on from it. */
    const char *state;
    const char *audit;    /* a file that tells of each letter, nullable */
    uint32_t patience_ms; /* for another owner; default 600 000 */
    size_t threads;       /* as in dp_fit_opts, as are the others */
    bool hopeless_allowed;
    dp_ledger *ledger;
    const char *ledger_data, *ledger_label;
    dp_fit_watch *watch;
    void *watch_user;
} dp_silo_run_opts;

/* This owner's part of the fit; all owners run it at about the same time.
 *   *fit  [out] as of dp_fit_private; NULL on error
 * DP_EPRIVACY not all have signed, or the site's policy forbids it; DP_EMISMATCH the model is
 * another one than the plan's; DP_ETIMEOUT an owner is not heard; DP_EPEER one breaks the
 * protocol; DP_ESTATE the state is of another plan, or another process has it; DP_EIO; errors of
 * dp_fit_private. */
DP_API DP_MUST_CHECK dp_status dp_silo_run(const dp_silo_plan *plan, const dp_model *model,
                                           const dp_dataset *data, const dp_silo_run_opts *opts,
                                           dp_fit **fit, dp_error *err) DP_NONNULL(1, 2, 3, 4, 5);

/* ---- schemes ---- */

typedef struct dp_silo_scheme {
    const char *name, *about;
    bool runs; /* else it can be planned and looked at, and this version does not run it */
} dp_silo_scheme;

/* list [*n], static. */
DP_API const dp_silo_scheme *dp_silo_schemes(size_t *n) DP_NONNULL(1);

#ifdef __cplusplus
}
#endif
#endif
