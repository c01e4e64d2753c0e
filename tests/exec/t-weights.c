/* Weights that have a variational distribution: convolution, embedding, sequence and shared weights
 * of a model with latent weights, cut at their values, against the same model with plain parameters
 * of these values. */
#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "exec/value.h"
#include "model/objective.h"
#include "tests/lib/check.h"

enum { N = 7, WORDS = 11, MOST = 512 };

static double x[N][36], y[N];
static int32_t words[N][4];

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 1.385 * (at - floor(at)) - 0.713;
}

static dp_expr weight(dp_plate from, const char *name, size_t n, bool latent)
{
    return latent ? dp_sample_in(from, name, n, dp_normal(0, 1)) : dp_param_in(from, name, n, 0);
}

static dp_model *write_model(bool latent)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), window = dp_plate_new(m, "window", 4);
    dp_plate vocabulary = dp_plate_new(m, "vocabulary", WORDS), size = dp_plate_new(m, "size", 3);
    const dp_window g = {.image = {6, 6}, .size = {2, 2}, .stride = {2, 2}};
    dp_expr kernel = weight(window, "kernel", 3, latent);
    dp_expr embedding = weight(vocabulary, "embedding", 3, latent);
    dp_expr mix = weight(size, "mix", 3, latent);
    dp_expr image = dp_tanh(dp_conv2d(dp_data(rows, "x", 36), kernel, &g));
    dp_expr h = dp_pick(embedding, dp_indices(rows, "words", 4, vocabulary));
    image = dp_tanh(dp_matmul(image, mix));
    h = dp_tanh(dp_matmul(dp_tanh(dp_matmul(h, mix)), mix));
    dp_observe(rows, "y", dp_normal_v(dp_add(dp_sum(image), dp_sum(h)), dp_num(1)));
    assert_ok(dp_model_status(m), dp_model_error(m));
    return m;
}

/* Squared norms, and the clipped sum, whose parts are the weights in their order. */
static size_t run_model(bool latent, dpi_choice choice, double clip, double *norm2, double *sum)
{
    dp_error err = {0};
    dpi_objective o;
    dpi_run *run;
    double scratch[2 * N];
    dp_model *m = write_model(latent);
    const dpi_objective_spec spec = {
        .model = m, .cut = DP_FORM_LATENTS, .population = N, .init_scale = 0.25};
    assert_ok(dpi_objective_init(&o, &spec, &err), err.text);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 36, x[0]);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_indices(data, "words", 4, words[0]);
    const dpi_run_spec run_spec = {.graph = &o.graph,
                                   .parts = o.part,
                                   .n_parts = o.n_parts,
                                   .data = data,
                                   .chunk = N,
                                   .choice = choice};
    assert_ok(dpi_run_new(&run_spec, &run, &err), err.text);
    static const char *const names[] = {"kernel", "embedding", "mix"};
    assert_int_equal(o.n_parts, 3);
    for (size_t k = 0, at = 0; k < 3; k++) {
        assert_string_equal(dpi_objective_name(&o, k), names[k]);
        /* A latent is loc + e^log_scale noise, its values being those of loc where noise is 0. */
        double *value = dpi_run_value(run, latent ? o.blocks[2 * k].node : o.blocks[k].node);
        for (size_t e = 0; e < dpi_shape_size(&dpi_get(&o.graph, o.part[k])->shape); e++)
            value[e] = spread(900 + at++);
    }
    dpi_run_globals(run);
    dpi_run_records(run, N, NULL, 0);
    memset(sum, 0, MOST * sizeof *sum);
    dpi_run_clip_sum(run, N, clip, scratch, sum);
    memcpy(norm2, scratch, N * sizeof *norm2);
    size_t n = o.n_release;
    dpi_run_free(run);
    dp_dataset_free(data);
    dpi_objective_free(&o);
    dp_model_free(m);
    return n;
}

static void norms_are_in_the_coordinates_of_the_values(void **state)
{
    (void)state;
    static const dpi_choice choices[] = {DPI_CHEAPEST, DPI_ALWAYS_MADE, DPI_ALWAYS_PRODUCTS,
                                         DPI_ALWAYS_ONE_BY_ONE};
    double norm2[N], expected[N], sum[MOST], wanted[MOST];
    (void)run_model(false, DPI_ALWAYS_MADE, INFINITY, expected, wanted);
    double clip = sqrt(expected[3]);
    size_t n = run_model(false, DPI_ALWAYS_MADE, clip, expected, wanted);
    assert_int_equal(n, 12 + 3 * WORDS + 9);
    for (int latent = 0; latent < 2; latent++)
        for (int k = 0; k < 4; k++) {
            assert_int_equal(run_model(latent, choices[k], clip, norm2, sum), n);
            for (size_t i = 0; i < N; i++)
                assert_close(norm2[i], expected[i], 1e-12, 0);
            for (size_t e = 0; e < n; e++)
                assert_close(sum[e], wanted[e], 1e-12, 1e-12);
        }
}

int main(void)
{
    for (size_t i = 0; i < N; i++) {
        y[i] = spread(i + 700);
        for (size_t e = 0; e < 36; e++)
            x[i][e] = spread(36 * i + e);
        for (size_t e = 0; e < 4; e++) /* some words twice */
            words[i][e] = (int32_t)((i * 5 + e * (i % 3)) % WORDS);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_are_in_the_coordinates_of_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
