/* Matrices and polynomials on encrypted vectors: as without encryption, within their bounds; and a
 * regression and a network of these. */
#include "fhe/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fhe/polynomial.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1024, TURNS = 128 };

static uint64_t seed = 1;

static void begin(toy *s, int log_n, size_t depth)
{
    const dpi_ckks_spec spec = {.log_n = log_n,
                                .first_bits = 50,
                                .scale_bits = 40,
                                .depth = depth,
                                .special = 2,
                                .alpha = 2,
                                .toy = true};
    toy_begin(s, &spec, NULL, 7, "a test of matrices");
}

/* Keys for what a matrix needs and has not. */
static void add_keys(toy *s, const dpi_ckks_matrix *m)
{
    int steps[TURNS];
    const size_t n = dpi_ckks_matrix_turns(m, NULL);
    assert_true(n <= TURNS);
    assert_int_equal(dpi_ckks_matrix_turns(m, steps), n);
    for (size_t k = 0; k < n; k++)
        toy_add_turn(s, steps[k]);
}

static void product(size_t rows, size_t columns, const double *w, const double *x, double *y)
{
    for (size_t i = 0; i < rows; i++) {
        y[i] = 0;
        for (size_t j = 0; j < columns; j++)
            y[i] += w[i * columns + j] * x[j];
    }
}

/* ---- matrices ---- */

static void matrix_of(toy *s, size_t rows, size_t columns, size_t turns)
{
    static double w[MOST * 64], x[MOST], y[MOST], got[MOST];
    dpi_ckks_matrix *m;
    dpi_ckks_cipher to;
    dp_error err = {0};
    toy_draw(&seed, rows * columns, 1, w);
    memset(x, 0, sizeof x);
    toy_draw(&seed, columns, 1, x);
    product(rows, columns, w, x, y);
    assert_ok(dpi_ckks_matrix_new(s->c, rows, columns, w, 2, s->room, &m, &err), err.text);
    assert_int_equal(dpi_ckks_matrix_turns(m, NULL), turns);
    add_keys(s, m);
    dpi_ckks_cipher in = toy_encrypted(s, 2, dpi_ckks_matrix_places(m), x);
    assert_ok(dpi_ckks_cipher_new(s->c, 2, &to, &err), err.text);
    assert_ok(dpi_ckks_matrix_apply(s->c, m, &in, &s->turns, s->room, &to, &err), err.text);
    assert_int_equal(to.level, 1);
    toy_decrypted(s, &to, dpi_ckks_matrix_made(m), got, NULL);
    const double off = toy_largest(rows, y, got);
    assert_true(off <= dpi_ckks_error(&to) && off > 0);
    for (size_t k = rows; k < dpi_ckks_matrix_made(m); k++) /* rows of zeros */
        assert_true(fabs(got[k]) <= dpi_ckks_error(&to));
    dpi_ckks_cipher_free(&in);
    dpi_ckks_cipher_free(&to);
    dpi_ckks_matrix_free(m);
}

/* baby - 1 + giant - 1 rotations, and log2(places / made). */
static void matrices_are_applied(void **state)
{
    static toy s;
    (void)state;
    begin(&s, 11, 2);
    matrix_of(&s, 1, 1, 0);
    matrix_of(&s, 1, 100, 7);
    matrix_of(&s, 10, 64, 3 + 3 + 2);
    matrix_of(&s, 64, 64, 7 + 7);
    matrix_of(&s, 50, 784, 7 + 7 + 4);
    matrix_of(&s, 33, 5, 7 + 4); /* of 5 columns some diagonals are zeros */
    toy_end(&s);
}

