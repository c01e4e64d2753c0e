#include "crypto/ntt.h"

#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 8192 };

static uint64_t a[MOST], b[MOST], c[MOST], d[MOST];

static const dpi_ntt_kernel *const kernels[] = {&dpi_ntt_portable, &dpi_ntt_avx2, &dpi_ntt_ifma};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void fill(uint64_t *x, size_t n, uint64_t q, uint64_t *seed)
{
    for (size_t j = 0; j < n; j++)
        x[j] = (uint64_t)((next_number(seed) + 1) / 2 * (double)q) % q;
}

/* c = a b modulo X^n + 1, from the definition. */
static void schoolbook(const dpi_modulus *m, size_t n)
{
    memset(c, 0, n * sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            uint64_t product = dpi_modulus_multiply(m, a[i], b[j]);
            uint64_t *at = &c[(i + j) % n];
            *at = i + j < n ? dpi_modulus_add(m, *at, product)
                            : dpi_modulus_subtract(m, *at, product);
        }
}

static dpi_ntt *made(size_t n, uint64_t q, const dpi_ntt_kernel *kernel)
{
    dp_error err = {0};
    dpi_ntt *t;
    assert_ok(dpi_ntt_new(n, q, kernel, &t, &err), err.text);
    return t;
}

/* a becomes a b by the transform. */
static void by_transform(const dpi_ntt *t)
{
    dpi_ntt_forward(t, a);
    dpi_ntt_forward(t, b);
    t->kernel->multiply(t, a, b, a);
    dpi_ntt_inverse(t, a);
}

static void check_products(const dpi_ntt_kernel *kernel)
{
    uint64_t seed = 7;
    for (size_t n = 2; n <= 512; n *= 2)
        for (int bits = 50; bits > 12; bits -= 9) {
            uint64_t q = dpi_modulus_find(bits, 2 * n, 0);
            dpi_ntt *t = made(n, q, kernel);
            for (int i = 0; i < 4; i++) {
                fill(a, n, q, &seed);
                fill(b, n, q, &seed);
                for (size_t j = 0; i == 3 && j < n; j++)
                    a[j] = b[j] = q - 1;
                schoolbook(&t->m, n);
                by_transform(t);
                assert_memory_equal(a, c, n * sizeof *a);
            }
            dpi_ntt_free(t);
        }
}

static void products_are_those_of_the_schoolbook(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNELS; k++)
        if (kernels[k]->runs_here())
            check_products(kernels[k]);
}

/* Place j is the value at zeta^(2 rev(j) + 1). */
static void places_are_values_at_odd_powers(void **state)
{
    (void)state;
    enum { N = 64, LOG = 6 };
    uint64_t q = dpi_modulus_find(50, 2 * N, 0), seed = 3;
    dpi_ntt *t = made(N, q, NULL);
    fill(a, N, q, &seed);
    memcpy(b, a, sizeof b);
    dpi_ntt_forward(t, a);
    for (size_t j = 0; j < N; j++) {
        size_t reversed = 0;
        for (int i = 0; i < LOG; i++)
            reversed |= (j >> i & 1) << (LOG - 1 - i);
        uint64_t at = dpi_modulus_power(&t->m, dpi_modulus_root(&t->m, N), 2 * reversed + 1);
        uint64_t value = 0;
        for (size_t i = N; i-- > 0;)
            value = dpi_modulus_add(&t->m, dpi_modulus_multiply(&t->m, value, at), b[i]);
        assert_int_equal(a[j], value);
    }
    dpi_ntt_free(t);
}

static void scaling_is_multiplication(void **state)
{
    (void)state;
    const uint64_t q = dpi_modulus_find(50, 128, 0), factors[] = {0, 1, 2, q / 3, q - 1};
    dpi_ntt *t = made(64, q, &dpi_ntt_portable);
    uint64_t seed = 5;
    for (size_t k = 0; k < 5; k++) {
        fill(a, 64, q, &seed);
        a[0] = q - 1;
        memcpy(b, a, sizeof b);
        t->kernel->scale(t, factors[k], dpi_ntt_beside(t, factors[k]), a);
        for (size_t j = 0; j < 64; j++)
            assert_int_equal(a[j], dpi_modulus_multiply(&t->m, factors[k], b[j]));
    }
    dpi_ntt_free(t);
}

