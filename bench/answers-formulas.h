/* Formulas of tests/formula/reference.csv, fitted to invented outcomes of their data sets' records:
 * bench/answers formulas. */
#ifndef TACIT_BENCH_ANSWERS_FORMULAS_H
#define TACIT_BENCH_ANSWERS_FORMULAS_H

#include <tacit/formula.h>
#include <tacit/infer.h>

#include "answers.h"
#include "tests/formula/data-sets.h"

enum { FORMULA_WORD = 200, FORMULA_NAMES = 24, FORMULA_DRAWS = 4000 };

/* ---- answers-frame.c ---- */

/* The columns of a data set as numbers: reals as they are, of others the level, from 0. */
typedef struct frame {
    size_t n, n_columns;
    dp_column *columns;
    double **values; /* [n_columns][n] */
} frame;

/* False where the file is not there. */
bool frame_load(const data_set *set, const char *folder, const char *source, frame *f);

/* n records of `from`, drawn with replacement. */
void frame_sample(const frame *from, size_t n, dp_rng *rng, frame *f);
void frame_free(frame *f);

/* Number of a column, which must be there. */
size_t frame_find(const frame *f, const char *name);

/* Sets a column to numbers of its kind, cut to what the schema allows. */
void frame_set(frame *f, size_t column, const double *values);

/* As CSV, read again as the tool reads it. */
dp_table *frame_table(const frame *f);

/* Writes PATH.csv and PATH.schema, for the tool. */
void frame_write(const frame *f, const char *path);

/* ---- answers-invent.c ---- */

typedef struct formula_case {
    int number;
    char data[FORMULA_WORD], family[FORMULA_WORD], formula[FORMULA_WORD];
    char names[FORMULA_NAMES][FORMULA_WORD]; /* of what R's packages estimate */
    size_t n_names;
    /* Made by formula_open. */
    frame all;
    size_t outcome;
    dp_formula *parsed;
    dp_model *model;
    dp_fit *base;                   /* without privacy; truths are draws of it */
    double prior_sd[FORMULA_NAMES]; /* of the named numbers */
} formula_case;

typedef struct formula_opts {
    const char *data, *source; /* folders */
    uint64_t n;                /* records of an invented data set; 0: as many as there are */
    dp_method method;          /* of posteriors without privacy */
    bool shuffled;             /* whether groups' labels are dealt anew for each data set */
} formula_opts;

/* The fit without privacy, by Markov chains where rounds do not come to an end. */
dp_fit *formula_exact(const formula_case *c, const formula_opts *o, const dp_dataset *records,
                      uint64_t seed);

/* Reads the cases of a file, at most `most`; how many. */
size_t formula_cases(const char *source, size_t most, formula_case *cases);

/* Fits the case to records of its data set; false where that is not there. */
bool formula_open(formula_case *c, const formula_opts *o);
void formula_close(formula_case *c);

/* Records of the data set with invented outcomes, and what they were invented from. */
void formula_invent(const formula_case *c, const formula_opts *o, uint64_t seed, frame *f,
                    double truth[FORMULA_NAMES]);

/* Mean and standard deviation of values[FORMULA_DRAWS]. */
void formula_spread(const double *values, double *mean, double *sd);

/* Draws of the named numbers, values[n_names][n_draws]. */
void formula_values(const formula_case *c, dp_fit *fit, const dp_draws *draws, double *values);

/* The data set of a frame. */
dp_dataset *formula_records(const formula_case *c, const frame *f);

/* ---- answers-best.c ---- */

/* What single records do to an exact posterior's means. */
typedef struct influence {
    size_t n, k;
    double *size;               /* [n] lengths, with the posterior's covariance as the metric */
    double told[FORMULA_NAMES]; /* share of what is known that records tell, and not the prior */
} influence;

void influence_of(const formula_case *c, dp_fit *exact, const dp_dataset *records, size_t n,
                  influence *f);
void influence_free(influence *f);

/* The least mean distance from the exact posterior means, in its standard deviations, that one
 * release of them can have. */
double influence_best(const influence *f, double epsilon, double delta);

/* ---- answers-formulas.c ---- */

void formulas_main(int argc, char **argv);

#endif
