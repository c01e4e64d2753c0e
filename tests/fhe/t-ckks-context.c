/* Which parameters make a context, and what is misuse of what a context has made. */
#include <math.h>
#include <string.h>

#include "fhe/ckks.h"
#include "tests/lib/check.h"

/* ---- parameters ---- */

static void moduli_above_the_table_are_refused(void **state)
{
    static const struct {
        dpi_ckks_spec spec;
        dp_status status;
        const char *what;
    } wrong[] = {
        {{13, 49, 33, 4, 1, 1, false}, DP_EPRIVACY, "below 128 bits of security; up to 214"},
        {{14, 49, 40, 9, 1, 1, false}, DP_EPRIVACY, "up to 430"},
        {{17, 49, 40, 3, 1, 1, false}, DP_EINVAL, "2^10 .. 2^16"},
        {{13, 49, 20, 3, 1, 1, false}, DP_EINVAL, "23 .. 49 bits"},
        {{13, 51, 40, 2, 1, 1, false}, DP_EINVAL, "to 50"},
        {{13, 49, 33, 3, 1, 2, false}, DP_EINVAL, "as many as are special"},
        {{13, 49, 33, 3, 0, 0, false}, DP_EINVAL, "as many as are special"},
        {{16, 49, 40, 63, 1, 1, true}, DP_EINVAL, "at most 64"},
        {{13, 49, 40, SIZE_MAX, 1, 1, true}, DP_EINVAL, "at most 64"},
    };
    static const dpi_ckks_spec good[] = {
        {13, 49, 33, 3, 1, 1, false}, {14, 49, 40, 8, 1, 1, false}, {15, 49, 40, 16, 3, 3, false}};
    dpi_ckks *c;
    dp_error err = {0};
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_fails(dpi_ckks_new(&wrong[k].spec, &c, &err), wrong[k].status, &err, wrong[k].what);
        assert_null(c);
    }
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        assert_ok(dpi_ckks_new(&good[k], &c, &err), err.text);
        for (size_t l = 0; l <= good[k].depth; l++) /* scales do not run away */
            assert_close(dpi_ckks_scale(c, l), exp2(good[k].scale_bits), 1e-3, 0);
        dpi_ckks_free(c);
    }
}

/* What was chosen makes a context, and a smaller degree would not have. */
static void parameters_are_the_least_that_are_allowed(void **state)
{
    static const struct {
        size_t depth;
        int bits;
        size_t places;
        int log_n;
    } known[] = {{0, 30, 64, 12},    {1, 30, 64, 13}, {3, 33, 1024, 13}, {8, 40, 1, 14},
                 {8, 40, 16384, 15}, {16, 40, 1, 15}, {25, 40, 1, 16},   {36, 40, 1, 16}};
    dpi_ckks_spec spec;
    dpi_ckks *c;
    dp_error err = {0};
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        assert_ok(dpi_ckks_choose(known[k].depth, known[k].bits, known[k].places, &spec, &err),
                  err.text);
        assert_int_equal(spec.log_n, known[k].log_n);
        assert_false(spec.toy);
        if (spec.log_n < 16) {
            assert_ok(dpi_ckks_new(&spec, &c, &err), err.text);
            dpi_ckks_free(c);
        }
        spec.special = spec.alpha = 1; /* of all digits the shortest modulus */
        spec.log_n--;
        if (known[k].places <= (size_t)1 << (spec.log_n - 1))
            assert_int_not_equal(dpi_ckks_new(&spec, &c, NULL), DP_OK);
    }
    assert_fails(dpi_ckks_choose(60, 40, 1, &spec, &err), DP_EPRIVACY, &err, "take fewer");
}

/* ---- misuse ---- */

typedef struct scene {
    dpi_ckks *c, *other;
    dpi_ckks_room *room, *of_other;
    dpi_ckks_secret *secret;
    dpi_ckks_switch *square, *turn;
    dpi_ckks_plain plain;
    dpi_ckks_cipher x, y, low; /* at level 2, and room for that, and for level 1 alone */
    dpi_rlwe_stream random;
} scene;

