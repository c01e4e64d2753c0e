/* One private step of a logistic regression on all records: on several threads, and where records
 * belong to units of several rows.  One JSON line each, milliseconds a step, median of 11 runs.
 *   make bench/b-threads && OPENBLAS_NUM_THREADS=1 bench/b-threads [most threads, default 4] */
#include <stdio.h>
#include <stdlib.h>
#include <tacit/random.h>
#include <tacit/svi.h>

#include "bench.h"

enum { N = 20000, WIDEST = 400, SHARED = 4 };

static double x[(size_t)N * WIDEST], y[N];
static int32_t person[N];

static void stop(const char *why)
{
    (void)fprintf(stderr, "b-threads: %s\n", why);
    exit(1);
}

static void simulate(void)
{
    dp_error err = {0};
    dp_rng *rng;
    if (dp_rng_new(1, &rng, &err))
        stop(err.text);
    dp_rng_normal(rng, (size_t)N * WIDEST, x);
    for (size_t i = 0; i < N; i++) {
        y[i] = x[i] > 0;
        person[i] = (int32_t)(i / SHARED);
    }
    dp_rng_free(rng);
}

static void step(void *of)
{
    dp_error err = {0};
    if (dp_svi_step(of, &err))
        stop(err.text);
}

static void measure(size_t d, size_t rows_per_unit, size_t threads)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_svi_opts o = {.sigma = 10, .delta = 1e-6, .clip = 1, .steps = 1000000, .threads = threads};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(N);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", d, dp_normal(0, 1));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", d), w)));
    dp_dataset_real(data, "x", d, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "person", person);
    if (rows_per_unit > 1)
        dp_dataset_unit(data, "person");
    if (dp_svi_new(m, NULL, data, &o, &svi, &err))
        stop(err.text);
    bench_times t = bench_measure(step, svi);
    (void)printf("{\"kernel\": \"svi_step\", \"n\": %d, \"d\": %zu, \"rows_per_unit\": %zu, "
                 "\"threads\": %zu, \"ms_per_step\": %.4g, \"low\": %.4g, \"high\": %.4g, ",
                 N, d, rows_per_unit, threads, 1e3 * t.median, 1e3 * t.low, 1e3 * t.high);
    bench_end_line();
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 4;
    simulate();
    for (size_t d = 20; d <= WIDEST; d *= 20)
        for (size_t rows = 1; rows <= SHARED; rows *= SHARED)
            for (size_t threads = 1; threads <= most; threads *= 2)
                measure(d, rows, threads);
    return 0;
}
