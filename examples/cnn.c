/* A convolutional network that classifies images, trained privately: a likelihood with plain
 * parameters.
 *
 *   logits = W4 tanh(W3 pool(tanh(W2 * pool(tanh(W1 * x)))))     * a convolution, each layer with a
 *   bias y ~ Categorical(softmax(logits))
 *
 * There is no prior and so no divergence: what is maximised is the likelihood, and with clipping
 * and noise on each step's gradient this is DP-SGD (Abadi et al. 2016, arXiv:1607.00133).  Bounded
 * activations suit clipped gradients (Papernot et al. 2021, arXiv:2007.14191), whose network for
 * large images this is.
 *
 * The test set is public; the labels of the training set are private as its images are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/images.h"

enum { CLASSES = 10, MOST_WEIGHTS = 1 << 14 };

/* What suits images of one size. */
typedef struct plan {
    dp_window conv[2], pool[2];
    size_t channels[2], hidden, stops; /* stops: pixels of the second pooling's image */
    unsigned brightest;
    size_t batch, epochs;
    double step_size;
} plan;

static const plan plans[] = {
    {.conv = {{{8, 8}, {3, 3}, {1, 1}, {1, 1}}, {{4, 4}, {3, 3}, {1, 1}, {1, 1}}},
     .pool = {{{8, 8}, {2, 2}, {2, 2}, {0, 0}}, {{4, 4}, {2, 2}, {2, 2}, {0, 0}}},
     .channels = {8, 16},
     .hidden = 16,
     .stops = 4,
     .brightest = 16,
     .batch = 400,
     .epochs = 60,
     .step_size = 0.02},
    {.conv = {{{28, 28}, {8, 8}, {2, 2}, {2, 2}}, {{12, 12}, {4, 4}, {2, 2}, {0, 0}}},
     .pool = {{{13, 13}, {2, 2}, {1, 1}, {0, 0}}, {{5, 5}, {2, 2}, {1, 1}, {0, 0}}},
     .channels = {16, 32},
     .hidden = 32,
     .stops = 16,
     .brightest = 255,
     .batch = 512,
     .epochs = 10,
     .step_size = 5e-3},
};

typedef struct settings {
    const char *path;
    double epsilon, delta;
    size_t epochs, threads; /* epochs 0: the plan's */
    uint64_t seed;
    bool no_privacy;
} settings;

static void stop(const char *what, const char *why)
{
    (void)fprintf(stderr, "cnn: %s: %s\n", what, why);
    exit(1);
}

static const plan *plan_of(const images *s)
{
    for (size_t k = 0; k < sizeof plans / sizeof plans[0]; k++)
        if (plans[k].conv[0].image[0] * plans[k].conv[0].image[1] == s->pixels && s->n_test > 0)
            return &plans[k];
    stop("images", "not of 8 x 8 or 28 x 28 pixels");
    return NULL;
}

/* ---- model ---- */

/* The numbers that each unit of a layer reads. */
static void inputs(const plan *p, size_t n[4])
{
    n[0] = p->conv[0].size[0] * p->conv[0].size[1];
    n[1] = p->conv[1].size[0] * p->conv[1].size[1] * p->channels[0];
    n[2] = p->stops * p->channels[1];
    n[3] = p->hidden;
}

static dp_model *write_model(const plan *p)
{
    size_t n[4];
    inputs(p, n);
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "images");
    dp_expr h = dp_data(rows, "x", p->conv[0].image[0] * p->conv[0].image[1]);
    dp_plate in[] = {dp_plate_new(m, "places", n[0]), dp_plate_new(m, "more_places", n[1]),
                     dp_plate_new(m, "features", n[2]), dp_plate_new(m, "hidden", n[3])};
    h = dp_conv2d(h, dp_param_in(in[0], "W1", p->channels[0], 0), &p->conv[0]);
    h = dp_tanh(dp_add(h, dp_param(m, "b1", p->channels[0], 0)));
    h = dp_max_pool2d(h, &p->pool[0]);
    h = dp_conv2d(h, dp_param_in(in[1], "W2", p->channels[1], 0), &p->conv[1]);
    h = dp_tanh(dp_add(h, dp_param(m, "b2", p->channels[1], 0)));
    h = dp_flatten(dp_max_pool2d(h, &p->pool[1]));
    h = dp_dense(h, dp_param_in(in[2], "W3", p->hidden, 0), dp_param(m, "b3", p->hidden, 0));
    h = dp_dense(dp_tanh(h), dp_param_in(in[3], "W4", CLASSES, 0), dp_param(m, "b4", CLASSES, 0));
    dp_observe(rows, "y", dp_categorical_logit(h));
    return m;
}

