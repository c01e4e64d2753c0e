/* Tacit's side of bench/peers/run, by the protocol of worker.py: one JSON line about itself, then
 * for each number of steps on standard input the seconds they took.
 *
 *   tacit vae | vae-plain | cnn | cnn-plain | hierarchical[-d3p][-plain] [threads]
 *
 * vae: the step of bench/vae_step in single precision, batches of 128 without replacement out of
 * 60000, whose pixels are bytes as in examples/vae. cnn: the network of examples/cnn for images of
 * 28 x 28, so too, batches of 512.  hierarchical: the library's defaults, Poisson samples of 10 on
 * average; -d3p: the form of d3p, batches of 10 without replacement.  -plain: without privacy.  No
 * run is seeded: noise and batches come from the generator of releases, and nothing is certified
 * for the form of d3p. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "hierarchical.h"
#include "vae.h"

enum { RECORDS = 500, IMAGES = 60000, VAE_BATCH = 128, CNN_BATCH = 512, CNN_CLASSES = 10 };

static const uint64_t many = 100000000; /* steps, more than any block asks for */

static void stop(const char *why)
{
    (void)fprintf(stderr, "tacit: %s\n", why);
    exit(1);
}

/* On huge pages, as NumPy has arrays of this size, from which the others get theirs. */
static unsigned char *images(void)
{
    const size_t page = (size_t)1 << 21, bytes = (size_t)IMAGES * VAE_PIXELS;
    unsigned char *x = aligned_alloc(page, (bytes + page - 1) / page * page);
    uint32_t random = 1;
    if (x == NULL)
        stop("out of memory");
    (void)madvise(x, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < (size_t)IMAGES * VAE_PIXELS; i++) {
        random = random * 1664525 + 1013904223;
        x[i] = random >> 24 < 34; /* 13 % of the pixels, as in handwritten digits */
    }
    return x;
}

static dp_svi_opts image_options(bool private, size_t batch, size_t threads)
{
    dp_svi_opts opts = {.mode = private ? DP_PRIVATE : DP_NO_PRIVACY,
                        .sampling = DP_SAMPLING_FIXED,
                        .batch = batch,
                        .steps = 9375,
                        .schedule = DP_CONSTANT,
                        .threads = threads,
                        .precision = DP_SINGLE};
    if (private)
        opts.delta = 1e-5;
    return opts;
}

static dp_svi *new_vae(bool private, size_t threads)
{
    dp_error err;
    dp_svi *svi;
    dp_svi_opts opts = image_options(private, VAE_BATCH, threads);
    opts.step_size = 1e-3;
    if (private) {
        opts.sigma = 1.5;
        opts.clip = 10;
    }
    dp_model *decoder = vae_decoder(dp_bernoulli_logit),
             *encoder = decoder != NULL ? vae_encoder(decoder) : NULL;
    dp_dataset *data = dp_dataset_new(IMAGES);
    if (encoder == NULL || data == NULL)
        stop("out of memory");
    dp_dataset_bytes(data, "x", VAE_PIXELS, 1,
                     images()); /* data and column live as long as the program */
    if (dp_svi_new(decoder, encoder, data, &opts, &svi, &err) != DP_OK ||
        vae_start(svi, 1, &err) != DP_OK)
        stop(err.text);
    return svi;
}

static int32_t *labels(void)
{
    int32_t *y = malloc(IMAGES * sizeof *y);
    if (y == NULL)
        stop("out of memory");
    for (int32_t i = 0; i < IMAGES; i++)
        y[i] = i % CNN_CLASSES;
    return y;
}

