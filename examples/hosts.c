/* Private logistic regression over two owners, each of whom is several processes with a shard of
 * its records.  Agree, then each owner runs its own:
 *
 *     examples/hosts FOLDER secagg+dp
 *     mpirun -n 2 examples/hosts FOLDER 0 &  mpirun -n 2 examples/hosts FOLDER 1
 *
 * Built by configure --with-mpi.  Records are simulated here; a real rank would read its own file.
 * With fedsgd in place of secagg+dp there is no noise, and the files fit-0 and fit-1 are the same to
 * the byte, of however many processes.  All that speaks with the other owner is rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacit/mpi.h>
#include <tacit/silo.h>
#include <tacit/tacit.h>
#include <unistd.h>

enum { OWNERS = 2, EACH = 4000, D = 2 };
static const char *const keys[] = {"0.key", "1.key"}, *const states[] = {"0.state", "1.state"};
static const char *const fits[] = {"fit-0", "fit-1"};
static double x[EACH][D], y[EACH], odds[EACH];

static dp_model *patients(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "patients");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 2.5));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), w)));
    return m;
}

static dp_status agree(const char *scheme, const dp_model *m, dp_error *err)
{
    const double epsilon = strncmp(scheme, "fedsgd", 6) == 0 ? 0 : 1;
    dp_silo_key *who[OWNERS] = {NULL};
    dp_silo_plan *plan = NULL;
    dp_silo_owner owner[OWNERS] = {{.name = "north"}, {.name = "south"}};
    dp_status status = DP_OK;
    for (int k = 0; k < OWNERS && status == DP_OK; k++)
        if ((status = dp_silo_key_new(keys[k], &who[k], err)) == DP_OK)
            owner[k].key = dp_silo_key_public(who[k]);
    const dp_silo_opts o = {"patients",
                            scheme,
                            .model = m,
                            .n_owners = OWNERS,
                            .owners = owner,
                            .epsilon = epsilon,
                            .delta = epsilon * 1e-5,
                            .most_records = EACH,
                            .seed = 7};
    status = status == DP_OK ? dp_silo_plan_new(&o, &plan, err) : status;
    for (int k = 0; k < OWNERS && status == DP_OK; k++)
        status = dp_silo_plan_sign(plan, who[k], err);
    FILE *file = status == DP_OK ? fopen("plan", "w") : NULL;
    if (file != NULL)
        (void)fputs(dp_silo_plan_text(plan), file), (void)fclose(file);
    for (int k = 0; k < OWNERS; k++)
        dp_silo_key_free(who[k]);
    return dp_silo_plan_free(plan), status;
}

/* The records of an owner, of which a rank needs its own. */
static dp_dataset *shard(int owner, const dp_group *g, dp_error *err)
{
    const size_t first = EACH * g->rank / g->size, end = EACH * (g->rank + 1) / g->size;
    dp_rng *rng;
    if (dp_rng_new((uint64_t)owner + 1, &rng, err))
        return NULL;
    dp_rng_normal(rng, (size_t)EACH * D, &x[0][0]);
    dp_rng_uniform(rng, EACH, odds);
    for (int i = 0; i < EACH; i++)
        y[i] = dp_logistic(dp_num(x[i][0] - .5 * x[i][1])).value > odds[i];
    dp_rng_free(rng);
    dp_dataset *d = dp_dataset_new(end - first);
    return dp_dataset_real(d, "x", D, x[first]), dp_dataset_real(d, "y", 1, y + first), d;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_group *group = NULL;
    dp_silo_key *key = NULL;
    dp_silo_plan *plan = NULL;
    dp_fit *fit = NULL;
    dp_summary w[D];
    if (umask(077), argc != 3 || (mkdir(argv[1], 0700), chdir(argv[1])))
        return fprintf(stderr, "hosts: give a folder, and a scheme or an owner: 0, 1\n"), 2;
    dp_model *m = patients();
    if (argv[2][0] != '0' && argv[2][0] != '1')
        return mkdir("letters", 0700) || agree(argv[2], m, &err) ? fprintf(stderr, "%s\n", err.text)
                                                                 : 0;
    const int k = argv[2][0] - '0';
    (void)MPI_Init(&argc, &argv);
    dp_dataset *data = NULL;
    dp_silo_run_opts o = {.mailbox = "letters", .state = states[k]};
    if (dp_mpi_group_new(MPI_COMM_WORLD, &group, &err) || !(data = shard(k, group, &err)) ||
        dp_silo_plan_load("plan", &plan, &err) || dp_silo_key_load(keys[k], &key, &err) ||
        (o.group = group, o.key = key, 0) || dp_silo_run(plan, m, data, &o, &fit, &err) ||
        (group->rank == 0 && dp_fit_save(fit, fits[k], &err)) ||
        dp_fit_summary(fit, "w", D, w, &err))
        (void)fprintf(stderr, "hosts: %s\n", err.text);
    else if (group->rank == 0)
        (void)printf("owner %d, %zu ranks: w = %.3f %.3f, true 1 -0.5\n", k, group->size, w[0].mean,
                     w[1].mean);
    dp_fit_free(fit), dp_dataset_free(data), dp_model_free(m);
    dp_silo_key_free(key), dp_silo_plan_free(plan), dp_mpi_group_free(group);
    return MPI_Finalize() != MPI_SUCCESS || err.status != DP_OK;
}
