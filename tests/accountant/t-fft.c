/* Convolution powers against long double, and the error bound. */
#include "accountant/grid/fft.h"

#include <math.h>
#include <pthread.h>

#include "base/alloc.h"
#include "tests/lib/check.h"

/* One factor alone, raised to a power. */
static bool power_of(double *data, size_t n, double steps, double *error)
{
    dpi_convolution *p = dpi_convolution_new(n, data, 1);
    if (p == NULL)
        return false;
    dpi_convolution_multiply(p, steps);
    *error = dpi_convolution_finish(p);
    dpi_convolution_free(p);
    return true;
}

/* Power by squaring with the plain O(n^2) convolution. */
static void convolve(const long double *a, const long double *b, long double *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            c[(i + j) % n] += a[i] * b[j];
}

enum { N = 256 };

static void plain_power(const double *t, int steps, long double *result)
{
    long double base[N], square[N], next[N];
    for (int i = 0; i < N; i++) {
        base[i] = t[i];
        result[i] = i == 0;
    }
    for (; steps > 0; steps /= 2) {
        if (steps % 2) {
            convolve(result, base, next, N);
            for (int i = 0; i < N; i++)
                result[i] = next[i];
        }
        convolve(base, base, square, N);
        for (int i = 0; i < N; i++)
            base[i] = square[i];
    }
}

/* Mass e^(-decay i) on the first N/3 places, and a share of it around place 0 and at its left. */
static void make(double *t, double decay, double at_zero)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += t[i] = i < N / 3 ? exp(-decay * i) : 0;
    t[N - 2] = 0.1 * sum;
    sum *= 1.1;
    for (int i = 0; i < N; i++)
        t[i] *= (1 - at_zero) / sum;
    t[0] += at_zero;
}

static void power_is_within_its_bound(void **state)
{
    (void)state;
    const double at_zero[] = {0, 0.3, 0.9, 0.999999};
    const int steps[] = {2, 3, 7, 50, 1000};
    double *t = dpi_alloc(N + 2, sizeof *t);
    assert_non_null(t);
    for (int a = 0; a < 4; a++) {
        for (int s = 0; s < 5; s++) {
            long double exact[N];
            double error = -1;
            make(t, 0.2, at_zero[a]);
            plain_power(t, steps[s], exact);
            assert_true(power_of(t, N, steps[s], &error));
            assert_true(error >= 0 && error < 3e-14 * steps[s]);
            for (int i = 0; i < N; i++)
                assert_true(fabsl(t[i] - exact[i]) <= error + 2e-16L * steps[s]);
        }
    }
    dpi_free(t);
}

/* Two factors are kept apart until the last; the sum of their powers is one power of one. */
static void several_factors_are_one_power(void **state)
{
    (void)state;
    const double at_zero[] = {0, 0.9};
    double *one = dpi_alloc(N + 2, sizeof *one), *two = dpi_alloc(N + 2, sizeof *two);
    assert_true(one != NULL && two != NULL);
    for (int a = 0; a < 2; a++) {
        double error = -1, both;
        make(one, 0.2, at_zero[a]);
        assert_true(power_of(one, N, 50, &error));
        make(two, 0.2, at_zero[a]);
        dpi_convolution *p = dpi_convolution_new(N, two, 2);
        assert_non_null(p);
        dpi_convolution_multiply(p, 43);
        make(two, 0.2, at_zero[a]);
        dpi_convolution_multiply(p, 7);
        both = dpi_convolution_finish(p);
        dpi_convolution_free(p);
        assert_true(both > 0 && both < 1e-11);
        for (int i = 0; i < N; i++)
            assert_true(fabs(one[i] - two[i]) <= error + both);
    }
    dpi_free(one);
    dpi_free(two);
}

static void impulse_moves_by_steps(void **state)
{
    (void)state;
    double *t = dpi_alloc(1024 + 2, sizeof *t);
    assert_non_null(t);
    t[3] = 1;
    double error;
    assert_true(power_of(t, 1024, 1001, &error));
    for (int i = 0; i < 1024; i++)
        assert_true(fabs(t[i] - (i == 3003 % 1024)) <= error);
    dpi_free(t);
}

static void bound_grows_with_the_size(void **state)
{
    (void)state;
    assert_true(dpi_fft_error(1 << 10) < dpi_fft_error(1 << 20));
    assert_true(dpi_fft_error(1 << 24) < 1e-13);
}

static void *power_in_thread(void *result)
{
    double *t = dpi_alloc(N + 2, sizeof *t), error;
    bool good = t != NULL;
    for (int i = 0; good && i < 50; i++) {
        make(t, 0.2, 0.1);
        good = power_of(t, N, 7, &error);
    }
    *(double *)result = good ? t[20] : NAN;
    dpi_free(t);
    return NULL;
}

static void threads_get_the_same_bits(void **state)
{
    (void)state;
    double results[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, power_in_thread, &results[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_true(results[i] == results[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_is_within_its_bound),
        cmocka_unit_test(several_factors_are_one_power),
        cmocka_unit_test(impulse_moves_by_steps),
        cmocka_unit_test(bound_grows_with_the_size),
        cmocka_unit_test(threads_get_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