static void transforms_of_serving_size_multiply(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (size_t n = 4096; n <= MOST; n *= 2) {
        uint64_t q = dpi_modulus_find(50, 2 * n, 0);
        dpi_ntt *t = made(n, q, NULL);
        fill(a, n, q, &seed);
        memset(b, 0, sizeof b);
        /* Three powers of X, so that the schoolbook is short. */
        b[0] = 5;
        b[n / 2 + 1] = q - 3;
        b[n - 1] = 77;
        for (size_t i = 0; i < n; i++) {
            uint64_t sum = dpi_modulus_multiply(&t->m, 5, a[i]);
            for (size_t k = 0; k < 2; k++) {
                size_t shift = k == 0 ? n / 2 + 1 : n - 1;
                uint64_t p = dpi_modulus_multiply(&t->m, b[shift], a[(i + n - shift) % n]);
                sum = i < shift ? dpi_modulus_subtract(&t->m, sum, p)
                                : dpi_modulus_add(&t->m, sum, p);
            }
            c[i] = sum;
        }
        by_transform(t);
        assert_memory_equal(a, c, n * sizeof *a);
        dpi_ntt_free(t);
    }
}

/* Extremes, and numbers scattered as well. */
static void fill_case(uint64_t *x, size_t n, uint64_t q, int kind, uint64_t *seed)
{
    fill(x, n, q, seed);
    for (size_t j = 0; kind < 3 && j < n; j++)
        x[j] = kind == 0 ? q - 1 : kind == 1 ? 0 : j % 2 * (q - 1);
}

/* Long transforms, which have most stages, with primes about where vectors begin to be lazy, and
 * with the largest. */
static void late_reduction_loses_nothing(void **state)
{
    (void)state;
    static uint64_t x[KERNELS + 1][1 << 17];
    dpi_ntt *t[KERNELS];
    const int bits[] = {50, 48, 47, 46, 45};
    uint64_t seed = 17;
    for (size_t n = 16; n <= (size_t)1 << 17; n *= n < 8192 ? 8 : 4)
        for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
            const uint64_t q = dpi_modulus_find(bits[k], 2 * n, 0);
            for (size_t i = 0; i < KERNELS; i++)
                t[i] = made(n, q, kernels[i]->runs_here() ? kernels[i] : NULL);
            for (int kind = 0; kind < 4; kind++) {
                fill_case(x[KERNELS], n, q, kind, &seed);
                for (size_t i = 0; i < KERNELS; i++) {
                    memcpy(x[i], x[KERNELS], n * sizeof **x);
                    dpi_ntt_forward(t[i], x[i]);
                    assert_memory_equal(x[i], x[0], n * sizeof **x);
                }
                for (size_t i = 0; i < KERNELS; i++) {
                    dpi_ntt_inverse(t[i], x[i]);
                    assert_memory_equal(x[i], x[KERNELS], n * sizeof **x);
                }
            }
            for (size_t i = 0; i < KERNELS; i++)
                dpi_ntt_free(t[i]);
        }
}

static void check_against_portable(const dpi_ntt_kernel *kernel)
{
    uint64_t seed = 13;
    for (size_t n = 16; n <= MOST; n *= 2)
        for (int bits = 50; bits >= 20; bits -= 6) {
            uint64_t q = dpi_modulus_find(bits, 2 * n, 1);
            dpi_ntt *plain = made(n, q, &dpi_ntt_portable), *fast = made(n, q, kernel);
            assert_ptr_equal(fast->kernel, kernel);
            for (int kind = 0; kind < 5; kind++) {
                fill_case(a, n, q, kind, &seed);
                fill(b, n, q, &seed);
                memcpy(c, a, sizeof c);
                memcpy(d, b, sizeof d);
                plain->kernel->multiply_add(plain, a, b, b);
                fast->kernel->multiply_add(fast, c, d, d);
                assert_memory_equal(b, d, n * sizeof *b);
                dpi_ntt_forward(plain, a);
                dpi_ntt_forward(fast, c);
                assert_memory_equal(a, c, n * sizeof *a);
                plain->kernel->multiply(plain, a, b, a);
                fast->kernel->multiply(fast, c, d, c);
                assert_memory_equal(a, c, n * sizeof *a);
                dpi_ntt_inverse(plain, a);
                dpi_ntt_inverse(fast, c);
                assert_memory_equal(a, c, n * sizeof *a);
                plain->kernel->add(plain, a, b, a);
                fast->kernel->add(fast, c, d, c);
                assert_memory_equal(a, c, n * sizeof *a);
                plain->kernel->subtract(plain, b, a, a);
                fast->kernel->subtract(fast, d, c, c);
                assert_memory_equal(a, c, n * sizeof *a);
                const uint64_t w = q - 1 - (uint64_t)kind;
                plain->kernel->scale(plain, w, dpi_ntt_beside(plain, w), a);
                fast->kernel->scale(fast, w, dpi_ntt_beside(fast, w), c);
                assert_memory_equal(a, c, n * sizeof *a);
            }
            dpi_ntt_free(plain);
            dpi_ntt_free(fast);
        }
}

