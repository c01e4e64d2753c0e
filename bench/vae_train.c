/* Test loss of the variational autoencoder after 20 epochs (or EPOCHS), as in section 5.1 of
 * Prediger et al. 2022: batches of 128 (Poisson sampling here), Adam 1e-3, clip norm 10, noise
 * multiplier 1.5 or none.
 *
 *   vae_train TRAIN TEST [private|plain [SEED [SCHEDULE [THREADS [drawn|grey [STEP [EPOCHS]]]]]]]
 *
 * TRAIN and TEST are images in IDX, compressed or not; SCHEDULE is constant, as published, linear
 * or cosine; one thread and step size 1e-3 by default.  A pixel of value v is ink with probability
 * v / 255, drawn afresh whenever an image is used; that is how MNIST is published.  Fashion-MNIST
 * was taken grey, with the cross entropy for a likelihood: with "grey" the encoder and the
 * likelihood read v / 255.  The loss is the negative ELBO of the test images with one draw each.  A
 * seed makes the run repeatable and so not private; epsilon is what an unseeded run has.
 * bench/vae-five-seeds runs them all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/fit.h>

#include "bench.h"
#include "vae.h"

enum { BATCH = 128 };

static const double sigma = 1.5, clip = 10, step_size = 1e-3;

typedef struct task {
    const char *train, *test;
    bool plain;
    uint64_t seed;
    const char *schedule;
    size_t threads;
    bool grey;
    double step;
    size_t epochs;
} task;

static void fail(const char *what)
{
    (void)fprintf(stderr, "vae_train: %s\n", what);
    exit(1);
}

static const struct {
    const char *name;
    dp_schedule value;
} schedules[] = {
    {"constant", DP_CONSTANT}, {"linear", DP_LINEAR_DECAY}, {"cosine", DP_COSINE_DECAY}};

static dp_schedule schedule_of(const char *name)
{
    for (size_t k = 0; k < sizeof schedules / sizeof schedules[0]; k++)
        if (strcmp(schedules[k].name, name) == 0)
            return schedules[k].value;
    fail("the schedule is constant, linear or cosine");
    return DP_CONSTANT;
}

/* The images as a data set; both are the caller's. */
static dp_dataset *read_images(const char *path, bool grey, dp_idx **idx)
{
    dp_error err;
    if (dp_idx_read(path, 0, idx, &err) != DP_OK)
        fail(err.text);
    if (dp_idx_size(*idx) != VAE_PIXELS)
        fail("the images do not have 28 x 28 pixels");
    dp_dataset *data = dp_dataset_new(dp_idx_items(*idx));
    if (data == NULL)
        fail("out of memory");
    (grey ? dp_dataset_bytes : dp_dataset_bernoulli)(data, "x", VAE_PIXELS, 255,
                                                     dp_idx_values(*idx));
    return data;
}

static dp_svi_opts options(const task *t, size_t n)
{
    return (dp_svi_opts){.mode = t->plain ? DP_NO_PRIVACY : DP_PRIVATE,
                         .delta = t->plain ? 0 : 1 / (double)n,
                         .sigma = t->plain ? 0 : sigma,
                         .clip = t->plain ? 0 : clip,
                         .sampling = DP_SAMPLING_POISSON,
                         .rate = BATCH / (double)n,
                         .steps = t->epochs * (n / BATCH),
                         .schedule = schedule_of(t->schedule),
                         .step_size = t->step,
                         .precision = DP_SINGLE,
                         .threads = t->threads,
                         .seed = t->seed};
}

static void train(const task *t)
{
    dp_error err = {0};
    dp_idx *images[2];
    dp_dataset *data = read_images(t->train, t->grey, &images[0]);
    dp_dataset *test = read_images(t->test, t->grey, &images[1]);
    dp_model *decoder = vae_decoder(t->grey ? dp_chance_logit : dp_bernoulli_logit);
    dp_model *encoder = decoder != NULL ? vae_encoder(decoder) : NULL;
    if (encoder == NULL)
        fail("out of memory");
    dp_svi_opts opts = options(t, dp_dataset_size(data));
    dp_svi *svi;
    dp_fit *fit;
    dp_rng *rng;
    dp_privacy privacy;
    double elbo;
    if (dp_svi_new(decoder, encoder, data, &opts, &svi, &err) != DP_OK ||
        vae_start(svi, t->seed + 2, &err) != DP_OK || dp_rng_new(t->seed + 1, &rng, &err) != DP_OK)
        fail(err.text);
    double started = bench_now();
    if (dp_svi_run(svi, NULL, &err) != DP_OK)
        fail(err.text);
    double seconds = (bench_now() - started) / (double)t->epochs;
    if (dp_svi_privacy(svi, &privacy, &err) != DP_OK || dp_svi_finish(svi, &fit, &err) != DP_OK ||
        dp_fit_elbo(fit, test, rng, &elbo, &err) != DP_OK)
        fail(err.text);
    (void)printf("{\"kernel\": \"vae_train\", \"train\": \"%s\", \"private\": %s, \"seed\": %llu, "
                 "\"schedule\": \"%s\", \"step_size\": %g, \"epochs\": %zu, \"images\": \"%s\", "
                 "\"epsilon\": %.5g, "
                 "\"test_loss\": %.2f, "
                 "\"seconds_per_epoch\": %.2f, \"threads\": %zu, ",
                 t->train, t->plain ? "false" : "true", (unsigned long long)t->seed, t->schedule,
                 t->step, t->epochs, t->grey ? "grey" : "drawn", t->plain ? 0 : privacy.epsilon,
                 -elbo, seconds, t->threads);
    bench_end_line();
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_rng_free(rng);
    dp_model_free(encoder);
    dp_model_free(decoder);
    for (int k = 0; k < 2; k++) {
        dp_dataset_free(k == 0 ? data : test);
        dp_idx_free(images[k]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage: vae_train TRAIN TEST [private|plain [SEED [SCHEDULE [THREADS [drawn|grey "
             "[STEP [EPOCHS]]]]]]]");
    task t = {.train = argv[1], .test = argv[2], .seed = 1, .schedule = "constant", .threads = 1};
    t.plain = argc > 3 && strcmp(argv[3], "plain") == 0;
    if (argc > 4)
        t.seed = strtoull(argv[4], NULL, 10);
    if (argc > 5)
        t.schedule = argv[5];
    if (argc > 6)
        t.threads = strtoul(argv[6], NULL, 10);
    t.grey = argc > 7 && strcmp(argv[7], "grey") == 0;
    t.step = argc > 8 ? strtod(argv[8], NULL) : step_size;
    t.epochs = argc > 9 ? strtoul(argv[9], NULL, 10) : 20;
    if (t.epochs == 0)
        fail("EPOCHS is 1 or more");
    train(&t);
}
