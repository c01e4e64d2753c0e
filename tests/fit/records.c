#include "tests/fit/records.h"

#include <math.h>

#include "tests/lib/check.h"

double x[N], y[N], z_given[N];
int32_t group[N], label[N];
unsigned char odds[N];

void test_fill(void)
{
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(i % 7) / 3 - 1;
        y[i] = (double)(i % 5) - 2;
        z_given[i] = sin((double)i);
        group[i] = (int32_t)(i % K);
        label[i] = (int32_t)(i % 3);
        odds[i] = (unsigned char)(i % 5);
    }
}

dp_dataset *test_records(void)
{
    dp_dataset *data = dp_dataset_new(N);
    assert_non_null(data);
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_index(data, "g", group);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

dp_rng *test_source(uint64_t seed)
{
    dp_rng *rng;
    assert_ok(dp_rng_new(seed, &rng, NULL), "rng");
    return rng;
}

dp_draws *test_draws(const dp_fit *fit, size_t n, uint64_t seed)
{
    dp_draws *draws;
    dp_error err = {0};
    dp_rng *rng = test_source(seed);
    assert_ok(dp_fit_draw(fit, n, rng, &draws, &err), err.text);
    dp_rng_free(rng);
    return draws;
}

static void write_latent(dp_model **model, dp_model **guide, bool drawn)
{
    dp_model *m = *model = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 1)), slope = dp_param(m, "slope", 1, 0),
            z = dp_sample_in(rows, "z", 1, dp_normal_v(mu, dp_num(2)));
    dp_observe(rows, "y", dp_normal_v(dp_mul(slope, z), dp_num(0.5)));
    dp_observe(rows, "v", dp_bernoulli_logit(z));
    dp_model *q = *guide = dp_guide_new(m);
    dp_plate same = dp_unit_plate(q, "rows");
    dp_expr loc = dp_param(q, "mu_loc", 1, 0), half = dp_param(q, "half", 1, 0),
            own = dp_param(q, "own", 1, 0);
    (void)dp_sample(q, "mu", 1, dp_normal_v(loc, dp_num(0.1)));
    dp_expr read = dp_data(same, drawn ? "v" : "y", 1);
    (void)dp_sample_in(same, "z", 1, dp_normal_v(dp_add(dp_mul(half, read), own), dp_num(exp(-1))));
}

static const given_block latent_reached[] = {
    {"slope", {1.5}}, {"mu_loc", {-3}}, {"half", {0.5}}, {"own", {0.125}}};

dp_fit *fit_with_latents(bool drawn)
{
    dp_model *m, *q;
    dp_fit *fit;
    dp_error err = {0};
    write_latent(&m, &q, drawn);
    assert_ok(make_fit(m, q, DP_FORM_LATENTS, latent_reached, 4, &fit, &err), err.text);
    return fit;
}