static void kernels_agree_bit_for_bit(void **state)
{
    (void)state;
    for (size_t k = 1; k < KERNELS; k++)
        if (kernels[k]->runs_here())
            check_against_portable(kernels[k]);
}

/* floor(w 2^bits / q) bit by bit, also where half or all of the bits leave a rest of 0, 1 or q - 1,
 * which a quotient of doubles takes for the next number. */
static void factors_have_their_quotients_beside_them(void **state)
{
    (void)state;
    enum { N = 64, RANDOM = 200 };
    uint64_t seed = 11;
    for (int bits = 16; bits <= 50; bits += 2)
        for (size_t k = 0; k < KERNELS; k++) {
            dpi_ntt *t;
            dp_error err = {0};
            if (!kernels[k]->runs_here())
                continue;
            const uint64_t q = dpi_modulus_find(bits, 2 * N, 0);
            assert_ok(dpi_ntt_new(N, q, kernels[k], &t, &err), err.text);
            const uint64_t half = dpi_modulus_power(&t->m, 2, (uint64_t)kernels[k]->bits / 2);
            const uint64_t back = dpi_modulus_inverse(&t->m, half);
            uint64_t w[RANDOM + 8] = {0, 1, q - 1, back, q - back};
            w[5] = dpi_modulus_multiply(&t->m, back, back);
            w[6] = q - w[5];
            w[7] = q / 2;
            fill(w + 8, RANDOM, q, &seed);
            for (size_t i = 0; i < RANDOM + 8; i++) {
                uint64_t rest = w[i], quotient = 0;
                for (int j = 0; j < kernels[k]->bits; j++) {
                    quotient = 2 * quotient + (2 * rest >= q);
                    rest = 2 * rest >= q ? 2 * rest - q : 2 * rest;
                }
                assert_true(dpi_ntt_beside(t, w[i]) == quotient);
            }
            dpi_ntt_free(t);
        }
}

/* Sums of up to 31 products: of the largest residues, of any, and such as are about q / 2, which are
 * farthest from 0 where residues have signs. */
static void sums_of_products_are_those_of_single_ones(void **state)
{
    (void)state;
    enum { N = 64, TERMS = 31 };
    static uint64_t left[TERMS][N], right[TERMS][N], sum[N], other[N], expected[N], squares[N];
    static const size_t counts[] = {1, 2, 14, 15, 16, 30, TERMS};
    const uint64_t *x[TERMS], *y[TERMS];
    uint64_t seed = 9;
    for (int bits = 20; bits <= 50; bits += 30)
        for (size_t kind = 0; kind < 3 * KERNELS; kind++) {
            dpi_ntt *t;
            dp_error err = {0};
            const dpi_ntt_kernel *kernel = kernels[kind % KERNELS];
            if (!kernel->runs_here())
                continue;
            const uint64_t q = dpi_modulus_find(bits, 2 * N, 0);
            assert_ok(dpi_ntt_new(N, q, kernel, &t, &err), err.text);
            for (size_t i = 0; i < TERMS; i++) {
                fill(left[i], N, q, &seed);
                fill(right[i], N, q, &seed);
                for (size_t j = 0; j < N && kind < KERNELS; j++)
                    left[i][j] = right[i][j] = q - 1;
                for (size_t j = 0; j < N && kind >= 2 * KERNELS; j++) {
                    left[i][j] = 1;
                    right[i][j] = q / 2 - 1;
                }
                x[i] = left[i];
                y[i] = right[i];
            }
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                const dpi_ntt_terms terms = {counts[k], x, y, x};
                memset(expected, 0, sizeof expected);
                memset(squares, 0, sizeof squares);
                for (size_t i = 0; i < counts[k]; i++) {
                    dpi_ntt_portable.multiply_add(t, left[i], right[i], expected);
                    dpi_ntt_portable.multiply_add(t, left[i], left[i], squares);
                }
                t->kernel->inner(t, &terms, sum, other);
                assert_memory_equal(sum, expected, sizeof sum);
                assert_memory_equal(other, squares, sizeof other);
            }
            dpi_ntt_free(t);
        }
}

