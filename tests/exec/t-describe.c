/* What dp_model_describe says of the sites; the nodes below are tests/graph/t-describe.c's
 * concern. */
#include <tacit/model.h>

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

/* The text of a model, in a buffer of `size`. */
static void describe(const dp_model *m, char *text, size_t size)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(dp_model_describe(m, out), DP_OK);
    rewind(out);
    text[fread(text, 1, size - 1, out)] = 0;
    (void)fclose(out);
}

/* Each line has these words in this order. */
static void assert_line(const char *text, const char *first, const char *second, const char *third)
{
    const char *line = strstr(text, first);
    assert_non_null(line);
    char copy[256];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    assert_contains(copy, second);
    assert_contains(strstr(copy, second), third);
}

static void sites_have_a_line_each(void **state)
{
    (void)state;
    char text[8192];
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", 4);
    dp_expr w = dp_sample(m, "w", 3, dp_normal(0, 2.5)),
            tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal_v(dp_num(0), tau));
    dp_expr shift = dp_param(m, "shift", 1, 0.5);
    dp_expr eta = dp_add(dp_dot(dp_data(rows, "x", 3), w), shift);
    dp_observe(rows, "y", dp_normal_v(dp_add(eta, dp_pick(b, dp_index(rows, "g", groups))), tau));
    describe(m, text, sizeof text);
    assert_line(text, "latent     w ", "[3]", "normal(0, 2.5)  t-describe.c:");
    assert_line(text, "latent     tau ", "a number", "half_normal(1)  t-describe.c:");
    assert_line(text, "latent     b ", "[4]", "normal(0, tau)  t-describe.c:");
    assert_line(text, "parameter  shift ", "a number", "no prior  t-describe.c:");
    assert_line(text, "observed   y ", "one per record", "normal(#");
    assert_line(text, "observed   y ", ", tau)", "t-describe.c:");
    assert_contains(text, "crossings");
    assert_line(text, "gradient   w ", "[3]", "from its factors: ");
    assert_line(text, "gradient   shift ", "a number", "made: ");
    dp_model_free(m);
}

/* Convolutions are made, long sequences of few words are not, and shared weights have a term for
 * each use. */
static void gradients_say_how_they_are_had(void **state)
{
    (void)state;
    char text[16384];
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), window = dp_plate_new(m, "window", 25);
    dp_plate words = dp_plate_new(m, "words", 5000), size = dp_plate_new(m, "size", 48);
    const dp_window g = {.image = {28, 28}, .size = {5, 5}};
    dp_expr kernel = dp_param_in(window, "kernel", 16, 0), mix = dp_param_in(size, "mix", 48, 0);
    dp_expr image = dp_conv2d(dp_data(rows, "x", 784), kernel, &g);
    dp_expr sentence = dp_indices(rows, "sentence", 6, words);
    dp_expr h = dp_pick(dp_sample_in(words, "embedding", 48, dp_normal(0, 1)), sentence);
    h = dp_tanh(dp_matmul(dp_tanh(dp_matmul(h, mix)), mix));
    dp_observe(rows, "y", dp_normal_v(dp_add(dp_sum(image), dp_sum(h)), dp_num(1)));
    describe(m, text, sizeof text);
    assert_line(text, "gradient   kernel ", "[25][16]", "made (1 term, rank 576): ");
    assert_line(text, "gradient   embedding ", "[5000][48]",
                "from inner products (1 term, rank 6): ");
    assert_line(text, "gradient   mix ", "[48][48]", "(2 terms, rank 12): ");
    dp_model_free(m);
}

/* A guide is described with its model, and what cannot be fitted by itself without gradients. */
static void guides_are_described_with_their_models(void **state)
{
    (void)state;
    char text[8192];
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1)), w = dp_param(m, "w", 1, 1);
    dp_observe(rows, "y", dp_normal_v(dp_mul(w, z), dp_num(1)));
    describe(m, text, sizeof text);
    assert_null(strstr(text, "gradient "));
    dp_model *q = dp_guide_new(m);
    dp_plate same = dp_unit_plate(q, "rows");
    dp_expr slope = dp_param(q, "slope", 1, 0.5);
    (void)dp_sample_in(same, "z", 1, dp_normal_v(dp_mul(slope, dp_data(same, "y", 1)), dp_num(1)));
    describe(q, text, sizeof text);
    assert_contains(text, "gradient   slope ");
    assert_contains(text, "gradient   w ");
    dp_model_free(q);
    dp_model_free(m);
}

static void a_file_that_cannot_be_written_is_told(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    (void)dp_sample(m, "w", 1, dp_normal(0, 1));
    FILE *out = fopen("/dev/null", "r");
    assert_non_null(out);
    assert_int_equal(dp_model_describe(m, out), DP_EIO);
    assert_int_equal(dp_model_dot(m, out), DP_EIO);
    (void)fclose(out);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_have_a_line_each),
        cmocka_unit_test(gradients_say_how_they_are_had),
        cmocka_unit_test(guides_are_described_with_their_models),
        cmocka_unit_test(a_file_that_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