/* Weights start at normal numbers of variance 1 / inputs, lest all units of a layer stay the
 * same. */
static dp_status start(dp_svi *svi, const plan *p, uint64_t seed, dp_error *err)
{
    static const char *const names[] = {"W1", "W2", "W3", "W4"};
    const size_t outputs[] = {p->channels[0], p->channels[1], p->hidden, CLASSES};
    static double w[MOST_WEIGHTS];
    size_t n[4];
    inputs(p, n);
    dp_rng *rng = NULL;
    dp_status status = dp_rng_new(seed, &rng, err);
    for (size_t k = 0; k < 4 && status == DP_OK; k++) {
        size_t size = n[k] * outputs[k];
        dp_rng_normal(rng, size, w);
        for (size_t i = 0; i < size; i++)
            w[i] /= sqrt((double)n[k]);
        status = dp_svi_set(svi, names[k], size, w, err);
    }
    dp_rng_free(rng);
    return status;
}

/* ---- what came of it ---- */

/* The share of test images whose likeliest class is their label. */
static dp_status accuracy(const dp_svi *svi, const images *s, const plan *p, double *share,
                          dp_error *err)
{
    dp_dataset *test = dp_dataset_new(s->n_test);
    dp_fit *fitted = NULL;
    size_t n = s->n_test * CLASSES, right = 0;
    double *chance = calloc(n, sizeof *chance);
    dp_dataset_bytes(test, "x", s->pixels, p->brightest, s->test);
    const dp_given given = {.data = test};
    dp_status status = chance != NULL ? dp_svi_finish(svi, &fitted, err) : DP_ENOMEM;
    if (status == DP_OK)
        status = dp_fit_predict(fitted, "y", &given, n, chance, err);
    for (size_t i = 0; i < s->n_test && status == DP_OK; i++) {
        size_t best = 0;
        for (size_t k = 1; k < CLASSES; k++)
            best = chance[i * CLASSES + k] > chance[i * CLASSES + best] ? k : best;
        right += best == (size_t)s->test_labels[i];
    }
    *share = (double)right / (double)s->n_test;
    free(chance);
    dp_fit_free(fitted);
    dp_dataset_free(test);
    return status;
}

static dp_status show(const dp_svi *svi, const images *s, const plan *p, dp_error *err)
{
    dp_privacy privacy;
    double share = NAN;
    dp_status status = dp_svi_privacy(svi, &privacy, err);
    if (status != DP_OK || (status = accuracy(svi, s, p, &share, err)) != DP_OK)
        return status;
    if (!privacy.is_private)
        (void)printf("NOT PRIVATE: %s\n", privacy.why_not);
    if (isfinite(privacy.epsilon))
        (void)printf("epsilon %.3g at delta %.2g (%s)\n", privacy.epsilon, privacy.delta,
                     privacy.adjacency);
    (void)printf("test accuracy %.2f %% of %zu images\n", 100 * share, s->n_test);
    return DP_OK;
}

