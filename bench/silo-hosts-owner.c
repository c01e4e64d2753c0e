/* One owner of a fit of images, as one rank of several under MPI; run by bench/silo-hosts.
 *   silo-hosts-owner FOLDER agree DATA IMAGES OWNERS     keys, and a plan that all have signed
 *   mpirun -n R silo-hosts-owner FOLDER K DATA IMAGES OWNERS END...
 * DATA is as in examples/images.h; owner K has every OWNERS-th of the first IMAGES, and its rank r
 * those of them before the r-th END, the last of which is their number.  Rank 0 prints the seconds
 * that the fit took, and the share of test images that are told right.
 *   mpirun -n 2 silo-hosts-owner push NUMBERS       seconds of what a release sends over ranks */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/mpi.h>
#include <tacit/silo.h>
#include <tacit/tacit.h>

#include "bench.h"
#include "bench/networks.h"

enum { MOST = 16, PUSHES = 400, HEAD = 12 };
static const double epsilon = 3, delta = 1e-5;

static void must(dp_status status, const char *what, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "silo-hosts-owner: %s: %s\n", what, err->text);
    exit(1);
}

/* Images first ... end - 1 of owner k's. */
static dp_dataset *take(const images *s, size_t k, size_t owners, size_t first, size_t end)
{
    const size_t n = end - first;
    unsigned char *x = malloc(n * s->pixels); /* never given back */
    int32_t *y = malloc(n * sizeof *y);
    dp_dataset *data = dp_dataset_new(n);
    if (x == NULL || y == NULL)
        abort();
    for (size_t i = 0; i < n; i++) {
        const size_t at = k + (first + i) * owners;
        memcpy(x + i * s->pixels, s->train + at * s->pixels, s->pixels);
        y[i] = s->labels[at];
    }
    dp_dataset_bytes(data, "x", s->pixels, s->pixels == 64 ? 16 : 255, x);
    dp_dataset_index(data, "y", y);
    return data;
}

static void agree(const dp_model *m, size_t owners, size_t most)
{
    char names[MOST][16], path[32];
    dp_silo_key *keys[MOST];
    dp_silo_owner who[MOST];
    dp_silo_plan *plan;
    dp_error err = {0};
    for (size_t k = 0; k < owners; k++) {
        (void)snprintf(names[k], sizeof names[k], "o%zu", k);
        (void)snprintf(path, sizeof path, "key-%zu", k);
        must(dp_silo_key_new(path, &keys[k], &err), "key", &err);
        who[k] = (dp_silo_owner){names[k], dp_silo_key_public(keys[k])};
    }
    const dp_silo_opts o = {.name = "hosts",
                            .scheme = "secagg+dp",
                            .model = m,
                            .n_owners = owners,
                            .owners = who,
                            .epsilon = epsilon,
                            .delta = delta,
                            .trusting = true,
                            .most_records = most};
    must(dp_silo_plan_new(&o, &plan, &err), "plan", &err);
    for (size_t k = 0; k < owners; k++)
        must(dp_silo_plan_sign(plan, keys[k], &err), "sign", &err);
    FILE *file = fopen("plan", "w");
    if (file == NULL || fputs(dp_silo_plan_text(plan), file) < 0 || fclose(file) != 0 ||
        mkdir("letters", 0700) != 0)
        must(DP_EIO, "plan", &err);
    dp_silo_plan_free(plan);
}

static int run(size_t k, const images *s, size_t owners, char **ends)
{
    char path[32];
    dp_error err = {0};
    dp_group *group;
    dp_silo_key *key = NULL;
    dp_silo_plan *plan;
    dp_fit *fit = NULL;
    must(dp_mpi_group_new(MPI_COMM_WORLD, &group, &err), "MPI", &err);
    const size_t first = group->rank > 0 ? strtoul(ends[group->rank - 1], NULL, 10) : 0;
    dp_dataset *data = take(s, k, owners, first, strtoul(ends[group->rank], NULL, 10));
    dp_model *m = network_new("logistic", s->pixels);
    (void)snprintf(path, sizeof path, "key-%zu", k);
    must(dp_silo_plan_load("plan", &plan, &err), "plan", &err);
    must(dp_silo_key_load(path, &key, &err), "key", &err);
    const dp_silo_run_opts o = {
        .key = key, .group = group->size > 1 ? group : NULL, .mailbox = "letters"};
    (void)MPI_Barrier(MPI_COMM_WORLD);
    const double from = bench_now();
    must(dp_silo_run(plan, m, data, &o, &fit, &err), "run", &err);
    const double took = bench_now() - from;
    (void)snprintf(path, sizeof path, "fit-%zu-%zu", k, group->rank);
    must(dp_fit_save(fit, path, &err), path, &err);
    if (group->rank == 0)
        (void)printf("%.6f %.6f\n", took, network_right(fit, s));
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
    dp_silo_key_free(key);
    dp_silo_plan_free(plan);
    dp_mpi_group_free(group);
    return MPI_Finalize() != MPI_SUCCESS;
}

/* A meeting, a sum, and what is given. */
static int push(size_t numbers)
{
    dp_error err = {0};
    dp_group *group;
    int64_t *values = calloc(numbers + 1, sizeof *values);
    int bad = values == NULL;
    must(dp_mpi_group_new(MPI_COMM_WORLD, &group, &err), "MPI", &err);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    const double from = bench_now();
    for (int k = 0; k < PUSHES && !bad; k++)
        bad = group->sum(group->context, HEAD, values) != 0 ||
              group->sum(group->context, numbers + 1, values) != 0 ||
              group->sum(group->context, numbers + 1, values) != 0;
    if (group->rank == 0)
        (void)printf("%.9f\n", (bench_now() - from) / PUSHES);
    free(values);
    dp_mpi_group_free(group);
    return MPI_Finalize() != MPI_SUCCESS || bad;
}

int main(int argc, char **argv)
{
    images s;
    dp_error err = {0};
    if (argc == 3 && strcmp(argv[1], "push") == 0)
        return MPI_Init(&argc, &argv) != MPI_SUCCESS || push(strtoul(argv[2], NULL, 10));
    if (argc < 6)
        return (void)fprintf(stderr, "silo-hosts-owner: see bench/silo-hosts\n"), 2;
    const size_t owners = strtoul(argv[5], NULL, 10), n = strtoul(argv[4], NULL, 10);
    must(images_read(argv[3], true, &s, &err), argv[3], &err);
    if (owners < 1 || owners > MOST || n > s.n || chdir(argv[1]) != 0)
        return perror("silo-hosts-owner"), 2;
    if (strcmp(argv[2], "agree") == 0) {
        dp_model *m = network_new("logistic", s.pixels);
        agree(m, owners, n);
        dp_model_free(m);
        return 0;
    }
    (void)MPI_Init(&argc, &argv);
    return run(strtoul(argv[2], NULL, 10), &s, owners, argv + 6);
}
