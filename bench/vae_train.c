/* Test loss of the variational autoencoder after 20 epochs, as in section 5.1 of Prediger et al. 2022:
 * batches of 128 (Poisson sampling here), Adam 1e-3, clip norm 10, noise multiplier 1.5 or none.
 *
 *   vae_train TRAIN TEST [private|plain [seed]]      images in IDX, unpacked
 *
 * A pixel of value v is ink with probability v / 255, drawn once for each image (there: once for each
 * visit).  The loss is the negative ELBO of the test images with one draw of z each.  A seed makes the
 * run repeatable and so not private; epsilon is what an unseeded run has. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "vae.h"

enum { BATCH = 128, EPOCHS = 20 };

static const double sigma = 1.5, clip = 10;

static void fail(const char *what)
{
    (void)fprintf(stderr, "vae_train: %s\n", what);
    exit(1);
}

static void *get(size_t n, size_t size)
{
    void *block = calloc(n, size);
    if (block == NULL)
        fail("out of memory");
    return block;
}

/* Binary images [*n][VAE_PIXELS]. */
static double *read_images(const char *path, dp_rng *rng, size_t *n)
{
    dp_error err;
    dp_idx *idx;
    if (dp_idx_read(path, 0, &idx, &err) != DP_OK)
        fail(err.text);
    *n = dp_idx_items(idx);
    if (dp_idx_size(idx) != VAE_PIXELS)
        fail("the images do not have 28 x 28 pixels");
    double *x = get(*n * VAE_PIXELS, sizeof *x);
    dp_rng_uniform(rng, *n * VAE_PIXELS, x);
    for (size_t i = 0; i < *n * VAE_PIXELS; i++)
        x[i] = x[i] * 255 < dp_idx_values(idx)[i];
    dp_idx_free(idx);
    return x;
}

static double *parameter(const dp_svi *svi, const char *name, size_t n)
{
    dp_error err;
    double *values = get(n, sizeof *values);
    if (dp_svi_get(svi, name, n, values, &err) != DP_OK)
        fail(err.text);
    return values;
}

/* x[n][from] W + b, of the parameters so called. */
static double *dense(const dp_svi *svi, const char *weights, const char *biases, size_t n,
                     size_t from, size_t to, const double *x)
{
    double *w = parameter(svi, weights, from * to), *b = parameter(svi, biases, to);
    double *y = get(n * to, sizeof *y);
    for (size_t i = 0; i < n * to; i++)
        y[i] = b[i % to];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)to, (int)from, 1, x,
                (int)from, w, (int)to, 1, y, (int)to);
    free(b);
    free(w);
    return y;
}

static double softplus(double a)
{
    return fmax(a, 0) + log1p(exp(-fabs(a)));
}

static void softplus_all(size_t n, double *a)
{
    for (size_t i = 0; i < n; i++)
        a[i] = softplus(a[i]);
}

static double test_loss(const dp_svi *svi, size_t n, const double *x, dp_rng *rng)
{
    double *h = dense(svi, "V1", "c1", n, VAE_PIXELS, VAE_HIDDEN, x), loss = 0;
    softplus_all(n * VAE_HIDDEN, h);
    double *loc = dense(svi, "V2", "c2", n, VAE_HIDDEN, VAE_LATENT, h);
    double *log_sd = dense(svi, "V3", "c3", n, VAE_HIDDEN, VAE_LATENT, h);
    double *z = get(n * VAE_LATENT, sizeof *z);
    dp_rng_normal(rng, n * VAE_LATENT, z);
    for (size_t i = 0; i < n * VAE_LATENT; i++) {
        double sd = exp(log_sd[i]);
        loss += 0.5 * (loc[i] * loc[i] + sd * sd - 1) - log_sd[i]; /* KL(q, N(0, 1)), exact */
        z[i] = loc[i] + sd * z[i];
    }
    free(h);
    h = dense(svi, "W1", "b1", n, VAE_LATENT, VAE_HIDDEN, z);
    softplus_all(n * VAE_HIDDEN, h);
    double *logit = dense(svi, "W2", "b2", n, VAE_HIDDEN, VAE_PIXELS, h);
    for (size_t i = 0; i < n * VAE_PIXELS; i++)
        loss += softplus(logit[i]) - x[i] * logit[i];
    free(logit);
    free(z);
    free(log_sd);
    free(loc);
    free(h);
    return loss / (double)n;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage: vae_train TRAIN TEST [private|plain [seed]]");
    bool plain = argc > 3 && strcmp(argv[3], "plain") == 0;
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    dp_error err = {0};
    dp_rng *rng;
    size_t n, n_test;
    if (dp_rng_new(seed + 1, &rng, &err) != DP_OK)
        fail(err.text);
    double *x = read_images(argv[1], rng, &n), *test = read_images(argv[2], rng, &n_test);
    dp_dataset *data = dp_dataset_new(n);
    dp_model *decoder = vae_decoder(), *encoder = vae_encoder(decoder);
    dp_svi *svi;
    dp_privacy privacy;
    dp_dataset_real(data, "x", VAE_PIXELS, x);
    dp_svi_opts opts = {.mode = plain ? DP_NO_PRIVACY : DP_PRIVATE,
                        .delta = plain ? 0 : 1 / (double)n,
                        .sigma = plain ? 0 : sigma,
                        .clip = plain ? 0 : clip,
                        .sampling = DP_SAMPLING_POISSON,
                        .rate = BATCH / (double)n,
                        .steps = EPOCHS * (n / BATCH),
                        .schedule = DP_CONSTANT,
                        .step_size = 1e-3,
                        .precision = DP_SINGLE,
                        .threads = 2,
                        .seed = seed};
    if (dp_svi_new(decoder, encoder, data, &opts, &svi, &err) != DP_OK ||
        vae_start(svi, seed + 2, &err) != DP_OK)
        fail(err.text);
    double started = bench_now();
    if (dp_svi_run(svi, NULL, &err) != DP_OK || dp_svi_privacy(svi, &privacy, &err) != DP_OK)
        fail(err.text);
    double seconds = (bench_now() - started) / EPOCHS;
    (void)printf("{\"kernel\": \"vae_train\", \"private\": %s, \"seed\": %llu, \"epsilon\": %.5g, "
                 "\"test_loss\": %.2f, \"seconds_per_epoch\": %.2f, ",
                 plain ? "false" : "true", (unsigned long long)seed, plain ? 0 : privacy.epsilon,
                 test_loss(svi, n_test, test, rng), seconds);
    bench_end_line();
    dp_svi_free(svi);
    dp_model_free(encoder);
    dp_model_free(decoder);
    dp_dataset_free(data);
    dp_rng_free(rng);
    free(test);
    free(x);
}
