/* A variational autoencoder of images, trained privately.
 *
 *   vae [IMAGES [EPSILON [PICTURES]]]
 *
 * IMAGES is a file in IDX, compressed or not, whose last sixth is taken as a public test set, or a
 * folder with MNIST's or Fashion-MNIST's train-images-idx3-ubyte and t10k-images-idx3-ubyte, with
 * .gz or without.  Prints what was spent and the test loss, and writes PICTURES-reconstructions.png
 * (test images over what the code makes of them) and PICTURES-samples.png (what the decoder makes
 * of random codes).
 *
 * Encoder h = softplus(x V1 + c1), z ~ Normal(h V2 + c2, e^(h V3 + c3)); decoder logits of pixels =
 * softplus(z W1 + b1) W2 + b2.  A pixel is ink with a probability that is its brightness over the
 * brightest, which is public: 16 in the small set and 255 in MNIST; it is drawn afresh in every
 * step. */
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/images.h"

enum { ACROSS = 10, ZOOM = 4, MOST_PIXELS = 784, MOST_HIDDEN = 400 };

/* What suits images of one size: few are learnt by a small network from all of them at a time. */
typedef struct plan {
    size_t side, hidden, latent, batch, epochs;
    unsigned most;
    double start, step_size;
} plan;

static const plan plans[] = {{8, 16, 2, SIZE_MAX, 400, 16, 0.3, 0.02},
                             {28, MOST_HIDDEN, 50, 128, 20, 255, 0.05, 1e-3}};

/* Images and how they are learnt. */
typedef struct set {
    const plan *plan;
    images images;
    const unsigned char *test;
    size_t n, n_test, pixels, hidden, latent;
} set;

/* ---- model ---- */

static dp_expr dense(dp_expr x, dp_plate from, const char *weights, const char *biases, size_t to)
{
    dp_expr w = dp_param_in(from, weights, to, 0), b = dp_param(from.model, biases, to, 0);
    return dp_add(dp_matmul(x, w), b);
}

static dp_model *write_model(const set *s)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), hidden = dp_plate_new(m, "hidden", s->hidden);
    dp_plate latent = dp_plate_new(m, "latent", s->latent);
    (void)dp_plate_new(m, "pixels", s->pixels);
    dp_expr z = dp_sample_in(rows, "z", s->latent, dp_normal(0, 1));
    dp_expr h = dp_softplus(dense(z, latent, "W1", "b1", s->hidden));
    dp_observe(rows, "x", dp_bernoulli_logit(dense(h, hidden, "W2", "b2", s->pixels)));
    return m;
}

static dp_model *write_guide(const dp_model *m, const set *s)
{
    dp_model *q = dp_guide_new(m);
    dp_plate rows = dp_unit_plate(q, "rows"), pixels = dp_plate_new(q, "pixels", s->pixels);
    dp_plate hidden = dp_plate_new(q, "hidden", s->hidden);
    dp_expr x = dp_data(rows, "x", s->pixels);
    dp_expr h = dp_softplus(dense(x, pixels, "V1", "c1", s->hidden));
    dp_expr loc = dense(h, hidden, "V2", "c2", s->latent);
    dp_expr scale = dp_exp(dense(h, hidden, "V3", "c3", s->latent));
    (void)dp_sample_in(rows, "z", s->latent, dp_normal_v(loc, scale));
    return q;
}

/* Weights start at small random numbers, lest all hidden units stay the same. */
static dp_status start(dp_svi *svi, const set *s, dp_error *err)
{
    static const char *const names[] = {"V1", "V2", "V3", "W1", "W2"};
    const size_t small = s->hidden * s->latent, large = s->pixels * s->hidden;
    const size_t size[] = {large, small, small, small, large};
    static double w[MOST_PIXELS * MOST_HIDDEN];
    dp_rng *rng = NULL;
    dp_status status = dp_rng_new(1, &rng, err);
    for (size_t k = 0; k < 5 && status == DP_OK; k++) {
        dp_rng_normal(rng, size[k], w);
        for (size_t i = 0; i < size[k]; i++)
            w[i] *= s->plan->start;
        status = dp_svi_set(svi, names[k], size[k], w, err);
    }
    dp_rng_free(rng);
    return status;
}

