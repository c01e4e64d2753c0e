/* Activations, softmax and normalisation: known values for numbers, globals and records; at 0 and
 * where a number is not finite; what they say of operands that do not fit. */
#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "model/model.h"
#include "tests/lib/check.h"

enum { N = 2, D = 4 };

static const double v_is[D] = {0.385, -1.25, 2.5, -0.75},
                    W_is[2 * D] = {1, -2, 0.5, 3, 0.25, -0.75, -4, 2.5};
static const double x_is[N * D] = {1, 2, -1, -3.5, 0.5, -3, 4, 0};

/* Globals v [4] and W [2][4], a number s, records x [4]. */
typedef struct scene {
    dp_model *m;
    dp_expr v, W, s, x;
} scene;

static scene begin(void)
{
    scene q = {.m = dp_model_new()};
    dp_plate rows = dp_unit_plate(q.m, "rows"), two = dp_plate_new(q.m, "two", 2);
    q.v = dp_param(q.m, "v", D, 0);
    q.W = dp_param_in(two, "W", D, 0);
    q.s = dp_param(q.m, "s", 1, 0);
    q.x = dp_data(rows, "x", D);
    assert_int_equal(dp_model_status(q.m), DP_OK);
    return q;
}

static void set(dpi_run *run, dp_expr e, size_t n, const double *values)
{
    double *value = dpi_run_value(run, e.id);
    if (value != NULL)
        memcpy(value, values, n * sizeof *values);
}

static void assert_value(const scene *q, dp_expr e, size_t n, const double *wanted)
{
    dp_error err = {0};
    dpi_run *run;
    assert_ok(dp_model_status(q->m), dp_model_error(q->m));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, x_is);
    dpi_run_spec spec = {
        .graph = &q->m->graph, .wanted = &e.id, .n_wanted = 1, .data = data, .chunk = N};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    set(run, q->v, D, v_is);
    set(run, q->W, 2 * D, W_is);
    dpi_run_globals(run);
    dpi_run_records(run, N, NULL, 0);
    const dpi_shape *shape = &dpi_get(&q->m->graph, e.id)->shape;
    assert_int_equal(dpi_shape_size(shape) * (shape->per_record ? N : 1), n);
    for (size_t i = 0; i < n; i++)
        assert_close(dpi_run_value(run, e.id)[i], wanted[i], 1e-13, 1e-16);
    dpi_run_free(run);
    dp_dataset_free(data);
}

/* ---- activations ---- */

static double relu(double a)
{
    return a > 0 ? a : 0;
}
static double leaky(double a)
{
    return a > 0 ? a : 0.125 * a;
}
static dp_expr call_leaky(dp_expr a)
{
    return dp_leaky_relu(0.125, a);
}
static double normal_cdf(double a)
{
    return 0.5 + 0.5 * erf(a / sqrt(2));
}
static double gelu(double a)
{
    return a * normal_cdf(a);
}
static dp_expr call_max(dp_expr a)
{
    return dp_max(a, dp_num(-0.8));
}
static double max(double a)
{
    return fmax(a, -0.8);
}

static const struct {
    dp_expr (*call)(dp_expr);
    double (*is)(double);
} activations[] = {{dp_relu, relu},
                   {call_leaky, leaky},
                   {dp_gelu, gelu},
                   {dp_normal_cdf, normal_cdf},
                   {call_max, max}};
enum { N_ACTIVATIONS = sizeof activations / sizeof activations[0] };

static void activations_work_on_each_number(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_ACTIVATIONS; k++) {
        scene q = begin();
        double of_v[D], of_x[N * D];
        for (size_t i = 0; i < N * D; i++) {
            of_v[i % D] = activations[k].is(v_is[i % D]);
            of_x[i] = activations[k].is(x_is[i]);
        }
        assert_value(&q, activations[k].call(q.v), D, of_v);
        assert_value(&q, activations[k].call(q.x), N * D, of_x);
        for (double a = -2; a < 3; a += 0.75) {
            assert_close(activations[k].call(dp_num(a)).value, activations[k].is(a), 1e-15, 0);
            assert_null(activations[k].call(dp_num(a)).model);
        }
        dp_model_free(q.m);
    }
}

