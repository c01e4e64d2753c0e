/* A posterior from epsilon and delta alone.
 *
 *   dp_fit_opts o = {.epsilon = 1, .delta = 1e-6};
 *   if (dp_fit_private(model, data, &o, &fit, &err)) ...
 *
 * There is no clip norm, no number of steps, no step size and no guide to choose.  The budget is
 * spent in phases that are fixed beforehand; what each phase does follows from what the phases
 * before it have released: the scales of what records tell of each latent, a metric in which all
 * that they tell is of one size, a few rounds that come near the answer, one count that says how
 * far outliers are to be heard, the main rounds, and how much the records tell in all.  Scores of
 * records are clipped around what the model expects of them, so that clipping does not bias the
 * answer where the model holds.  The posterior is sampled from the exact prior and what was
 * released, with the noise of privacy as a part of what is not known: intervals are wider the less
 * the budget allows, up to those of the prior.  doc/design/infer.md has the method and its proofs.
 *
 * That is for models whose latents are global or of groups, with one observed column of one number
 * a record, of a family whose expectations are known (all but mixtures and chances).  Other models,
 * those with latents of records, parameters without a prior (networks), several observed columns,
 * vectors, mixtures or factors (tacit/marginal.h), and any where owners take steps by themselves
 * (tacit/owners.h), are fitted by the loop of tacit/svi.h, within the same epsilon and delta and
 * with everything chosen: full batches, steps, their size, a clip norm that follows the gradients,
 * a guide and a start (doc/design/loop.md).  Its intervals are a mean-field guide's and leave out
 * the noise of privacy; so such a fit has no kept draws, and a check "method" that is always bad
 * and says why.  What the loop cannot take either is refused by name.
 *
 * The guarantee is (epsilon, delta) for adding or removing one record, or by the loop one unit of
 * the data set (dp_dataset_unit), of all that is returned.
 *
 * dp_fit_plan (tacit/plan.h) tells beforehand what a budget can find, dp_fit_print (tacit/fit.h)
 * writes what was found, and doc/answers.md how to read it. */
#ifndef TACIT_INFER_H
#define TACIT_INFER_H

#include <tacit/fit.h>
#include <tacit/owners.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the posterior is found:
 * DP_METHOD_CHOSEN  with privacy by rounds or the loop, as above.  Without it by Markov chains in
 *                   the posterior itself where that is little work, that is, for up to 1000 numbers
 *                   of latents, and 10^7 of these times records; else by rounds or the loop
 * DP_METHOD_ROUNDS  without privacy too as with it: by rounds, or the loop where that is for it
 * DP_METHOD_EXACT   by Markov chains in the posterior itself, whatever it takes; for public records
 *                   only */
typedef enum dp_method { DP_METHOD_CHOSEN = 0, DP_METHOD_ROUNDS, DP_METHOD_EXACT } dp_method;

/* How far a fit is.  Nothing in it is of the records but through what was released. */
typedef struct dp_fit_progress {
    const char *phase;      /* of the last release, or "drawing" */
    uint64_t made, planned; /* releases; 0 without privacy */
    double fraction;        /* of the work, 0 ... 1, guessed from the time that what is done took;
                             * never less than before */
    double epsilon; /* at opts.delta, of the releases made; all planned ones stay spent unless the
                     * fit goes on later.  INFINITY without privacy */
    bool kept;      /* what was released is in a journal: a fit that is stopped can go on */
} dp_fit_progress;

/* Other than 0 stops. */
typedef int dp_fit_watch(void *user, const dp_fit_progress *at);

