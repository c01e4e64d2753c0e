/* A variational autoencoder of images, trained privately.
 *
 *   vae [IMAGES [EPSILON [PICTURES]]]
 *
 * IMAGES is as in examples/images.h.  Writes PICTURES-reconstructions.png (test images over what
 * the code makes of them) and PICTURES-samples.png (what the decoder makes of random codes).  A
 * pixel is ink with a probability that is its brightness over the brightest, which is public. */
#include <stdio.h>
#include <stdlib.h>

#include "examples/images.h"
#include "examples/options.h"
#include "examples/picture.h"

enum { ACROSS = 10, MOST_PIXELS = 784 };

/* Few images are learnt by a small network, from all of them at a time. */
typedef struct plan {
    size_t side, batch, epochs, hidden, latent, most;
    double step_size;
} plan;
static const plan small = {8, SIZE_MAX, 400, 16, 2, 16, 0.02};
static const plan large = {28, 128, 20, 400, 50, 255, 1e-3};

static dp_status draw(dp_fit *fit, const images *s, const plan *p, const char *path, dp_rng *rng,
                      dp_error *err)
{
    static double ink[ACROSS * ACROSS * MOST_PIXELS];
    const size_t n = ACROSS * s->pixels;
    const dp_expr image = dp_fit_expr(fit, "x"), back = dp_fit_expr(fit, "reconstruction");
    dp_dataset *some = dp_dataset_new(ACROSS), *codes = dp_dataset_new((size_t)ACROSS * ACROSS);
    dp_dataset_bytes(some, "x", s->pixels, (unsigned)p->most, s->test);
    const dp_given coded = {.data = some, .latents = DP_LATENTS_GUIDE_MEAN};
    const dp_given drawn = {.data = codes, .latents = DP_LATENTS_PRIOR, .rng = rng};
    if (dp_fit_evaluate(fit, image, &coded, n, ink, err) ||
        dp_fit_evaluate(fit, back, &coded, n, ink + n, err) ||
        picture_write(path, "reconstructions", p->side, ACROSS, 2, ink, err) ||
        dp_fit_evaluate(fit, back, &drawn, ACROSS * n, ink, err) ||
        picture_write(path, "samples", p->side, ACROSS, ACROSS, ink, err))
        return err->status;
    dp_dataset_free(some), dp_dataset_free(codes);
    return DP_OK;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    images s;
    if (images_read(argc > 1 ? argv[1] : "examples/data/digits-idx3-ubyte", false, &s, &err))
        options_stop("vae", "images", err.text);
    const plan *p = s.pixels == small.side * small.side ? &small : &large;
    if (s.pixels != p->side * p->side || s.n_test < ACROSS)
        options_stop("vae", "images", "not 60 or more of 8 x 8 or 28 x 28 pixels");
    const size_t batch = p->batch < s.n ? p->batch : s.n;
    const dp_vae_opts network = {.inputs = s.pixels, .hidden = p->hidden, .latent = p->latent};
    dp_svi_opts o = {.clip = 5, .step_size = p->step_size, .precision = DP_SINGLE, .threads = 2};
    o.epsilon = argc > 2 ? strtod(argv[2], NULL) : 4, o.delta = 0.1 / (double)s.n;
    o.sampling = DP_SAMPLING_POISSON, o.rate = (double)batch / (double)s.n;
    o.steps = p->epochs * (s.n / batch);
    dp_model *m, *guide;
    dp_svi *svi;
    dp_fit *fit;
    dp_rng *rng;
    double elbo;
    dp_dataset *data = dp_dataset_new(s.n), *test = dp_dataset_new(s.n_test);
    dp_dataset_bernoulli(data, "x", s.pixels, (unsigned)p->most, s.train);
    dp_dataset_bernoulli(test, "x", s.pixels, (unsigned)p->most, s.test);
    if (dp_vae(&network, &m, &guide, &err) || dp_rng_new(2, &rng, &err) ||
        dp_svi_new(m, guide, data, &o, &svi, &err) || dp_svi_run(svi, stderr, &err) ||
        dp_svi_finish(svi, &fit, &err) || dp_fit_elbo(fit, test, rng, &elbo, &err) ||
        draw(fit, &s, p, argc > 3 ? argv[3] : "vae", rng, &err))
        options_stop("vae", "images", err.text);
    options_say_privacy(fit);
    printf("test loss %.2f nats an image\n", -elbo);
    dp_fit_free(fit), dp_svi_free(svi), dp_model_free(guide), dp_model_free(m), dp_rng_free(rng);
    dp_dataset_free(data), dp_dataset_free(test), images_free(&s);
    return 0;
}
