/* A fitted model: what a run leaves behind.
 *
 * A fit holds the model and its guide, the parameters reached, what was spent, and the names and
 * kinds of the columns that it reads.  It holds no record, nor their number, and needs neither the
 * run nor the model nor the data any more: they may be freed, and a file of it (dp_fit_save) is
 * read in a program that has never seen the model's text.
 *
 * The posterior that it speaks of is that of its guide or, where a sampler made the fit, its own
 * draws, which it keeps beside the guide: draws and all that is computed from them, summaries and
 * covariances are then of these.
 *
 *   if (dp_svi_finish(svi, &fit, &err) || dp_fit_save(fit, "use.tacit", &err)) ...
 *
 *   if (dp_fit_load("use.tacit", &fit, &err) || dp_fit_draw(fit, 1000, rng, &draws, &err)) ...
 *   const dp_given given = {.data = new_records, .draws = draws};
 *   if (dp_fit_predict(fit, "y", &given, n, expected, &err)) ...
 *
 * A model is written once: predictions, scores and functions of latents are expressions of it.
 *
 * Privacy.  All that is made from the fit alone follows from what the run released and costs
 * nothing.  What is computed from records here is a function of those records which no epsilon
 * speaks of: give public ones, or keep the result with their owner.  The data set that the run was
 * fitted to is refused as long as it is the same object in the same process (DP_EPRIVACY), unless
 * the run was without privacy; a copy, or a loaded fit, cannot be told.
 *
 * Threads.  Calls that take a const fit only read it and may run side by side; each makes what it
 * works with, of a size that does not depend on the number of records.  dp_fit_expr, dp_fit_mean
 * and what is built from them add to the fit: nothing else may run meanwhile. */
#ifndef TACIT_FIT_H
#define TACIT_FIT_H

#include <stdio.h>

#include <tacit/dataset.h>
#include <tacit/expr.h>
#include <tacit/random.h>
#include <tacit/svi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_fit dp_fit;
typedef struct dp_draws dp_draws;

/* ---- the object ---- */

/* The fit at the parameters that the run has reached (averaged, if the run averages).  The run can
 * go on or be freed.
 *   *fit  [out] owned by the caller, freed with dp_fit_free; NULL on error
 * DP_ESTATE before the first step: what is there then is the start, not a fit; DP_EDOMAIN the
 * parameters are not finite; DP_ENOMEM; the errors of dp_svi_privacy. */
