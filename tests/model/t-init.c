/* Where weights start: their distribution against the rules' moments, what the numbers depend on,
 * and what is refused.  Seeds are fixed, so a passing test does not fail later; limits are 6.2
 * standard errors, 6e-10 for one comparison. */
#include <tacit/svi.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

enum { ROWS = 60, COLUMNS = 500, SIZE = ROWS * COLUMNS };

static double one[SIZE], two[SIZE];

/* A model of one observed column, to which weights can be added. */
static dp_model *begin(uint64_t seed)
{
    dp_model *m = dp_model_new();
    assert_non_null(m);
    dp_model_seed(m, seed);
    return m;
}

/* The start of W, [SIZE], in a run of the model, which is freed. */
static void finish(dp_model *m, dp_expr weights, double values[SIZE])
{
    static double y[2] = {0.3, 0.7};
    dp_error err = {0};
    dp_svi *svi = NULL;
    dp_dataset *data = dp_dataset_new(2);
    dp_dataset_real(data, "y", 1, y);
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_normal_v(dp_sum(weights), dp_num(1)));
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY};
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_get(svi, "W", SIZE, values, &err), err.text);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void start(uint64_t seed, dp_init init, double values[SIZE])
{
    dp_model *m = begin(seed);
    finish(m, dp_weights(m, "W", ROWS, COLUMNS, init), values);
}

/* Mean 0 and this variance, of numbers whose fourth moment is `kurtosis` variance^2. */
static void assert_moments(const double x[SIZE], double variance, double kurtosis)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < SIZE; i++) {
        mean += x[i] / SIZE;
        square += x[i] * x[i] / SIZE;
    }
    assert_close(mean, 0, 0, 6.2 * sqrt(variance / SIZE));
    assert_close(square, variance, 6.2 * sqrt((kurtosis - 1) / SIZE), 0);
}

static void constants_are_everywhere(void **state)
{
    (void)state;
    start(3, dp_init_constant(-1.25), one);
    start(3, dp_init_zeros(), two);
    for (size_t i = 0; i < SIZE; i++) {
        assert_true(one[i] == -1.25);
        assert_true(two[i] == 0);
    }
}

static void normal_numbers_have_their_scale(void **state)
{
    (void)state;
    start(3, dp_init_normal(0.3), one);
    assert_moments(one, 0.09, 3);
    start(3, dp_init_he(), one);
    assert_moments(one, 2.0 / ROWS, 3);
}

static void glorot_is_uniform_within_its_bound(void **state)
{
    (void)state;
    const size_t places[] = {1, 5};
    for (int k = 0; k < 2; k++) {
        const double a = sqrt(6 / (ROWS + COLUMNS * (double)places[k]));
        double most = 0;
        start(3, dp_init_glorot(places[k]), one);
        assert_moments(one, a * a / 3, 1.8);
        for (size_t i = 0; i < SIZE; i++)
            most = fmax(most, fabs(one[i]));
        assert_true(most < a);
        assert_true(most > a * (1 - 21.0 / SIZE)); /* e^-21 = 8e-10 */
    }
}

static void a_start_is_a_function_of_seed_and_name(void **state)
{
    (void)state;
    start(3, dp_init_normal(1), one);
    start(3, dp_init_normal(1), two);
    assert_memory_equal(one, two, sizeof one);

    start(4, dp_init_normal(1), two);
    double product = 0;
    for (size_t i = 0; i < SIZE; i++)
        product += one[i] * two[i] / SIZE;
    assert_close(product, 0, 0, 6.2 / sqrt(SIZE));

    /* Not of what else is declared, nor of the seed of others. */
    dp_model *m = begin(9);
    dp_expr other = dp_weights(m, "V", ROWS, COLUMNS, dp_init_normal(1));
    dp_model_seed(m, 3);
    const dp_expr same = dp_weights(m, "W", ROWS, COLUMNS, dp_init_normal(1));
    finish(m, dp_add(same, other), two);
    assert_memory_equal(one, two, sizeof one);

    m = begin(3);
    other = dp_weights(m, "V", ROWS, COLUMNS, dp_init_normal(1));
    finish(m, dp_add(dp_weights(m, "W", ROWS, COLUMNS, dp_init_zeros()), other), two);
    assert_true(two[0] == 0);
}

