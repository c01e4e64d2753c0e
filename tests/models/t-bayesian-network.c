/* The Bayesian network: its layers by hand, what it learns without privacy, what is refused. */
#include <math.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 400, D = 2, HIDDEN = 8 };

static double x[N][D], y[N];
static int32_t class[N];

static void draw_records(void)
{
    world_normal(1, N * D, &x[0][0]);
    world_normal(2, N, y);
    for (int i = 0; i < N; i++) {
        class[i] = x[i][0] * x[i][0] + x[i][1] * x[i][1] < 1.4;
        y[i] = sin(2 * x[i][0]) + 0.1 * y[i];
    }
}

static dp_dataset *records(bool classes)
{
    dp_dataset *data = dp_dataset_new(N);
    draw_records();
    dp_dataset_real(data, "x", D, &x[0][0]);
    if (classes)
        dp_dataset_index(data, "y", class);
    else
        dp_dataset_real(data, "y", 1, y);
    return data;
}

static dp_fit *fitted(size_t classes, const dp_dataset *data)
{
    const size_t hidden[] = {HIDDEN};
    const dp_bayesian_network_opts o = {
        .inputs = D, .classes = classes, .hidden = hidden, .n_hidden = 1, .scale = 2};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 3000, .step_size = 0.02, .seed = 2};
    dp_error err = {0};
    dp_model *m;
    assert_ok(dp_bayesian_network(&o, &m, &err), err.text);
    return world_fit(m, NULL, data, &opts);
}

static void latent(const dp_fit *fit, const char *name, size_t n, double *mean)
{
    dp_error err = {0};
    dp_summary s[64];
    assert_true(n <= 64);
    assert_ok(dp_fit_summary(fit, name, n, s, &err), err.text);
    for (size_t k = 0; k < n; k++)
        mean[k] = s[k].mean;
}

static void it_learns_a_disc(void **state)
{
    (void)state;
    static double chance[N][2];
    dp_dataset *data = records(true);
    dp_fit *fit = fitted(2, data);
    world_value(fit, data, "class_probability", N * 2, &chance[0][0]);
    double right = 0;
    for (int i = 0; i < N; i++)
        right += ((chance[i][1] > 0.5) == class[i]) / (double)N;
    assert_true(right > 0.9); /* a linear rule is right for 1 - share of the smaller class */
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void it_computes_its_layers_and_a_number(void **state)
{
    (void)state;
    static double found[N], w1[D][HIDDEN], b1[HIDDEN], w2[HIDDEN], b2[1];
    dp_dataset *data = records(false);
    dp_fit *fit = fitted(0, data);
    world_value(fit, data, "mean", N, found);
    latent(fit, "W1", D * HIDDEN, &w1[0][0]);
    latent(fit, "b1", HIDDEN, b1);
    latent(fit, "W2", HIDDEN, w2);
    latent(fit, "b2", 1, b2);
    double off = 0;
    for (int i = 0; i < N; i++) {
        double out = b2[0];
        for (int j = 0; j < HIDDEN; j++)
            out += w2[j] * tanh(b1[j] + x[i][0] * w1[0][j] + x[i][1] * w1[1][j]);
        assert_close(found[i], out, 1e-9, 1e-9);
        off += (out - sin(2 * x[i][0])) * (out - sin(2 * x[i][0])) / N;
    }
    assert_true(sqrt(off) < 0.2); /* sin has .7, its best line .5 */
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void what_is_no_network_is_refused(void **state)
{
    (void)state;
    const size_t none[] = {0};
    const dp_bayesian_network_opts wrong[] = {{.inputs = 0},
                                              {.inputs = 2, .classes = 1},
                                              {.inputs = 2, .n_hidden = 1},
                                              {.inputs = 2, .n_hidden = 65, .hidden = none},
                                              {.inputs = 2, .n_hidden = 1, .hidden = none}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        dp_error err = {0};
        dp_model *m = (dp_model *)&err;
        assert_int_equal(dp_bayesian_network(&wrong[k], &m, &err), DP_EINVAL);
        assert_null(m);
        assert_contains(err.text, k == 2 || k == 3 ? "give the units of each" : "at least");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_a_disc),
        cmocka_unit_test(it_computes_its_layers_and_a_number),
        cmocka_unit_test(what_is_no_network_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