static void activations_at_their_kinks_and_ends(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_ACTIVATIONS; k++)
        assert_true(isnan(activations[k].call(dp_num(NAN)).value));
    assert_true(isnan(dp_max(dp_num(1), dp_num(NAN)).value));
    assert_true(isnan(dp_max(dp_num(NAN), dp_num(1)).value));
    assert_true(dp_relu(dp_num(0)).value == 0 && dp_leaky_relu(0.2, dp_num(0)).value == 0);
    assert_true(dp_relu(dp_num(-INFINITY)).value == 0);
    assert_true(dp_relu(dp_num(INFINITY)).value == INFINITY);
    assert_true(dp_leaky_relu(0.2, dp_num(-INFINITY)).value == -INFINITY);
    assert_true(dp_gelu(dp_num(0)).value == 0);
    /* Far below 0, 1 + erf has no digits left. */
    assert_close(dp_normal_cdf(dp_num(-20)).value, 2.7536241186062337e-89, 1e-13, 0);
    scene q = begin();
    (void)dp_leaky_relu(NAN, q.v);
    assert_int_equal(dp_model_status(q.m), DP_EDOMAIN);
    assert_contains(dp_model_error(q.m), "the slope is nan; it must be a finite number");
    dp_model_free(q.m);
}

/* ---- softmax ---- */

static void softmax_of(size_t n, const double *a, double *share, double *logarithm)
{
    double total = 0;
    for (size_t j = 0; j < n; j++)
        total += exp(a[j]);
    for (size_t j = 0; j < n; j++) {
        share[j] = exp(a[j]) / total;
        logarithm[j] = a[j] - log(total);
    }
}

static void softmax_is_of_the_last_dimension(void **state)
{
    (void)state;
    scene q = begin();
    double v[2][D], W[2][2 * D], x[2][N * D];
    softmax_of(D, v_is, v[0], v[1]);
    for (size_t r = 0; r < 2; r++) {
        softmax_of(D, W_is + r * D, W[0] + r * D, W[1] + r * D);
        softmax_of(D, x_is + r * D, x[0] + r * D, x[1] + r * D);
    }
    assert_value(&q, dp_softmax(q.v), D, v[0]);
    assert_value(&q, dp_log_softmax(q.v), D, v[1]);
    assert_value(&q, dp_softmax(q.W), 2 * D, W[0]);
    assert_value(&q, dp_log_softmax(q.W), 2 * D, W[1]);
    assert_value(&q, dp_softmax(q.x), N * D, x[0]);
    assert_value(&q, dp_log_softmax(q.x), N * D, x[1]);
    dp_model_free(q.m);
}

static void softmax_does_not_overflow(void **state)
{
    (void)state;
    scene q = begin();
    const double far[D] = {1000, -1000, 1000, -INFINITY}, share[D] = {0.5, 0, 0.5, 0},
                 logarithm[D] = {-log(2), -2000 - log(2), -log(2), -INFINITY};
    dp_expr a = dp_constant(q.m, D, far);
    assert_value(&q, dp_softmax(a), D, share);
    assert_value(&q, dp_slice(dp_log_softmax(a), 0, 3), 3, logarithm);
    dp_model_free(q.m);
}

/* ---- normalisation ---- */

/* Normalises the n numbers a[at[k]]. */
static void normal_of(size_t n, const size_t *at, const double *a, double *y)
{
    double mean = 0, variance = 0;
    for (size_t k = 0; k < n; k++)
        mean += a[at[k]] / (double)n;
    for (size_t k = 0; k < n; k++)
        variance += (a[at[k]] - mean) * (a[at[k]] - mean) / (double)n;
    for (size_t k = 0; k < n; k++)
        y[at[k]] = (a[at[k]] - mean) / sqrt(variance + 1e-5);
}

