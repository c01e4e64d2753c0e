/* Matrices and polynomials on encrypted vectors: as without encryption, within their bounds; and a
 * regression and a network of these. */
#include "fhe/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fhe/polynomial.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1024, TURNS = 128 };

typedef struct scene {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_ckks_switch *square;
    dpi_rlwe_stream random;
    size_t n_turns;
    int steps[TURNS];
    dpi_ckks_switch *made[TURNS];
    dpi_ckks_turns turns;
} scene;

static uint64_t seed = 1;

static void begin(scene *s, int log_n, size_t depth)
{
    const dpi_ckks_spec spec = {.log_n = log_n,
                                .first_bits = 50,
                                .scale_bits = 40,
                                .depth = depth,
                                .special = 2,
                                .alpha = 2,
                                .toy = true};
    const unsigned char key[DPI_RLWE_SEED] = {7};
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    dpi_rlwe_start(&s->random, key, "a test of matrices");
    assert_ok(dpi_ckks_new(&spec, &s->c, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->c, &s->room, &err), err.text);
    assert_ok(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), err.text);
    assert_ok(dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, &err),
              err.text);
    s->turns = (dpi_ckks_turns){.steps = s->steps, .key = (const dpi_ckks_switch *const *)s->made};
}

static void end(scene *s)
{
    for (size_t k = 0; k < s->n_turns; k++)
        dpi_ckks_switch_free(s->made[k]);
    dpi_ckks_switch_free(s->square);
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_free(s->c);
    dpi_rlwe_end(&s->random);
}

/* Keys for what a matrix needs and has not. */
static void add_keys(scene *s, const dpi_ckks_matrix *m)
{
    int steps[TURNS];
    dp_error err = {0};
    const size_t n = dpi_ckks_matrix_turns(m, NULL);
    assert_true(n <= TURNS);
    assert_int_equal(dpi_ckks_matrix_turns(m, steps), n);
    for (size_t k = 0; k < n; k++) {
        size_t at = 0;
        while (at < s->n_turns && s->steps[at] != steps[k])
            at++;
        if (at < s->n_turns)
            continue;
        assert_ok(dpi_ckks_switch_new(s->secret, dpi_ckks_rotation(s->c, steps[k]), &s->random,
                                      &s->made[at], &err),
                  err.text);
        s->steps[at] = steps[k];
        s->turns.n = ++s->n_turns;
    }
}

static dpi_ckks_cipher encrypted(scene *s, size_t level, size_t places, const double *x)
{
    dpi_ckks_plain p;
    dpi_ckks_cipher made;
    dp_error err = {0};
    assert_ok(dpi_ckks_plain_new(s->c, level, &p, &err), err.text);
    assert_ok(dpi_ckks_encode(s->c, level, 0, places, x, NULL, s->room, &p, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, dpi_ckks_depth(s->c), &made, &err), err.text);
    dpi_ckks_encrypt(s->secret, &p, &s->random, s->room, &made);
    dpi_ckks_plain_free(&p);
    return made;
}

static void decrypted(scene *s, const dpi_ckks_cipher *x, size_t places, double *to)
{
    dpi_ckks_plain p;
    dp_error err = {0};
    assert_ok(dpi_ckks_plain_new(s->c, x->level, &p, &err), err.text);
    dpi_ckks_decrypt(s->secret, x, &p);
    dpi_ckks_decode(s->c, &p, places, s->room, to, NULL);
    dpi_ckks_plain_free(&p);
}

static void draw(size_t n, double size, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[k] = size * next_number(&seed);
}

static void product(size_t rows, size_t columns, const double *w, const double *x, double *y)
{
    for (size_t i = 0; i < rows; i++) {
        y[i] = 0;
        for (size_t j = 0; j < columns; j++)
            y[i] += w[i * columns + j] * x[j];
    }
}

static double largest(size_t n, const double *a, const double *b)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

/* ---- matrices ---- */

