/* Differentially private stochastic variational inference (DP-SVI).
 *
 * One step takes a batch of units, clips each unit's gradient to norm `clip`, adds the sum and
 * normal noise of standard deviation sigma * clip, and releases that and nothing else; division by
 * the public sampling rate, priors, entropies, the optimiser and averages come after and cost no
 * privacy.  A unit is one record, or all records with one value in the data set's unit column
 * (dp_dataset_unit): they are in the batch together or not at all, and their gradients are added up
 * before they are clipped.  Rates, batch sizes and n count units.  What the run shows is public
 * too: steps, time, privacy spent; never a batch size, and a loss or a norm only where options ask
 * for one, with noise and accounted for (loss_every, clip_quantile).
 *
 * A unit whose gradient is not a finite number, or so large that its square overflows (beyond
 * 1e154, in single precision 1e38), adds zero.  A private run cannot say so: it would be a function
 * of the records.  What causes it: values of 1e75 and more (dp_check_data finds them), a function
 * outside its range (log or sqrt of a sum that can be negative, a quotient by zero), exponentials
 * that overflow (log rates and log scales of 700 and more), parameters that have run away.  With
 * DP_NO_PRIVACY on public or made-up records of the same kind dp_svi_dropped counts such units.
 *
 * Initialise, step, done: the caller owns the loop, or lets dp_svi_run do it.  An object belongs to
 * one thread at a time; opts.threads is about threads of its own, which sleep between steps. */
#ifndef TACIT_SVI_H
#define TACIT_SVI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tacit/accountant.h>
#include <tacit/dataset.h>
#include <tacit/group.h>
#include <tacit/ledger.h>
#include <tacit/model.h>
#include <tacit/owners.h>
#include <tacit/random.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dp_mode {
    DP_PRIVATE = 0,       /* clip, noise, accounted guarantee */
    DP_WITHOUT_GUARANTEE, /* clip and noise as given, nothing certified: for experiments */
    DP_NO_PRIVACY         /* no clip, no noise: for public data */
} dp_mode;

typedef enum dp_optimizer {
    DP_ADAM = 0,
    DP_MOMENTUM,
    DP_SGD,
    DP_ADAGRAD /* steps shrink with the sum of squares so far, noise being part of it */
} dp_optimizer;

typedef enum dp_schedule {
    DP_LINEAR_DECAY = 0, /* step size falls linearly to zero */
    DP_CONSTANT,
    DP_COSINE_DECAY
} dp_schedule;

typedef enum dp_precision {
    DP_DOUBLE = 0,
    DP_SINGLE /* values of records, and what the optimiser remembers, as floats: for networks,
               * faster.  Norms, clipping, releases and parameters stay in double; long sums go
               * through short chains of floats, for which 2^-10 of the clip norm is left to
               * rounding (dp_privacy.eta), and what is guaranteed is the same.  Gradients beyond
               * 1e38 add zero, releases beyond 1e19, whose squares Adam and AdaGrad remember, end
               * a run with DP_EDOMAIN, and groups are at most 2^24. */
} dp_precision;

/* What to do.  Zero means the default, except for epsilon, delta, sigma, clip and rate, which are
 * privacy's own numbers and have none: a private run needs delta, clip, and either epsilon or
 * sigma. */