static void begin(scene *s)
{
    static const dpi_ckks_spec spec = {10, 50, 40, 2, 1, 1, true},
                               another = {10, 50, 39, 2, 1, 1, true};
    const unsigned char seed[DPI_RLWE_SEED] = {13};
    const double number = .25;
    dp_error err = {0};
    dpi_rlwe_start(&s->random, seed, "a test of misuse");
    assert_ok(dpi_ckks_new(&spec, &s->c, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->c, &s->room, &err), err.text);
    assert_ok(dpi_ckks_new(&another, &s->other, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->other, &s->of_other, &err), err.text);
    assert_ok(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), err.text);
    assert_ok(dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, &err),
              err.text);
    assert_ok(
        dpi_ckks_switch_new(s->secret, dpi_ckks_rotation(s->c, 1), &s->random, &s->turn, &err),
        err.text);
    assert_ok(dpi_ckks_plain_new(s->c, 2, &s->plain, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 2, &s->x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 2, &s->y, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 1, &s->low, &err), err.text);
    assert_ok(dpi_ckks_encode(s->c, 2, 0, 1, &number, NULL, s->room, &s->plain, &err), err.text);
    dpi_ckks_encrypt(s->secret, &s->plain, &s->random, s->room, &s->x);
}

static void end(scene *s)
{
    dpi_ckks_plain_free(&s->plain);
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_cipher_free(&s->low);
    dpi_ckks_switch_free(s->square);
    dpi_ckks_switch_free(s->turn);
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_room_free(s->of_other);
    dpi_ckks_free(s->c);
    dpi_ckks_free(s->other);
    dpi_rlwe_end(&s->random);
}

static void rescale_what_is_no_product(void *of)
{
    scene *s = of;
    dpi_ckks_rescale(s->c, s->room, &s->x);
}

static void multiply_by_a_key_of_rotations(void *of)
{
    scene *s = of;
    dpi_ckks_multiply(s->c, &s->x, &s->x, s->turn, s->room, &s->y);
}

static void rotate_by_a_key_of_products(void *of)
{
    scene *s = of;
    dpi_ckks_rotate(s->c, &s->x, s->square, s->room, &s->y);
}

static void make_a_key_of_an_even_power(void *of)
{
    scene *s = of;
    dpi_ckks_switch *k;
    if (dpi_ckks_switch_new(s->secret, 2, &s->random, &k, NULL) == DP_OK)
        dpi_ckks_switch_free(k);
}

static void add_without_room(void *of)
{
    scene *s = of;
    dpi_ckks_add(s->c, &s->x, &s->x, &s->low);
}

static void multiply_without_room(void *of)
{
    scene *s = of;
    dpi_ckks_multiply(s->c, &s->x, &s->x, s->square, s->room, &s->low);
}

static void rotate_without_room(void *of)
{
    scene *s = of;
    dpi_ckks_rotate(s->c, &s->x, s->turn, s->room, &s->low);
}

static void rotate_all_in_place(void *of)
{
    scene *s = of;
    const dpi_ckks_switch *const keys[2] = {s->turn, s->turn};
    dpi_ckks_cipher *const to[2] = {&s->x, &s->y};
    dpi_ckks_rotate_all(s->c, &s->x, 2, keys, s->room, to);
}

static void multiply_in_a_room_of_another_context(void *of)
{
    scene *s = of;
    dpi_ckks_multiply(s->c, &s->x, &s->x, s->square, s->of_other, &s->y);
}

static void rotate_by_a_key_of_another_context(void *of)
{
    scene *s = of;
    dpi_ckks_rotate(s->other, &s->x, s->turn, s->of_other, &s->y);
}

static void encrypt_without_room(void *of)
{
    scene *s = of;
    dpi_ckks_encrypt(s->secret, &s->plain, &s->random, s->room, &s->low);
}

static void find_the_size_at_no_level(void *of)
{
    const scene *s = of;
    assert_int_equal(dpi_ckks_cipher_size(s->c, 3, false), 0);
}

static void decode_three_places(void *of)
{
    static double re[3];
    scene *s = of;
    dpi_ckks_decode(s->c, &s->plain, 3, s->room, re, NULL);
}

static void misuse_aborts(void **state)
{
    static scene s;
    (void)state;
    begin(&s);
    assert_aborts(rescale_what_is_no_product, &s);
    assert_aborts(multiply_by_a_key_of_rotations, &s);
    assert_aborts(rotate_by_a_key_of_products, &s);
    assert_aborts(make_a_key_of_an_even_power, &s);
    assert_aborts(add_without_room, &s);
    assert_aborts(multiply_without_room, &s);
    assert_aborts(rotate_without_room, &s);
    assert_aborts(rotate_all_in_place, &s);
    assert_aborts(multiply_in_a_room_of_another_context, &s);
    assert_aborts(rotate_by_a_key_of_another_context, &s);
    assert_aborts(encrypt_without_room, &s);
    assert_aborts(find_the_size_at_no_level, &s);
    assert_aborts(decode_three_places, &s);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moduli_above_the_table_are_refused),
        cmocka_unit_test(parameters_are_the_least_that_are_allowed),
        cmocka_unit_test(misuse_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