/* A convolution has few diagonals, and others cost nothing. */
static void diagonals_of_zeros_are_left_out(void **state)
{
    enum { N = 64 };
    static toy s;
    static double w[N * N], x[N], y[N], got[N];
    dpi_ckks_matrix *m;
    dpi_ckks_cipher to;
    dp_error err = {0};
    (void)state;
    begin(&s, 11, 2);
    for (size_t i = 0; i < N; i++)
        for (size_t d = 0; d < 2; d++)
            w[i * N + (i + d) % N] = next_number(&seed);
    toy_draw(&seed, N, 1, x);
    product(N, N, w, x, y);
    assert_ok(dpi_ckks_matrix_new(s.c, N, N, w, 1, s.room, &m, &err), err.text);
    assert_int_equal(dpi_ckks_matrix_turns(m, NULL), 1);
    add_keys(&s, m);
    dpi_ckks_cipher in = toy_encrypted(&s, 1, N, x);
    assert_ok(dpi_ckks_cipher_new(s.c, 1, &to, &err), err.text);
    assert_ok(dpi_ckks_matrix_apply(s.c, m, &in, &s.turns, s.room, &to, &err), err.text);
    toy_decrypted(&s, &to, N, got, NULL);
    assert_true(toy_largest(N, y, got) <= dpi_ckks_error(&to));
    dpi_ckks_cipher_free(&in);
    dpi_ckks_cipher_free(&to);
    dpi_ckks_matrix_free(m);
    toy_end(&s);
}

/* ---- polynomials ---- */

static double logistic(double t)
{
    return 1 / (1 + exp(-t));
}

static void polynomials_are_evaluated(void **state)
{
    static const size_t degrees[] = {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 27, 31, 40, 63};
    enum { PLACES = 512 };
    static toy s;
    static double x[PLACES], y[PLACES], got[PLACES];
    double a[DPI_CKKS_DEGREE + 1];
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 7);
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        const size_t degree = degrees[k], levels = dpi_ckks_polynomial_levels(degree);
        dpi_ckks_cipher to;
        toy_draw(&seed, degree + 1, 1, a);
        toy_draw(&seed, PLACES, 1, x);
        for (size_t i = 0; i < PLACES; i++)
            y[i] = dpi_ckks_polynomial_at(degree, a, x[i]);
        dpi_ckks_cipher in = toy_encrypted(&s, 7, PLACES, x);
        assert_ok(dpi_ckks_cipher_new(s.c, 7, &to, &err), err.text);
        assert_ok(dpi_ckks_polynomial(s.c, degree, a, &in, s.square, s.room, &to, &err), err.text);
        assert_int_equal(to.level, 7 - levels);
        toy_decrypted(&s, &to, PLACES, got, NULL);
        const double off = toy_largest(PLACES, y, got);
        if (!(off <= dpi_ckks_error(&to)) || dpi_ckks_error(&to) > 1e-3)
            fail_msg("degree %zu is off by %g, and may be by %g", degree, off, dpi_ckks_error(&to));
        dpi_ckks_cipher_free(&in);
        dpi_ckks_cipher_free(&to);
    }
    toy_end(&s);
}

static void polynomials_come_near_functions(void **state)
{
    static const struct {
        size_t degree;
        double off;
    } known[] = {{3, .1162}, {7, .0297}, {15, .00139}, {27, 1.39e-5}}; /* of the logistic one */
    double a[DPI_CKKS_DEGREE + 1];
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        double most = 0;
        dpi_ckks_chebyshev(logistic, -8, 8, known[k].degree, a);
        for (double t = -8; t <= 8; t += .01)
            most =
                fmax(most, fabs(dpi_ckks_polynomial_at(known[k].degree, a, t / 8) - logistic(t)));
        assert_true(most < known[k].off && most > .99 * known[k].off);
    }
}

/* ---- a regression, and a network ---- */

