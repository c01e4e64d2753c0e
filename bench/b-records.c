/* How a step's time grows with the batch and with the number of records: a private logistic
 * regression under Poisson sampling on records that are mapped from a file, and the choice of the
 * batch alone.
 *
 *   make bench/b-records && bench/b-records [folder for the file, default .  [most records, default
 *   1e8]]
 *
 * One JSON line for 10^3, 10^4 ... records at a mean batch of 128, then for batches of 32 ... 1024
 * of 10^6 records; microseconds, medians of 11 runs.  The file has a hole for values (zeros): a
 * step's time does not depend on them.  It takes 24 bytes a record of address space and page cache,
 * and no disk. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacit/npy.h>
#include <tacit/svi.h>
#include <unistd.h>

#include "bench.h"
#include "random/entropy.h"
#include "random/poisson.h"
#include "random/subset.h"

enum { COLUMNS = 3, HEADER = 128 };

static const char *path;

static void stop(const char *why)
{
    (void)fprintf(stderr, "b-records: %s\n", why);
    exit(1);
}

/* An NPY file of n x 3 zeros, mapped and gone from its folder. */
static dp_npy *map_zeros(size_t n)
{
    char header[HEADER + 1];
    dp_error err = {0};
    dp_npy *npy;
    int text =
        snprintf(header + 10, HEADER - 10,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %d), }", n, COLUMNS);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(header + 10 + text, ' ', (size_t)(HEADER - 10 - text));
    header[HEADER - 1] = '\n';
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0 || write(file, header, HEADER) != HEADER ||
        ftruncate(file, (off_t)(HEADER + n * COLUMNS * sizeof(double))) != 0 || close(file) != 0)
        stop("cannot make the file b-records.npy; is there one in the folder?");
    if (dp_npy_open(path, &npy, &err) != DP_OK)
        stop(err.text);
    (void)unlink(path);
    return npy;
}

static void step(void *of)
{
    dp_error err = {0};
    if (dp_svi_step(of, &err) != DP_OK)
        stop(err.text);
}

typedef struct choice {
    dpi_stream stream;
    dpi_bernoulli rate;
    size_t n, batch, *out;
} choice;

static void choose_poisson(void *of)
{
    choice *c = of;
    (void)dpi_poisson_subset(&c->stream, c->n, &c->rate, c->out);
}

static void choose_fixed(void *of)
{
    choice *c = of;
    dpi_fixed_subset(&c->stream, c->n, c->batch, c->out);
}

static void measure(const dp_npy *npy, size_t batch)
{
    static choice c;
    dp_error err = {0};
    dp_svi *svi;
    size_t n = dp_npy_rows(npy);
    dp_svi_opts o = {.sampling = DP_SAMPLING_POISSON,
                     .rate = (double)batch / (double)n,
                     .sigma = 2,
                     .delta = 1e-10,
                     .clip = 1,
                     .steps = 100000000};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(n);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr x = dp_data(rows, "xy", COLUMNS), w = dp_sample(m, "w", 2, dp_normal(0, 1));
    dp_observe(rows, "zero", dp_normal_v(dp_dot(dp_slice(x, 0, 2), w), dp_num(1)));
    dp_dataset_real(data, "xy", COLUMNS, dp_npy_real(npy));
    dp_dataset_real(data, "zero", 1, dp_npy_real(npy)); /* the first n zeros will do */
    if (dp_svi_new(m, NULL, data, &o, &svi, &err) != DP_OK)
        stop(err.text);
    bench_times t = bench_measure(step, svi);
    dpi_stream_start_seeded(&c.stream, 1, "bench");
    c.n = n;
    c.batch = batch;
    if (dpi_bernoulli_set(&c.rate, o.rate, &err) != DP_OK)
        stop(err.text);
    c.out = malloc(dpi_poisson_room(&c.rate, n) * sizeof *c.out);
    if (c.out == NULL)
        stop("out of memory");
    bench_times poisson = bench_measure(choose_poisson, &c),
                fixed = bench_measure(choose_fixed, &c);
    (void)printf("{\"kernel\": \"records\", \"n\": %zu, \"batch\": %zu, \"us_per_step\": %.4g, "
                 "\"low\": %.4g, \"high\": %.4g, \"us_poisson\": %.3g, \"us_fixed\": %.3g, ",
                 n, batch, 1e6 * t.median, 1e6 * t.low, 1e6 * t.high, 1e6 * poisson.median,
                 1e6 * fixed.median);
    bench_end_line();
    free(c.out);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(int argc, char **argv)
{
    char name[4096];
    double most = argc > 2 ? strtod(argv[2], NULL) : 1e8;
    (void)snprintf(name, sizeof name, "%s/b-records.npy", argc > 1 ? argv[1] : ".");
    path = name;
    if (!(most >= 1e3 && most <= 1e10) || dpi_sodium_start(NULL) != DP_OK)
        stop("usage: b-records [folder [most records, 1e3 ... 1e10]]");
    for (double n = 1e3; n <= most; n *= 10) {
        dp_npy *npy = map_zeros((size_t)n);
        measure(npy, 128);
        dp_npy_free(npy);
    }
    dp_npy *npy = map_zeros(1000000);
    for (size_t batch = 32; batch <= 1024; batch *= 2)
        measure(npy, batch);
    dp_npy_free(npy);
}