typedef struct dp_svi_opts {
    dp_mode mode;
    double epsilon;       /* asked; sigma is calibrated to it */
    double delta;         /* in (0, 1), well below one over the number of units */
    double sigma;         /* noise multiplier, instead of epsilon */
    double clip;          /* norm to which a unit's gradient is clipped, 1e-100 ... 1e100 */
    dp_sampling sampling; /* default: every unit in every step */
    double rate;          /* of Poisson sampling, truncated or not, (0, 1] */
    size_t batch;         /* of fixed-size sampling, 1 ... n */
    /* Of truncated Poisson sampling: units that a batch has at most; of larger samples that many
     * are kept, at random.  Estimates are then drawn towards zero, and it costs more the more often
     * it happens. */
    uint64_t cap;
    uint64_t epoch; /* of random allocation: steps of an epoch, 2 ... 10^6; every unit is in the
                           * batch of exactly one of them, drawn afresh in every epoch */
    uint64_t steps; /* default 1000; epochs of random allocation are paid whole, so a multiple */
    dp_form form;
    dp_optimizer optimizer;
    dp_schedule schedule;
    double step_size;  /* default 1 / sqrt(steps) for Adam; needed by the others */
    double momentum;   /* default 0.9; of Adam and momentum, in [0, 1) */
    double beta2;      /* default 0.999; of Adam, in (0, 1) */
    double average;    /* share of the last steps whose iterates are averaged, [0, 1]; default 0 */
    double init_scale; /* start of the mean-field guide's scales; default 0.1 */
    /* A noisy loss, every loss_every steps (0: none).  It costs privacy, which is accounted for. */
    uint64_t loss_every;
    double loss_clip;  /* -log likelihood of a unit is cut to [-loss_clip, loss_clip] */
    double loss_sigma; /* noise / loss_clip, 0.1 ... 10^6 */
    /* A clip norm that follows a quantile of the gradients' norms (0: it stays); `clip` is its
     * start.  The share below it is counted with noise in every step, which is accounted for. */
    double clip_quantile;  /* share of gradients that are to be below, (0, 1) */
    double clip_sigma;     /* noise of the count of a batch, in units, 0.1 ... 10^6 */
    double clip_speed;     /* of the clip norm's logarithm a step, (0, 1]; default 0.2 */
    uint64_t public_units; /* number of units as far as it is public, a rough one will do.  Sets the
                           * speed of clip_quantile, which needs it unless batches are fixed.
                           * Truncated Poisson sampling needs one that is known never to be
                           * exceeded, which more units than that are refused by: what is
                           * guaranteed holds for data sets of at most so many */
    size_t threads; /* that gradients are computed on, at most 1024; default 1.  The result is the
                           * same to the bit for any number. */
    dp_precision precision;
    /* Nullable: this process is one of several that fit together; borrowed until the run is
     * freed. */
    const dp_group *group;
    /* Nullable: this process has one of several owners' records, and they open sums together
     * (tacit/owners.h); borrowed until the run is freed.  Not with `group`: ranks of an owner have
     * owners->group, and make the run and its steps together, of which one that fails has DP_ESTATE
     * in the ranks that did not; errors in between are for the caller to tell.  All owners must give
     * the same model, guide and options, but for threads, seed and ledger, and come to the same
     * parameters.  Such a run cannot be saved. */
    const dp_owners *owners;
    uint64_t seed; /* not 0: a repeatable run for tests, marked as not private */
    /* Where the steps are paid for before the first one; private runs without a seed only.  NULL:
     * nobody adds up what several runs spend, and the guarantee is that of this run alone. */
    dp_ledger *ledger;        /* borrowed until the run is freed */
    const char *ledger_data;  /* the data set's name there; needed with a ledger, refused without;
                               * borrowed for the call */
    const char *ledger_label; /* nullable: what to write beside the entry; refused without a ledger;
                               * borrowed for the call */
} dp_svi_opts;

/* What has been guaranteed. */
typedef struct dp_privacy {
    bool is_private;
    const char *why_not;   /* static text when it is not; NULL when it is */
    const char *warning;   /* static text on a guarantee that holds and means little: delta is not
                            * below 1 / (number of units); without privacy, on units that added
                            * nothing; else NULL.  The number of units is taken to be public
                            * here. */
    const char *adjacency; /* static text: what neighbouring data sets are */
    double epsilon, delta; /* spent by the steps done so far; of a seeded run, what an unseeded one
                            * would have spent; +INFINITY and 1 in a mode without guarantee */
    double sigma, clip, rate; /* clip: of the next step, where it follows a quantile */
    /* Share of clip that is left to rounding and to the grid of the noise: gradients are clipped to
     * clip (1 - eta), so that what is computed moves by at most clip.  A function of options and
     * model; 0 in DP_NO_PRIVACY.  doc/design/noise.md derives it. */
    double eta;
    dp_sampling sampling;
    uint64_t epoch; /* of random allocation, else 0: one that has begun is accounted for as whole */
    uint64_t steps; /* done so far */
} dp_privacy;

