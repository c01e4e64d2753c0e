/* A plan of three owners, their keys and their records, for tests. */
#ifndef TESTS_SILO_PLANS_H
#define TESTS_SILO_PLANS_H

#include <tacit/dataset.h>
#include <tacit/model.h>
#include <tacit/silo.h>

enum { PLANS_OWNERS = 3, PLANS_MOST = 5, PLANS_RECORDS = 200, PLANS_X = 2 };

typedef struct plans {
    dp_silo_key *keys[PLANS_MOST];
    dp_silo_owner owners[PLANS_MOST]; /* of which the plan has PLANS_OWNERS: east, west and north */
    dp_model *model;
    dp_fit_source source;
    dp_silo_opts opts; /* epsilon 4, masked, one colluder */
    double x[PLANS_MOST][PLANS_RECORDS * PLANS_X], y[PLANS_MOST][PLANS_RECORDS];
} plans;

void plans_make(plans *p);
void plans_free(plans *p);

/* A linear regression whose noise is known; another is one with another prior. */
dp_model *plans_model(double prior);

/* One whose records have latents, which is fitted by noisy steps. */
dp_model *plans_latents(void);

/* Records of owner k, which borrow p. */
dp_dataset *plans_data(const plans *p, size_t k);

/* A plan of p->opts that the owners of the bits in `signers` have signed. */
dp_silo_plan *plans_plan(const plans *p, unsigned signers);

#endif
