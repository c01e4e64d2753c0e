/* What privacy costs in a step of a variational autoencoder, and what a step costs beside its
 * matrix products: one JSON line with medians of PAIRS alternating plain and private steps, the
 * same matrix products alone through OpenBLAS in the same precision, and the noise alone.
 *
 *   vae_step [batch [threads [single]]]
 *
 * Data are 10000 made-up binary images: a step's time does not depend on them.  Batches have a
 * fixed size here, so that both kinds of step do the same work. */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "vae.h"

enum { N = 10000, PAIRS = 31 };

static void fail(const char *what)
{
    (void)fprintf(stderr, "vae_step: %s\n", what);
    exit(1);
}

static double peak_mb(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static double time_step(dp_svi *svi)
{
    dp_error err;
    double started = bench_now();
    if (dp_svi_step(svi, &err) != DP_OK)
        fail(err.text);
    return bench_now() - started;
}

/* The same products in single precision; contents do not matter. */
static void layer_single(int batch, int from, int to, bool backward, const double *of_a,
                         double *of_b, double *of_c)
{
    const float *a = (const void *)of_a;
    float *b = (void *)of_b, *c = (void *)of_c;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch, to, from, 1, a, from, b, to, 0, c,
                to);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, from, to, batch, 1, a, from, c, to, 0, b,
                to);
    if (backward)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch, from, to, 1, a, to, b, to, 0, c,
                    from);
}

/* One dense layer [from][to]: forward, weights, and backward unless its input is data. */
static void layer_double(int batch, int from, int to, bool backward, const double *a, double *b,
                         double *c)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch, to, from, 1, a, from, b, to, 0, c,
                to);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, from, to, batch, 1, a, from, c, to, 0, b,
                to);
    if (backward)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch, from, to, 1, a, to, b, to, 0, c,
                    from);
}

static double time_products(bool single, size_t batch, const double *a, double *b, double *c)
{
    int m = (int)batch;
    void (*layer)(int, int, int, bool, const double *, double *, double *) =
        single ? layer_single : layer_double;
    double started = bench_now();
    layer(m, VAE_PIXELS, VAE_HIDDEN, false, a, b, c);
    layer(m, VAE_HIDDEN, VAE_LATENT, true, a, b, c);
    layer(m, VAE_HIDDEN, VAE_LATENT, true, a, b, c);
    layer(m, VAE_LATENT, VAE_HIDDEN, true, a, b, c);
    layer(m, VAE_HIDDEN, VAE_PIXELS, true, a, b, c);
    return bench_now() - started;
}

/* Of a private step: multiplications and additions of its products; bytes of parameters, moments
 * and sum, read and written once, and of what products read of the parameters; a word of 32 bits
 * for each number of noise and each draw of a record. */
static void tell_needs(size_t batch, bool single)
{
    const double in = VAE_PIXELS * VAE_HIDDEN, between = 3. * VAE_HIDDEN * VAE_LATENT;
    const double forward = 2 * in + between, back = in + between;
    bench_number("mflop", 2e-6 * (double)batch * (2 * forward + back));
    bench_number("mb", 1e-6 * VAE_NUMBERS * (8 * sizeof(double) + (single ? 12 : 16)));
    bench_number("random_mb", 4e-6 * (VAE_NUMBERS + (double)batch * VAE_LATENT));
}

static double time_noise(dp_noise *noise, double *out)
{
    dp_error err;
    double started = bench_now();
    if (dp_noise_normal(noise, VAE_NUMBERS, VAE_SIGMA * VAE_CLIP, out, &err) != DP_OK)
        fail(err.text);
    return bench_now() - started;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ms(double *times)
{
    qsort(times, PAIRS, sizeof *times, by_size);
    return 1e3 * times[PAIRS / 2];
}

int main(int argc, char **argv)
{
    size_t batch = argc > 1 ? strtoul(argv[1], NULL, 10) : 128;
    size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    bool single = argc > 3 && strcmp(argv[3], "single") == 0;
    double *x = malloc((size_t)N * VAE_PIXELS * sizeof *x), *work = calloc(4000000, sizeof *work);
    dp_error err;
    dp_noise *noise;
    if (batch < 1 || batch > 1024 || x == NULL || work == NULL)
        fail("usage: vae_step [batch, 1 ... 1024 [threads [single]]]");
    vae_made_up(N, x);
    dp_dataset *data = dp_dataset_new(N);
    if (data == NULL || dp_noise_new(&noise, &err) != DP_OK)
        fail("out of memory");
    dp_dataset_real(data, "x", VAE_PIXELS, x);
    openblas_set_num_threads((int)threads);
    double before = peak_mb();
    dp_svi *private = vae_fixed_run(DP_PRIVATE, batch, threads, single, data);
    (void)time_step(private);
    double peak = peak_mb() - before;
    dp_svi *plain = vae_fixed_run(DP_NO_PRIVACY, batch, threads, single, data);
    (void)time_step(plain);
    double plain_s[PAIRS], private_s[PAIRS], ratio[PAIRS], products_s[PAIRS], noise_s[PAIRS];
    for (int k = 0; k < PAIRS; k++) {
        plain_s[k] = time_step(plain);
        private_s[k] = time_step(private);
        ratio[k] = 1e-3 * private_s[k] / plain_s[k];
    }
    for (int k = 0; k < PAIRS; k++) { /* apart: OpenBLAS' threads wait for more by spinning */
        products_s[k] = time_products(single, batch, work, work + 1000000, work + 2000000);
        noise_s[k] = time_noise(noise, work + 3000000);
    }
    (void)printf(
        "{\"kernel\": \"vae_step\", \"plain_ms\": %.3f, \"private_ms\": %.3f, \"ratio\": %.3f, "
        "\"gemm_ms\": %.3f, \"noise_ms\": %.3f, \"batch\": %zu, \"threads\": %zu, \"precision\": "
        "\"%s\", "
        "\"peak_mb\": %.0f, ",
        median_ms(plain_s), median_ms(private_s), median_ms(ratio), median_ms(products_s),
        median_ms(noise_s), batch, threads, single ? "single" : "double", peak);
    tell_needs(batch, single);
    bench_end_line();
    dp_svi_free(plain);
    dp_svi_free(private);
    dp_noise_free(noise);
    dp_dataset_free(data);
    free(work);
    free(x);
}
