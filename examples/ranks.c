/* Private logistic regression by several processes, each with a shard of the records:
 *
 *     mpirun -n 3 examples/ranks [seed]
 *
 * Built by configure --with-mpi.  Shards are simulated here; a real one would read its own file.  A
 * seed makes the run repeatable, and not private. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacit/mpi.h>
#include <tacit/tacit.h>

enum { SHARD = 5000, D = 3 };
static double x[SHARD][D], y[SHARD], odds[SHARD];

static dp_status simulate(uint64_t shard, dp_error *err)
{
    dp_rng *rng;
    if (dp_rng_new(shard + 1, &rng, err))
        return err->status;
    dp_rng_normal(rng, (size_t)SHARD * D, &x[0][0]);
    dp_rng_uniform(rng, SHARD, odds);
    for (int i = 0; i < SHARD; i++)
        y[i] = dp_logistic(dp_num(x[i][0] - 0.5 * x[i][1])).value > odds[i];
    return dp_rng_free(rng), DP_OK;
}

/* All ranks come to the same; rank 0 says what. */
int main(int argc, char **argv)
{
    const dp_regression_opts slopes = {.predictors = D, .scale = 4};
    dp_svi_opts o = {.epsilon = 1, .delta = 1e-5, .clip = 2};
    dp_error err = {0};
    dp_group *group = NULL;
    dp_model *m = NULL;
    dp_svi *svi = NULL;
    dp_privacy spent;
    double w[D];
    (void)MPI_Init(&argc, &argv);
    dp_dataset *data = dp_dataset_new(SHARD);
    dp_dataset_real(data, "x", D, &x[0][0]), dp_dataset_real(data, "y", 1, y);
    o.sampling = DP_SAMPLING_POISSON, o.rate = 0.1;
    o.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (dp_mpi_group_new(MPI_COMM_WORLD, &group, &err) || simulate(group->rank, &err) ||
        dp_logistic_regression(&slopes, &m, &err) || (o.group = group, 0) ||
        dp_svi_new(m, NULL, data, &o, &svi, &err) ||
        dp_svi_run(svi, group->rank == 0 ? stderr : NULL, &err) ||
        dp_svi_privacy(svi, &spent, &err) || dp_svi_get(svi, "w.loc", D, w, &err))
        (void)fprintf(stderr, "ranks: %s\n", err.text);
    else if (group->rank == 0)
        (void)printf("%zu ranks: w = %.4f %.4f %.4f, true 1 -0.5 0; epsilon %.3f at delta %g\n",
                     group->size, w[0], w[1], w[2], spent.epsilon, spent.delta);
    dp_svi_free(svi), dp_dataset_free(data), dp_model_free(m);
    dp_mpi_group_free(group);
    return MPI_Finalize() != MPI_SUCCESS || err.status != DP_OK;
}
