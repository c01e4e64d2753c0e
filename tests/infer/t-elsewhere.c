/* What is known elsewhere of a linear predictor's information, against sums over a fine grid. */
#include "infer/elsewhere.h"

#include <math.h>
#include <string.h>

#include "num/matrix.h"
#include "tests/lib/check.h"

enum { N = 3, GRID = 241 };

static double of_logit(const void *of, double eta)
{
    const double p = 1 / (1 + exp(-eta));
    (void)of;
    return p * (1 - p);
}

static double of_count(const void *of, double eta)
{
    (void)of;
    return exp(eta);
}

static double of_level(const void *of, double eta)
{
    (void)of, (void)eta;
    return 0.3;
}

/* F(theta) of 1000 records (1, u, .6 u + .8 v + .2) with u and v standard normal. */
static void sum_grid(double (*phi)(const void *, double), const double *theta, double *f)
{
    double total = 0;
    memset(f, 0, N * N * sizeof *f);
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            const double u = 14.0 * i / (GRID - 1) - 7, v = 14.0 * j / (GRID - 1) - 7;
            const double x[N] = {1, u, .6 * u + .8 * v + .2}, weight = exp(-(u * u + v * v) / 2);
            const double eta = theta[0] + theta[1] * x[1] + theta[2] * x[2];
            total += weight;
            for (int a = 0; a < N * N; a++)
                f[a] += weight * phi(NULL, eta) * x[a / N] * x[a % N];
        }
    for (int a = 0; a < N * N; a++)
        f[a] *= 1000 / total;
}

static void go(double (*phi)(const void *, double), const double *from, const double *to, double *f)
{
    const dpi_predictor_told l = {.n = N, .constant = 0, .phi = phi};
    dp_error err = {0};
    bool known = false;
    assert_ok(dpi_elsewhere(&l, from, to, f, &known, &err), err.text);
    assert_true(known);
}

static void assert_near(const double *f, const double *expected, double share)
{
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            const double unit = sqrt(expected[a * N + a] * expected[b * N + b]);
            assert_close(f[a * N + b], expected[a * N + b], 0, share * unit);
        }
}

static const double nowhere[N] = {0}, near_by[N] = {-.5, .7, -.4}, steep[N] = {-1, 2.5, 1.5};

/* At 0 all records of two levels weigh the same, and are normal; of counts they are everywhere. */
static void normal_columns_are_known_exactly(void **state)
{
    double f[N * N], expected[N * N];
    (void)state;
    sum_grid(of_logit, nowhere, f);
    go(of_logit, nowhere, steep, f);
    sum_grid(of_logit, steep, expected);
    assert_true(expected[0] < 125); /* half of that is gone, which is what is told */
    assert_near(f, expected, 2e-3);
    sum_grid(of_count, near_by, f);
    go(of_count, near_by, (const double[N]){-.2, -.3, .5}, f);
    sum_grid(of_count, (const double[N]){-.2, -.3, .5}, expected);
    assert_near(f, expected, 2e-3);
    sum_grid(of_level, near_by, f);
    sum_grid(of_level, near_by, expected);
    go(of_level, near_by, steep, f);
    assert_near(f, expected, 1e-4);
}

/* In ten steps: each takes weighted records for normal ones, which they no longer are. */
static void steps_come_near(void **state)
{
    double f[N * N], expected[N * N], from[N] = {0}, to[N];
    (void)state;
    sum_grid(of_logit, nowhere, f);
    for (int k = 1; k <= 10; k++) {
        for (int i = 0; i < N; i++)
            to[i] = k * steep[i] / 10;
        go(of_logit, from, to, f);
        memcpy(from, to, sizeof from);
    }
    sum_grid(of_logit, steep, expected);
    assert_near(f, expected, 0.12);
    go(of_logit, steep, steep, f);
    assert_near(f, expected, 0.12);
}

static void what_changes_too_much_is_not_known(void **state)
{
    const dpi_predictor_told l = {.n = N, .constant = 0, .phi = of_count};
    const double far[N] = {3, 0, 0};
    double f[N * N], before[N * N];
    dp_error err = {0};
    bool known = true;
    (void)state;
    sum_grid(of_count, nowhere, f);
    memcpy(before, f, sizeof f);
    assert_ok(dpi_elsewhere(&l, nowhere, far, f, &known, &err), err.text);
    assert_true(!known);
    assert_memory_equal(f, before, sizeof f);
}

/* Columns that are the same, and one that is constant beside the constant. */
static void dependent_columns_stay_dependent(void **state)
{
    double f[N * N] = {250, 500, 250, 500, 1000, 500, 250, 500, 250}, w[N], v[N * N];
    dp_error err = {0};
    (void)state;
    go(of_logit, nowhere, near_by, f);
    for (int a = 0; a < N * N; a++)
        assert_close(f[a] / f[0], (a / N == 1 ? 2. : 1.) * (a % N == 1 ? 2. : 1.), 1e-9, 0);
    assert_ok(dpi_matrix_eigen(N, f, w, v, &err), err.text);
    for (int a = 0; a < N; a++)
        assert_true(w[a] > -1e-9 * f[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_columns_are_known_exactly),
        cmocka_unit_test(steps_come_near),
        cmocka_unit_test(what_changes_too_much_is_not_known),
        cmocka_unit_test(dependent_columns_stay_dependent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
