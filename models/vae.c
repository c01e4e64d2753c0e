/* A variational autoencoder (Kingma and Welling 2014, arXiv:1312.6114).
 *
 *   model  z_i ~ N(0, I),  x_ij = 1 with log odds (softplus(z_i W1 + b1) W2 + b2)_j
 *   guide  h = softplus(x_i V1 + c1),  z_i ~ N(h V2 + c2, e^(h V3 + c3))
 *
 * The code z of a record is its own secret: what is released are the two networks alone.  Decoder
 * and encoder are learnt together by maximising the records' ELBOs. */
#include "models/build.h"

static dp_model *decoder(const dp_vae_opts *o)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_model_seed(m, o->seed);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr z = dp_sample_in(rows, "z", o->latent, dp_normal(0, 1));
    dp_expr h =
        dpi_dense_layer(z, "W1", "b1", dp_extent_of(o->latent, o->hidden), dp_init_glorot(1));
    dp_expr logits = dpi_dense_layer(dp_softplus(h), "W2", "b2", dp_extent_of(o->hidden, o->inputs),
                                     dp_init_glorot(1));
    (void)dp_deterministic(m, "logits", logits);
    (void)dp_deterministic(m, "reconstruction", dp_logistic(logits));
    dp_observe(rows, "x", dp_bernoulli_logit(logits));
    return m;
}

static dp_model *encoder(const dp_model *of, const dp_vae_opts *o)
{
    dp_model *q = dp_guide_new(of);
    if (q == NULL)
        return NULL;
    dp_model_seed(q, o->seed);
    const dp_extent code = dp_extent_of(o->hidden, o->latent);
    dp_plate rows = dp_unit_plate(q, "rows");
    dp_expr x = dp_data(rows, "x", o->inputs);
    dp_expr h = dp_softplus(
        dpi_dense_layer(x, "V1", "c1", dp_extent_of(o->inputs, o->hidden), dp_init_glorot(1)));
    dp_expr loc = dpi_dense_layer(h, "V2", "c2", code, dp_init_glorot(1));
    dp_expr scale = dp_exp(dpi_dense_layer(h, "V3", "c3", code, dp_init_glorot(1)));
    (void)dp_sample_in(rows, "z", o->latent, dp_normal_v(loc, scale));
    return q;
}

dp_status dp_vae(const dp_vae_opts *o, dp_model **m, dp_model **guide, dp_error *err)
{
    *m = *guide = NULL;
    if (o->inputs < 2 || o->hidden < 2 || o->latent < 2)
        return dpi_model_refuse(err, "an autoencoder has at least 2 inputs, hidden units and "
                                     "numbers of the code");
    dp_model *model = NULL;
    dp_status status = dpi_model_finish(decoder(o), &model, err);
    if (status == DP_OK)
        status = dpi_model_finish(encoder(model, o), guide, err);
    if (status != DP_OK)
        dp_model_free(model);
    else
        *m = model;
    return status;
}