/* ---- images ---- */

static dp_status read_images(const char *path, set *s, dp_error *err)
{
    dp_status status = images_read(path, false, &s->images, err);
    if (status != DP_OK)
        return status;
    s->n = s->images.n;
    s->n_test = s->images.n_test;
    s->pixels = s->images.pixels;
    s->test = s->images.test;
    for (size_t k = 0; k < sizeof plans / sizeof plans[0]; k++)
        if (plans[k].side * plans[k].side == s->pixels)
            s->plan = &plans[k];
    bool fits = s->plan != NULL && s->n_test >= ACROSS;
    s->hidden = fits ? s->plan->hidden : 0;
    s->latent = fits ? s->plan->latent : 0;
    if (!fits)
        (void)snprintf(err->text, sizeof err->text,
                       "%s are not 60 or more images of 8 x 8 or 28 x 28 pixels", path);
    return fits ? DP_OK : DP_ESHAPE;
}

/* Writes ink[down][ACROSS][pixels], each in [0, 1], side by side and enlarged. */
static bool write_picture(const char *prefix, const char *what, const set *s, size_t down,
                          const double *ink)
{
    char path[1024];
    size_t side = s->plan->side, width = ACROSS * side * ZOOM;
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY};
    unsigned char *grey = calloc(down * side * ZOOM, width);
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)(down * side * ZOOM);
    for (size_t y = 0; grey != NULL && y < image.height; y++)
        for (size_t x = 0; x < width; x++) {
            size_t row = y / ZOOM, column = x / ZOOM;
            size_t which = row / side * ACROSS + column / side;
            double v = ink[which * s->pixels + row % side * side + column % side];
            grey[y * width + x] = (unsigned char)lrint(255 * (1 - v));
        }
    (void)snprintf(path, sizeof path, "%s-%s.png", prefix, what);
    bool written = grey != NULL && png_image_write_to_file(&image, path, 0, grey, 0, NULL) != 0;
    free(grey);
    return written;
}

/* ---- the fitted network ---- */

/* out = x W + b. */
static dp_status layer(const dp_svi *svi, const char *weights, const char *biases, size_t from,
                       size_t to, const double *x, double *out, dp_error *err)
{
    static double w[MOST_PIXELS * MOST_HIDDEN];
    dp_status status = dp_svi_get(svi, weights, from * to, w, err);
    if (status == DP_OK)
        status = dp_svi_get(svi, biases, to, out, err);
    for (size_t k = 0; k < from && status == DP_OK; k++)
        for (size_t j = 0; j < to; j++)
            out[j] += x[k] * w[k * to + j];
    return status;
}

static void softplus(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = fmax(x[i], 0) + log1p(exp(-fabs(x[i])));
}

/* The middle of the code of an image of brightness x[pixels]. */
static dp_status encode(const dp_svi *svi, const set *s, const double *x, double *z, dp_error *err)
{
    double h[MOST_HIDDEN];
    dp_status status = layer(svi, "V1", "c1", s->pixels, s->hidden, x, h, err);
    softplus(s->hidden, h);
    return status == DP_OK ? layer(svi, "V2", "c2", s->hidden, s->latent, h, z, err) : status;
}

/* Probabilities of ink. */
static dp_status decode(const dp_svi *svi, const set *s, const double *z, double *ink,
                        dp_error *err)
{
    double h[MOST_HIDDEN];
    dp_status status = layer(svi, "W1", "b1", s->latent, s->hidden, z, h, err);
    softplus(s->hidden, h);
    if (status == DP_OK)
        status = layer(svi, "W2", "b2", s->hidden, s->pixels, h, ink, err);
    for (size_t i = 0; i < s->pixels; i++)
        ink[i] = 1 / (1 + exp(-ink[i]));
    return status;
}

