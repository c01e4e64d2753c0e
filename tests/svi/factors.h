/* Owners with factors, in threads, over parts of one set of records. */
#ifndef TESTS_SVI_FACTORS_H
#define TESTS_SVI_FACTORS_H

#include <tacit/tacit.h>

#include "tests/infer/table.h"

enum { N = 600, D = 2, MOST = 4, THETA = 2 * D, KEPT = 512 };

extern double predictors[N * D], normal[N], yes[N];
extern const size_t thirds[], unequal[]; /* ends of parts */
extern const double prior_sd, outcome_sd;

void factors_draw(void);

/* Two coefficients: of what is normal, each of records of its own, so that the posterior is of the
 * family; or of a logistic regression, of both. */
dp_model *model_of(bool conjugate);

/* Releases of an owner, in units of their noise. */
typedef struct kept {
    double first[KEPT * D];
    size_t n;
} kept;

typedef struct owner {
    bool conjugate, nothing; /* all predictors 0 */
    dp_svi_opts opts;
    dp_owners owners;
    size_t first, end;
    double broken; /* 0, or a number to put into predictors */
    dp_status status;
    dp_error err;
    double theta[THETA], all[THETA], own[THETA], clip;
    kept *kept;
} owner;

/* Without noise; and with some of 3 times a clip norm of .5. */
owner owner_of(bool conjugate, uint64_t steps);
owner private_owner(uint64_t steps);

/* An owner's run, for a thread of its own. */
void *act(void *of);

/* The table that owners meet at. */
extern table shared;

/* Owners whose parts end there, with `local` steps each between two openings; all of them must end
 * well, with the same guide and sum of factors. */
void together(size_t n, const size_t *ends, const owner *like, uint64_t local, owner *all);

#endif
