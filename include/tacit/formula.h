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
 *   y | trials(n), cens(c), weights(w)    on the left: out of how many, right-censored where c is
 *                                         1, counted w times
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

#include <tacit/status.h>
#include <tacit/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_formula dp_formula;

/* What a formula is read with; zero means the default. */
typedef struct dp_formula_opts {
    const char *family; /* of the outcome, with its link: "bernoulli(probit)" [gaussian] */
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

#ifdef __cplusplus
}
#endif
#endif