DP_API dp_status dp_svi_finish(const dp_svi *svi, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

/* Frees the fit with all its expressions; NULL is allowed. */
DP_API void dp_fit_free(dp_fit *fit);

/* Writes the fit to a file, whole or not at all; equal fits give equal bytes.  doc/format.md is the
 * form, tools/read-fit.py reads it without the library.  The file holds model, guide, parameters,
 * what was guaranteed and the columns' names, and nothing that could be executed; expressions added
 * to the fit are not in it.  DP_EIO; DP_ENOMEM. */
DP_API dp_status dp_fit_save(const dp_fit *fit, const char *path, dp_error *err) DP_MUST_CHECK;

/* Reads a fit from a regular file, which may come from anywhere, be of any size that memory has
 * room for about five times, and change or go at any time: while it is read that is an error, and
 * afterwards nothing.  All that it computes is equal to the bit to what the fit computes that was
 * saved, on the same machine and build.  What the file says of privacy is the word of who wrote it.
 *   *fit  [out] freed with dp_fit_free; NULL on error
 * DP_EIO it cannot be opened or read, or is no regular file; DP_EDATA it is no fit, or not as it
 * was written; DP_EUNSUPPORTED it is of another version, or has sections, operations or
 * distributions that this one does not know, which are named; DP_ENOMEM. */
DP_API dp_status dp_fit_load(const char *path, dp_fit **fit, dp_error *err) DP_MUST_CHECK;

/* What was guaranteed when the fit was made; the texts live as long as the fit.  It has no warning
 * that would tell of the records, such as of their number; dp_svi_privacy gives the run's owner
 * that. */
DP_API void dp_fit_privacy(const dp_fit *fit, dp_privacy *privacy);

typedef enum dp_fit_kind { DP_FIT_REAL = 0, DP_FIT_INDEX, DP_FIT_BYTES } dp_fit_kind;

/* A column that the model or its guide reads or observes. */
typedef struct dp_fit_column {
    const char *name;
    dp_fit_kind kind; /* as the run had it; where a fit reads numbers, it reads bytes too */
    size_t size;      /* numbers a record */
    size_t groups;    /* of group numbers and labels: how many they name; else 0 */
    unsigned most;    /* of bytes: what they are divided by; else 0 */
    bool drawn;       /* bytes that are drawn afresh in every use (dp_dataset_bernoulli) */
    bool observed;    /* by the model */
} dp_fit_column;

/* The columns, observed ones too; *n [out] is their number.  Valid until the fit is freed. */
DP_API const dp_fit_column *dp_fit_columns(const dp_fit *fit, size_t *n);

typedef enum dp_fit_role {
    DP_FIT_LATENT = 0,     /* dp_sample: of global ones there are draws and summaries */
    DP_FIT_PARAMETER,      /* dp_param of the model */
    DP_FIT_DETERMINISTIC,  /* dp_deterministic, and a factor of dp_factor; of global ones there are
                            * summaries */
    DP_FIT_GUIDE_PARAMETER /* for dp_fit_parameter alone */
} dp_fit_role;

/* A value that the fit has under a name, and that is no column. */
typedef struct dp_fit_quantity {
    const char *name;
    dp_fit_role role;
    size_t size;     /* numbers; of one record where it belongs to records */
    bool per_record; /* it belongs to records */
} dp_fit_quantity;

/* Latents, parameters and deterministic values in the order of the model, which dp_fit_expr knows,
 * then the guide's parameters; *n [out] is their number.  Valid until the fit is freed. */
DP_API const dp_fit_quantity *dp_fit_quantities(const dp_fit *fit, size_t *n);

/* Releases of one kind, of what a fit was made from. */
typedef struct dp_fit_phase {
    const char *name;  /* what they were for, such as "whitening", "main" */
    uint64_t releases; /* sums over the data set, each with noise of its own */
    double sigma;      /* standard deviation of the noise / clip; 0: no noise */
    double clip;       /* norm to which a unit's share of a sum is clipped; 0: it is not */
} dp_fit_phase;

/* What was released, in the order in which its kinds began, where the fit was made in several phases;
 * *n [out] is their number, 0 for a fit of dp_svi_finish, of which dp_fit_privacy says all.  Valid
 * until the fit is freed. */
DP_API const dp_fit_phase *dp_fit_phases(const dp_fit *fit, size_t *n);

/* What a check of the fit has found.  It was made from what was released, and costs nothing. */
typedef struct dp_diagnostic {
    const char *name;    /* of the check, such as "convergence" */
    double value, limit; /* what was found, and from where on it is bad; may be infinite */
    bool bad;
    const char *words; /* one line, at most 400 bytes; with a remedy where it is bad */
} dp_diagnostic;

/* What was checked when the fit was made; *n [out] is their number, 0 for a fit of dp_svi_finish.
 * Valid until the fit is freed. */
DP_API const dp_diagnostic *dp_fit_diagnostics(const dp_fit *fit, size_t *n);

/* How a fit was asked for, where that was by a formula: enough to read new records for it, by
 * dp_schema_parse and dp_formula_parse, where nobody has them any more. */
typedef struct dp_fit_source {
    const char *formula; /* dp_formula_text */
    const char *family;  /* dp_formula_family */
    const char *schema;  /* dp_schema_text: whole lines */
    const char *priors;  /* for people: those that were given; NULL: the default ones */
} dp_fit_source;

/* Keeps the texts, of which it makes copies, in the fit and in its file.  They are the word of who
 * gives them: nothing compares them with the model.  They are public, and must hold nothing that
 * was read off records.
 * DP_EINVAL a text is missing, empty, longer than 64 KiB (the schema: 1 MiB) or has control
 * characters; DP_ENOMEM; then the source stays as it was. */
DP_API dp_status dp_fit_set_source(dp_fit *fit, const dp_fit_source *source,
                                   dp_error *err) DP_MUST_CHECK;

/* Its source, NULL where none was given.  Valid until another is set or the fit is freed. */
DP_API const dp_fit_source *dp_fit_get_source(const dp_fit *fit);

/* How many numbers has a latent, a parameter, a deterministic value or a column (of one record,
 * where it belongs to records); 0 for a name that there is not. */
DP_API size_t dp_fit_size(const dp_fit *fit, const char *name);

/* The n numbers of a parameter: "<latent>.loc" and "<latent>.log_scale" of the mean-field guide, a
 * dp_param by its name.  DP_ENAME, DP_ESHAPE; all NaN then. */
DP_API dp_status dp_fit_parameter(const dp_fit *fit, const char *name, size_t n, double *values,
                                  dp_error *err) DP_MUST_CHECK;

/* ---- the posterior of the global latents ---- */

typedef struct dp_summary {
    double mean, sd, q05, q50, q95;
} dp_summary;

/* Mean, standard deviation and quantiles of each of the n numbers of a global latent, or of a value
 * computed from these (dp_deterministic), such as b_x of a formula.
 *
 * Where the fit keeps draws, from all of them, each taken as it is: of N draws that are independent
 * and normal the standard errors, in standard deviations of the latent, are 1 / sqrt N for the
 * mean, 0.71 / sqrt N for the sd, 1.25 / sqrt N for q50 and 2.11 / sqrt N for q05 and q95 (0.016,
 * 0.011, 0.020 and 0.033 of 4000); draws that follow on one another in a chain count for fewer.
 *
 * Else from the guide, by 4000 draws stratified in every coordinate of the guide's noise (Latin
 * hypercube), so that margins of a mean-field guide are exact to about 1e-3 standard deviations; of
 * a heavy tail the standard deviation comes out low, by 0.2 % for the exponential of a normal of
 * scale 0.6, 1.5 % for scale 1.  Repeatable.  DP_ENAME, DP_ESHAPE, DP_ENOMEM; all numbers are NaN
 * then. */
DP_API dp_status dp_fit_summary(const dp_fit *fit, const char *name, size_t n, dp_summary *summary,
                                dp_error *err) DP_MUST_CHECK;

/* Writes what the fit has found, for people: a line for each number of the global latents
 * and of the values that are computed from them, as dp_fit_summary has it, then what was spent,
 * then what was checked, what is bad first.
 *
 *                   mean         sd        5 %       50 %       95 %
 *   w[0]         -1.03       0.18      -1.32      -1.02      -0.74
 *   b            60 numbers, of which those with the least, middle and greatest mean:
 *   ...
 *   spent: epsilon 1 at delta 1e-06 (add or remove one record)
 *   BAD  noise: ...
 *   good convergence: ...
 *
 * Standard deviations have two digits, other numbers end where these do.  A latent of more than 12
 * numbers has three lines, one of more than 2000 and latents of records have none but are named.
 * Parameters of the model are points.  Of a fit that has a source, a formula's, what is computed
 * stands first, effects of groups have their names by the schema in brackets (tacit/groups.h), and
 * latents "scaled.<name>" of unit size are left out.  Below the table stands
 * whether its intervals include the noise of privacy: those of kept draws do, those of a guide do
 * not.  It costs nothing. DP_EIO; DP_ENOMEM, and then a part may have been written. */
DP_API dp_status dp_fit_print(const dp_fit *fit, FILE *to, dp_error *err) DP_MUST_CHECK;

/* Covariances of the numbers of global latents, names[0 ... n_names - 1] side by side, from the
 * same draws as summaries: covariance[n][n], n numbers in all.  That of numbers drawn independently
 * is 0 with a standard error of 0.016 (of N kept draws: 1 / sqrt N) times the product of their
 * standard deviations.
 * DP_EINVAL n_names is 0; DP_ENAME, DP_ESHAPE, DP_ENOMEM; all NaN then. */
DP_API dp_status dp_fit_covariance(const dp_fit *fit, size_t n_names, const char *const *names,
                                   size_t n, double *covariance, dp_error *err) DP_MUST_CHECK;

/* n_draws joint draws of all global latents; equal seeds give equal draws.  From the guide they are
 * new ones.  Where the fit keeps draws they are these in random order: no more than it keeps are a
 * random part of them, each at most once; of more each comes as often as any other, or once more.
 *   *draws  [out] owned by the caller, freed with dp_draws_free; it does not need the fit, and
 *           serves another fit of a model with the same global latents.  NULL on error
 * A model without global latents has draws of 0 numbers.  DP_EINVAL n_draws is 0; DP_ENOMEM. */
DP_API dp_status dp_fit_draw(const dp_fit *fit, size_t n_draws, dp_rng *rng, dp_draws **draws,
                             dp_error *err) DP_MUST_CHECK;

/* How many draws the fit keeps; 0: its posterior is its guide, and draws are new ones. */
DP_API size_t dp_fit_kept(const dp_fit *fit);

/* n_draws joint draws of all global latents from the prior that the fit's model has, what was
 * believed before any record was seen; equal seeds give equal draws.  They are draws like those of
 * dp_fit_draw, so that dp_given takes them: values computed from latents and outcomes follow.
 *   *draws  [out] as in dp_fit_draw; NULL on error
 * DP_EUNSUPPORTED where the model has plain parameters, which have no prior, or a prior that is no
 * distribution (dp_flat); DP_EINVAL n_draws is 0; DP_ENOMEM. */
DP_API dp_status dp_fit_draw_prior(const dp_fit *fit, size_t n_draws, dp_rng *rng, dp_draws **draws,
                                   dp_error *err) DP_MUST_CHECK;

/* Const use of draws is thread-safe.  NULL is allowed in dp_draws_free only. */
DP_API void dp_draws_free(dp_draws *draws);
DP_API size_t dp_draws_count(const dp_draws *draws); /* draws */
DP_API size_t dp_draws_size(const dp_draws *draws);  /* numbers of each */

/* Name of number k < dp_draws_size of a draw, "w", "w[0]", "a[3][1]"; lives as the draws do. */
DP_API const char *dp_draws_name(const dp_draws *draws, size_t k);

/* values[draws][numbers]; they live as the draws do. */
DP_API const double *dp_draws_values(const dp_draws *draws);

/* Where in a draw the numbers of a latent begin, *n [out] of them; 0 of them for an unknown
 * name. */
DP_API size_t dp_draws_find(const dp_draws *draws, const char *latent, size_t *n);

/* ---- evaluating ---- */

/* Where the latents of records come from, one for each draw of the global ones. */
typedef enum dp_record_latents {
    DP_LATENTS_GUIDE = 0,  /* drawn from the guide, which reads the record */
    DP_LATENTS_GUIDE_MEAN, /* the guide's means: of one latent given the means of those before it */
    DP_LATENTS_PRIOR,      /* drawn from the model, which makes new records */
    DP_LATENTS_COLUMN      /* real columns of the data set with the latents' names */
} dp_record_latents;

/* What values are asked for. */
typedef struct dp_given {
    const dp_dataset *data; /* the records, of which only columns that are read need be there, and
                             * be sound: what others hold is not looked at; NULL: none, for global
                             * values */
    const dp_draws *draws;  /* NULL: one draw, at the centre of the guide (its noise 0), which is
                             * all there is of a model without global latents */
    dp_record_latents latents;
    dp_rng *rng; /* for what is drawn here: latents of records, outcomes, drawn columns; may be NULL
                  * where nothing is */
} dp_given;

/* The latent, parameter, deterministic value (dp_deterministic) or column of that name, as an
 * expression of the fit's own model, from which the calls of tacit/model.h make more:
 *   dp_expr more = dp_sub(dp_fit_expr(fit, "effect"), dp_num(1));
 * It lives until the fit is freed.  An unknown name is an error that sticks, as in a model: what is
 * built afterwards is refused by dp_fit_evaluate with its message. */
DP_API dp_expr dp_fit_expr(dp_fit *fit, const char *name);

/* The expected value of an observed column given latents and what the column's distribution reads,
 * as an expression: chance of 1, rate of counts, mean of a normal; of categories the probability of
 * each.  Infinite or NaN where a mean is.  Sticky errors as above: DP_ENAME; DP_EUNSUPPORTED where
 * the family has no mean (Cauchy). */
DP_API dp_expr dp_fit_mean(dp_fit *fit, const char *column);

/* Numbers of an expression, of one record where it belongs to records; 0 of an error. */
DP_API size_t dp_expr_size(dp_expr e);

/* Values of an expression of the fit: values[draws][records][size] where it belongs to records,
 * [draws][size] of a global one, n numbers in all.  `given` may be NULL: no data, the guide's
 * centre.  In the precision that the run had.
 * All values are NaN on error: DP_EINVAL an expression of something else, or rng or data is
 * missing; DP_ENAME a column or a latent of the draws is missing; DP_ESHAPE n, or a column's size;
 * DP_EDATA in a column that is read a value that is not finite or a group number out of range
 * (column and record are named); DP_EPRIVACY the records of the run; DP_ENOMEM; the sticky error of
 * an expression. */
DP_API dp_status dp_fit_evaluate(const dp_fit *fit, dp_expr e, const dp_given *given, size_t n,
                                 double *values, dp_error *err) DP_MUST_CHECK;

/* The expected value of an observed column for each record, averaged over the draws:
 * values[records][size], size numbers as in dp_fit_mean, n in all.  For each draw by itself:
 * dp_fit_evaluate of dp_fit_mean.  Errors as dp_fit_evaluate and dp_fit_mean. */
DP_API dp_status dp_fit_predict(const dp_fit *fit, const char *column, const dp_given *given,
                                size_t n, double *values, dp_error *err) DP_MUST_CHECK;

/* Draws of an observed column for each record: values[draws][records][size], n in all.  With
 * column NULL all observed columns, side by side in the order of the model, given the same latents:
 * with DP_LATENTS_PRIOR and the columns that their distributions read these are synthetic records,
 * and where these read none, as those of a mixture, dp_dataset_new(records) without columns will
 * do.  A column that a distribution reads is read from `data`, observed or not.  NaN where a
 * distribution has arguments outside their domain.  Errors as dp_fit_evaluate; DP_EINVAL also where
 * data or rng is missing. */
DP_API dp_status dp_fit_simulate(const dp_fit *fit, const char *column, const dp_given *given,
                                 size_t n, double *values, dp_error *err) DP_MUST_CHECK;

/* Log density of what is observed of each record, given latents, in nats: values[draws][records], n
 * in all.  It is what cross-validation by importance (PSIS-LOO) and WAIC start from.  Where records
 * have latents it is given these, whose own density is not in it.  Errors as dp_fit_evaluate;
 * DP_EDATA also for a value that the distribution cannot have. */
DP_API dp_status dp_fit_log_density(const dp_fit *fit, const dp_given *given, size_t n,
                                    double *values, dp_error *err) DP_MUST_CHECK;

/* The mean over the records of `data` of the ELBO's part of a record, in nats: log density of what
 * is observed plus the terms of the record's own latents; not the global latents' KL divergence.
 * With one draw of every latent, from the guide also where the fit keeps draws, and of every drawn
 * column from rng; 10 000 records are as good as 10 000 draws.  Its negative is the test loss of a
 * variational autoencoder.  *mean is NaN on error: DP_EPRIVACY the records of the run; DP_ENAME,
 * DP_ESHAPE, DP_EDATA (column and record are named) as dp_svi_new; DP_ENOMEM. */
DP_API dp_status dp_fit_elbo(const dp_fit *fit, const dp_dataset *data, dp_rng *rng, double *mean,
                             dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
