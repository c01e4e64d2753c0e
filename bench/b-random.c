/* Speed of the random module: one JSON line a kernel, nanoseconds a call, median of 11 runs.
 *   make bench/b-random && bench/b-random
 * Each is compared with the plain way in the same file where there is one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "random/entropy.h"
#include "random/normal.h"
#include "random/poisson.h"
#include "random/stream.h"
#include "random/subset.h"

typedef struct kernel {
    const char *name;
    void (*run)(dpi_stream *stream, size_t n, size_t size);
    size_t n, size;
} kernel;

static double numbers[60000];
static size_t indices[60000];
static unsigned char bytes[60000];
static volatile double sink;

static void fill_bytes(dpi_stream *stream, size_t n, size_t size)
{
    (void)size;
    dpi_stream_bytes(stream, n, bytes);
}

static void below(dpi_stream *stream, size_t n, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += dpi_stream_below(stream, size);
    sink = (double)sum;
}

static void uniform(dpi_stream *stream, size_t n, size_t size)
{
    (void)size;
    for (size_t i = 0; i < n; i++)
        numbers[i] = dpi_stream_uniform(stream);
}

static void normals(dpi_stream *stream, size_t n, size_t size)
{
    (void)size;
    dpi_stream_normals(stream, n, numbers);
}

/* Box-Muller with the C library. */
static void normals_plain(dpi_stream *stream, size_t n, size_t size)
{
    (void)size;
    for (size_t i = 0; i + 1 < n; i += 2) {
        double r = sqrt(-2 * log(dpi_stream_uniform(stream)));
        double t = 6.283185307179586 * dpi_stream_uniform(stream);
        numbers[i] = r * cos(t);
        numbers[i + 1] = r * sin(t);
    }
}

/* Rate size / n, prepared once as in a run. */
static void poisson(dpi_stream *stream, size_t n, size_t size)
{
    static dpi_bernoulli rate;
    double q = (double)size / (double)n;
    if (rate.q != q && dpi_bernoulli_set(&rate, q, NULL) != DP_OK)
        abort();
    sink = (double)dpi_poisson_subset(stream, n, &rate, indices);
}

static void poisson_plain(dpi_stream *stream, size_t n, size_t size)
{
    size_t count = 0;
    double q = (double)size / (double)n;
    for (size_t i = 0; i < n; i++)
        if (dpi_stream_uniform(stream) < q)
            indices[count++] = i;
    sink = (double)count;
}

/* Shuffle of a fresh array of n. */
static void fixed_plain(dpi_stream *stream, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        indices[i] = i;
    for (size_t i = 0; i < size; i++) {
        size_t j = i + (size_t)dpi_stream_below(stream, n - i), entry = indices[i];
        indices[i] = indices[j];
        indices[j] = entry;
    }
}

static void fixed(dpi_stream *stream, size_t n, size_t size)
{
    dpi_fixed_subset(stream, n, size, indices);
}

static void feistel(dpi_stream *stream, size_t n, size_t size)
{
    dpi_subset_feistel(stream, n, size, indices);
}

typedef struct task {
    const kernel *kernel;
    dpi_stream *stream;
} task;

static void run(void *of)
{
    const task *t = of;
    t->kernel->run(t->stream, t->kernel->n, t->kernel->size);
}

static void measure(const kernel *k, dpi_stream *stream)
{
    task t = {k, stream};
    bench_times times = bench_measure(run, &t);
    printf("{\"kernel\": \"%s\", \"n\": %zu, \"size\": %zu, \"ns_per_op\": %.1f, \"low\": %.1f, "
           "\"high\": %.1f, \"runs\": %d, ",
           k->name, k->n, k->size, 1e9 * times.median, 1e9 * times.low, 1e9 * times.high,
           BENCH_RUNS);
    bench_end_line();
}

int main(void)
{
    static const kernel kernels[] = {
        {"random/bytes", fill_bytes, 4064, 0},
        {"random/below", below, 1000, 1000},
        {"random/uniform", uniform, 1000, 0},
        {"random/normals", normals, 15, 0},
        {"random/normals", normals, 1000, 0},
        {"random/normals-plain", normals_plain, 1000, 0},
        {"random/poisson", poisson, 500, 10},
        {"random/poisson", poisson, 1934, 193},
        {"random/poisson", poisson, 60000, 128},
        {"random/poisson", poisson, 100000000, 128},
        {"random/poisson", poisson, 60000, 6000},
        {"random/poisson-plain", poisson_plain, 60000, 6000},
        {"random/fixed", fixed, 500, 10},
        {"random/fixed", fixed, 1000000, 128},
        {"random/fixed", fixed, 60000, 30000},
        {"random/fixed", fixed, 60000, 128},
        {"random/fixed", fixed, 60000, 1024},
        {"random/fixed", fixed, 60000, 6000},
        {"random/fixed-feistel", feistel, 60000, 128},
        {"random/fixed-plain", fixed_plain, 60000, 128},
        {"random/fixed-plain", fixed_plain, 60000, 6000},
    };
    dpi_stream *stream = malloc(sizeof *stream);
    if (stream == NULL || dpi_sodium_start(NULL) != DP_OK)
        return 1;
    dpi_stream_start_seeded(stream, 1, "bench");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        measure(&kernels[i], stream);
    dpi_stream_end(stream);
    free(stream);
    return 0;
}
