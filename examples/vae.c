/* A variational autoencoder of images, trained privately: 20 epochs with DP-SGD's noise.
 *
 *   vae IMAGES [epsilon]      IMAGES in IDX, such as examples/data/digits-idx3-ubyte or MNIST's, unpacked
 *
 * Encoder h = softplus(x V1 + c1), z ~ Normal(h V2 + c2, e^(h V3 + c3)); decoder logits of pixels =
 * softplus(z W1 + b1) W2 + b2.  A pixel counts as ink above half of the brightest value, which is public:
 * 16 in the small set and 255 in MNIST. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tacit/tacit.h>

enum { HIDDEN = 64, LATENT = 8, BATCH = 128, EPOCHS = 20 };

static const char *const names[] = {"V1", "V2", "V3", "W1", "W2"};

static dp_expr dense(dp_expr x, dp_plate from, const char *weights, const char *biases, size_t to)
{
    dp_expr w = dp_param_in(from, weights, to, 0), b = dp_param(from.model, biases, to, 0);
    return dp_add(dp_matmul(x, w), b);
}

static dp_model *write_model(size_t d)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), hidden = dp_plate_new(m, "hidden", HIDDEN);
    dp_plate latent = dp_plate_new(m, "latent", LATENT);
    (void)dp_plate_new(m, "pixels", d);
    dp_expr z = dp_sample_in(rows, "z", LATENT, dp_normal(0, 1));
    dp_expr h = dp_softplus(dense(z, latent, "W1", "b1", HIDDEN));
    dp_observe(rows, "x", dp_bernoulli_logit(dense(h, hidden, "W2", "b2", d)));
    return m;
}

static dp_model *write_guide(const dp_model *m, size_t d)
{
    dp_model *q = dp_guide_new(m);
    dp_plate rows = dp_unit_plate(q, "rows"), pixels = dp_plate_new(q, "pixels", d);
    dp_plate hidden = dp_plate_new(q, "hidden", HIDDEN);
    dp_expr h = dp_softplus(dense(dp_data(rows, "x", d), pixels, "V1", "c1", HIDDEN));
    dp_expr loc = dense(h, hidden, "V2", "c2", LATENT);
    dp_expr scale = dp_exp(dense(h, hidden, "V3", "c3", LATENT));
    (void)dp_sample_in(rows, "z", LATENT, dp_normal_v(loc, scale));
    return q;
}

/* Weights start at small random numbers, lest all hidden units stay the same. */
static dp_status start(dp_svi *svi, size_t d, dp_error *err)
{
    const size_t size[] = {d * HIDDEN, HIDDEN * LATENT, HIDDEN * LATENT, LATENT * HIDDEN,
                           HIDDEN * d};
    double *w = malloc(d * HIDDEN * sizeof *w);
    dp_rng *rng = NULL;
    dp_status status = w == NULL ? DP_ENOMEM : dp_rng_new(1, &rng, err);
    for (size_t k = 0; k < 5 && status == DP_OK; k++) {
        dp_rng_normal(rng, size[k], w);
        for (size_t i = 0; i < size[k]; i++)
            w[i] *= 0.1;
        status = dp_svi_set(svi, names[k], size[k], w, err);
    }
    dp_rng_free(rng);
    free(w);
    return status;
}

/* What was spent, and three images that the decoder makes of standard normal numbers. */
static dp_status show(dp_svi *svi, size_t d, dp_error *err)
{
    static double w1[LATENT * HIDDEN], b1[HIDDEN];
    double *w2 = malloc(HIDDEN * d * sizeof *w2), *b2 = malloc(d * sizeof *b2);
    size_t side = d == 64 ? 8 : 28;
    dp_privacy privacy;
    dp_rng *rng = NULL;
    dp_status status = w2 != NULL && b2 != NULL ? dp_rng_new(2, &rng, err) : DP_ENOMEM;
    if (status == DP_OK && (status = dp_svi_privacy(svi, &privacy, err)) == DP_OK)
        (void)printf("epsilon %.3g at delta %.2g (%s)\n", privacy.epsilon, privacy.delta,
                     privacy.adjacency);
    if (status != DP_OK || (status = dp_svi_get(svi, "W1", LATENT * HIDDEN, w1, err)) ||
        (status = dp_svi_get(svi, "b1", HIDDEN, b1, err)) ||
        (status = dp_svi_get(svi, "W2", HIDDEN * d, w2, err)) ||
        (status = dp_svi_get(svi, "b2", d, b2, err)))
        goto out;
    for (int image = 0; image < 3; image++) {
        double z[LATENT], h[HIDDEN];
        dp_rng_normal(rng, LATENT, z);
        for (size_t j = 0; j < HIDDEN; j++) {
            h[j] = b1[j];
            for (size_t k = 0; k < LATENT; k++)
                h[j] += z[k] * w1[k * HIDDEN + j];
            h[j] = log1p(exp(h[j]));
        }
        for (size_t i = 0; i < d; i++) {
            double logit = b2[i];
            for (size_t j = 0; j < HIDDEN; j++)
                logit += h[j] * w2[j * d + i];
            (void)printf("%s%s", logit > 0 ? "##" : " .", (i + 1) % side == 0 ? "\n" : "");
        }
        (void)printf("\n");
    }
out:
    dp_rng_free(rng);
    free(b2);
    free(w2);
    return status;
}

/* 0 or 1 for every pixel. */
static double *ink(const dp_idx *idx)
{
    size_t n = dp_idx_items(idx) * dp_idx_size(idx), most = dp_idx_size(idx) == 64 ? 16 : 255;
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; x != NULL && i < n; i++)
        x[i] = dp_idx_values(idx)[i] > most / 2;
    return x;
}

int main(int argc, char **argv)
{
    dp_error err = {.text = "usage: vae IMAGES [epsilon]"};
    dp_idx *idx = NULL;
    dp_svi *svi = NULL;
    if (argc < 2 || dp_idx_read(argv[1], 0, &idx, &err) != DP_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    size_t n = dp_idx_items(idx), d = dp_idx_size(idx);
    dp_svi_opts opts = {.epsilon = argc > 2 ? strtod(argv[2], NULL) : 2,
                        .delta = 0.1 / (double)n,
                        .clip = 5,
                        .sampling = DP_SAMPLING_POISSON,
                        .rate = BATCH / (double)(n > BATCH ? n : BATCH),
                        .steps = EPOCHS * (n / BATCH + 1),
                        .step_size = 5e-3,
                        .precision = DP_SINGLE,
                        .threads = 2};
    double *x = ink(idx);
    dp_dataset *data = dp_dataset_new(n);
    dp_model *m = write_model(d), *q = write_guide(m, d);
    dp_dataset_real(data, "x", d, x);
    dp_status status = dp_svi_new(m, q, data, &opts, &svi, &err);
    if (status == DP_OK)
        status = start(svi, d, &err);
    if (status == DP_OK)
        status = dp_svi_run(svi, stderr, &err);
    if (status == DP_OK)
        status = show(svi, d, &err);
    if (status != DP_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    dp_svi_free(svi);
    dp_model_free(q);
    dp_model_free(m);
    dp_dataset_free(data);
    dp_idx_free(idx);
    free(x);
    return status != DP_OK;
}