/* Weights below q, of numbers that need not be; of 1 the last third. */
static void sums_by_weights_are_those_of_single_ones(void **state)
{
    enum { N = 64, TERMS = 31 };
    static uint64_t left[TERMS][N], sum[N], expected[N];
    static const size_t counts[] = {1, 15, 16, TERMS};
    const uint64_t *x[TERMS], most = ((uint64_t)1 << 50) - 1;
    uint64_t seed = 10, w[TERMS];
    (void)state;
    for (int bits = 20; bits <= 50; bits += 15)
        for (size_t kind = 0; kind < 3 * KERNELS; kind++) {
            if (!kernels[kind % KERNELS]->runs_here())
                continue;
            const uint64_t q = dpi_modulus_find(bits, 2 * N, 0);
            dpi_ntt *t = made(N, q, kernels[kind % KERNELS]);
            fill(w, TERMS, q, &seed);
            for (size_t i = 0; i < TERMS; i++) {
                fill(left[i], N, most, &seed);
                for (size_t j = 0; j < N && kind < KERNELS; j++)
                    left[i][j] = most;
                for (size_t j = 0; j < N && kind >= 2 * KERNELS; j++)
                    left[i][j] = 1;
                w[i] = kind < KERNELS ? q - 1 : kind < 2 * KERNELS ? w[i] : q / 2 - 1;
                x[i] = left[i];
            }
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                memset(expected, 0, sizeof expected);
                for (size_t i = 0; i < counts[k]; i++)
                    for (size_t j = 0; j < N; j++)
                        expected[j] = dpi_modulus_add(
                            &t->m, expected[j], dpi_modulus_multiply(&t->m, left[i][j] % q, w[i]));
                t->kernel->weigh(t, counts[k], x, w, sum);
                assert_memory_equal(sum, expected, sizeof sum);
            }
            dpi_ntt_free(t);
        }
}

static bool nowhere(void)
{
    return false;
}

static void wrong_sizes_and_moduli_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_ntt *t;
    assert_fails(dpi_ntt_new(24, 12289, NULL, &t, &err), DP_EINVAL, &err, "not 24");
    assert_null(t);
    assert_fails(dpi_ntt_new(1, 12289, NULL, &t, &err), DP_EINVAL, &err, "not 1");
    assert_fails(dpi_ntt_new((size_t)1 << 18, 12289, NULL, &t, &err), DP_EINVAL, &err, "places");
    assert_fails(dpi_ntt_new(4096, 12289, NULL, &t, &err), DP_EINVAL, &err, "1 mod 8192");
    assert_fails(dpi_ntt_new(2, 12285, NULL, &t, &err), DP_EINVAL, &err, "a prime");
    const dpi_ntt_kernel none = {.name = "none", .runs_here = nowhere, .least_n = 2};
    assert_fails(dpi_ntt_new(4096, 40961, &none, &t, &err), DP_EUNSUPPORTED, &err, "none");
    dpi_ntt_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_have_their_quotients_beside_them),
        cmocka_unit_test(sums_of_products_are_those_of_single_ones),
        cmocka_unit_test(sums_by_weights_are_those_of_single_ones),
        cmocka_unit_test(products_are_those_of_the_schoolbook),
        cmocka_unit_test(places_are_values_at_odd_powers),
        cmocka_unit_test(scaling_is_multiplication),
        cmocka_unit_test(transforms_of_serving_size_multiply),
        cmocka_unit_test(late_reduction_loses_nothing),
        cmocka_unit_test(kernels_agree_bit_for_bit),
        cmocka_unit_test(wrong_sizes_and_moduli_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
