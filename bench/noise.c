/* Speed of the noise of releases: one JSON line a kernel, nanoseconds a number, median of 11 runs.
 *   make bench/noise && bench/noise
 * grid: Gaussian integers by each instruction set that runs here, keystream included; make: without
 * it; rough: in single precision, as most numbers of a release are made, likewise without it.
 * release: a sum of n numbers made private as a step does it, and the same with ordinary noise in
 * floating point, drawn by the library's own generator and added. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "random/chacha.h"
#include "random/entropy.h"
#include "random/grid.h"
#include "random/noise.h"
#include "svi/release.h"

enum { MOST = 688884, WORDS = 512 }; /* released numbers of the variational autoencoder */

typedef struct kernel {
    const char *name, *of;
    void (*run)(const struct kernel *self);
    size_t n;
    const dpi_grid_kernel *grid;
    void (*chacha)(const unsigned char *key, unsigned char *out);
} kernel;

static int64_t integers[MOST];
static double sum[MOST], released[MOST], floating[MOST];
static unsigned char keys[MOST];
static uint64_t words[WORDS];
static float rough[WORDS];
static dpi_stream stream;
static dp_noise *source;

static void run_grid(const kernel *self)
{
    dpi_stream_grid_with(self->grid, &stream, self->n, integers);
}

static void run_make(const kernel *self)
{
    (void)self->grid->make(self->n / 32, words, integers);
}

static void run_rough(const kernel *self)
{
    self->grid->rough(self->n / 32, (const uint32_t *)(const void *)words, rough);
}

static void run_chacha(const kernel *self)
{
    static unsigned char key[DPI_CHACHA_KEY], out[DPI_CHACHA_BYTES];
    self->chacha(key, out);
    key[0] ^= out[7];
}

static void run_release(const kernel *self)
{
    dpi_release r = {
        .n = self->n, .noisy = true, .sd = 1, .rate = 1, .sum = sum, .out = released, .keys = keys};
    if (dpi_release_begin(&r, source, NULL) != DP_OK)
        abort();
    for (size_t b = 0; b < dpi_release_blocks(r.n); b++)
        dpi_release_block(&r, b, NULL, NULL);
    dpi_release_end(&r);
}

static void run_ordinary(const kernel *self)
{
    if (dp_noise_normal(source, self->n, 1, floating, NULL) != DP_OK)
        abort();
    for (size_t k = 0; k < self->n; k++)
        sum[k] += floating[k];
}

static void call(void *of)
{
    const kernel *k = of;
    k->run(k);
}

static void show(kernel k)
{
    bench_times t = bench_measure(call, &k);
    double n = (double)k.n;
    printf("{\"kernel\": \"%s\", \"of\": \"%s\", \"n\": %zu, \"ns\": %.4g, \"low\": %.4g, "
           "\"high\": %.4g, \"millions_per_s\": %.4g, ",
           k.name, k.of, k.n, t.median / n * 1e9, t.low / n * 1e9, t.high / n * 1e9,
           n / t.median * 1e-6);
    bench_end_line();
}

int main(void)
{
    if (dpi_sodium_start(NULL) != DP_OK || dp_noise_new(&source, NULL) != DP_OK)
        return 1;
    dpi_stream_start_seeded(&stream, 1, "bench");
    for (int i = 0; i < WORDS; i++)
        words[i] = dpi_stream_u64(&stream);
    for (size_t k = 0; k < dpi_n_grid_kernels; k++) {
        const dpi_grid_kernel *grid = &dpi_grid_kernels[k];
        if (!grid->runs_here())
            continue;
        show((kernel){"make", grid->name, run_make, WORDS, grid, NULL});
        show((kernel){"rough", grid->name, run_rough, WORDS, grid, NULL});
        show((kernel){"grid", grid->name, run_grid, 1000, grid, NULL});
        show((kernel){"grid", grid->name, run_grid, 100000, grid, NULL});
    }
    show((kernel){"chacha", "libsodium, bytes", run_chacha, DPI_CHACHA_BYTES, NULL,
                  dpi_chacha_sodium});
    show((kernel){"chacha", "fastest, bytes", run_chacha, DPI_CHACHA_BYTES, NULL, dpi_chacha});
    for (size_t n = 12; n <= MOST; n = n < 1000 ? 1000 : n < MOST ? MOST : MOST + 1) {
        show((kernel){"release", "grid", run_release, n, NULL, NULL});
        show((kernel){"release", "ordinary", run_ordinary, n, NULL, NULL});
    }
    dp_noise_free(source);
    return 0;
}
