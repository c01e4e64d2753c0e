/* Splines as parts of a model: B-splines against de Boor's recursion, what a smooth function finds
 * of a sine, without privacy and with it, and what is refused. */
#include <math.h>

#include <tacit/infer.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 1500, GRID = 101 };

static double x[N], y[N], grid[GRID], found[GRID];

static double truth(double at)
{
    return 0.5 + sin(at);
}

static dp_dataset *records(void)
{
    world_uniform(1, N, x);
    world_normal(2, N, y);
    for (int i = 0; i < N; i++) {
        x[i] = 10 * x[i] - 5;
        y[i] = truth(x[i]) + 0.5 * y[i];
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

static dp_model *smooth_model(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 5));
    dp_expr s = dp_sample(m, "s", 1, dp_half_normal(1));
    const dp_smooth_opts o = {.low = -5, .high = 5, .functions = 12};
    dp_expr f = dp_add(a, dp_smooth(dp_data(rows, "x", 1), "curve", &o));
    (void)dp_deterministic(m, "f", f);
    dp_observe(rows, "y", dp_normal_v(f, s));
    return m;
}

/* Root of the mean square of f less the truth over the range. */
static double off(const dp_fit_opts *opts)
{
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = smooth_model();
    dp_dataset *data = records(), *at = dp_dataset_new(GRID);
    assert_ok(dp_fit_private(m, data, opts, &fit, &err), err.text);
    for (int k = 0; k < GRID; k++)
        grid[k] = -5 + 10.0 * k / (GRID - 1);
    dp_dataset_real(at, "x", 1, grid);
    world_value(fit, at, "f", GRID, found);
    double sum = 0;
    for (int k = 0; k < GRID; k++)
        sum += (found[k] - truth(grid[k])) * (found[k] - truth(grid[k])) / GRID;
    dp_fit_free(fit);
    dp_dataset_free(at);
    dp_dataset_free(data);
    dp_model_free(m);
    return sqrt(sum);
}

static void a_smooth_function_finds_a_sine(void **state)
{
    (void)state;
    /* The best straight line is .7 off; with 13 coefficients the least is .5 sqrt(13 / N) = .05. */
    const dp_fit_opts plain = {.mode = DP_NO_PRIVACY, .seed = 1};
    const dp_fit_opts noisy = {.epsilon = 4, .delta = 1e-6, .seed = 1};
    double without = off(&plain), with = off(&noisy);
    print_message("off by %g without privacy, %g at epsilon 4\n", without, with);
    assert_true(without < 0.08);
    assert_true(with < 0.2);
}

/* B_j of degree d at u by de Boor's recursion. */
static double recursion(size_t d, const double *t, size_t j, double u)
{
    if (d == 0)
        return u >= t[j] && u < t[j + 1];
    return (u - t[j]) / (t[j + d] - t[j]) * recursion(d - 1, t, j, u) +
           (t[j + d + 1] - u) / (t[j + d + 1] - t[j + 1]) * recursion(d - 1, t, j + 1, u);
}

/* Values of the functions as the model has them, by a fit whose posterior nobody asks. */
static void b_splines_are_those_of_the_recursion(void **state)
{
    (void)state;
    enum { D = 3, INTERIOR = 2, M = INTERIOR + D + 1 };
    static const double interior[INTERIOR] = {2, 3};
    static const double t[] = {-2, -1, 0, 1, 2, 3, 4, 5, 6, 7}; /* one apart beyond 1 ... 4, too */
    static double value[GRID][M];
    dp_error err = {0};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    const dp_spline s = {.low = 1, .high = 4, .interior = interior, .n_interior = INTERIOR};
    dp_expr basis = dp_spline_basis(dp_data(rows, "x", 1), &s);
    dp_expr w = dp_sample(m, "w", M, dp_normal(0, 1));
    (void)dp_deterministic(m, "basis", basis);
    dp_observe(rows, "y", dp_normal_v(dp_dot(basis, w), dp_num(1)));
    for (int k = 0; k < GRID; k++) {
        x[k] = 0.5 + 4.0 * k / (GRID - 1);
        y[k] = 0;
    }
    dp_dataset *data = dp_dataset_new(GRID);
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    dp_fit *fit;
    const dp_fit_opts plain = {.mode = DP_NO_PRIVACY, .seed = 1};
    assert_ok(dp_fit_private(m, data, &plain, &fit, &err), err.text);
    world_value(fit, data, "basis", GRID * M, &value[0][0]);
    for (int k = 0; k < GRID; k++) {
        double at = fmin(fmax(x[k], 1), 4), sum = 0;
        for (size_t j = 0; j < M; j++) {
            sum += value[k][j];
            assert_close(value[k][j], recursion(D, t, j, at), 0, 1e-12);
        }
        assert_close(sum, 1, 1e-12, 0);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void what_is_no_spline_is_refused(void **state)
{
    (void)state;
    static const double falling[] = {0.5, 0.2}, outside[] = {2};
    const dp_spline splines[] = {{.low = 1, .high = 1},
                                 {.low = 0, .high = INFINITY},
                                 {.low = 0, .high = 1, .degree = 6},
                                 {.low = 0, .high = 1, .n_interior = 97},
                                 {.low = 0, .high = 1, .n_interior = 2, .interior = falling},
                                 {.low = 0, .high = 1, .n_interior = 1, .interior = outside}};
    static const char *const says[] = {"low < high", "low < high", "degree is 1 to 5",
                                       "at most 96", "must rise",  "must rise"};
    for (size_t k = 0; k < sizeof says / sizeof says[0]; k++) {
        dp_model *m = dp_model_new();
        dp_expr column = dp_data(dp_unit_plate(m, "rows"), "x", 1);
        assert_int_equal(dp_spline_basis(column, &splines[k]).id, -1);
        assert_contains(dp_model_error(m), says[k]);
        dp_model_free(m);
    }
    const dp_smooth_opts smooths[] = {{.low = 2, .high = 1},
                                      {.low = 0, .high = 1, .functions = 3},
                                      {.low = 0, .high = 1, .functions = 101},
                                      {.low = 0, .high = 1, .sd_scale = -1},
                                      {.low = 0, .high = 1}};
    static const char *const words[] = {"low < high", "4 to 100", "4 to 100", "above 0",
                                        "x must be one number"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        dp_model *m = dp_model_new();
        dp_expr column = dp_data(dp_unit_plate(m, "rows"), "x", k < 4 ? 1 : 2);
        assert_int_equal(dp_smooth(column, "f", &smooths[k]).id, -1);
        assert_contains(dp_model_error(m), words[k]);
        dp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smooth_function_finds_a_sine),
        cmocka_unit_test(b_splines_are_those_of_the_recursion),
        cmocka_unit_test(what_is_no_spline_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
