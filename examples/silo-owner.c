/* One owner's program.  Keys and signatures are commands, of which the second shows what is signed:
 *   tacit silo keys --out north.key                        each owner: its key's public half
 *   silo-owner propose NORTH'S SOUTH'S >joint.plan         one of them, with both
 *   tacit silo sign joint.plan --key north.key             each, who has read it
 *   silo-owner joint.plan north.key letters state <records       each, at about the same time
 * A record is a line of two numbers and an outcome, 0 or 1. */
#include <stdio.h>
#include <string.h>
#include <tacit/silo.h>
#include <tacit/tacit.h>

enum { MOST = 10000, D = 2 };
static double x[MOST][D], y[MOST];

static dp_model *patients(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "patients");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 2.5));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), w)));
    return m;
}

static dp_dataset *records(void)
{
    size_t n = 0;
    while (n < MOST && scanf("%lf %lf %lf", &x[n][0], &x[n][1], &y[n]) == 3)
        n++;
    dp_dataset *d = dp_dataset_new(n);
    dp_dataset_real(d, "x", D, x[0]);
    dp_dataset_real(d, "y", 1, y);
    return d;
}

static int propose(const dp_model *m, char **key, dp_error *err)
{
    dp_silo_plan *plan;
    const dp_silo_owner both[] = {{"north", key[0]}, {"south", key[1]}};
    const dp_silo_opts o = {.name = "patients",
                            .scheme = "secagg+dp",
                            .model = m,
                            .n_owners = 2,
                            .owners = both,
                            .epsilon = 1,
                            .delta = 1e-5};
    int bad = dp_silo_plan_new(&o, &plan, err) || fputs(dp_silo_plan_text(plan), stdout) < 0;
    return dp_silo_plan_free(plan), bad;
}

static int run(const dp_model *m, const dp_dataset *mine, char **word, dp_fit **fit, dp_error *err)
{
    dp_silo_key *key = NULL;
    dp_silo_plan *plan = NULL;
    int bad = dp_silo_plan_load(word[0], &plan, err) || dp_silo_key_load(word[1], &key, err);
    const dp_silo_run_opts o = {.key = key, .mailbox = word[2], .state = word[3]};
    bad = bad || dp_silo_run(plan, m, mine, &o, fit, err);
    return dp_silo_plan_free(plan), dp_silo_key_free(key), bad;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_summary w[D];
    dp_fit *fit = NULL;
    const int proposes = argc == 4 && strcmp(argv[1], "propose") == 0;
    if (!proposes && argc != 5)
        return fprintf(stderr, "silo-owner: propose KEY KEY, or PLAN KEY MAILBOX STATE\n"), 2;
    dp_model *m = patients();
    dp_dataset *mine = proposes ? NULL : records();
    int bad = proposes ? propose(m, argv + 2, &err) : run(m, mine, argv + 1, &fit, &err);
    bad = bad || (fit != NULL && dp_fit_summary(fit, "w", D, w, &err));
    if (bad)
        fprintf(stderr, "silo-owner: %s\n", err.text);
    else if (fit != NULL)
        printf("w = %.3f +- %.3f, %.3f +- %.3f\n", w[0].mean, w[0].sd, w[1].mean, w[1].sd);
    dp_fit_free(fit), dp_dataset_free(mine), dp_model_free(m);
    return bad;
}
