/* Models as formulas, in the language of R, lme4 and brms.
 *
 *   dp_formula *f;
 *   const dp_formula_opts o = {.family = "bernoulli", .columns = schema, .n_columns = 4};
 *   if (dp_formula_parse("use ~ age + urban + (1 | district)", &o, &f, &err)) ...
 *
 * A formula is an outcome, '~' and terms:
 *
 *   x + z, x:z, x*z, (x + z + u)^2, g/h   terms, interactions, crossings, nesting; - x
 *                                         takes one out
 *   1, 0, - 1                             with or without an intercept, which is there by itself
 *   log(x), I(x^2 / 10), poly(x, 3)       arithmetic in I(), functions, polynomials: Legendre's on
 *                                         the column's public range, powers with raw = TRUE
 *   f, factor(k), C(f, sum)               factors: a level against the first, or against the mean
 *   offset(log(n))                        added as it is
 *   (1 + x | g), (x || g), (1 | g/h)      effects of groups, correlated or not; also crossed ones
 *   (1 | g:h), (1 | mm(g, h))             groups by two columns; in the groups of both at once
 *   s(x, k = 10), gp(x, k = 20)           a smooth function, a Gaussian process
 *   y | trials(n), cens(c), weights(w)    on the left: out of how many; above y where c is 1 and y
 *                                         or below where it is -1; counted w times
 *   y ~ x, sigma ~ z                      further formulas, for other parameters of the family
 *
 * Nothing is read off the records: columns are centred and scaled by the ranges of their public
 * schema, factors and groups have the levels of the schema, knots and bases come from the ranges.
 * doc/design/formula.md has the mathematics, the default priors, and what R does otherwise.
 *
 * Messages of a formula that is refused say where in its text, what was found and expected, and
 * what to do, with a caret below the place.
 *
 * Threads: a formula is const once it is made. */
#ifndef TACIT_FORMULA_H
#define TACIT_FORMULA_H

#include <stdio.h>

#include <tacit/dataset.h>
#include <tacit/model.h>
#include <tacit/status.h>
#include <tacit/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_formula dp_formula;

/* The prior of a class of parameters or of one: {"b", "normal(0, 1)"}, {"b_age", "normal(0, .1)"},
 * {"sd_district", "half_normal(1)"}.  It is of the parameter on its own scale, under the names that
 * dp_formula_describe lists; the narrowest is taken. */
typedef struct dp_formula_prior {
    const char *of, *prior;
} dp_formula_prior;

/* What a formula is read with; zero means the default.  Families are, of numbers, gaussian and
 * student; above 0 lognormal, gamma, weibull, exponential; from 0 hurdle_gamma, hurdle_lognormal;
 * between 0 and 1 beta; of two levels bernoulli; of counts binomial, poisson, negbinomial,
 * geometric, and with zero_inflated_ before it poisson, negbinomial and binomial, with hurdle_
 * poisson and negbinomial; of levels categorical and cumulative, which are in order.  An outcome
 * must be declared so that it can have only such values. */
typedef struct dp_formula_opts {
    const char *family;       /* of the outcome, with its link: "bernoulli(probit)" [gaussian] */
    const dp_column *columns; /* [n_columns] the schema that the table is read with; NULL: the
                               * formula is read and written, and nothing else */
    size_t n_columns;
    const dp_formula_prior *priors; /* [n_priors] instead of the default ones */
    size_t n_priors;
} dp_formula_opts;

/* Reads one formula, or several separated by ',' or ';'.
 *   text     borrowed for the call, as all that the options point to
 *   options  nullable
 *   *f       [out] owned by the caller (dp_formula_free); NULL on error
 * At most 8192 bytes, 1000 names, numbers and signs, 40 parentheses in one another, 128 terms and
 * 60 variables a predictor, 32 kinds of groups.
 * DP_EINVAL what is no formula, or a family that there is not; DP_EUNSUPPORTED what R has and
 * formulas here have not; DP_EDOMAIN a number; DP_ENAME a parameter that the family has not;
 * DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_formula_parse(const char *text, const dp_formula_opts *options,
                                                dp_formula **f, dp_error *err);

/* Frees the formula; NULL is allowed. */
DP_API void dp_formula_free(dp_formula *f);

/* Its canonical text: crossings written out, with the intercept, terms of fewer variables first,
 * "y ~ 1 + x + z + x:z + (1 | g)".  Read again with the same options it is the same formula.  Lives
 * as long as the formula, as does the name of its family with its link, "bernoulli(logit)". */
DP_API const char *dp_formula_text(const dp_formula *f);
DP_API const char *dp_formula_family(const dp_formula *f);

/* The model, written by the public calls of tacit/model.h; of a formula read with a schema.  Its
 * latents are of unit size; the parameters by R's names (b_Intercept, b_age,
 * sd_district__Intercept, cor_..., sigma) are latents or computed values: dp_fit_summary and
 * dp_fit_expr give them all, dp_fit_print lists them.  s(x) has s(x)_slope and s(x)_sd, and the
 * latent s(x)_wiggle of unit size, with "scaled." before it where the outcome has a unit of its
 * own, as a chance or a count has none.
 *   *model  [out] owned by the caller (dp_model_free); NULL on error: DP_ESTATE without a schema,
 *           DP_ENOMEM.  Thread-safe, as all calls below. */