/* Zero means the default, but for epsilon and delta, which have none. */
typedef struct dp_fit_opts {
    dp_mode mode; /* DP_PRIVATE, or DP_NO_PRIVACY for public records: then epsilon, delta
                            * and a ledger are refused */
    dp_method method;
    double epsilon, delta; /* what may be spent in all */
    /* These three have no meaning for the loop, which refuses them. */
    uint64_t rounds;       /* of the main phase, 1 ... 1000; default 16 */
    double clip;           /* of the main phase, in units of what a record tells on average, .1 ...
                            * 100; default: chosen */
    size_t draws;          /* that the fit keeps, 100 ... 10^6; default 4000 */
    size_t threads;        /* at most 1024; default 1.  The result is the same for any number */
    bool hopeless_allowed; /* go on where the records tell less than the noise hides of every
                            * latent; the answer is then nearly the prior.  The loop does not
                            * look */
    uint64_t seed;         /* not 0: repeatable, for tests, marked as not private */
    dp_ledger *ledger;     /* as in dp_svi_opts; borrowed for the call */
    const char *ledger_data;
    const char *ledger_label;
    /* Of several owners' records, this process having one's: nullable, borrowed for the call.  All
     * owners must give the same model and options, but for threads, ledger, journal and watch; each
     * gets the same fit.  Of an owner's ranks (owners->group), which call this together, so do all;
     * ledger and journal are of rank 0, which pays and keeps for all, and in the others not looked
     * at; the ledger knows the data set by the shard of rank 0, which is the same in each fit.  A
     * rank that fails ends the call in all of them, with DP_ESTATE in those that did not. */
    const dp_owners *owners;
    /* The path of a file in which each release is kept, nullable: a fit's own process may use those
     * of a quarter of a second before that, and nothing leaves the call before it.  It must not be
     * there; with `resume` it must, and the fit goes on where it ended, with the same model, data
     * and options, but for threads, hopeless_allowed and the watch: releases that it has are taken
     * from it, and not made again.  The caller removes it when the fit is kept.  It may be seen by
     * whoever may see the fit.  doc/design/resume.md has what it protects, above all with a ledger.
     * Refused without privacy; where the loop's steps release more than 65 536 numbers it keeps
     * none, and refuses to resume. */
    const char *journal;
    bool resume;
    /* Called by the caller's thread before the first release, after each, and while draws are made,
     * up to ten times a second; nullable.  What it says depends on how long things take. */
    dp_fit_watch *watch;
    void *watch_user;
} dp_fit_opts;

/* Fits `model` to `data` and spends what `opts` says, all of it.
 *   *fit  [out] owned by the caller, freed with dp_fit_free; it has kept draws (none by the loop),
 *         its phases and diagnostics (tacit/fit.h); NULL on error
 * DP_EUNSUPPORTED a model or data that it does not take; DP_EDOMAIN, DP_EINVAL for an option, or
 * one that the loop has not; DP_EDOMAIN parameters of the loop ceased to be finite; DP_EPRIVACY
 * the budget is hopeless (which its phases find out, so that all of it is spent), or the ledger's;
 * DP_EDATA, DP_ENAME, DP_ESHAPE when data and model do not fit, before anything is spent;
 * DP_ESTOPPED the watch stopped it: what is released stays spent, and all that was planned unless
 * there was no release; DP_ESTATE there is a journal, or with `resume` none, or another process has
 * it; DP_EMISMATCH it is of another fit; DP_EDATA it is damaged; DP_EIO it cannot be written;
 * DP_EENTROPY; DP_ENOMEM.  Thread-safe for different data sets and ledgers. */
DP_API dp_status dp_fit_private(const dp_model *model, const dp_dataset *data,
                                const dp_fit_opts *opts, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

/* What a fit will release: `times` sums over all records, or where owners take local steps over
 * all owners, of `numbers` numbers each, with noise of multiplier sigma (0 without privacy).  Of
 * several owners each is opened as a 64-bit word; the loop takes three of these without privacy,
 * and `numbers` is of words.  Owners with damping release what is their own alone, with all noise,
 * and what follows from it is opened without any more. */
typedef struct dp_opening {
    const char *phase; /* static text */
    uint64_t times;
    size_t numbers;
    double sigma; /* what is accounted for; of several owners the noise made is more */
    bool alone;   /* each owner's own release, which is not opened to others */
} dp_opening;

enum { DP_OPENINGS = 16 };

/* Lists what dp_fit_private would release, which model and options alone say: list[*n].  Without
 * privacy it leaves some of that out.
 * DP_EUNSUPPORTED a model that is not fitted; errors of owners and budget; DP_ENOMEM.
 * Thread-safe. */
DP_API dp_status dp_fit_openings(const dp_model *model, const dp_fit_opts *opts, size_t *n,
                                 dp_opening list[DP_OPENINGS], dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
