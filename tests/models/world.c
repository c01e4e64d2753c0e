#include "tests/models/world.h"

#include "tests/lib/check.h"

void world_normal(uint64_t seed, size_t n, double *out)
{
    dp_error err = {0};
    dp_rng *rng = NULL;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    dp_rng_normal(rng, n, out);
    dp_rng_free(rng);
}

void world_uniform(uint64_t seed, size_t n, double *out)
{
    dp_error err = {0};
    dp_rng *rng = NULL;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    dp_rng_uniform(rng, n, out);
    dp_rng_free(rng);
}

dp_fit *world_fit(dp_model *m, dp_model *guide, const dp_dataset *data, const dp_svi_opts *opts)
{
    dp_error err = {0};
    dp_svi *svi = NULL;
    dp_fit *fit = NULL;
    assert_ok(dp_svi_new(m, guide, data, opts, &svi, &err), err.text);
    dp_model_free(guide);
    dp_model_free(m);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    return fit;
}

void world_value(dp_fit *fit, const dp_dataset *data, const char *name, size_t n, double *values)
{
    dp_error err = {0};
    const dp_given given = {.data = data, .latents = DP_LATENTS_GUIDE_MEAN};
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, name), &given, n, values, &err), err.text);
}

void world_recovers(const dp_fit *fit, const char *latent, size_t n, size_t k, double truth,
                    double sds)
{
    enum { MOST = 64 };
    dp_error err = {0};
    dp_summary s[MOST];
    assert_true(n <= MOST && k < n);
    assert_ok(dp_fit_summary(fit, latent, n, s, &err), err.text);
    assert_close(s[k].mean, truth, 0, sds * s[k].sd);
}