DP_API DP_MUST_CHECK dp_status dp_formula_model(const dp_formula *f, dp_model **model,
                                                dp_error *err);

/* The columns that the model reads, of a table with the columns of DP_FORMULA_FIT, below: design
 * matrices, groups, outcome, and whose records are where the schema has a UNIT column.
 *   *data  [out] owned by the caller (dp_dataset_free), with all its values: the table may be
 *          freed; NULL on error: DP_ESTATE without a schema; DP_ENAME, DP_EDATA a table of another
 *          schema; DP_ENOMEM */
DP_API DP_MUST_CHECK dp_status dp_formula_dataset(const dp_formula *f, dp_table *table,
                                                  dp_dataset **data, dp_error *err);

/* What columns are read for. */
typedef enum dp_formula_use {
    DP_FORMULA_FIT = 0, /* for dp_formula_dataset */
    DP_FORMULA_PREDICT  /* for dp_formula_new_records */
} dp_formula_use;

/* The columns of the schema that the formula reads, in its order, *n [out] of them: for a fit also
 * the UNIT column, for predictions what the outcome's mean is computed from, and neither outcome
 * nor unit, which may be none.  A table needs no others.  They live as long as the formula; none
 * without a schema. */
DP_API const dp_column *dp_formula_columns(const dp_formula *f, dp_formula_use use, size_t *n);

/* The columns that predictions for new records read (dp_fit_predict, or dp_fit_evaluate of
 * dp_fit_mean), of a table with the columns of DP_FORMULA_PREDICT.  Otherwise as
 * dp_formula_dataset. */
DP_API DP_MUST_CHECK dp_status dp_formula_new_records(const dp_formula *f, dp_table *table,
                                                      dp_dataset **data, dp_error *err);

/* A number of a latent that people know by another name, of another size. */
typedef struct dp_formula_number {
    const char *latent; /* "scaled.b[1]"; of effects of groups "scaled.r_g__x", for each of them */
    const char *name;   /* "b_urbanY" */
    double unit;        /* a step of 1 in the latent is one of `unit` in what has the name */
} dp_formula_number;

/* Those of the model, *n [out] of them, for what speaks of latents, such as dp_plan_numbers; other
 * latents are known by their own names.  They live as long as the formula; none without a
 * schema. */
DP_API const dp_formula_number *dp_formula_numbers(const dp_formula *f, size_t *n);

/* ---- columns of one table at several owners ---- */

/* A column of a regression: (v - centre) / scale of the column v that R would make. */
typedef struct dp_formula_term {
    const char *name;     /* "age", "urbanY", "(Intercept)" */
    double centre, scale; /* scale > 0; of factors 0 and 1, of the intercept, too */
    double most;          /* by the schema its magnitudes are at most that, and that at most 2 */
} dp_formula_term;

/* What one of several owners has of a plain regression whose columns lie at all of them
 * (tacit/silo.h): of the family gaussian or bernoulli(logit), with an intercept, and without
 * groups, smooths, offsets and further predictors. */
typedef struct dp_formula_part {
    bool has_outcome;            /* and with it the intercept, which comes first: ones */
    size_t n, n_all;             /* columns that it has, and that all owners have together */
    const dp_formula_term *term; /* [n] */
    const dp_column *columns;    /* [n_columns] of the schema, that it reads */
    size_t n_columns;            /* not the UNIT column */
    bool logistic;               /* outcomes are 0 and 1; else (y - centre) / scale */
    double centre, scale, most;  /* of outcomes, and their magnitudes when scaled */
} dp_formula_part;

/* The part of an owner who has the columns held[n_held] of the table, by the schema's names; others
 * may be among them.
 *   *part  [out] owned by the caller (dp_formula_part_free), and valid as long as the formula; NULL
 *          on error
 * DP_ESTATE without a schema; DP_EUNSUPPORTED a formula that is no plain regression; DP_ENAME a
 * name that the schema has not; DP_EINVAL a term that reads columns of this owner and of others, or
 * nothing that is held; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_formula_part_new(const dp_formula *f, size_t n_held,
                                                   const char *const *held,
                                                   const dp_formula_part **part, dp_error *err);

/* Its columns of a table that has part->columns, and outcomes.
 *   x  [out] [dp_table_rows][n]
 *   y  [out] [dp_table_rows], of the owner that has outcomes; NULL of another
 * DP_ENAME, DP_EDATA a table of another schema; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_formula_part_rows(const dp_formula_part *part, dp_table *table,
                                                    double *x, double *y, dp_error *err);

/* NULL is allowed. */
DP_API void dp_formula_part_free(const dp_formula_part *part);

/* What was written: the likelihood in words, the columns of each predictor with what is taken off
 * them and what they are divided by, groups, smooths, and each parameter by R's name with its prior
 * on its own scale.  Without a schema the likelihood alone.  DP_EIO, DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_formula_describe(const dp_formula *f, FILE *to, dp_error *err);

/* The model as the text of a C function dp_model *name(void), which makes what dp_formula_model
 * makes: a place to go on from.  DP_EINVAL the name; DP_ESTATE, DP_EIO, DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_formula_c(const dp_formula *f, const char *name, FILE *to,
                                            dp_error *err);

#ifdef __cplusplus
}
#endif
#endif
