/* Small fits of models as users write them, and of random ones. */
#include "tests/fit/fits.h"

#include <math.h>

#include "fit/fit.h"
#include "model/store.h"
#include "tests/lib/check.h"
#include "tests/model/random-model.h"

enum { GREY = RECORD_GREY, HIDDEN = 5, LATENT = 2, FILTERS = 3 };

static dp_model *contraception(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"),
             districts = dp_plate_new(m, "districts", RECORD_GROUPS);
    dp_expr x = dp_data(rows, "x", 3), g = dp_index(rows, "group", districts);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr w = dp_sample(m, "w", 3, dp_normal(0, 2.5));
    dp_expr a = dp_sample_in(districts, "a", 1, dp_normal_v(mu, tau));
    dp_expr logit = dp_add(dp_pick(a, g), dp_dot(x, w));
    (void)dp_deterministic(m, "use", dp_logistic(logit));
    dp_observe(rows, "binary", dp_bernoulli_logit(logit));
    return m;
}

static dp_model *mixture(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), parts = dp_plate_new(m, "parts", 3);
    dp_expr share = dp_sample(m, "share", 3, dp_dirichlet(1));
    dp_expr at = dp_sample_in(parts, "at", 3, dp_normal(0, 2));
    dp_expr width = dp_sample_in(parts, "width", 3, dp_log_normal(-0.5, 0.5));
    dp_observe(rows, "vector", dp_mixture(share, dp_normal_v(at, width)));
    return m;
}

static dp_expr dense(dp_model *m, const char *weights, const char *bias, dp_expr x, size_t from,
                     size_t to, double start)
{
    dp_expr w = dp_reshape(dp_param(m, weights, from * to, start), from, to);
    return dp_dense(x, w, dp_param(m, bias, to, 0.05));
}

static dp_model *decoder(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr z = dp_sample_in(rows, "z", LATENT, dp_normal(0, 1));
    dp_expr hidden = dp_softplus(dense(m, "w1", "b1", z, LATENT, HIDDEN, 0.3));
    dp_expr logits = dense(m, "w2", "b2", hidden, HIDDEN, GREY, -0.2);
    (void)dp_deterministic(m, "image of z", dp_logistic(logits));
    dp_observe(rows, "grey", dp_chance_logit(logits));
    return m;
}

static dp_model *encoder(const dp_model *model)
{
    dp_model *g = dp_guide_new(model);
    dp_plate rows = dp_unit_plate(g, "rows");
    dp_expr x = dp_data(rows, "grey", GREY);
    dp_expr hidden = dp_softplus(dense(g, "v1", "c1", x, GREY, HIDDEN, 0.1));
    dp_expr at = dense(g, "v2", "c2", hidden, HIDDEN, LATENT, 0.2);
    dp_expr width = dp_exp(dense(g, "v3", "c3", hidden, HIDDEN, LATENT, -0.1));
    (void)dp_sample_in(rows, "z", LATENT, dp_normal_v(at, width));
    return g;
}

static dp_model *network(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr image = dp_data(rows, "image", RECORD_PLACES * RECORD_CHANNELS);
    const dp_window sees = {.image = {3, 3}, .size = {3, 3}, .padding = {1, 1}};
    const dp_window pools = {.image = {3, 3}, .size = {2, 2}};
    size_t seen = 9 * RECORD_CHANNELS, flat = 4 * FILTERS;
    dp_expr w = dp_reshape(dp_param(m, "filters", seen * FILTERS, 0.07), seen, FILTERS);
    dp_expr image_2 = dp_reshape(image, RECORD_PLACES, RECORD_CHANNELS);
    dp_expr filtered = dp_relu(dp_add(dp_conv2d(image_2, w, &sees), dp_param(m, "b", FILTERS, 0)));
    dp_expr pooled = dp_flatten(dp_max_pool2d(filtered, &pools));
    dp_expr logits = dense(m, "head", "head b", pooled, flat, RECORD_VECTOR, 0.21);
    (void)dp_deterministic(m, "logits", logits);
    dp_observe(rows, "label", dp_categorical_logit(logits));
    return m;
}

