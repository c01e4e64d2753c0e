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
#include <tacit/random.h>
#include <tacit/svi.h>

enum { SHARD = 5000, D = 3 };
static double x[SHARD][D], y[SHARD], odds[SHARD];

static dp_status simulate(uint64_t shard, dp_error *err)
{
    dp_rng *rng;
    dp_status status = dp_rng_new(shard + 1, &rng, err);
    if (status != DP_OK)
        return status;
    dp_rng_normal(rng, (size_t)SHARD * D, &x[0][0]);
    dp_rng_uniform(rng, SHARD, odds);
    for (int i = 0; i < SHARD; i++)
        y[i] = dp_logistic(dp_num(x[i][0] - 0.5 * x[i][1])).value > odds[i];
    dp_rng_free(rng);
    return DP_OK;
}

/* All ranks come to the same; rank 0 says what. */
static dp_status fit(const dp_group *group, uint64_t seed, dp_error *err)
{
    dp_svi_opts o = {.epsilon = 1,
                     .delta = 1e-5,
                     .clip = 2,
                     .sampling = DP_SAMPLING_POISSON,
                     .rate = 0.1,
                     .seed = seed,
                     .group = group};
    double w[D];
    dp_privacy privacy;
    dp_svi *svi = NULL;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(SHARD);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr weights = dp_sample(m, "w", D, dp_normal(0, 4));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), weights)));
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_real(data, "y", 1, y);
    dp_status status = dp_svi_new(m, NULL, data, &o, &svi, err);
    if (status == DP_OK)
        status = dp_svi_run(svi, group->rank == 0 ? stderr : NULL, err);
    if (status == DP_OK)
        status = dp_svi_privacy(svi, &privacy, err);
    if (status == DP_OK)
        status = dp_svi_get(svi, "w.loc", D, w, err);
    if (status == DP_OK && group->rank == 0)
        (void)printf("%zu ranks: w = %.4f %.4f %.4f, true 1 -0.5 0; epsilon %.3f at delta %g\n",
                     group->size, w[0], w[1], w[2], privacy.epsilon, privacy.delta);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return status;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_group *group = NULL;
    (void)MPI_Init(&argc, &argv);
    dp_status status = dp_mpi_group_new(MPI_COMM_WORLD, &group, &err);
    if (status == DP_OK)
        status = simulate(group->rank, &err);
    if (status == DP_OK)
        status = fit(group, argc > 1 ? strtoull(argv[1], NULL, 10) : 0, &err);
    if (status != DP_OK)
        (void)fprintf(stderr, "ranks: %s\n", err.text);
    dp_mpi_group_free(group);
    (void)MPI_Finalize();
    return status != DP_OK;
}