static void matrix_of(scene *s, size_t rows, size_t columns, size_t turns)
{
    static double w[MOST * 64], x[MOST], y[MOST], got[MOST];
    dpi_ckks_matrix *m;
    dpi_ckks_cipher to;
    dp_error err = {0};
    draw(rows * columns, 1, w);
    memset(x, 0, sizeof x);
    draw(columns, 1, x);
    product(rows, columns, w, x, y);
    assert_ok(dpi_ckks_matrix_new(s->c, rows, columns, w, 2, s->room, &m, &err), err.text);
    assert_int_equal(dpi_ckks_matrix_turns(m, NULL), turns);
    add_keys(s, m);
    dpi_ckks_cipher in = encrypted(s, 2, dpi_ckks_matrix_places(m), x);
    assert_ok(dpi_ckks_cipher_new(s->c, 2, &to, &err), err.text);
    assert_ok(dpi_ckks_matrix_apply(s->c, m, &in, &s->turns, s->room, &to, &err), err.text);
    assert_int_equal(to.level, 1);
    decrypted(s, &to, dpi_ckks_matrix_made(m), got);
    const double off = largest(rows, y, got);
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
    static scene s;
    (void)state;
    begin(&s, 11, 2);
    matrix_of(&s, 1, 1, 0);
    matrix_of(&s, 1, 100, 7);
    matrix_of(&s, 10, 64, 3 + 3 + 2);
    matrix_of(&s, 64, 64, 7 + 7);
    matrix_of(&s, 50, 784, 7 + 7 + 4);
    matrix_of(&s, 33, 5, 7 + 4); /* of 5 columns some diagonals are zeros */
    end(&s);
}

/* A convolution has few diagonals, and others cost nothing. */
static void diagonals_of_zeros_are_left_out(void **state)
{
    enum { N = 64 };
    static scene s;
    static double w[N * N], x[N], y[N], got[N];
    dpi_ckks_matrix *m;
    dpi_ckks_cipher to;
    dp_error err = {0};
    (void)state;
    begin(&s, 11, 2);
    for (size_t i = 0; i < N; i++)
        for (size_t d = 0; d < 2; d++)
            w[i * N + (i + d) % N] = next_number(&seed);
    draw(N, 1, x);
    product(N, N, w, x, y);
    assert_ok(dpi_ckks_matrix_new(s.c, N, N, w, 1, s.room, &m, &err), err.text);
    assert_int_equal(dpi_ckks_matrix_turns(m, NULL), 1);
    add_keys(&s, m);
    dpi_ckks_cipher in = encrypted(&s, 1, N, x);
    assert_ok(dpi_ckks_cipher_new(s.c, 1, &to, &err), err.text);
    assert_ok(dpi_ckks_matrix_apply(s.c, m, &in, &s.turns, s.room, &to, &err), err.text);
    decrypted(&s, &to, N, got);
    assert_true(largest(N, y, got) <= dpi_ckks_error(&to));
    dpi_ckks_cipher_free(&in);
    dpi_ckks_cipher_free(&to);
    dpi_ckks_matrix_free(m);
    end(&s);
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
    static scene s;
    static double x[PLACES], y[PLACES], got[PLACES];
    double a[DPI_CKKS_DEGREE + 1];
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 7);
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        const size_t degree = degrees[k], levels = dpi_ckks_polynomial_levels(degree);
        dpi_ckks_cipher to;
        draw(degree + 1, 1, a);
        draw(PLACES, 1, x);
        for (size_t i = 0; i < PLACES; i++)
            y[i] = dpi_ckks_polynomial_at(degree, a, x[i]);
        dpi_ckks_cipher in = encrypted(&s, 7, PLACES, x);
        assert_ok(dpi_ckks_cipher_new(s.c, 7, &to, &err), err.text);
        assert_ok(dpi_ckks_polynomial(s.c, degree, a, &in, s.square, s.room, &to, &err), err.text);
        assert_int_equal(to.level, 7 - levels);
        decrypted(&s, &to, PLACES, got);
        const double off = largest(PLACES, y, got);
        if (!(off <= dpi_ckks_error(&to)) || dpi_ckks_error(&to) > 1e-3)
            fail_msg("degree %zu is off by %g, and may be by %g", degree, off, dpi_ckks_error(&to));
        dpi_ckks_cipher_free(&in);
        dpi_ckks_cipher_free(&to);
    }
    end(&s);
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
    static scene s;
    static double w[D], x[D], got[1];
    double a[DEGREE + 1], score;
    dpi_ckks_matrix *m;
    dpi_ckks_cipher u, to;
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 5);
    dpi_ckks_chebyshev(logistic, -8, 8, DEGREE, a);
    draw(D, .1 / 8, w); /* scores over 8 */
    assert_ok(dpi_ckks_matrix_new(s.c, 1, D, w, 5, s.room, &m, &err), err.text);
    add_keys(&s, m);
    assert_ok(dpi_ckks_cipher_new(s.c, 5, &u, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s.c, 5, &to, &err), err.text);
    for (int k = 0; k < 5; k++) {
        draw(D, 1, x);
        product(1, D, w, x, &score);
        dpi_ckks_cipher in = encrypted(&s, 5, D, x);
        assert_ok(dpi_ckks_matrix_apply(s.c, m, &in, &s.turns, s.room, &u, &err), err.text);
        assert_ok(dpi_ckks_polynomial(s.c, DEGREE, a, &u, s.square, s.room, &to, &err), err.text);
        decrypted(&s, &to, 1, got);
        assert_close(got[0], dpi_ckks_polynomial_at(DEGREE, a, score), 0, 0x1p-10);
        dpi_ckks_cipher_free(&in);
    }
    dpi_ckks_cipher_free(&u);
    dpi_ckks_cipher_free(&to);
    dpi_ckks_matrix_free(m);
    end(&s);
}