/* The fit after three steps; NULL where they leave the finite numbers. */
static dp_fit *fitted(const dp_model *model, const dp_model *guide, const dp_svi_opts *opts,
                      uint64_t number)
{
    random_records r;
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit = NULL;
    random_records_new(&r, number);
    dp_status status = dp_svi_new(model, guide, r.data, opts, &svi, &err);
    assert_ok(status, err.text);
    status = dp_svi_run(svi, NULL, &err);
    if (status != DP_EDOMAIN)
        assert_ok(status, err.text);
    if (status == DP_OK)
        assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    random_records_free(&r);
    return fit;
}

dp_fit *with_draws(dp_fit *fit, size_t n)
{
    const dp_fit_phase phases[] = {{"whitening", 3, 2.385, 0.7}, {"main", 400, 0, 0}};
    const dp_diagnostic diagnostics[] = {
        {"convergence", 1.0071, 1.01, false, "the chains agree"},
        {"misfit", INFINITY, 3, true, "more than was expected; take a wider prior"}};
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *draws;
    dp_fit *keeping;
    assert_ok(dp_rng_new(n, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, n, rng, &draws, &err), err.text);
    dpi_fit_parts parts = fit->parts;
    parts.draws = dp_draws_values(draws);
    parts.n_draws = n;
    parts.draw_size = dp_draws_size(draws);
    parts.phases = phases;
    parts.n_phases = 2;
    parts.diagnostics = diagnostics;
    parts.n_diagnostics = 2;
    assert_ok(dpi_model_restore(NULL, parts.image[0], parts.image_size[0], &parts.model, &err),
              err.text);
    if (parts.image[1] != NULL)
        assert_ok(
            dpi_model_restore(parts.model, parts.image[1], parts.image_size[1], &parts.guide, &err),
            err.text);
    assert_ok(dpi_fit_new(&parts, &keeping, &err), err.text);
    dp_draws_free(draws);
    dp_rng_free(rng);
    dp_fit_free(fit);
    return keeping;
}

static const dp_svi_opts open_run = {.mode = DP_NO_PRIVACY, .steps = 3, .seed = 71};

dp_fit *named_fit(int which, uint64_t number)
{
    const dp_svi_opts private_run = {.epsilon = 1, .delta = 1e-3, .clip = 1, .steps = 3, .seed = 7};
    const dp_svi_opts single = {
        .mode = DP_NO_PRIVACY, .steps = 3, .seed = 5, .precision = DP_SINGLE};
    dp_model *m = which == FIT_CONTRACEPTION ? contraception()
                  : which == FIT_VAE         ? decoder()
                  : which == FIT_CNN         ? network()
                                             : mixture();
    dp_model *guide = which == FIT_VAE ? encoder(m) : NULL;
    assert_ok(dp_model_status(m), dp_model_error(m));
    dp_fit *fit = fitted(m, guide,
                         which == FIT_CNN       ? &single
                         : which == FIT_MIXTURE ? &private_run
                                                : &open_run,
                         number);
    dp_model_free(guide);
    dp_model_free(m);
    return which == FIT_KEPT ? with_draws(fit, 5) : fit;
}

dp_fit *random_fit(uint64_t model, uint64_t number)
{
    const dp_svi_opts kinds[] = {
        open_run,
        {.mode = DP_WITHOUT_GUARANTEE,
         .sigma = 1.5,
         .clip = 1,
         .steps = 3,
         .seed = 3,
         .form = DP_FORM_PARAMETERS},
        {.epsilon = 2, .delta = 1e-3, .clip = 1, .steps = 3, .seed = 9},
        {.epsilon = 2,
         .delta = 1e-3,
         .clip = 1,
         .steps = 3,
         .seed = 9,
         .sampling = DP_SAMPLING_POISSON,
         .rate = 0.5},
    };
    random_model r;
    random_model_new(&r, model);
    dp_fit *fit = fitted(r.model, r.guide, &kinds[model % 4], number);
    random_model_free(&r);
    return fit;
}
