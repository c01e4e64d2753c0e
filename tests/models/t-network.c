/* The networks: forward passes by hand at the parameters that were fitted, and what they learn of
 * data whose classes are known. */
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 600, D = 3, HIDDEN = 5, CLASSES = 3, SIDE = 4, PIXELS = SIDE * SIDE };

static double x[N][D], image[N][PIXELS];
static int32_t y[N];

static void parameter(const dp_fit *fit, const char *name, size_t n, double *values)
{
    dp_error err = {0};
    assert_ok(dp_fit_parameter(fit, name, n, values, &err), err.text);
}

/* out = x W + b, W [from][to]. */
static void dense(size_t from, size_t to, const double *in, const double *w, const double *b,
                  double *out)
{
    for (size_t j = 0; j < to; j++) {
        out[j] = b[j];
        for (size_t k = 0; k < from; k++)
            out[j] += in[k] * w[k * to + j];
    }
}

/* The share of records whose likeliest class is theirs; chances sum to 1 and are the logits'. */
static double accuracy(dp_fit *fit, const dp_dataset *data)
{
    static double chance[N][CLASSES], logits[N][CLASSES];
    double right = 0;
    world_value(fit, data, "class_probability", N * CLASSES, &chance[0][0]);
    world_value(fit, data, "logits", N * CLASSES, &logits[0][0]);
    for (int i = 0; i < N; i++) {
        int best = 0;
        double sum = 0;
        for (int c = 0; c < CLASSES; c++)
            best = logits[i][c] > logits[i][best] ? c : best;
        for (int c = 0; c < CLASSES; c++)
            sum += exp(logits[i][c] - logits[i][best]);
        for (int c = 0; c < CLASSES; c++)
            assert_close(chance[i][c], exp(logits[i][c] - logits[i][best]) / sum, 1e-10, 1e-12);
        right += (best == y[i]) / (double)N;
    }
    return right;
}

/* Classes by the distance from the middle, which no linear rule tells apart. */
static dp_dataset *rings(void)
{
    world_normal(1, N * D, &x[0][0]);
    for (int i = 0; i < N; i++) {
        const double r = x[i][0] * x[i][0] + x[i][1] * x[i][1];
        y[i] = r < 0.7 ? 0 : r < 2 ? 1 : 2;
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_index(data, "y", y);
    return data;
}

static void a_perceptron_learns_rings(void **state)
{
    (void)state;
    const size_t hidden[] = {16, 8};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 800, .step_size = 0.03, .seed = 2};
    dp_dataset *data = rings();
    double right[3];
    for (int k = 0; k < 3; k++) {
        dp_error err = {0};
        dp_model *m;
        const dp_mlp_opts o = {.inputs = D,
                               .classes = CLASSES,
                               .hidden = hidden,
                               .n_hidden = k < 2 ? 2 : 0,
                               .activation = k == 1 ? DP_ACTIVATION_RELU : DP_ACTIVATION_TANH,
                               .seed = 4};
        assert_ok(dp_mlp(&o, &m, &err), err.text);
        dp_fit *fit = world_fit(m, NULL, data, &opts);
        right[k] = accuracy(fit, data);
        dp_fit_free(fit);
    }
    assert_true(right[0] > 0.9);
    assert_true(right[1] > 0.9);
    assert_true(right[2] < 0.6); /* without a hidden layer it cannot */
    dp_dataset_free(data);
}