/* A loss that was released: of the step's draw of the latents, the sum over all units of
 * -log likelihood (of the local ELBO's negative where records have latents), each cut to loss_clip;
 * estimated from the batch. */
typedef struct dp_loss {
    uint64_t step; /* from 1 */
    double value;
    double noise; /* standard deviation of the noise in it; that of sampling comes on top */
} dp_loss;

typedef struct dp_svi dp_svi;

/* Prepares a run of `model` on `data` with `guide`, or the mean-field normal guide for NULL.  Model
 * and guide may be freed afterwards; data and its columns must stay as they are.  Nothing is
 * computed from the data but checks of validity.
 * On error *svi is NULL: DP_EINVAL or DP_EDOMAIN for an option, DP_EMISMATCH for a sampler that
 * cannot be accounted for, DP_EDATA, DP_ENAME, DP_ESHAPE when data and model do not fit, DP_ENOMEM,
 * DP_EENTROPY, or the model's own first error; with a ledger those of dp_ledger_reserve, before the
 * values of the data are looked at. */
DP_API dp_status dp_svi_new(const dp_model *model, const dp_model *guide, const dp_dataset *data,
                            const dp_svi_opts *opts, dp_svi **svi, dp_error *err) DP_MUST_CHECK;

/* Says whether every record is what the model needs: the message names the first column and record
 * that are not, never the value; nor may values be beyond 1e75, which a run takes and which then
 * most likely add nothing to it.  This is for the data's owner: the answer is a function of the
 * records that no epsilon speaks of.  A private run that meets such data refuses with a message
 * that names neither.  DP_EDATA, and what else dp_svi_new says of model and data. */
DP_API dp_status dp_check_data(const dp_model *model, const dp_model *guide, const dp_dataset *data,
                               dp_error *err) DP_MUST_CHECK;

/* Frees the run.  What it has reserved in a ledger stays spent unless it was done or settled. */
DP_API void dp_svi_free(dp_svi *svi);

/* One step; of owners who take steps by themselves (dp_owners.local_steps) these, and the opening
 * of what they come to.  DP_ESTATE when all steps are done, and in a child of fork where the run
 * has a ledger or is inside an epoch of random allocation; DP_EDOMAIN when the parameters ceased to
 * be finite numbers (a function of what was released, so it may be told); in DP_NO_PRIVACY DP_EDATA
 * when all units of the step add nothing.  In a group DP_ESTATE in all ranks but those that failed,
 * and DP_EIO where ranks did not reach each other, after which only dp_svi_resume goes on. */
DP_API dp_status dp_svi_step(dp_svi *svi, dp_error *err) DP_MUST_CHECK;

/* Bytes of memory that the run holds: parameters, sums and the buffers of all its threads.  It is
 * known when dp_svi_new has returned, and steps take no more of their own; kernels of BLAS may.
 * It is a function of model, guide and options, and not of the data.  Not in it are therefore up to
 * 16 bytes a record and 16 a unit, for units of several records and for batches; nor the data
 * themselves, which are the caller's, stacks of threads, and less than 64 KiB for the sources of
 * randomness. */
DP_API size_t dp_svi_bytes(const dp_svi *svi);

/* Units, summed over the steps done since this object was made, whose gradient was not a finite
 * number and so added nothing; 0 is as it should be.  In a group, of this rank's.  DP_EPRIVACY but
 * in DP_NO_PRIVACY, since it is a function of the records; *units is UINT64_MAX then. */
DP_API dp_status dp_svi_dropped(const dp_svi *svi, uint64_t *units, dp_error *err) DP_MUST_CHECK;

/* True when all steps are done. */
DP_API bool dp_svi_done(const dp_svi *svi);

/* All remaining steps, with a line of progress on `progress` (nullable) about once a second and at
 * the end: steps, time, and privacy spent or why the run is not private; then privacy's warning, if
 * any.  Errors as dp_svi_step. */
DP_API dp_status dp_svi_run(dp_svi *svi, FILE *progress, dp_error *err) DP_MUST_CHECK;

