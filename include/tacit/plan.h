/* What dp_fit_private could be expected to find, before anything is spent.
 *
 *   const dp_plan_opts o = {.fit = {.epsilon = 1, .delta = 1e-6}, .records = 2000};
 *   if (dp_fit_plan(model, NULL, &o, &plan, &err)) ...
 *
 * A plan does it in small: truths are drawn from the prior, outcomes of invented records from
 * these, and each such data set is fitted with privacy and without.  It tells of every number how
 * wide its intervals would be, how far privacy would move it, which effect could still be seen,
 * what would suffice, and what a fit takes.  doc/design/plan.md has how near that comes.
 *
 * Threads: a plan is const once it is made. */
#ifndef TACIT_PLAN_H
#define TACIT_PLAN_H

#include <stdio.h>

#include <tacit/infer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_plan dp_plan;

/* That a number's standard deviation be `sd` with privacy, or less; a 90 % interval is 3.29 of
 * them wide. */
typedef struct dp_plan_wish {
    const char *name; /* "w[0]" */
    double sd;        /* > 0 */
} dp_plan_wish;

/* Zero means the default, but for the budget and the number of records. */
typedef struct dp_plan_opts {
    dp_fit_opts fit;            /* the fit as it would be called; without a ledger.  A seed makes
                                 * the plan repeatable.  The watch is told how far the plan is: made
                                 * and planned count fits, as far as is known how many there will
                                 * be, and epsilon is 0 */
    size_t records;             /* that there will be, from public knowledge */
    uint64_t simulations;       /* 1 ... 1000; default 8 */
    uint64_t around;            /* 0 ... 5: the simulations are fitted with 2^-around ...
                                 * 2^around times epsilon too, for accuracy over epsilon */
    const dp_plan_wish *wishes; /* [n_wishes] an epsilon is looked for that grants all of them */
    size_t n_wishes;
    const dp_model *expected; /* from whose prior truths are drawn; default: the model.  The same
                               * columns and latents with the priors that are really believed,
                               * where those of the model are vague */
} dp_plan_opts;

/* What is to be expected of a number of a latent, over the simulations. */
typedef struct dp_plan_number {
    const char *name;      /* "w[0]" */
    double prior_sd;       /* of the model's prior */
    double sd, sd_private; /* of the posteriors without privacy, median, and with it: sd * width */
    double width;          /* of intervals, with privacy to without: median */
    double noise;          /* in what is told with privacy, in sds without it: sqrt(width^2 - 1) */
    double error;   /* from the posterior mean without privacy to that with it, in sds without it:
                     * root of the mean square */
    double covered; /* truths within 5 % ... 95 % with privacy, share of simulations */
    /* The least distance of a truth from 0, around which its prior is, at which 0 lies outside 5 %
     * ... 95 % with privacy in four of five fits; +INFINITY where it would be beyond three
     * standard deviations of the prior, NaN of latents that cannot be 0.  In a normal
     * approximation: sd_private (1.645 + .842 sqrt(w)) / w, where w = 1 - (sd_private /
     * prior_sd)^2 is how little the answer is drawn towards 0. */
    double visible;
    /* Either of which, the other as it is, would do for noise of 1; +INFINITY where 32 times
     * epsilon would not do. */
    double epsilon, records;
} dp_plan_number;

/* Plans a fit of that many records.
 *   columns  records that are public or invented, with the columns that the model reads but for the
 *            observed one; as many as there will be are drawn from them with replacement, or all
 *            are taken once where there are as many.  They must not be the private ones, of which
 *            the plan would tell.  NULL: numbers are drawn from the standard normal distribution
 *            and groups with equal chances, which is a coarse idea of predictors
 *   *plan    [out] owned by the caller, freed with dp_plan_free; NULL on error
 * Where noise is above 1, or a wish is not granted, a few simulations are fitted with 2, 4 ... 32
 * times epsilon too, and all of them with what would grant all wishes.  epsilon and records of a
 * number lie between those, or below the least as noise goes, as 1 / (mu sqrt records), with mu =
 * 1 / sigma of a Gaussian mechanism that costs as much, but at least a quarter of the least mu.
 * It takes the time of two fits a simulation and more, and no privacy.  DP_EUNSUPPORTED a model
 * that dp_fit_private does not take or fits by the loop, or a column; DP_EDOMAIN, DP_EINVAL,
 * DP_ENAME, DP_ESHAPE, DP_EDATA as there; DP_ENAME also a wish of a number that the model has not;
 * the last error where no invented data set could be fitted; DP_ESTOPPED, DP_ENOMEM, DP_EENTROPY.
 * Thread-safe. */
DP_API dp_status dp_fit_plan(const dp_model *model, const dp_dataset *columns,
                             const dp_plan_opts *opts, dp_plan **plan, dp_error *err) DP_MUST_CHECK;

/* Frees it; NULL is allowed. */
DP_API void dp_plan_free(dp_plan *plan);

/* Of each number of each latent, in the order of dp_fit_draw; *n [out] is how many.  Valid until
 * the plan is freed, as what the next calls point to. */
DP_API const dp_plan_number *dp_plan_numbers(const dp_plan *plan, size_t *n);

/* Share of the simulations that dp_fit_private would have refused, or in which its answer was the
 * prior. */
DP_API double dp_plan_hopeless(const dp_plan *plan);

/* ---- accuracy over epsilon ---- */

/* A budget with which simulations were fitted. */
typedef struct dp_plan_point {
    double epsilon;
    size_t fitted;            /* simulations */
    double hopeless;          /* share of them */
    const double *sd_private; /* [n] of each number: sd times the median width with this epsilon */
} dp_plan_point;

/* All of them, by rising epsilon; *n [out] is how many, at least 1. */
DP_API const dp_plan_point *dp_plan_points(const dp_plan *plan, size_t *n);

/* sd_private of a number (0 ... n - 1) with any epsilon above 0, read off between the points.  NaN
 * where epsilon or the number is out of range. */
DP_API double dp_plan_sd(const dp_plan *plan, size_t number, double epsilon);

/* dp_plan_number.visible of a number whose standard deviation with privacy is `sd`. */
DP_API double dp_plan_visible(const dp_plan *plan, size_t number, double sd);

/* With which epsilon, the records as they are, or with how many records, epsilon as it is, the
 * number's standard deviation would be `sd` with privacy: read off between the points.  +INFINITY
 * where nothing does: so many records tell less even without privacy, or more than the greatest
 * epsilon of a point is needed.  DP_EDOMAIN the number, or sd not above 0. */
DP_API dp_status dp_plan_suffices(const dp_plan *plan, size_t number, double sd, double *epsilon,
                                  double *records, dp_error *err) DP_MUST_CHECK;

/* The least epsilon that was found to grant all wishes; +INFINITY where none was, NaN without
 * wishes. */
DP_API double dp_plan_granted(const dp_plan *plan);

/* ---- what it takes ---- */

/* What one fit takes, with the threads that the plan had; beside reading its records. */
typedef struct dp_plan_cost {
    double seconds; /* median of the simulations */
    double slowest; /* greatest */
    double bytes;   /* of memory, about: its columns, its draws and a few times the matrices */
} dp_plan_cost;

DP_API dp_plan_cost dp_plan_costs(const dp_plan *plan);

/* Writes it for people, in a form like that of dp_fit_print.  DP_EIO. */
DP_API dp_status dp_plan_print(const dp_plan *plan, FILE *to, dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