static void a_perceptron_computes_its_layers(void **state)
{
    (void)state;
    static double w1[D * HIDDEN], b1[HIDDEN], w2[HIDDEN * CLASSES], b2[CLASSES], found[N][CLASSES];
    const size_t hidden[] = {HIDDEN};
    double h[HIDDEN], logits[CLASSES], density[N];
    dp_error err = {0};
    dp_model *m;
    const dp_mlp_opts o = {.inputs = D, .classes = CLASSES, .hidden = hidden, .n_hidden = 1};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 20, .step_size = 0.1, .seed = 2};
    dp_dataset *data = rings();
    assert_ok(dp_mlp(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &opts);
    parameter(fit, "W1", D * HIDDEN, w1);
    parameter(fit, "b1", HIDDEN, b1);
    parameter(fit, "W2", HIDDEN * CLASSES, w2);
    parameter(fit, "b2", CLASSES, b2);
    world_value(fit, data, "logits", N * CLASSES, &found[0][0]);
    const dp_given given = {.data = data};
    assert_ok(dp_fit_log_density(fit, &given, N, density, &err), err.text);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        dense(D, HIDDEN, x[i], w1, b1, h);
        for (int j = 0; j < HIDDEN; j++)
            h[j] = tanh(h[j]);
        dense(HIDDEN, CLASSES, h, w2, b2, logits);
        for (int c = 0; c < CLASSES; c++) {
            assert_close(found[i][c], logits[c], 1e-10, 1e-10);
            sum += exp(logits[c]);
        }
        assert_close(density[i], logits[y[i]] - log(sum), 1e-9, 1e-9);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* One bright bar, upright, lying or none, in noise. */
static dp_dataset *bars(void)
{
    double u[N];
    world_normal(2, N * PIXELS, &image[0][0]);
    world_uniform(3, N, u);
    for (int i = 0; i < N; i++) {
        const int at = (int)(u[i] * SIDE);
        y[i] = i % CLASSES;
        for (int p = 0; p < PIXELS; p++)
            image[i][p] = 0.2 * image[i][p] +
                          ((y[i] == 0 && p % SIDE == at) || (y[i] == 1 && p / SIDE == at));
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", PIXELS, &image[0][0]);
    dp_dataset_index(data, "y", y);
    return data;
}

static void a_convolutional_network_learns_bars(void **state)
{
    (void)state;
    const dp_cnn_layer layers[] = {{.filters = 4, .size = 3, .padding = 1, .pool = 2},
                                   {.filters = 6, .size = 2, .pool = 2, .pool_stride = 2}};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 300, .step_size = 0.03, .seed = 2};
    dp_dataset *data = bars();
    for (int k = 0; k < 2; k++) {
        dp_error err = {0};
        dp_model *m;
        const dp_cnn_opts o = {.rows = SIDE,
                               .columns = SIDE,
                               .layers = layers,
                               .n_layers = k == 0 ? 2 : 1,
                               .hidden = 8,
                               .classes = CLASSES,
                               .activation = k == 0 ? DP_ACTIVATION_TANH : DP_ACTIVATION_RELU};
        assert_ok(dp_cnn(&o, &m, &err), err.text);
        dp_fit *fit = world_fit(m, NULL, data, &opts);
        /* 4 x 4, pooled in strides of 1: 3 x 3; then 2 x 2, pooled to one pixel. */
        assert_int_equal(dp_fit_size(fit, "W1"), 9 * 4);
        assert_int_equal(dp_fit_size(fit, "W2"), k == 0 ? 4 * 4 * 6 : 9 * 4 * 8);
        assert_int_equal(dp_fit_size(fit, "W3"), k == 0 ? 6 * 8 : 8 * CLASSES);
        assert_true(accuracy(fit, data) > 0.95);
        dp_fit_free(fit);
    }
    dp_dataset_free(data);
}

static void a_convolutional_network_computes_its_layers(void **state)
{
    (void)state;
    enum { FILTERS = 2, STOPS = 9, HIDE = 3 };
    static double w1[4 * FILTERS], b1[FILTERS], w2[STOPS * FILTERS * HIDE], b2[HIDE],
        w3[HIDE * CLASSES], b3[CLASSES], found[N][CLASSES];
    const dp_cnn_layer layer = {.filters = FILTERS, .size = 2};
    double h[STOPS][FILTERS], d[HIDE], logits[CLASSES];
    dp_error err = {0};
    dp_model *m;
    const dp_cnn_opts o = {.rows = SIDE,
                           .columns = SIDE,
                           .layers = &layer,
                           .n_layers = 1,
                           .hidden = HIDE,
                           .classes = CLASSES};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 20, .step_size = 0.1, .seed = 2};
    dp_dataset *data = bars();
    assert_ok(dp_cnn(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &opts);
    parameter(fit, "W1", 4 * FILTERS, w1);
    parameter(fit, "b1", FILTERS, b1);
    parameter(fit, "W2", STOPS * FILTERS * HIDE, w2);
    parameter(fit, "b2", HIDE, b2);
    parameter(fit, "W3", HIDE * CLASSES, w3);
    parameter(fit, "b3", CLASSES, b3);
    world_value(fit, data, "logits", N * CLASSES, &found[0][0]);
    for (int i = 0; i < N; i++) {
        for (int s = 0; s < STOPS; s++) {
            const double *corner = image[i] + s / 3 * SIDE + s % 3;
            const double seen[4] = {corner[0], corner[1], corner[SIDE], corner[SIDE + 1]};
            dense(4, FILTERS, seen, w1, b1, h[s]);
            for (int f = 0; f < FILTERS; f++)
                h[s][f] = tanh(h[s][f]);
        }
        dense(STOPS * FILTERS, HIDE, &h[0][0], w2, b2, d);
        for (int j = 0; j < HIDE; j++)
            d[j] = tanh(d[j]);
        dense(HIDE, CLASSES, d, w3, b3, logits);
        for (int c = 0; c < CLASSES; c++)
            assert_close(found[i][c], logits[c], 1e-10, 1e-10);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* Images of two patterns with flipped pixels; a code tells them apart, and the decoder gives the
 * clean pattern back. */
static void an_autoencoder_gives_patterns_back(void **state)
{
    (void)state;
    enum { H = 8, Z = 2 };
    static double flip[N][PIXELS], back[N][PIXELS], w[5][PIXELS * H], b[5][PIXELS], code[N][Z];
    double h[H], z[Z], logits[PIXELS];
    dp_error err = {0};
    dp_model *m, *guide;
    const dp_vae_opts o = {.inputs = PIXELS, .hidden = H, .latent = Z, .seed = 2};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 600, .step_size = 0.02, .seed = 2};
    world_uniform(5, N * PIXELS, &flip[0][0]);
    for (int i = 0; i < N; i++)
        for (int p = 0; p < PIXELS; p++)
            image[i][p] = ((i % 2 == 0 ? p % SIDE < 2 : p / SIDE < 2) != (flip[i][p] < 0.05));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", PIXELS, &image[0][0]);
    assert_ok(dp_vae(&o, &m, &guide, &err), err.text);
    dp_fit *fit = world_fit(m, guide, data, &opts);
    world_value(fit, data, "reconstruction", N * PIXELS, &back[0][0]);
    world_value(fit, data, "z", N * Z, &code[0][0]);
    static const char *const weights[] = {"V1", "V2", "V3", "W1", "W2"}, *const biases[] = {
                                                                             "c1", "c2", "c3", "b1",
                                                                             "b2"};
    const size_t from[] = {PIXELS, H, H, Z, H}, to[] = {H, Z, Z, H, PIXELS};
    for (int k = 0; k < 5; k++) {
        parameter(fit, weights[k], from[k] * to[k], w[k]);
        parameter(fit, biases[k], to[k], b[k]);
    }
    double off = 0;
    for (int i = 0; i < N; i++) {
        dense(PIXELS, H, image[i], w[0], b[0], h);
        for (int j = 0; j < H; j++)
            h[j] = log1p(exp(h[j]));
        dense(H, Z, h, w[1], b[1], z);
        for (int j = 0; j < Z; j++)
            assert_close(code[i][j], z[j], 1e-9, 1e-9);
        dense(Z, H, z, w[3], b[3], h);
        for (int j = 0; j < H; j++)
            h[j] = log1p(exp(h[j]));
        dense(H, PIXELS, h, w[4], b[4], logits);
        for (int p = 0; p < PIXELS; p++) {
            assert_close(back[i][p], 1 / (1 + exp(-logits[p])), 1e-9, 1e-12);
            off += fabs(back[i][p] - (i % 2 == 0 ? p % SIDE < 2 : p / SIDE < 2)) / (N * PIXELS);
        }
    }
    assert_true(off < 0.15); /* 0.05 is the noise's own, 0.25 without a code */
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void what_is_no_network_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m, *guide;
    const size_t empty[] = {0};
    const dp_cnn_layer large = {.filters = 2, .size = 5}, none = {.size = 2},
                       nothing = {.filters = 2};
    dp_mlp_opts p = {.inputs = 2, .classes = 1};
    assert_fails(dp_mlp(&p, &m, &err), DP_EINVAL, &err, "at least 2 classes");
    assert_null(m);
    p = (dp_mlp_opts){.inputs = 2, .classes = 2, .n_hidden = 1};
    assert_fails(dp_mlp(&p, &m, &err), DP_EINVAL, &err, "hidden layers");
    p = (dp_mlp_opts){.inputs = 2, .classes = 2, .hidden = empty, .n_hidden = SIZE_MAX};
    assert_fails(dp_mlp(&p, &m, &err), DP_EINVAL, &err, "hidden layers");
    p = (dp_mlp_opts){.inputs = 2, .classes = 2, .hidden = empty, .n_hidden = 1};
    assert_fails(dp_mlp(&p, &m, &err), DP_ESHAPE, &err, "W1");
    p = (dp_mlp_opts){.classes = 2};
    assert_fails(dp_mlp(&p, &m, &err), DP_ESHAPE, &err, "'x'");
    assert_null(m);

    dp_cnn_opts c = {.rows = 4, .columns = 4, .hidden = 3, .classes = 2};
    assert_fails(dp_cnn(&c, &m, &err), DP_EINVAL, &err, "1 to 64 layers");
    const dp_cnn_layer *const wrong[] = {&large, &none, &nothing};
    for (int k = 0; k < 3; k++) {
        c.layers = wrong[k], c.n_layers = 1;
        assert_int_not_equal(dp_cnn(&c, &m, &err), DP_OK);
        assert_null(m);
        err = (dp_error){0};
    }
    c.hidden = 0;
    assert_fails(dp_cnn(&c, &m, &err), DP_EINVAL, &err, "1 hidden unit");

    const dp_vae_opts v = {.inputs = 4, .hidden = 3, .latent = 1};
    assert_fails(dp_vae(&v, &m, &guide, &err), DP_EINVAL, &err, "at least 2");
    assert_null(m);
    assert_null(guide);
}

/* A single input is a number and not a vector. */
static void a_network_may_have_one_input(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const size_t hidden[] = {4};
    const dp_mlp_opts o = {.inputs = 1, .classes = CLASSES, .hidden = hidden, .n_hidden = 1};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 10, .seed = 2};
    dp_dataset *rest = rings(), *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 1, &x[0][0]);
    dp_dataset_index(data, "y", y);
    assert_ok(dp_mlp(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &opts);
    assert_int_equal(dp_fit_size(fit, "logits"), CLASSES);
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_dataset_free(rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_perceptron_learns_rings),
        cmocka_unit_test(a_perceptron_computes_its_layers),
        cmocka_unit_test(a_network_may_have_one_input),
        cmocka_unit_test(a_convolutional_network_learns_bars),
        cmocka_unit_test(a_convolutional_network_computes_its_layers),
        cmocka_unit_test(an_autoencoder_gives_patterns_back),
        cmocka_unit_test(what_is_no_network_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
