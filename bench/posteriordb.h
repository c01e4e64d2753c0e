/* Posteriors of posteriordb (Magnusson et al.), written as a user would write them.
 *
 * A problem reads its data, writes its model and hands over a data set.  Values have the names of
 * the reference, "beta[1]" being number 0 of "beta": latents, or dp_deterministic of the model. */
#ifndef TACIT_BENCH_POSTERIORDB_H
#define TACIT_BENCH_POSTERIORDB_H

#include <tacit/tacit.h>

typedef struct posterior_text posterior_text; /* data.json of a posterior */

/* The numbers of a field, row after row, how many in *n (nullable).  They live to the program's
 * end; a field that is not there ends the program. */
double *posterior_numbers(const posterior_text *text, const char *name, size_t *n);

/* A field that is one number. */
double posterior_number(const posterior_text *text, const char *name);

/* The same as group numbers from 0. */
int32_t *posterior_groups(const posterior_text *text, const char *name, size_t *n);

typedef struct posterior_problem {
    const char *folder;
    dp_dataset *(*write)(const posterior_text *text, dp_model *m);
} posterior_problem;

extern const posterior_problem posterior_regressions[], posterior_structures[];
extern const size_t n_posterior_regressions, n_posterior_structures;

#endif