static void names_have_numbers_of_their_own(void **state)
{
    (void)state;
    static const double y[2] = {0.3, 0.7};
    dp_error err = {0};
    dp_svi *svi = NULL;
    dp_model *m = begin(3);
    dp_expr a = dp_weights(m, "A", ROWS, COLUMNS, dp_init_normal(1));
    dp_expr b = dp_weights(m, "B", ROWS, COLUMNS, dp_init_normal(1));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_normal_v(dp_sum(dp_mul(a, b)), dp_num(1)));
    dp_dataset *data = dp_dataset_new(2);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY};
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_get(svi, "A", SIZE, one, &err), err.text);
    assert_ok(dp_svi_get(svi, "B", SIZE, two, &err), err.text);
    double product = 0;
    for (size_t i = 0; i < SIZE; i++)
        product += one[i] * two[i] / SIZE;
    assert_close(product, 0, 0, 6.2 / sqrt(SIZE));
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* A checkpoint of a run that started elsewhere is of another model. */
static void a_seed_is_part_of_the_model(void **state)
{
    (void)state;
    static const double y[2] = {0.3, 0.7};
    static const char path[] = "t-init.checkpoint";
    dp_error err = {0};
    dp_dataset *data = dp_dataset_new(2);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 4};
    for (uint64_t seed = 1; seed < 3; seed++) {
        dp_svi *svi = NULL;
        dp_model *m = begin(seed);
        dp_expr w = dp_weights(m, "W", 2, 2, dp_init_he());
        dp_observe(dp_unit_plate(m, "rows"), "y", dp_normal_v(dp_sum(w), dp_num(1)));
        if (seed == 1) {
            assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
            assert_ok(dp_svi_step(svi, &err), err.text);
            assert_ok(dp_svi_save(svi, path, &err), err.text);
        } else
            assert_fails(dp_svi_resume(path, m, NULL, data, NULL, &svi, &err), DP_EMISMATCH, &err,
                         "");
        dp_svi_free(svi);
        dp_model_free(m);
    }
    (void)remove(path);
    dp_dataset_free(data);
}

static void assert_refused(size_t rows, size_t columns, dp_init init, dp_status status,
                           const char *says)
{
    dp_model *m = begin(0);
    const int line = __LINE__ + 1;
    (void)dp_weights(m, "W", rows, columns, init);
    char place[64];
    (void)snprintf(place, sizeof place, "t-init.c:%d: parameter 'W': ", line);
    assert_string_equal(dp_status_name(dp_model_status(m)), dp_status_name(status));
    assert_contains(dp_model_error(m), place);
    assert_contains(dp_model_error(m), says);
    dp_model_free(m);
}

static void what_is_no_start_is_refused(void **state)
{
    (void)state;
    assert_refused(0, 3, dp_init_he(), DP_ESHAPE, "at least one row");
    assert_refused(3, 0, dp_init_zeros(), DP_ESHAPE, "at least one row");
    assert_refused(3, 3, dp_init_constant(NAN), DP_EDOMAIN, "not a finite number");
    assert_refused(3, 3, dp_init_constant(INFINITY), DP_EDOMAIN, "not a finite number");
    assert_refused(3, 3, dp_init_normal(0), DP_EDOMAIN, "above 0");
    assert_refused(3, 3, dp_init_normal(NAN), DP_EDOMAIN, "above 0");
    assert_refused(3, 3, dp_init_glorot(0), DP_EDOMAIN, "1 for a dense layer");
    assert_refused(8, 3, dp_init_glorot(3), DP_EDOMAIN, "places of the window");
    assert_refused(8, 3, (dp_init){.rule = (dp_init_rule)7}, DP_EDOMAIN, "no known rule");
}

static void a_weight_is_named_once(void **state)
{
    (void)state;
    dp_model *m = begin(0);
    (void)dp_weights(m, "W", 2, 2, dp_init_he());
    (void)dp_weights(m, "W", 2, 2, dp_init_he());
    assert_int_equal(dp_model_status(m), DP_ENAME);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_everywhere),
        cmocka_unit_test(normal_numbers_have_their_scale),
        cmocka_unit_test(glorot_is_uniform_within_its_bound),
        cmocka_unit_test(a_start_is_a_function_of_seed_and_name),
        cmocka_unit_test(names_have_numbers_of_their_own),
        cmocka_unit_test(a_seed_is_part_of_the_model),
        cmocka_unit_test(what_is_no_start_is_refused),
        cmocka_unit_test(a_weight_is_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
