/* How a step's time grows with the length of a hidden Markov chain: records that are chains of T
 * times and K states, all 500 of them in each private step on one core.
 *
 *   make bench/b-forward && bench/b-forward
 *
 * One JSON line for each T and K: microseconds a record and step, forward and backward; medians of
 * 11 runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacit/models.h>

#include "bench.h"

enum { N = 500, LONGEST = 400 };
static double y[N * LONGEST];

static void stop(const dp_error *err)
{
    (void)fprintf(stderr, "b-forward: %s\n", err->text);
    exit(1);
}

static void step(void *of)
{
    dp_error err = {0};
    if (dp_svi_step(of, &err) != DP_OK)
        stop(&err);
}

static void measure(size_t times, size_t states)
{
    dp_error err = {0};
    dp_model *m;
    dp_svi *svi;
    const dp_hidden_markov_opts o = {.states = states, .times = times};
    const dp_svi_opts opts = {.sigma = 1, .delta = 1e-5, .clip = 1, .steps = 100000, .seed = 1};
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", times, y);
    if (dp_hidden_markov(&o, &m, &err) || dp_svi_new(m, NULL, data, &opts, &svi, &err))
        stop(&err);
    const bench_times t = bench_measure(step, svi);
    printf("{\"bench\": \"forward\", \"times\": %zu, \"states\": %zu, ", times, states);
    bench_number("us_per_record", 1e6 * t.median / N);
    bench_number("low", 1e6 * t.low / N);
    bench_number("high", 1e6 * t.high / N);
    bench_end_line();
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    static const size_t shapes[][2] = {{10, 3}, {50, 3}, {100, 3}, {200, 3}, {400, 3}, {100, 8}};
    for (size_t i = 0; i < sizeof y / sizeof *y; i++)
        y[i] = 2 * sin(1.7 * (double)i);
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        measure(shapes[k][0], shapes[k][1]);
    return 0;
}