/* 100 - 16 - 10 with squares between: two matrices and a product, three levels. */
static void a_network_is_answered(void **state)
{
    enum { D = 100, HIDDEN = 16, CLASSES = 10 };
    static scene s;
    static double v[HIDDEN * D], w[CLASSES * HIDDEN], x[128], h[HIDDEN], y[CLASSES], got[16];
    dpi_ckks_matrix *m[2];
    dpi_ckks_cipher u, to;
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 3);
    draw(HIDDEN * D, .2, v);
    draw(CLASSES * HIDDEN, .5, w);
    assert_ok(dpi_ckks_matrix_new(s.c, HIDDEN, D, v, 3, s.room, &m[0], &err), err.text);
    assert_ok(dpi_ckks_matrix_new(s.c, CLASSES, HIDDEN, w, 1, s.room, &m[1], &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s.c, 3, &u, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s.c, 3, &to, &err), err.text);
    add_keys(&s, m[0]);
    add_keys(&s, m[1]);
    for (int k = 0; k < 5; k++) {
        draw(D, 1, x);
        product(HIDDEN, D, v, x, h);
        for (size_t i = 0; i < HIDDEN; i++)
            h[i] *= h[i];
        product(CLASSES, HIDDEN, w, h, y);
        dpi_ckks_cipher in = encrypted(&s, 3, 128, x);
        assert_ok(dpi_ckks_matrix_apply(s.c, m[0], &in, &s.turns, s.room, &u, &err), err.text);
        dpi_ckks_multiply(s.c, &u, &u, s.square, s.room, &u);
        dpi_ckks_rescale(s.c, s.room, &u);
        assert_ok(dpi_ckks_matrix_apply(s.c, m[1], &u, &s.turns, s.room, &to, &err), err.text);
        decrypted(&s, &to, 16, got);
        assert_true(largest(CLASSES, y, got) <= dpi_ckks_error(&to));
        assert_true(dpi_ckks_error(&to) < 1e-3);
        dpi_ckks_cipher_free(&in);
    }
    for (int k = 0; k < 2; k++)
        dpi_ckks_matrix_free(m[k]);
    dpi_ckks_cipher_free(&u);
    dpi_ckks_cipher_free(&to);
    end(&s);
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
