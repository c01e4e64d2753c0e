/* What bench/answers is made of: regressions with their data, priors and true values, the exact
 * posterior of one, and a fit of it by one of the library's ways.
 *
 *   eta_i = x_i . w + b[group_i],   w_j ~ N(mean_j, scale_j),   b_k ~ N(0, tau)
 *   sigma ~ HalfNormal(noise_scale), of normal outcomes,   tau ~ HalfNormal(group_scale)
 *
 * Quantities of a regression, in this order: w [p], sigma where the outcome is normal, tau where
 * there are groups, and then the intercept of each group, w_0 + b_k. */
#ifndef TACIT_BENCH_ANSWERS_H
#define TACIT_BENCH_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/tacit.h>

typedef enum answers_family {
    ANSWERS_NORMAL = 0, /* eta with noise sigma */
    ANSWERS_LOGISTIC,   /* 1 with log odds eta */
    ANSWERS_POISSON,    /* mean e^eta */
    ANSWERS_GAMMA       /* mean e^eta, shape 2 */
} answers_family;

typedef struct regression {
    size_t n, p;   /* records; coefficients, of which the first is the intercept (x_0 = 1) */
    size_t groups; /* 0: none */
    answers_family family;
    double *x, *y; /* [n][p], [n] */
    int32_t *group;
    double *mean, *scale; /* [p] of the priors */
    double noise_scale, group_scale;
    double *truth;     /* [regression_size], NaN where there is none */
    bool score_groups; /* whether groups' intercepts count in a problem's one figure */
} regression;

size_t regression_size(const regression *r);
bool regression_has_noise(const regression *r);

/* Columns, priors and true values (NaN) for the sizes that are set; the end of the program where
 * memory is out. */
void regression_allocate(regression *r);
void regression_free(regression *r);

/* The model of a regression, and its records, which borrow the columns. */
void regression_model(const regression *r, dp_model *m);
dp_dataset *regression_records(const regression *r);

/* ---- answers-problems.c ---- */

typedef struct problem problem;

/* How problems are made; zero and NULL mean the default. */
typedef struct problem_opts {
    uint64_t n;          /* records of simulated ones, instead of the table's */
    double correlation;  /* of neighbouring predictors */
    double shift;        /* of a predictor of "raw" problems, in its standard deviations */
    bool truth_of_prior; /* draws true values from the prior; else they are the same in all */
    const char *data;    /* folder of posteriordb's posteriors, nullable */
    const char *survey;  /* the survey of contraception */
} problem_opts;

const problem *problem_at(size_t k); /* NULL after the last one */
const char *problem_name(const problem *p);
bool problem_is_simulated(const problem *p);

/* Makes a data set; true unless a file is not there, and the caller frees it. */
bool problem_make(const problem *p, const problem_opts *o, uint64_t seed, regression *r);

/* ---- answers-real.c: true unless a file is not there ---- */

bool load_wells(const problem_opts *o, regression *r);
bool load_nes_logit(const problem_opts *o, regression *r);
bool load_kidiq(const problem_opts *o, regression *r);
bool load_kidiq_interaction(const problem_opts *o, regression *r);
bool load_log_earnings(const problem_opts *o, regression *r);
bool load_earnings(const problem_opts *o, regression *r);
bool load_nes1980(const problem_opts *o, regression *r);
bool load_mesquite(const problem_opts *o, regression *r);
bool load_mesquite_all(const problem_opts *o, regression *r);
bool load_radon(const problem_opts *o, regression *r);
bool load_contraception(const problem_opts *o, regression *r);

/* ---- answers-reference.c ---- */

typedef struct reference {
    double *mean, *sd; /* [regression_size] */
    double error;      /* largest Monte Carlo error of a mean, in sds; 0 by quadrature */
} reference;

/* The exact posterior; the caller frees it. */
void reference_of(const regression *r, uint64_t seed, reference *ref);
void reference_none(const regression *r, reference *ref);
void reference_free(reference *ref);

/* ---- answers-fit.c ---- */

typedef struct fit_ask {
    const char *method;    /* "private": from epsilon and delta alone; "svi": mean field, clip 1 */
    double epsilon, delta; /* epsilon INFINITY: without privacy */
    uint64_t threads, seed;
    uint64_t rounds; /* rounds and clip as in dp_fit_opts; 0 is the default */
    double clip;
    bool hopeless_refused; /* where nothing is to be found, as by the tool */
} fit_ask;

typedef struct fit_answer {
    dp_fit *fit;
    double spent;     /* epsilon */
    size_t flagged;   /* diagnostics that are bad */
    char names[128];  /* of these, with blanks between */
    double wall, cpu; /* seconds */
} fit_answer;

/* False for a method that there is not; "private" where there is it, else "svi". */
bool fit_knows(const char *method);
const char *fit_default(void);

/* An answer's fit is the caller's to free. */
dp_status fit_run(const dp_model *m, const dp_dataset *data, const fit_ask *ask, fit_answer *answer,
                  dp_error *err) DP_MUST_CHECK;

/* ---- answers-null.c ---- */

/* Fits of coin tosses, in which there is nothing to be found: bench/answers null ... */
void null_main(int argc, char **argv);

/* ---- answers-cases.c ---- */

/* Fits of hard cases: bench/answers cases ... */
void cases_main(int argc, char **argv);

/* ---- shared ---- */

/* Draws of quantity k of a regression, value[n_draws]. */
void answers_values(const regression *r, const dp_draws *draws, size_t k, size_t n_draws,
                    double *value);

/* Whether a name begins with one of a list. */
bool answers_listed(const char *list, const char *name);

/* Prints a member of a JSON object; the text without what would end it. */
void answers_text(const char *name, const char *text);

enum { ANSWERS_LIST = 32 };

/* Numbers of a list "1,4,none", INFINITY for none; how many. */
size_t answers_list(const char *text, double *values);

/* Memory of zeros, or the end of the program. */
void *answers_alloc(size_t count, size_t size);

/* Sorts values [n] and gives quantile q of them. */
void answers_sort(size_t n, double *values);
double answers_quantile(size_t n, const double *sorted, double q);

#endif
