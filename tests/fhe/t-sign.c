/* Signs by composed polynomials, and a block of a network: a convolution, a rectifier, and
 * bootstrapping, in a toy ring. */
#include "fhe/sign.h"

#include <math.h>
#include <string.h>

#include "fhe/boot.h"
#include "fhe/diagonals.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1024, TAPS = 3, TURNS = 256 };

static uint64_t seed = 11;

static void signs_are_near_one(void **state)
{
    dpi_ckks_sign s;
    dp_error err = {0};
    double most = 0, between = 0, relu = 0;
    (void)state;
    assert_ok(dpi_ckks_sign_make(9, &s, &err), err.text);
    for (double x = 0x1p-9; x <= 1; x *= 1.0001) {
        const double up = dpi_ckks_sign_at(&s, x), down = dpi_ckks_sign_at(&s, -x);
        assert_close(up, -down, 0, 1e-12);
        most = fmax(most, fabs(up - 1));
    }
    for (double x = 0; x < 0x1p-9; x += 0x1p-20) {
        between = fmax(between, fabs(dpi_ckks_sign_at(&s, x)));
        relu = fmax(relu, fabs(dpi_ckks_relu_at(&s, x) - x));
    }
    print_message("# off by 2^%.2f, 2^%.2f as it is told; max(x, 0) 2^%.2f near 0\n", log2(most),
                  log2(s.off), log2(relu));
    assert_true(most <= s.off * 1.02 && most < 0x1p-13 && relu < 0x1p-13 && between <= 1 + s.off);
    assert_fails(dpi_ckks_sign_make(0, &s, &err), DP_EDOMAIN, &err, "not from 2^-0 on");
    assert_fails(dpi_ckks_sign_make(13, &s, &err), DP_EDOMAIN, &err, "2^-12");
}

typedef struct scene {
    toy t;
    dpi_ckks_boot *boot;
    dpi_ckks_boot_keys *keys;
    dpi_ckks_diagonals *filter;
    dpi_ckks_cipher x, y;
    size_t places;
    double of[MOST], filtered[MOST], got[MOST];
} scene;

static void begin(scene *s)
{
    dpi_ckks_boot_spec spec;
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    assert_ok(dpi_ckks_boot_choose(10, dpi_ckks_relu_levels() + 1, 40, 2, true, &spec, &err),
              err.text);
    toy_begin(&s->t, &spec.below, &spec.above, 4, "a test of signs");
    assert_ok(dpi_ckks_boot_new(s->t.c, 1, s->t.room, &s->boot, &err), err.text);
    assert_ok(dpi_ckks_boot_keys_new(s->boot, s->t.secret, &s->t.random, &s->keys, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->t.c, s->t.top, &s->x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->t.c, s->t.top, &s->y, &err), err.text);
    s->places = s->t.places;
}

static void end(scene *s)
{
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_diagonals_free(s->filter);
    dpi_ckks_boot_keys_free(s->keys);
    dpi_ckks_boot_free(s->boot);
    toy_end(&s->t);
}

static void encrypt(scene *s)
{
    dpi_ckks_plain p;
    dp_error err = {0};
    const size_t level = dpi_ckks_depth(s->t.c);
    for (size_t i = 0; i < s->places; i++)
        s->of[i] = next_number(&seed);
    assert_ok(dpi_ckks_plain_new(s->t.c, level, &p, &err), err.text);
    assert_ok(dpi_ckks_encode(s->t.c, level, 0, s->places, s->of, NULL, s->t.room, &p, &err),
              err.text);
    dpi_ckks_encrypt(s->t.secret, &p, &s->t.random, s->t.room, &s->x);
    dpi_ckks_plain_free(&p);
}

/* to = the sum of three neighbours by weights whose magnitudes have sum 1. */
static void filter(scene *s)
{
    static const double weight[TAPS] = {.25, -.5, .25};
    double row[MOST];
    int steps[TAPS];
    dpi_ckks_switch *key[TAPS];
    dp_error err = {0};
    assert_ok(dpi_ckks_diagonals_new(s->t.c, dpi_ckks_depth(s->t.c), s->places, TAPS, 1, 2,
                                     &s->filter, &err),
              err.text);
    memset(s->filtered, 0, sizeof s->filtered);
    for (size_t k = 0; k < TAPS; k++) {
        for (size_t i = 0; i < s->places; i++) {
            row[i] = weight[k];
            s->filtered[i] += weight[k] * s->of[(i + k) % s->places];
        }
        assert_ok(dpi_ckks_diagonals_add(s->filter, k, row, NULL, s->t.room, &err), err.text);
    }
    const size_t n = dpi_ckks_diagonals_turns(s->filter, steps);
    for (size_t k = 0; k < n; k++)
        assert_ok(dpi_ckks_switch_new(s->t.secret, dpi_ckks_rotation(s->t.c, steps[k]),
                                      &s->t.random, &key[k], &err),
                  err.text);
    const dpi_ckks_turns turns = {n, steps, (const dpi_ckks_switch *const *)key};
    assert_ok(dpi_ckks_diagonals_apply(s->filter, &s->x, &turns, s->t.room, &s->y, &err), err.text);
    for (size_t k = 0; k < n; k++)
        dpi_ckks_switch_free(key[k]);
}

/* The largest error to the same polynomials without encryption, and to max(x, 0). */
static double off(scene *s, const dpi_ckks_sign *sign, const dpi_ckks_cipher *x, double *from_true)
{
    double most = 0;
    dpi_ckks_plain p;
    dp_error err = {0};
    assert_ok(dpi_ckks_plain_new(s->t.c, x->level, &p, &err), err.text);
    dpi_ckks_decrypt(s->t.secret, x, &p);
    dpi_ckks_decode(s->t.c, &p, s->places, s->t.room, s->got, NULL);
    dpi_ckks_plain_free(&p);
    *from_true = 0;
    for (size_t i = 0; i < s->places; i++) {
        most = fmax(most, fabs(s->got[i] - dpi_ckks_relu_at(sign, s->filtered[i])));
        *from_true = fmax(*from_true, fabs(s->got[i] - fmax(s->filtered[i], 0)));
    }
    return most;
}

/* Within 2^-14 of the same without encryption, and 2^-12 of max(x, 0). */
static void a_block_of_a_network_is_as_without_encryption(void **state)
{
    static scene s;
    dpi_ckks_sign sign;
    dp_error err = {0};
    double from_true;
    (void)state;
    begin(&s);
    assert_ok(dpi_ckks_sign_make(9, &sign, &err), err.text);
    encrypt(&s);
    filter(&s);
    assert_ok(dpi_ckks_relu_apply(s.t.c, &sign, &s.y, s.t.square, s.t.room, &s.x, &err), err.text);
    const double before = off(&s, &sign, &s.x, &from_true);
    assert_int_equal(s.x.level, 2);
    s.x.size = 1; /* as max(x, 0) of -1 ... 1 is */
    assert_ok(dpi_ckks_boot_apply(s.boot, s.keys, &s.x, s.t.square, s.t.room, &s.y, &err),
              err.text);
    const double after = off(&s, &sign, &s.y, &from_true);
    print_message("# off by 2^%.2f, bootstrapped 2^%.2f, from max(x, 0) 2^%.2f\n", log2(before),
                  log2(after), log2(from_true));
    assert_true(before < 0x1p-14 && after < 0x1p-14 && from_true < 0x1p-12);
    assert_int_equal(s.y.level, dpi_ckks_depth(s.t.c));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_are_near_one),
        cmocka_unit_test(a_block_of_a_network_is_as_without_encryption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
