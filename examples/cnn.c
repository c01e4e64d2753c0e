/* A convolutional network that classifies images, trained privately: the network of models/cnn.c,
 * as Papernot et al. 2021 (arXiv:2007.14191) have it for large images.  The test set is public; the
 * labels of the training set are private as its images are. */
#include <stdio.h>
#include <stdlib.h>

#include "examples/images.h"
#include "examples/options.h"

enum { CLASSES = 10 };

/* What suits images of one size. */
typedef struct plan {
    dp_cnn_layer layers[2];
    size_t side, hidden, batch, epochs;
    unsigned brightest;
    double step_size;
} plan;
static const plan small = {{{8, 3, 1, 1, 2, 2}, {16, 3, 1, 1, 2, 2}}, 8, 16, 400, 60, 16, 0.02};
static const plan large = {{{16, 8, 2, 2, 2, 1}, {32, 4, 2, 0, 2, 1}}, 28, 32, 512, 10, 255, 5e-3};

/* The share of test images whose likeliest class is their label. */
static double accuracy(dp_fit *fit, const images *s, const plan *p, dp_error *err)
{
    double *chance = calloc(s->n_test * CLASSES, sizeof *chance);
    const dp_expr asked = dp_fit_expr(fit, "class_probability");
    dp_dataset *test = dp_dataset_new(s->n_test);
    dp_dataset_bytes(test, "x", s->pixels, p->brightest, s->test);
    const dp_given given = {.data = test};
    if (chance == NULL || dp_fit_evaluate(fit, asked, &given, s->n_test * CLASSES, chance, err))
        options_stop("cnn", "test", err->text);
    const double share = images_right(s, CLASSES, chance);
    free(chance), dp_dataset_free(test);
    return share;
}

int main(int argc, char **argv)
{
    const char *path = "examples/data/digits-idx3-ubyte";
    dp_svi_opts o = {.epsilon = 3, .delta = 1e-5, .clip = 1, .threads = 1, .precision = DP_SINGLE};
    size_t epochs = 0, seed = 0;
    bool plain = false;
    const option options[] = {
        {"--data", OPTION_TEXT, &path, "images, as in examples/images.h, with labels"},
        {"--epsilon", OPTION_NUMBER, &o.epsilon, "privacy to spend, above 0 (3)"},
        {"--delta", OPTION_NUMBER, &o.delta, "below 1 / (number of images) (1e-5)"},
        {"--epochs", OPTION_COUNT, &epochs, "passes over the images (10; 60 of small ones)"},
        {"--threads", OPTION_COUNT, &o.threads, "threads to work on (1)"},
        {"--no-privacy", OPTION_FLAG, &plain, "no clipping and noise, for public data"},
        {"--seed", OPTION_COUNT, &seed, "a repeatable run, for tests: not private"}};
    options_read(argc, argv, "Trains a convolutional network under differential privacy.",
                 sizeof options / sizeof options[0], options);
    dp_error err = {0};
    images s;
    if (images_read(path, true, &s, &err))
        options_stop("cnn", path, err.text);
    const plan *p = s.pixels == 64 ? &small : &large;
    if (s.pixels != p->side * p->side || s.n_test == 0)
        options_stop("cnn", path, "not images of 8 x 8 or 28 x 28 pixels");
    const dp_cnn_opts network = {p->side, p->side, 1, p->layers, 2, p->hidden, CLASSES, 0, seed};
    const size_t batch = p->batch < s.n ? p->batch : s.n;
    o.sampling = DP_SAMPLING_POISSON, o.rate = (double)batch / (double)s.n;
    o.steps = (epochs > 0 ? epochs : p->epochs) * (s.n / batch);
    o.step_size = p->step_size, o.seed = seed;
    if (plain)
        o.mode = DP_NO_PRIVACY, o.epsilon = o.delta = o.clip = 0;
    dp_model *m;
    dp_svi *svi;
    dp_fit *fit;
    dp_dataset *data = dp_dataset_new(s.n);
    dp_dataset_bytes(data, "x", s.pixels, p->brightest, s.train);
    dp_dataset_index(data, "y", s.labels);
    if (dp_cnn(&network, &m, &err) || dp_svi_new(m, NULL, data, &o, &svi, &err) ||
        dp_svi_run(svi, stderr, &err) || dp_svi_finish(svi, &fit, &err))
        options_stop("cnn", "fit", err.text);
    options_say_privacy(fit);
    printf("test accuracy %.2f %% of %zu images\n", 100 * accuracy(fit, &s, p, &err), s.n_test);
    dp_fit_free(fit), dp_svi_free(svi), dp_model_free(m), dp_dataset_free(data), images_free(&s);
    return 0;
}
