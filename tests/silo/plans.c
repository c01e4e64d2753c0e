#define _XOPEN_SOURCE 700
#include "tests/silo/plans.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tacit/forms.h>
#include <tacit/random.h>

#include "tests/lib/check.h"

/* A key from a seed, by way of its file. */
static dp_silo_key *make_key(size_t k)
{
    char path[64];
    dp_silo_key *key = NULL;
    dp_error err = {0};
    (void)snprintf(path, sizeof path, "plans-key-%ld", (long)getpid());
    assert_ok(dp_silo_key_new(path, &key, &err), err.text);
    dp_silo_key_free(key);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    (void)fprintf(f, "tacit silo key 1\n%064zx\n", k + 1);
    assert_int_equal(fclose(f), 0);
    assert_ok(dp_silo_key_load(path, &key, &err), err.text);
    (void)unlink(path);
    return key;
}

dp_model *plans_model(double prior)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", PLANS_X, dp_normal(0, prior));
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", PLANS_X), w), dp_num(0.5)));
    return m;
}

dp_model *plans_latents(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1));
    dp_expr level = dp_sample(m, "level", 1, dp_normal(0, 2));
    dp_observe(rows, "y", dp_normal_v(dp_add(level, z), dp_num(0.5)));
    return m;
}

void plans_make(plans *p)
{
    static const char *const names[PLANS_MOST] = {"east", "west", "north", "south", "hill"};
    static const double w[PLANS_X] = {1.2385, -0.7121};
    dp_rng *rng = NULL;
    dp_error err = {0};
    memset(p, 0, sizeof *p);
    for (size_t k = 0; k < PLANS_MOST; k++) {
        p->keys[k] = make_key(k);
        p->owners[k] = (dp_silo_owner){names[k], dp_silo_key_public(p->keys[k])};
    }
    p->model = plans_model(2);
    p->source = (dp_fit_source){.formula = "y ~ 0 + x",
                                .family = "gaussian(identity)",
                                .schema = "x number -3 3\n\ny number -9 9\n",
                                .priors = "sigma = 0.5"};
    p->opts = (dp_silo_opts){.name = "joint",
                             .scheme = "secagg+dp",
                             .model = p->model,
                             .source = &p->source,
                             .n_owners = PLANS_OWNERS,
                             .owners = p->owners,
                             .epsilon = 4,
                             .delta = 1e-5,
                             .rounds = 2,
                             .draws = 400,
                             .most_records = 1000,
                             .seed = 11};
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    dp_rng_normal(rng, PLANS_MOST * PLANS_RECORDS * PLANS_X, p->x[0]);
    dp_rng_normal(rng, PLANS_MOST * PLANS_RECORDS, p->y[0]);
    for (size_t k = 0; k < PLANS_MOST; k++)
        for (size_t i = 0; i < PLANS_RECORDS; i++) {
            const double *x = p->x[k] + PLANS_X * i;
            p->y[k][i] = 0.5 * p->y[k][i] + w[0] * x[0] + w[1] * x[1];
        }
    dp_rng_free(rng);
}

void plans_free(plans *p)
{
    for (size_t k = 0; k < PLANS_MOST; k++)
        dp_silo_key_free(p->keys[k]);
    dp_model_free(p->model);
}

dp_dataset *plans_data(const plans *p, size_t k)
{
    dp_dataset *d = dp_dataset_new(PLANS_RECORDS);
    dp_dataset_real(d, "x", PLANS_X, p->x[k]);
    dp_dataset_real(d, "y", 1, p->y[k]);
    assert_null(dp_dataset_error(d));
    return d;
}

dp_silo_plan *plans_plan(const plans *p, unsigned signers)
{
    dp_silo_plan *plan = NULL;
    dp_error err = {0};
    assert_ok(dp_silo_plan_new(&p->opts, &plan, &err), err.text);
    for (size_t k = 0; k < p->opts.n_owners; k++)
        if ((signers >> k & 1) != 0)
            assert_ok(dp_silo_plan_sign(plan, p->keys[k], &err), err.text);
    return plan;
}
