/* The network: h = softplus(x V1 + c1), z ~ Normal(h V2 + c2, e^(h V3 + c3)) in the encoder,
 * logits = softplus(z W1 + b1) W2 + b2 in the decoder. */
#include "vae.h"

#include <stdio.h>
#include <stdlib.h>

/* x[from] W + b as a vector of `to` numbers; from is the size of a plate. */
static dp_expr dense(dp_expr x, dp_plate from, const char *weights, const char *biases, size_t to)
{
    dp_expr w = dp_param_in(from, weights, to, 0), b = dp_param(from.model, biases, to, 0);
    return dp_add(dp_matmul(x, w), b);
}

dp_model *vae_decoder(dp_dist (*pixel)(dp_expr logit))
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows");
    (void)dp_plate_new(m, "pixels", VAE_PIXELS);
    dp_plate hidden = dp_plate_new(m, "hidden", VAE_HIDDEN);
    dp_plate latent = dp_plate_new(m, "latent", VAE_LATENT);
    dp_expr z = dp_sample_in(rows, "z", VAE_LATENT, dp_normal(0, 1));
    dp_expr h = dp_softplus(dense(z, latent, "W1", "b1", VAE_HIDDEN));
    dp_observe(rows, "x", pixel(dense(h, hidden, "W2", "b2", VAE_PIXELS)));
    return m;
}

dp_model *vae_encoder(const dp_model *decoder)
{
    dp_model *q = dp_guide_new(decoder);
    if (q == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(q, "rows");
    dp_plate pixels = dp_plate_new(q, "pixels", VAE_PIXELS);
    dp_plate hidden = dp_plate_new(q, "hidden", VAE_HIDDEN);
    dp_expr x = dp_data(rows, "x", VAE_PIXELS);
    dp_expr h = dp_softplus(dense(x, pixels, "V1", "c1", VAE_HIDDEN));
    dp_expr loc = dense(h, hidden, "V2", "c2", VAE_LATENT);
    dp_expr scale = dp_exp(dense(h, hidden, "V3", "c3", VAE_LATENT));
    (void)dp_sample_in(rows, "z", VAE_LATENT, dp_normal_v(loc, scale));
    return q;
}

dp_status vae_start(dp_svi *svi, uint64_t seed, dp_error *err)
{
    static const struct {
        const char *name;
        size_t n;
    } blocks[] = {{"V1", (size_t)VAE_PIXELS * VAE_HIDDEN}, {"c1", VAE_HIDDEN},
                  {"V2", (size_t)VAE_HIDDEN * VAE_LATENT}, {"c2", VAE_LATENT},
                  {"V3", (size_t)VAE_HIDDEN * VAE_LATENT}, {"c3", VAE_LATENT},
                  {"W1", (size_t)VAE_LATENT * VAE_HIDDEN}, {"b1", VAE_HIDDEN},
                  {"W2", (size_t)VAE_HIDDEN * VAE_PIXELS}, {"b2", VAE_PIXELS}};
    double *values = malloc((size_t)VAE_PIXELS * VAE_HIDDEN * sizeof *values);
    dp_rng *rng = NULL;
    dp_status status = values == NULL ? DP_ENOMEM : dp_rng_new(seed, &rng, err);
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0] && status == DP_OK; k++) {
        dp_rng_normal(rng, blocks[k].n, values);
        for (size_t i = 0; i < blocks[k].n; i++)
            values[i] *= 0.01;
        status = dp_svi_set(svi, blocks[k].name, blocks[k].n, values, err);
    }
    dp_rng_free(rng);
    free(values);
    return status;
}

static void stop(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    exit(1);
}

dp_svi *vae_fixed_run(dp_mode mode, size_t batch, size_t threads, bool single,
                      const dp_dataset *data)
{
    dp_error err;
    dp_svi *svi;
    dp_svi_opts opts = {.mode = mode,
                        .sampling = DP_SAMPLING_FIXED,
                        .batch = batch,
                        .steps = 9375,
                        .schedule = DP_CONSTANT,
                        .step_size = 1e-3,
                        .threads = threads,
                        .precision = single ? DP_SINGLE : DP_DOUBLE};
    if (mode == DP_PRIVATE) {
        opts.sigma = VAE_SIGMA;
        opts.clip = VAE_CLIP;
        opts.delta = 1e-5;
    }
    dp_model *decoder = vae_decoder(dp_bernoulli_logit),
             *encoder = decoder != NULL ? vae_encoder(decoder) : NULL;
    if (encoder == NULL)
        stop("out of memory");
    if (dp_svi_new(decoder, encoder, data, &opts, &svi, &err) != DP_OK ||
        vae_start(svi, 1, &err) != DP_OK)
        stop(err.text);
    dp_model_free(encoder);
    dp_model_free(decoder);
    return svi;
}

void vae_made_up(size_t n, double *x)
{
    uint32_t random = 1;
    for (size_t i = 0; i < n * VAE_PIXELS; i++) {
        random = random * 1664525 + 1013904223;
        x[i] = random >> 24 < 34; /* 13 % of the pixels, as in handwritten digits */
    }
}
