/* Where the time of a private step of the variational autoencoder goes, part by part, on one
 * thread: one JSON line of milliseconds, medians of REPEATS steps.
 *
 *   vae_parts [batch [double]]
 *
 *   globals   parameters narrowed to floats
 *   forward   values of the records up to their log densities, the columns gathered
 *   backward  their adjoints
 *   norms     norms and weighted factors of the gradients
 *   sums      clipped sums of outer products
 *   optimiser division and Adam, that is the end of a plain step
 *   noise     what a private step's end takes more
 *
 * The parts are called one after the other as a step does; `forward` is timed on a run of its
 * own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "exec/factors.h"
#include "svi/finish.h"
#include "svi/sum.h"
#include "vae.h"

enum { N = 10000, REPEATS = 31 };

typedef enum part { GLOBALS, FORWARD, BOTH, NORMS, SUMS, PLAIN_END, PRIVATE_END, N_PARTS } part;

static double times[N_PARTS][REPEATS];

static void fail(const char *what)
{
    (void)fprintf(stderr, "vae_parts: %s\n", what);
    exit(1);
}

/* A run that makes the log densities alone. */
static dpi_run *forward_run(dp_svi *s, const dp_dataset *data)
{
    dp_error err = {0};
    dpi_run *run;
    size_t n_lent;
    const dpi_lent *lent =
        dpi_finish_lent(&s->objective, s->optimizer.theta, s->release.out, &s->arena, &n_lent);
    const dpi_run_spec spec = {.graph = &s->objective.graph,
                               .wanted = &s->objective.record,
                               .n_wanted = 1,
                               .lent = lent,
                               .n_lent = n_lent,
                               .data = data,
                               .chunk = s->sum.rows,
                               .single = s->opts.precision == DP_SINGLE};
    if (lent == NULL || dpi_run_new(&spec, &run, &err) != DP_OK)
        fail(err.text);
    return run;
}

/* Ends the part that began at *since. */
static void end(part p, int repeat, double *since)
{
    double now = bench_now();
    times[p][repeat] += now - *since;
    *since = bench_now();
}

static void one_step(dp_svi *s, dpi_run *forward, size_t batch, int repeat)
{
    dp_error err = {0};
    const double clip = VAE_CLIP * (1 - 0x1p-9);
    size_t tasks = (batch - 1) / s->sum.chunk + 1, index[1024];
    size_t chain = dpi_factors_chain(s->run, batch, clip);
    bool finite;
    for (size_t i = 0; i < batch; i++)
        index[i] = (i * 7919 + (size_t)repeat * 104729) % N;
    double since = bench_now();
    dpi_run_globals(s->run);
    end(GLOBALS, repeat, &since);
    dpi_run_globals(forward);
    for (size_t t = 0, first = 0, m; t < tasks; t += DPI_SVI_TASKS, first += m) {
        const size_t last = t + DPI_SVI_TASKS < tasks ? t + DPI_SVI_TASKS : tasks;
        size_t n[DPI_SVI_TASKS];
        m = 0;
        for (size_t k = t; k < last; m += n[k - t], k++) {
            n[k - t] = batch / tasks + (k < batch % tasks);
            if (dpi_draw_records(&s->sum, s->run, m, n[k - t], &err) != DP_OK)
                fail(err.text);
        }
        since = bench_now();
        dpi_run_records(forward, m, index + first, 0);
        end(FORWARD, repeat, &since);
        dpi_run_records(s->run, m, index + first, 0);
        end(BOTH, repeat, &since);
        dpi_factors_weigh(s->run, m, clip, chain, s->sum.workers[0].scratch);
        for (size_t k = t, from = 0; k < last; from += n[k - t], k++)
            dpi_factors_keep(s->sum.factors, s->run, from, n[k - t], chain,
                             s->sum.workers[0].scratch, k);
        end(NORMS, repeat, &since);
    }
    for (size_t b = 0; b < dpi_factors_blocks(s->sum.factors); b++)
        dpi_factors_add(s->sum.factors, b, tasks, chain, true, s->sum.total, NULL);
    end(SUMS, repeat, &since);
    if (dpi_finish(s, DP_OK, &finite, &err) != DP_OK)
        fail(err.text);
    end(s->opts.mode == DP_PRIVATE ? PRIVATE_END : PLAIN_END, repeat, &since);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ms(part p, double share)
{
    qsort(times[p], REPEATS, sizeof times[p][0], by_size);
    return 1e3 * share * times[p][REPEATS / 2];
}

int main(int argc, char **argv)
{
    size_t batch = argc > 1 ? strtoul(argv[1], NULL, 10) : 128;
    bool single = argc < 3 || strcmp(argv[2], "double") != 0;
    double *x = malloc((size_t)N * VAE_PIXELS * sizeof *x);
    dp_dataset *data = dp_dataset_new(N);
    if (batch < 64 || batch > 512 || x == NULL || data == NULL)
        fail("usage: vae_parts [batch, 64 ... 512 [double]]");
    vae_made_up(N, x);
    dp_dataset_real(data, "x", VAE_PIXELS, x);
    dp_svi *private = vae_fixed_run(DP_PRIVATE, batch, 1, single, data);
    dp_svi *plain = vae_fixed_run(DP_NO_PRIVACY, batch, 1, single, data);
    dpi_run *forward[2] = {forward_run(private, data), forward_run(plain, data)};
    if (private->sum.factors == NULL)
        fail("sums are not made from factors any more: this program has to follow");
    for (int k = 0; k < REPEATS; k++) {
        one_step(private, forward[0], batch, k);
        one_step(plain, forward[1], batch, k);
    }
    /* All but the ends have been timed in two steps each. */
    double both = ms(BOTH, 0.5), ahead = ms(FORWARD, 0.5), plain_end = ms(PLAIN_END, 1);
    (void)printf("{\"kernel\": \"vae_parts\", \"batch\": %zu, \"precision\": \"%s\", "
                 "\"globals_ms\": %.3f, \"forward_ms\": %.3f, \"backward_ms\": %.3f, "
                 "\"norms_ms\": %.3f, \"sums_ms\": %.3f, \"optimiser_ms\": %.3f, "
                 "\"noise_ms\": %.3f, ",
                 batch, single ? "single" : "double", ms(GLOBALS, 0.5), ahead, both - ahead,
                 ms(NORMS, 0.5), ms(SUMS, 0.5), plain_end, ms(PRIVATE_END, 1) - plain_end);
    bench_end_line();
    dpi_run_free(forward[0]);
    dpi_run_free(forward[1]);
    dp_svi_free(private);
    dp_svi_free(plain);
    dp_dataset_free(data);
    free(x);
}