static dp_svi *new_cnn(bool private, size_t threads)
{
    static const dp_cnn_layer layers[] = {{16, 8, 2, 2, 2, 1}, {32, 4, 2, 0, 2, 1}};
    const dp_cnn_opts network = {.rows = 28,
                                 .columns = 28,
                                 .layers = layers,
                                 .n_layers = 2,
                                 .hidden = 32,
                                 .classes = CNN_CLASSES};
    dp_error err;
    dp_svi *svi;
    dp_model *m;
    dp_svi_opts opts = image_options(private, CNN_BATCH, threads);
    opts.step_size = 5e-3;
    if (private) {
        opts.sigma = 1;
        opts.clip = 1;
    }
    dp_dataset *data = dp_dataset_new(IMAGES);
    if (data == NULL)
        stop("out of memory");
    dp_dataset_bytes(data, "x", VAE_PIXELS, 1, images());
    dp_dataset_index(data, "y", labels());
    if (dp_cnn(&network, &m, &err) != DP_OK ||
        dp_svi_new(m, NULL, data, &opts, &svi, &err) != DP_OK)
        stop(err.text);
    return svi;
}

static dp_svi_opts hierarchical_options(bool as_d3p, bool private)
{
    dp_svi_opts opts = {.mode = private ? DP_PRIVATE : DP_NO_PRIVACY,
                        .sampling = DP_SAMPLING_POISSON,
                        .rate = (double)BATCH / RECORDS,
                        .steps = many};
    if (private) {
        opts.sigma = 17.088;
        opts.clip = 1;
        opts.delta = 1.0 / RECORDS;
    }
    if (as_d3p) {
        opts.mode = private ? DP_WITHOUT_GUARANTEE : DP_NO_PRIVACY;
        opts.delta = 0;
        opts.sampling = DP_SAMPLING_FIXED;
        opts.rate = 0;
        opts.batch = BATCH;
        opts.form = DP_FORM_PARAMETERS;
        opts.schedule = DP_CONSTANT;
        opts.step_size = 1e-3;
    }
    return opts;
}

static dp_svi *new_hierarchical(bool as_d3p, bool private)
{
    static simulated data; /* lives as long as the program */
    dp_error err;
    dp_svi *svi;
    dp_svi_opts opts = hierarchical_options(as_d3p, private);
    dp_model *m = dp_model_new(), *guide = as_d3p ? dp_guide_new(m) : NULL;
    dp_dataset *records =
        hierarchical_simulate(RECORDS, &data) ? hierarchical_records(&data) : NULL;
    if (m == NULL || records == NULL || (as_d3p && guide == NULL))
        stop("out of memory");
    hierarchical_model(m);
    if (as_d3p)
        hierarchical_guide(guide);
    if (dp_svi_new(m, guide, records, &opts, &svi, &err) != DP_OK ||
        (as_d3p && hierarchical_start(svi, 1, &err) != DP_OK))
        stop(err.text);
    return svi;
}

static dp_svi *new_run(const char *what, size_t threads)
{
    bool private = strstr(what, "-plain") == NULL;
    if (strncmp(what, "vae", 3) == 0)
        return new_vae(private, threads);
    if (strncmp(what, "cnn", 3) == 0)
        return new_cnn(private, threads);
    if (strncmp(what, "hierarchical", 12) == 0)
        return new_hierarchical(strstr(what, "-d3p") != NULL, private);
    stop("usage: tacit vae[-plain]|cnn[-plain]|hierarchical[-d3p][-plain] [threads]");
    return NULL;
}

static double time_steps(dp_svi *svi, unsigned long steps)
{
    dp_error err;
    double started = bench_now();
    for (unsigned long i = 0; i < steps; i++)
        if (dp_svi_step(svi, &err) != DP_OK)
            stop(err.text);
    return bench_now() - started;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    char line[32];
    dp_svi *svi = new_run(what, threads);
    (void)time_steps(svi, 1);
    const char *note = strstr(what, "-d3p") != NULL ? "double precision, fixed batches, d3p's form"
                       : strncmp(what, "hierarchical", 12) != 0
                           ? "single precision, fixed batches"
                           : "double precision, Poisson samples, the library's defaults";
    (void)printf("{\"private\": %s, \"note\": \"%s\", ",
                 strstr(what, "-plain") == NULL ? "true" : "false", note);
    bench_end_line();
    while (fgets(line, sizeof line, stdin) != NULL) {
        (void)printf("%.9g\n", time_steps(svi, strtoul(line, NULL, 10)));
        (void)fflush(stdout);
    }
    dp_svi_free(svi);
    return 0;
}