/* The chance of 512 inputs, by degree 7. */
static void a_logistic_regression_is_answered(void **state)
{
    enum { D = 512, DEGREE = 7 };
    static toy s;
    static double w[D], x[D], got[1];
    double a[DEGREE + 1], score;
    dpi_ckks_matrix *m;
    dpi_ckks_cipher u, to;
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 5);
    dpi_ckks_chebyshev(logistic, -8, 8, DEGREE, a);
    toy_draw(&seed, D, .1 / 8, w); /* scores over 8 */
    assert_ok(dpi_ckks_matrix_new(s.c, 1, D, w, 5, s.room, &m, &err), err.text);
    add_keys(&s, m);
    assert_ok(dpi_ckks_cipher_new(s.c, 5, &u, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s.c, 5, &to, &err), err.text);
    for (int k = 0; k < 5; k++) {
        toy_draw(&seed, D, 1, x);
        product(1, D, w, x, &score);
        dpi_ckks_cipher in = toy_encrypted(&s, 5, D, x);
        assert_ok(dpi_ckks_matrix_apply(s.c, m, &in, &s.turns, s.room, &u, &err), err.text);
        assert_ok(dpi_ckks_polynomial(s.c, DEGREE, a, &u, s.square, s.room, &to, &err), err.text);
        toy_decrypted(&s, &to, 1, got, NULL);
        assert_close(got[0], dpi_ckks_polynomial_at(DEGREE, a, score), 0, 0x1p-10);
        dpi_ckks_cipher_free(&in);
    }
    dpi_ckks_cipher_free(&u);
    dpi_ckks_cipher_free(&to);
    dpi_ckks_matrix_free(m);
    toy_end(&s);
}

/* 100 - 16 - 10 with squares between: two matrices and a product, three levels. */
static void a_network_is_answered(void **state)
{
    enum { D = 100, HIDDEN = 16, CLASSES = 10 };
    static toy s;
    static double v[HIDDEN * D], w[CLASSES * HIDDEN], x[128], h[HIDDEN], y[CLASSES], got[16];
    dpi_ckks_matrix *m[2];
    dpi_ckks_cipher u, to;
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 3);
    toy_draw(&seed, HIDDEN * D, .2, v);
    toy_draw(&seed, CLASSES * HIDDEN, .5, w);
    assert_ok(dpi_ckks_matrix_new(s.c, HIDDEN, D, v, 3, s.room, &m[0], &err), err.text);
    assert_ok(dpi_ckks_matrix_new(s.c, CLASSES, HIDDEN, w, 1, s.room, &m[1], &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s.c, 3, &u, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s.c, 3, &to, &err), err.text);
    add_keys(&s, m[0]);
    add_keys(&s, m[1]);
    for (int k = 0; k < 5; k++) {
        toy_draw(&seed, D, 1, x);
        product(HIDDEN, D, v, x, h);
        for (size_t i = 0; i < HIDDEN; i++)
            h[i] *= h[i];
        product(CLASSES, HIDDEN, w, h, y);
        dpi_ckks_cipher in = toy_encrypted(&s, 3, 128, x);
        assert_ok(dpi_ckks_matrix_apply(s.c, m[0], &in, &s.turns, s.room, &u, &err), err.text);
        dpi_ckks_multiply(s.c, &u, &u, s.square, s.room, &u);
        dpi_ckks_rescale(s.c, s.room, &u);
        assert_ok(dpi_ckks_matrix_apply(s.c, m[1], &u, &s.turns, s.room, &to, &err), err.text);
        toy_decrypted(&s, &to, 16, got, NULL);
        assert_true(toy_largest(CLASSES, y, got) <= dpi_ckks_error(&to));
        assert_true(dpi_ckks_error(&to) < 1e-3);
        dpi_ckks_cipher_free(&in);
    }
    for (int k = 0; k < 2; k++)
        dpi_ckks_matrix_free(m[k]);
    dpi_ckks_cipher_free(&u);
    dpi_ckks_cipher_free(&to);
    toy_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_applied),
        cmocka_unit_test(diagonals_of_zeros_are_left_out),
        cmocka_unit_test(polynomials_are_evaluated),
        cmocka_unit_test(polynomials_come_near_functions),
        cmocka_unit_test(a_logistic_regression_is_answered),
        cmocka_unit_test(a_network_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