static dp_svi_opts options(const settings *ask, const images *s, const plan *p)
{
    size_t batch = p->batch < s->n ? p->batch : s->n;
    size_t epochs = ask->epochs > 0 ? ask->epochs : p->epochs;
    dp_svi_opts o = {.mode = ask->no_privacy ? DP_NO_PRIVACY : DP_PRIVATE,
                     .sampling = DP_SAMPLING_POISSON,
                     .rate = (double)batch / (double)s->n,
                     .steps = epochs * (s->n / batch),
                     .step_size = p->step_size,
                     .precision = DP_SINGLE,
                     .threads = ask->threads,
                     .seed = ask->seed};
    if (!ask->no_privacy) {
        o.epsilon = ask->epsilon;
        o.delta = ask->delta;
        o.clip = 1;
    }
    return o;
}

static dp_status fit(const settings *ask, const images *s, dp_error *err)
{
    const plan *p = plan_of(s);
    dp_svi_opts o = options(ask, s, p);
    dp_svi *svi = NULL;
    dp_model *m = write_model(p);
    dp_dataset *data = dp_dataset_new(s->n);
    dp_dataset_bytes(data, "x", s->pixels, p->brightest, s->train);
    dp_dataset_index(data, "y", s->labels);
    dp_status status = dp_svi_new(m, NULL, data, &o, &svi, err);
    if (status == DP_OK)
        status = start(svi, p, ask->seed != 0 ? ask->seed : 1, err);
    if (status == DP_OK)
        status = dp_svi_run(svi, stderr, err);
    if (status == DP_OK)
        status = show(svi, s, p, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return status;
}

/* ---- the command line ---- */

static const char usage[] =
    "usage: cnn [options]\n"
    "Trains a small convolutional network to classify images under differential privacy.\n"
    "  --data PATH    a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, "
    "t10k-images-... and\n"
    "                 t10k-labels-..., as they are or with .gz; or a file of images whose last "
    "sixth is the\n"
    "                 test set, with labels beside it (default examples/data/digits-idx3-ubyte)\n"
    "  --epsilon E    privacy to spend, above 0 (default 3)\n"
    "  --delta D      between 0 and 1, below 1 / (number of images) (default 1e-5)\n"
    "  --epochs N     passes over the images (default 10, small images 60)\n"
    "  --threads N    threads to work on (default 1)\n"
    "  --no-privacy   train without clipping and noise, for public data\n"
    "  --seed N       a repeatable run, for tests: not private; N from 1 up\n"
    "  --help         print this\n";

static double number(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0)
        stop(option, "needs a number; --help lists the options");
    return value;
}

static size_t count(const char *option, const char *text)
{
    double value = number(option, text);
    if (value < 1 || value > 1e9 || value != floor(value))
        stop(option, "needs a whole number from 1 up; --help lists the options");
    return (size_t)value;
}

static settings parse(int argc, char **argv)
{
    settings s = {.path = "examples/data/digits-idx3-ubyte", .epsilon = 3, .delta = 1e-5};
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            (void)fputs(usage, stdout);
            exit(0);
        }
        if (strcmp(option, "--no-privacy") == 0) {
            s.no_privacy = true;
            continue;
        }
        if (value == NULL)
            stop(option, "not an option, or its value is missing; --help lists the options");
        else if (strcmp(option, "--data") == 0)
            s.path = value;
        else if (strcmp(option, "--epsilon") == 0)
            s.epsilon = number(option, value);
        else if (strcmp(option, "--delta") == 0)
            s.delta = number(option, value);
        else if (strcmp(option, "--epochs") == 0)
            s.epochs = count(option, value);
        else if (strcmp(option, "--threads") == 0)
            s.threads = count(option, value);
        else if (strcmp(option, "--seed") == 0)
            s.seed = count(option, value);
        else
            stop(option, "not an option; --help lists the options");
        i++;
    }
    return s;
}

int main(int argc, char **argv)
{
    settings ask = parse(argc, argv);
    dp_error err = {0};
    images s;
    dp_status status = images_read(ask.path, true, &s, &err);
    if (status == DP_OK)
        status = fit(&ask, &s, &err);
    if (status != DP_OK)
        (void)fprintf(stderr, "cnn: %s\n", err.text);
    images_free(&s);
    return status != DP_OK;
}
