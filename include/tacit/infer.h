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
 * It takes models whose latents are global or of groups, with one observed column of one number a
 * record, of a family whose expectations are known (all but mixtures and chances).  What it does
 * not take it refuses by name; dp_svi_new (tacit/svi.h) takes any model of the language.
 *
 * The guarantee is (epsilon, delta) for adding or removing one record, of all that is returned. */
#ifndef TACIT_INFER_H
#define TACIT_INFER_H

#include <tacit/fit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means the default, but for epsilon and delta, which have none. */
typedef struct dp_fit_opts {
    dp_mode mode;          /* DP_PRIVATE, or DP_NO_PRIVACY for public records: then epsilon, delta
                            * and a ledger are refused */
    double epsilon, delta; /* what may be spent in all */
    uint64_t rounds;       /* of the main phase, 1 ... 1000; default 16 */
    double clip;           /* of the main phase, in units of what a record tells on average, .1 ...
                            * 100; default: chosen */
    size_t draws;          /* that the fit keeps, 100 ... 10^6; default 4000 */
    size_t threads;        /* at most 1024; default 1.  The result is the same for any number */
    bool hopeless_allowed; /* go on where the records tell less than the noise hides of every
                            * latent; the answer is then nearly the prior */
    uint64_t seed;         /* not 0: repeatable, for tests, marked as not private */
    dp_ledger *ledger;     /* as in dp_svi_opts; borrowed for the call */
    const char *ledger_data;
    const char *ledger_label;
} dp_fit_opts;

/* Fits `model` to `data` and spends what `opts` says, all of it.
 *   *fit  [out] owned by the caller, freed with dp_fit_free; it has kept draws, its phases and
 *         diagnostics (tacit/fit.h); NULL on error
 * DP_EUNSUPPORTED a model that it does not take; DP_EDOMAIN, DP_EINVAL for an option; DP_EPRIVACY
 * the budget is hopeless (which its phases find out, so that all of it is spent), or the ledger's;
 * DP_EDATA, DP_ENAME, DP_ESHAPE when data and model do not fit, before anything is spent;
 * DP_EENTROPY; DP_ENOMEM.  Thread-safe for different data sets and ledgers. */
DP_API dp_status dp_fit_private(const dp_model *model, const dp_dataset *data,
                                const dp_fit_opts *opts, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