static void layers_are_normalised_row_by_row(void **state)
{
    (void)state;
    scene q = begin();
    const size_t at[D] = {0, 1, 2, 3};
    double v[D], W[2 * D], x[N * D], scaled[N * D];
    normal_of(D, at, v_is, v);
    for (size_t r = 0; r < 2; r++) {
        normal_of(D, at, W_is + r * D, W + r * D);
        normal_of(D, at, x_is + r * D, x + r * D);
    }
    for (size_t i = 0; i < N * D; i++)
        scaled[i] = x[i] * v_is[i % D] + 2.5;
    assert_value(&q, dp_layer_norm(q.v, dp_num(1), dp_num(0)), D, v);
    assert_value(&q, dp_layer_norm(q.W, dp_num(1), dp_num(0)), 2 * D, W);
    assert_value(&q, dp_layer_norm(q.x, dp_num(1), dp_num(0)), N * D, x);
    assert_value(&q, dp_layer_norm(q.x, q.v, dp_num(2.5)), N * D, scaled);
    dp_model_free(q.m);
}

static void groups_of_channels_are_normalised_over_pixels(void **state)
{
    (void)state;
    scene q = begin();
    const size_t left[] = {0, 1, 4, 5}, right[] = {2, 3, 6, 7}, all[] = {0, 1, 2, 3, 4, 5, 6, 7},
                 pair[] = {0, 1}, end[] = {2, 3};
    double two[2 * D], one[2 * D], v[D], shifted[2 * D];
    normal_of(4, left, W_is, two);
    normal_of(4, right, W_is, two);
    normal_of(8, all, W_is, one);
    normal_of(2, pair, v_is, v);
    normal_of(2, end, v_is, v);
    for (size_t i = 0; i < 2 * D; i++)
        shifted[i] = two[i] * 0.75 + v_is[i % D];
    assert_value(&q, dp_group_norm(q.W, 2, dp_num(1), dp_num(0)), 2 * D, two);
    assert_value(&q, dp_group_norm(q.W, 1, dp_num(1), dp_num(0)), 2 * D, one);
    assert_value(&q, dp_group_norm(q.v, 2, dp_num(1), dp_num(0)), D, v);
    assert_value(&q, dp_group_norm(q.W, 2, dp_num(0.75), q.v), 2 * D, shifted);
    dp_model_free(q.m);
}

/* ---- what does not fit ---- */

static dp_expr three_groups(dp_expr a)
{
    return dp_group_norm(a, 3, dp_num(1), dp_num(0));
}
static dp_expr no_groups(dp_expr a)
{
    return dp_group_norm(a, 0, dp_num(1), dp_num(0));
}
static dp_expr layer(dp_expr a)
{
    return dp_layer_norm(a, dp_num(1), dp_num(0));
}

static void misfits_are_told_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        dp_expr (*call)(dp_expr);
        bool number;
        const char *says;
    } misfits[] = {{three_groups, false, "no whole number of"},
                   {no_groups, false, "no whole number of"},
                   {three_groups, true, "no whole number of"},
                   {layer, true, "no dimension to be"},
                   {dp_softmax, true, "log_sum_exp takes a vector or rows"}};
    for (size_t k = 0; k < sizeof misfits / sizeof misfits[0]; k++) {
        scene q = begin();
        dp_expr bad = misfits[k].call(misfits[k].number ? q.s : q.v);
        assert_int_equal(bad.id, DPI_NONE);
        assert_int_equal(dp_model_status(q.m), DP_ESHAPE);
        assert_contains(dp_model_error(q.m), misfits[k].says);
        for (size_t i = 0; i < N_ACTIVATIONS; i++) /* failed expressions pass through */
            assert_int_equal(activations[i].call(bad).id, DPI_NONE);
        assert_int_equal(dp_softmax(bad).id, DPI_NONE);
        assert_int_equal(layer(bad).id, DPI_NONE);
        assert_int_equal(three_groups(bad).id, DPI_NONE);
        dp_model_free(q.m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_work_on_each_number),
        cmocka_unit_test(activations_at_their_kinks_and_ends),
        cmocka_unit_test(softmax_is_of_the_last_dimension),
        cmocka_unit_test(softmax_does_not_overflow),
        cmocka_unit_test(layers_are_normalised_row_by_row),
        cmocka_unit_test(groups_of_channels_are_normalised_over_pixels),
        cmocka_unit_test(misfits_are_told_with_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