/* The guarantee of the steps done so far.  It holds for a number of steps that was fixed beforehand
 * or cut short by something that has nothing to do with the data.  Who stops because of what the
 * steps have shown (parameters, an error of dp_svi_step) has the guarantee of all the steps
 * planned. */
DP_API dp_status dp_svi_privacy(const dp_svi *svi, dp_privacy *privacy,
                                dp_error *err) DP_MUST_CHECK;

/* The last loss released (see dp_svi_opts.loss_every; without privacy it is exact).  It is part of
 * what dp_svi_privacy speaks of.  DP_ESTATE when there is none; step is 0 then, the rest NaN. */
DP_API dp_status dp_svi_loss(const dp_svi *svi, dp_loss *loss, dp_error *err) DP_MUST_CHECK;

/* Sets or reads a parameter block, n numbers: "<latent>.loc" and "<latent>.log_scale" of the
 * mean-field guide, or a dp_param by its name.  Setting is allowed before the first step only.
 * DP_ENAME, DP_ESHAPE, DP_ESTATE. */
DP_API dp_status dp_svi_set(dp_svi *svi, const char *name, size_t n, const double *values,
                            dp_error *err) DP_MUST_CHECK;
DP_API dp_status dp_svi_get(const dp_svi *svi, const char *name, size_t n, double *values,
                            dp_error *err) DP_MUST_CHECK;

/* ---- interrupting ---- */

/* Writes what the run has released so far, and what is public, to a file from which dp_svi_resume
 * goes on; never the key of its noise or batches, nor the number of records.  The file is replaced
 * as a whole or not at all.  The run can go on; with a ledger it then takes steps from there in
 * small leases, so that after a crash only the steps since the checkpoint are lost.
 * The ranks of a group call it together, each with a path of its own; it fails in all when it fails
 * in one, and what a file held before may then be replaced in some ranks: they can be resumed from
 * all the same.  DP_ESTATE inside an epoch of random allocation; DP_EDOMAIN the parameters are not
 * finite; DP_EIO; DP_ENOMEM; with a ledger its errors. */
DP_API dp_status dp_svi_save(dp_svi *svi, const char *path, dp_error *err) DP_MUST_CHECK;

/* What a checkpoint does not hold. */
typedef struct dp_resume_opts {
    dp_ledger *ledger;     /* the one that the run was reserved in, or NULL where there was none */
    const dp_group *group; /* nullable: as in dp_svi_opts */
} dp_resume_opts;

/* Makes a run that goes on from a checkpoint, with fresh noise and batches.  Model, guide (NULL as
 * for dp_svi_new) and data are those that the run was started with; the options are in the
 * checkpoint, and beside it in `opts` (NULL: no ledger, no group), whose members are borrowed until
 * the run is freed.  The ledger counts every step that may have been begun, those lost in a crash
 * and those of an earlier resumption too: what exceeds the reservation is reserved anew, or refused
 * (DP_EPRIVACY).  The run that wrote the checkpoint may not go on then.  Without a ledger nobody
 * sees what was lost or resumed twice; dp_privacy.warning says so.
 * A seeded run goes on repeatably, with other noise than it would have had.
 * The ranks of a group call it together, each with its own checkpoint, ledger and shard.  They go
 * on from where rank 0's checkpoint was written, also when another's is older or newer.  Without
 * ledgers a checkpoint is of no certain rank: there may be more or fewer of them than before.
 * DP_EIO, DP_EDATA for the file; DP_EMISMATCH another model, guide or ledger, or options of another
 * run than rank 0's; DP_ESTATE another rank has failed; else as dp_svi_new. */
DP_API dp_status dp_svi_resume(const char *path, const dp_model *model, const dp_model *guide,
                               const dp_dataset *data, const dp_resume_opts *opts, dp_svi **svi,
                               dp_error *err) DP_MUST_CHECK;

/* Ends the run and lowers what it has reserved in its ledger to the steps begun (whole epochs of
 * random allocation).  Only for a run that is given up for reasons that have nothing to do with
 * what its steps have shown; otherwise free it without.  DP_ESTATE without a ledger, or settled
 * already. */
DP_API dp_status dp_svi_settle(dp_svi *svi, dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
