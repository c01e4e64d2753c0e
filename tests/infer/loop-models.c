#include "tests/infer/loop-models.h"

#include "tests/lib/check.h"

enum { N = LOOP_N, D = LOOP_D, K = LOOP_K };
const double loop_centre[K][D] = {{-1.5, -1}, {1.5, -0.5}, {0, 2}};

void loop_draw(loop_records *r)
{
    dp_rng *rng;
    dp_error err = {0};
    double more[N];
    assert_ok(dp_rng_new(17, &rng, &err), err.text);
    dp_rng_normal(rng, N * D, r->x);
    dp_rng_normal(rng, N, more);
    for (size_t i = 0; i < N; i++) {
        double *x = r->x + i * D;
        for (size_t j = 0; j < D; j++)
            x[j] = loop_centre[i % K][j] + 0.3 * x[j];
        r->y[i] = 1 + x[0] - 0.5 * x[1] + 0.5 * more[i];
        r->kind[i] = (int32_t)(i % K);
    }
    dp_rng_free(rng);
}

dp_dataset *loop_data(const loop_records *r, size_t n)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", D, r->x);
    dp_dataset_real(data, "y", 1, r->y);
    dp_dataset_index(data, "kind", r->kind);
    return data;
}

/* ---- models that the rounds do not take ---- */

static dp_model *mixture(void)
{
    dp_model *m;
    dp_error err = {0};
    const dp_mixture_opts three = {.components = K, .dimensions = D};
    assert_ok(dp_gaussian_mixture(&three, &m, &err), err.text);
    return m;
}

static dp_model *network(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "W", D, K, dp_init_glorot(1));
    dp_expr to = dp_dense(dp_data(rows, "x", D), w, dp_param(m, "b", K, 0));
    dp_observe(rows, "kind", dp_categorical_logit(to));
    return m;
}

static dp_model *codes(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), pair = dp_plate_new(m, "pair", 2);
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1));
    dp_expr width = dp_sample_in(rows, "width", 1, dp_gamma(2, 2));
    dp_expr level = dp_sample_in(pair, "level", 1, dp_normal(0, 2));
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_observe(rows, "x", dp_normal_v(dp_add(level, z), dp_mul(sd, width)));
    return m;
}

static dp_model *columns(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 2));
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_expr level = dp_sample(m, "level", D, dp_normal(0, 2));
    dp_observe(rows, "x", dp_normal_v(level, dp_num(2)));
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", D), w), sd));
    return m;
}

const loop_model loop_models[LOOP_MODELS] = {
    [LOOP_MIXTURE] = {mixture, "column 'x' has 2 numbers a record"},
    [LOOP_NETWORK] = {network, "parameter 'W' has no prior"},
    [LOOP_CODES] = {codes, "latent 'z' belongs to each record"},
    [LOOP_COLUMNS] = {columns, "2 columns are observed"}};
