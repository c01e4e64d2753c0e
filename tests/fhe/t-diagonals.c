/* Linear maps by their diagonals: complex ones at multiples of a stride, with and without wrap. */
#include "fhe/diagonals.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { N = 256, MOST = 32 };

typedef struct scene {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_rlwe_stream random;
    dpi_ckks_diagonals *d;
    double complex x[N], y[N];
    int steps[MOST];
    dpi_ckks_switch *key[MOST];
} scene;

static uint64_t seed = 5;

static void begin(scene *s)
{
    const dpi_ckks_spec spec = {.log_n = 10,
                                .first_bits = 50,
                                .scale_bits = 40,
                                .depth = 2,
                                .special = 2,
                                .alpha = 2,
                                .toy = true};
    const unsigned char key[DPI_RLWE_SEED] = {9};
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    dpi_rlwe_start(&s->random, key, "a test of diagonals");
    assert_ok(dpi_ckks_new(&spec, &s->c, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->c, &s->room, &err), err.text);
    assert_ok(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), err.text);
}

static void end(scene *s)
{
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_free(s->c);
    dpi_rlwe_end(&s->random);
}

static void split(const double complex *x, double *re, double *im)
{
    for (size_t i = 0; i < N; i++) {
        re[i] = creal(x[i]);
        im[i] = cimag(x[i]);
    }
}

/* x, and y, what comes of diagonals at stride (first + k), k < many. */
static void draw(scene *s, size_t stride, size_t first, size_t many)
{
    double re[N], im[N];
    double complex e[N];
    dp_error err = {0};
    memset(s->y, 0, sizeof s->y);
    for (size_t i = 0; i < N; i++)
        s->x[i] = next_number(&seed) + I * next_number(&seed);
    for (size_t k = 0; k < many; k++) {
        const size_t offset = (first + k) * stride % N;
        for (size_t i = 0; i < N; i++) {
            e[i] = next_number(&seed) + I * next_number(&seed);
            s->y[i] += e[i] * s->x[(i + offset) % N];
        }
        split(e, re, im);
        assert_ok(dpi_ckks_diagonals_add(s->d, offset, re, im, s->room, &err), err.text);
    }
}

static void apply(scene *s)
{
    const size_t n = dpi_ckks_diagonals_turns(s->d, s->steps);
    const dpi_ckks_turns turns = {n, s->steps, (const dpi_ckks_switch *const *)s->key};
    double re[N], im[N], most = 0;
    dpi_ckks_plain p;
    dpi_ckks_cipher x, y;
    dp_error err = {0};
    for (size_t k = 0; k < n; k++)
        assert_ok(dpi_ckks_switch_new(s->secret, dpi_ckks_rotation(s->c, s->steps[k]), &s->random,
                                      &s->key[k], &err),
                  err.text);
    assert_ok(dpi_ckks_plain_new(s->c, 2, &p, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 2, &x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 2, &y, &err), err.text);
    split(s->x, re, im);
    assert_ok(dpi_ckks_encode(s->c, 2, 0, N, re, im, s->room, &p, &err), err.text);
    dpi_ckks_encrypt(s->secret, &p, &s->random, s->room, &x);
    assert_ok(dpi_ckks_diagonals_apply(s->d, &x, &turns, s->room, &y, &err), err.text);
    assert_int_equal(y.level, 1);
    dpi_ckks_decrypt(s->secret, &y, &p);
    dpi_ckks_decode(s->c, &p, N, s->room, re, im);
    for (size_t i = 0; i < N; i++)
        most = fmax(most, cabs(re[i] + I * im[i] - s->y[i]));
    assert_true(most <= dpi_ckks_error(&y) && most > 0);
    assert_true(most <= 19 * dpi_ckks_diagonals_noise(s->d, x.size, x.noise, true));
    assert_true(dpi_ckks_diagonals_noise(s->d, x.size, x.noise, true) <= y.noise);
    dpi_ckks_cipher_free(&x);
    dpi_ckks_cipher_free(&y);
    dpi_ckks_plain_free(&p);
    for (size_t k = 0; k < n; k++)
        dpi_ckks_switch_free(s->key[k]);
}

static void maps_are_applied(void **state)
{
    static const struct {
        size_t stride, first, many, baby, turns;
    } known[] = {{1, 0, 1, 1, 0},
                 {1, 0, 8, 4, 3 + 1},
                 {1, 249, 15, 4, 3 + 3}, /* -7 ... 7 */
                 {8, 25, 15, 4, 3 + 3},  /* the same at multiples of 8 */
                 {32, 0, 8, 2, 1 + 3}};  /* all there are */
    static scene s;
    dp_error err = {0};
    (void)state;
    begin(&s);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        assert_ok(dpi_ckks_diagonals_new(s.c, 2, N, known[k].many, known[k].stride, known[k].baby,
                                         &s.d, &err),
                  err.text);
        draw(&s, known[k].stride, known[k].first, known[k].many);
        assert_int_equal(dpi_ckks_diagonals_turns(s.d, NULL), known[k].turns);
        apply(&s);
        dpi_ckks_diagonals_free(s.d);
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_are_applied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
