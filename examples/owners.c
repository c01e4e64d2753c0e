/* One model over the records of three owners: by one process that has them all, or by three that
 * show nobody theirs.  "owners central FOLDER" and the same with secagg+dp, dp-pvi, fedsgd+he or
 * fedsgd in the place of "central" differ in a word.  The folder is made, and each owner is a
 * process of its own in it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacit/silo.h>
#include <tacit/tacit.h>
#include <unistd.h>

enum { OWNERS = 3, EACH = 3000, N = OWNERS * EACH, D = 2 };
static const char *const keys[] = {"north.key", "south.key", "west.key"};
static const char *const states[] = {"north.state", "south.state", "west.state"};
static double x[N][D], y[N], odds[N];

static dp_model *patients(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "patients");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 2.5));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), w)));
    return m;
}

static dp_dataset *records(int first, size_t n)
{
    dp_dataset *d = dp_dataset_new(n);
    dp_dataset_real(d, "x", D, x[first]);
    dp_dataset_real(d, "y", 1, y + first);
    return d;
}

/* The three in one: each makes its key; one makes the plan, and all sign it. */
static dp_status agree(const char *scheme, const dp_model *m, dp_silo_key **who,
                       dp_silo_plan **plan, dp_error *err)
{
    const double epsilon = strncmp(scheme, "fedsgd", 6) == 0 ? 0 : 1;
    dp_silo_owner owner[] = {{.name = "north"}, {.name = "south"}, {.name = "west"}};
    dp_status status = DP_OK;
    for (int k = 0; k < OWNERS && status == DP_OK; k++)
        if ((status = dp_silo_key_new(keys[k], &who[k], err)) == DP_OK)
            owner[k].key = dp_silo_key_public(who[k]);
    const dp_silo_opts o = {.name = "patients",
                            .scheme = scheme,
                            .model = m,
                            .n_owners = OWNERS,
                            .owners = owner,
                            .epsilon = epsilon,
                            .delta = epsilon * 1e-5,
                            .local_steps = strcmp(scheme, "dp-pvi") == 0 ? 64 : 0,
                            .most_records = EACH};
    status = status == DP_OK ? dp_silo_plan_new(&o, plan, err) : status;
    for (int k = 0; k < OWNERS && status == DP_OK; k++)
        status = dp_silo_plan_sign(*plan, who[k], err);
    return status;
}

static int tell(dp_status status, const dp_fit *fit, dp_error *err)
{
    dp_summary s[D];
    if (status != DP_OK || dp_fit_summary(fit, "w", D, s, err))
        return fprintf(stderr, "owners: %s\n", err->text), 1;
    return printf("w = %.3f +- %.3f, %.3f +- %.3f\n", s[0].mean, s[0].sd, s[1].mean, s[1].sd) < 0;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_fit *fit = NULL;
    dp_silo_key *who[OWNERS];
    dp_silo_plan *plan;
    if (umask(077), argc != 3 || mkdir(argv[2], 0700) || chdir(argv[2]) || mkdir("letters", 0700))
        return fprintf(stderr, "owners: give a scheme, and a folder that is not there yet\n"), 2;
    if (dp_rng_new(7, &rng, &err))
        return tell(DP_ENOMEM, NULL, &err);
    dp_rng_normal(rng, N * D, &x[0][0]);
    dp_rng_uniform(rng, N, odds);
    for (int i = 0; i < N; i++)
        y[i] = dp_logistic(dp_num(x[i][0] - .5 * x[i][1])).value > odds[i];
    dp_rng_free(rng);
    dp_model *m = patients();
    if (strcmp(argv[1], "central") == 0) {
        const dp_fit_opts o = {.epsilon = 1, .delta = 1e-5};
        dp_dataset *all = records(0, N);
        dp_status status = dp_fit_private(m, all, &o, &fit, &err);
        int bad = tell(status, fit, &err);
        return dp_fit_free(fit), dp_dataset_free(all), dp_model_free(m), bad;
    }
    if (agree(argv[1], m, who, &plan, &err))
        return tell(DP_EINVAL, NULL, &err);
    int bad = 0, end, me = -1;
    for (int k = 0; k < OWNERS && me < 0; k++)
        me = fork() == 0 ? k : -1;
    for (int k = 0; k < OWNERS && me < 0; k++)
        bad |= wait(&end) < 0 || end != 0;
    if (me >= 0) {
        const dp_silo_run_opts o = {.key = who[me], .mailbox = "letters", .state = states[me]};
        dp_dataset *mine = records(me * EACH, EACH);
        dp_status status = dp_silo_run(plan, m, mine, &o, &fit, &err);
        bad = tell(status, fit, &err);
        dp_fit_free(fit), dp_dataset_free(mine);
    }
    for (int k = 0; k < OWNERS; k++)
        dp_silo_key_free(who[k]);
    return dp_silo_plan_free(plan), dp_model_free(m), bad;
}