static dp_status draw(const dp_svi *svi, const set *s, const char *prefix, dp_rng *rng,
                      dp_error *err)
{
    static double ink[ACROSS * ACROSS * MOST_PIXELS];
    double z[MOST_HIDDEN];
    dp_status status = DP_OK;
    for (size_t k = 0; k < ACROSS && status == DP_OK; k++) {
        double *x = ink + k * s->pixels;
        for (size_t i = 0; i < s->pixels; i++)
            x[i] = fmin(1, s->test[k * s->pixels + i] / (double)s->plan->most);
        status = encode(svi, s, x, z, err);
        if (status == DP_OK)
            status = decode(svi, s, z, ink + (ACROSS + k) * s->pixels, err);
    }
    bool written = status == DP_OK && write_picture(prefix, "reconstructions", s, 2, ink);
    for (size_t k = 0; k < ACROSS * ACROSS && status == DP_OK; k++) {
        dp_rng_normal(rng, s->latent, z);
        status = decode(svi, s, z, ink + k * s->pixels, err);
    }
    written = written && status == DP_OK && write_picture(prefix, "samples", s, ACROSS, ink);
    if (status == DP_OK && !written)
        (void)snprintf(err->text, sizeof err->text, "cannot write pictures as %s-...", prefix);
    return status == DP_OK && !written ? DP_EIO : status;
}

static dp_status show(dp_svi *svi, const set *s, const char *prefix, dp_error *err)
{
    double elbo;
    dp_privacy privacy;
    dp_fit *fitted = NULL;
    dp_rng *rng = NULL;
    dp_dataset *test = dp_dataset_new(s->n_test);
    dp_dataset_bernoulli(test, "x", s->pixels, s->plan->most, s->test);
    dp_status status = dp_rng_new(2, &rng, err);
    if (status == DP_OK && (status = dp_svi_privacy(svi, &privacy, err)) == DP_OK)
        (void)printf("epsilon %.3g at delta %.2g (%s)\n", privacy.epsilon, privacy.delta,
                     privacy.adjacency);
    if (status == DP_OK && (status = dp_svi_finish(svi, &fitted, err)) == DP_OK &&
        (status = dp_fit_elbo(fitted, test, rng, &elbo, err)) == DP_OK)
        (void)printf("test loss %.2f nats an image\n", -elbo);
    if (status == DP_OK)
        status = draw(svi, s, prefix, rng, err);
    dp_fit_free(fitted);
    dp_dataset_free(test);
    dp_rng_free(rng);
    return status;
}

static dp_status fit(const set *s, double epsilon, const char *prefix, dp_error *err)
{
    dp_svi *svi = NULL;
    size_t batch = s->plan->batch < s->n ? s->plan->batch : s->n;
    dp_svi_opts opts = {.epsilon = epsilon,
                        .delta = 0.1 / (double)s->n,
                        .clip = 5,
                        .sampling = DP_SAMPLING_POISSON,
                        .rate = (double)batch / (double)s->n,
                        .steps = s->plan->epochs * (s->n / batch),
                        .step_size = s->plan->step_size,
                        .precision = DP_SINGLE,
                        .threads = 2};
    dp_dataset *data = dp_dataset_new(s->n);
    dp_model *m = write_model(s), *q = write_guide(m, s);
    dp_dataset_bernoulli(data, "x", s->pixels, s->plan->most, s->images.train);
    dp_status status = dp_svi_new(m, q, data, &opts, &svi, err);
    if (status == DP_OK)
        status = start(svi, s, err);
    if (status == DP_OK)
        status = dp_svi_run(svi, stderr, err);
    if (status == DP_OK)
        status = show(svi, s, prefix, err);
    dp_svi_free(svi);
    dp_model_free(q);
    dp_model_free(m);
    dp_dataset_free(data);
    return status;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    set s = {0};
    dp_status status =
        read_images(argc > 1 ? argv[1] : "examples/data/digits-idx3-ubyte", &s, &err);
    if (status == DP_OK)
        status = fit(&s, argc > 2 ? strtod(argv[2], NULL) : 4, argc > 3 ? argv[3] : "vae", &err);
    if (status != DP_OK)
        (void)fprintf(stderr, "vae: %s\n", err.text);
    images_free(&s.images);
    return status != DP_OK;
}
