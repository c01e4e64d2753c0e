/* CKKS: what is computed under encryption is what is computed without, within the bound that each
 * ciphertext carries: 19 standard deviations, of which the few places here are within 8.  And the
 * largest error is no less than a tenth of a deviation, but in circuits that take away again what
 * they have added. */
#include "fhe/ckks.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 4096, VALUES = 4, TURNS = 4 };

static const int steps[TURNS] = {1, 7, -3, 64};

/* A context with all keys, and values beside what they are of. */
typedef struct scene {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_ckks_public *public;
    dpi_ckks_switch *square, *turn[TURNS], *conjugate;
    dpi_rlwe_stream random;
    size_t places;
    dpi_ckks_cipher x[VALUES];
    double complex of[VALUES][MOST];
    size_t values, low; /* of circuits; those whose errors are below a tenth of a deviation */
} scene;

static const dpi_ckks_spec usual = {.log_n = 11,
                                    .first_bits = 50,
                                    .scale_bits = 40,
                                    .depth = 4,
                                    .special = 2,
                                    .alpha = 2,
                                    .toy = true};

static void begin(scene *s, const dpi_ckks_spec *spec, size_t places, uint64_t seed)
{
    unsigned char key[DPI_RLWE_SEED] = {(unsigned char)seed, (unsigned char)(seed >> 8)};
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    s->places = places;
    dpi_rlwe_start(&s->random, key, "a test of ckks");
    assert_ok(dpi_ckks_new(spec, &s->c, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->c, &s->room, &err), err.text);
    assert_ok(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), err.text);
    assert_ok(dpi_ckks_public_new(s->secret, &s->random, &s->public, &err), err.text);
    assert_ok(dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, &err),
              err.text);
    assert_ok(
        dpi_ckks_switch_new(s->secret, dpi_ckks_conjugation(s->c), &s->random, &s->conjugate, &err),
        err.text);
    for (int k = 0; k < TURNS; k++)
        assert_ok(dpi_ckks_switch_new(s->secret, dpi_ckks_rotation(s->c, steps[k]), &s->random,
                                      &s->turn[k], &err),
                  err.text);
    for (int k = 0; k < VALUES; k++)
        assert_ok(dpi_ckks_cipher_new(s->c, spec->depth, &s->x[k], &err), err.text);
}

static void end(scene *s)
{
    for (int k = 0; k < VALUES; k++)
        dpi_ckks_cipher_free(&s->x[k]);
    for (int k = 0; k < TURNS; k++)
        dpi_ckks_switch_free(s->turn[k]);
    dpi_ckks_switch_free(s->square);
    dpi_ckks_switch_free(s->conjugate);
    dpi_ckks_public_free(s->public);
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_free(s->c);
    dpi_rlwe_end(&s->random);
}

static dpi_ckks_plain encoded(scene *s, size_t level, const double complex *of)
{
    static double re[MOST], im[MOST];
    dpi_ckks_plain p;
    dp_error err = {0};
    for (size_t i = 0; i < s->places; i++) {
        re[i] = creal(of[i]);
        im[i] = cimag(of[i]);
    }
    assert_ok(dpi_ckks_plain_new(s->c, level, &p, &err), err.text);
    assert_ok(dpi_ckks_encode(s->c, level, 0, s->places, re, im, s->room, &p, &err), err.text);
    return p;
}

static void draw(scene *s, int k, size_t level, uint64_t *seed, bool public)
{
    for (size_t i = 0; i < s->places; i++)
        s->of[k][i] = next_number(seed) + I * next_number(seed);
    dpi_ckks_plain p = encoded(s, level, s->of[k]);
    if (public)
        dpi_ckks_encrypt_public(s->public, &p, &s->random, s->room, &s->x[k]);
    else
        dpi_ckks_encrypt(s->secret, &p, &s->random, s->room, &s->x[k]);
    dpi_ckks_plain_free(&p);
}

/* The largest error of value k, in standard deviations. */
static double off(scene *s, int k)
{
    static double re[MOST], im[MOST];
    const dpi_ckks_cipher *x = &s->x[k];
    dpi_ckks_plain p;
    dp_error err = {0};
    double most = 0;
    assert_ok(dpi_ckks_plain_new(s->c, x->level, &p, &err), err.text);
    dpi_ckks_decrypt(s->secret, x, &p);
    dpi_ckks_decode(s->c, &p, s->places, s->room, re, im);
    for (size_t i = 0; i < s->places; i++) {
        most = fmax(most, cabs(re[i] + I * im[i] - s->of[k][i]));
        assert_true(cabs(s->of[k][i]) <= x->size * (1 + 1e-12));
    }
    dpi_ckks_plain_free(&p);
    return most / x->noise;
}

static void near(scene *s, int k)
{
    const double most = off(s, k);
    if (!(most <= 8) || most < .1)
        fail_msg("value %d at level %zu is off by %g deviations of %g", k, s->x[k].level, most,
                 s->x[k].noise);
}

/* ---- each operation ---- */

static void what_is_encrypted_is_decrypted(void **state)
{
    static scene s;
    uint64_t seed = 1;
    (void)state;
    begin(&s, &usual, 1024, 1);
    for (size_t level = 0; level <= usual.depth; level++)
        for (int public = 0; public < 2; public ++) {
            draw(&s, 0, level, &seed, public == 1);
            near(&s, 0);
        }
    s.places = 16; /* a short vector, repeated */
    draw(&s, 0, 3, &seed, true);
    near(&s, 0);
    end(&s);
}

static void fewer_places_are_means(void **state)
{
    static scene s;
    static double complex of[MOST];
    double re[8], im[8];
    uint64_t seed = 2;
    (void)state;
    begin(&s, &usual, 1024, 14);
    for (size_t i = 0; i < 1024; i++)
        of[i] = next_number(&seed) + I * next_number(&seed);
    dpi_ckks_plain p = encoded(&s, 1, of);
    dpi_ckks_decode(s.c, &p, 8, s.room, re, im);
    for (size_t k = 0; k < 8; k++) {
        double complex mean = 0;
        for (size_t i = k; i < 1024; i += 8)
            mean += of[i] / 128;
        assert_close(re[k], creal(mean), 0, 6 * p.noise);
        assert_close(im[k], cimag(mean), 0, 6 * p.noise);
    }
    dpi_ckks_plain_free(&p);
    end(&s);
}

static void multiply(scene *s, int a, int b, int to)
{
    static double complex of[MOST];
    for (size_t i = 0; i < s->places; i++)
        of[i] = s->of[a][i] * s->of[b][i];
    dpi_ckks_multiply(s->c, &s->x[a], &s->x[b], s->square, s->room, &s->x[to]);
    dpi_ckks_rescale(s->c, s->room, &s->x[to]);
    memcpy(s->of[to], of, s->places * sizeof *of);
}

static void rotate(scene *s, int a, int turn, int to)
{
    static double complex of[MOST];
    for (size_t i = 0; i < s->places; i++)
        of[i] = s->of[a][(i + (size_t)(steps[turn] + (int)s->places)) % s->places];
    dpi_ckks_rotate(s->c, &s->x[a], s->turn[turn], s->room, &s->x[to]);
    memcpy(s->of[to], of, s->places * sizeof *of);
}

static void conjugate(scene *s, int a, int to)
{
    for (size_t i = 0; i < s->places; i++)
        s->of[to][i] = conj(s->of[a][i]);
    dpi_ckks_rotate(s->c, &s->x[a], s->conjugate, s->room, &s->x[to]);
}

static void multiply_plain(scene *s, int a, int to, uint64_t *seed)
{
    static double complex of[MOST];
    for (size_t i = 0; i < s->places; i++)
        of[i] = next_number(seed) + I * next_number(seed);
    dpi_ckks_plain p = encoded(s, s->x[a].level, of);
    dpi_ckks_multiply_plain(s->c, &s->x[a], &p, &s->x[to]);
    dpi_ckks_rescale(s->c, s->room, &s->x[to]);
    for (size_t i = 0; i < s->places; i++)
        s->of[to][i] = s->of[a][i] * of[i];
    dpi_ckks_plain_free(&p);
}

static void sum(scene *s, int a, int b, bool minus, int to)
{
    if (minus)
        dpi_ckks_subtract(s->c, &s->x[a], &s->x[b], &s->x[to]);
    else
        dpi_ckks_add(s->c, &s->x[a], &s->x[b], &s->x[to]);
    for (size_t i = 0; i < s->places; i++)
        s->of[to][i] = minus ? s->of[a][i] - s->of[b][i] : s->of[a][i] + s->of[b][i];
}

static void each_operation(const dpi_ckks_spec *spec, size_t places)
{
    static scene s;
    uint64_t seed = 3;
    begin(&s, spec, places, 2);
    for (size_t level = spec->depth; level > 0; level--) {
        draw(&s, 0, level, &seed, false);
        draw(&s, 1, level, &seed, true);
        multiply(&s, 0, 1, 2);
        near(&s, 2);
        multiply(&s, 0, 0, 0); /* in place */
        near(&s, 0);
        draw(&s, 0, level, &seed, false);
        rotate(&s, 0, (int)level % TURNS, 2);
        near(&s, 2);
        rotate(&s, 0, (int)(level + 1) % TURNS, 0);
        near(&s, 0);
        conjugate(&s, 1, 2);
        near(&s, 2);
        sum(&s, 0, 1, false, 2);
        near(&s, 2);
        sum(&s, 0, 1, true, 1);
        near(&s, 1);
        multiply_plain(&s, 0, 2, &seed);
        near(&s, 2);
        draw(&s, 0, level, &seed, false);
        dpi_ckks_lower(s.c, 0, s.room, &s.x[0]);
        near(&s, 0);
    }
    end(&s);
}

static void operations_are_within_their_bounds(void **state)
{
    dpi_ckks_spec spec = usual;
    (void)state;
    each_operation(&usual, 1024);
    spec.special = spec.alpha = 1; /* a digit for each prime */
    each_operation(&spec, 1024);
    spec.special = spec.alpha = 3; /* and one of three, and a short one */
    spec.depth = 4;
    each_operation(&spec, 256);
}

/* Several rotations of one ciphertext. */
static void digits_are_raised_once_for_all_rotations(void **state)
{
    static scene s;
    uint64_t seed = 4;
    (void)state;
    begin(&s, &usual, 1024, 3);
    draw(&s, 0, 3, &seed, false);
    const dpi_ckks_switch *const keys[3] = {s.turn[0], s.turn[1], s.turn[2]};
    dpi_ckks_cipher *const to[3] = {&s.x[1], &s.x[2], &s.x[3]};
    dpi_ckks_rotate_all(s.c, &s.x[0], 3, keys, s.room, to);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < s.places; i++)
            s.of[k + 1][i] = s.of[0][(i + (size_t)(steps[k] + (int)s.places)) % s.places];
        near(&s, k + 1);
    }
    end(&s);
}

/* What rounding brings is a product of two normals: normal errors would not be beyond 6 deviations
 * in 10^15 places, and of these 800000 some are. */
static void errors_have_longer_tails_than_normal_ones(void **state)
{
    const dpi_ckks_spec spec = {13, 50, 40, 1, 1, 1, true};
    static scene s;
    uint64_t seed = 77;
    int beyond = 0;
    (void)state;
    begin(&s, &spec, 4096, 20);
    for (int k = 0; k < 200; k++) {
        draw(&s, 0, 1, &seed, false);
        dpi_ckks_lower(s.c, 0, s.room, &s.x[0]);
        const double most = off(&s, 0);
        beyond += most > 6;
        assert_true(most * s.x[0].noise < dpi_ckks_error(&s.x[0]));
    }
    assert_true(beyond > 0);
    end(&s);
}

/* ---- circuits ---- */

/* One operation on values that are drawn, brought to one level; results stay small. */
static void one_operation(scene *s, uint64_t *seed)
{
    const int kind = (int)floor(3 * (next_number(seed) + 1));
    const int a = (int)floor(VALUES / 2 * (next_number(seed) + 1)) % VALUES;
    const int b = (int)floor(VALUES / 2 * (next_number(seed) + 1)) % VALUES, to = (a + 1) % VALUES;
    const size_t level = s->x[a].level < s->x[b].level ? s->x[a].level : s->x[b].level;
    if (kind == 0 && s->x[a].level > 0)
        multiply_plain(s, a, to, seed);
    if (kind == 1)
        rotate(s, a, b % TURNS, to);
    if (kind == 2)
        conjugate(s, a, to);
    if (kind < 3 || (kind == 4 && a == b) || (kind == 5 && level == 0) ||
        s->x[a].size + s->x[b].size > 1e4)
        return;
    dpi_ckks_lower(s->c, level, s->room, &s->x[a]);
    dpi_ckks_lower(s->c, level, s->room, &s->x[b]);
    if (kind == 5)
        multiply(s, a, b, to);
    else
        sum(s, a, b, kind == 4, to);
}

static void circuits(const dpi_ckks_spec *spec, size_t places, int count, uint64_t seed)
{
    static scene s;
    begin(&s, spec, places, seed);
    for (int k = 0; k < count; k++) {
        for (int v = 0; v < VALUES; v++)
            draw(&s, v, spec->depth, &seed, v % 2 == 0);
        for (int i = 0; i < 12; i++)
            one_operation(&s, &seed);
        for (int v = 0; v < VALUES; v++) {
            const double most = off(&s, v);
            if (!(most <= 8))
                fail_msg("circuit %d is off by %g deviations", k, most);
            s.values++;
            s.low += most < .1;
        }
    }
    if (s.low > 4 + s.values / 50)
        fail_msg("%zu values of %zu are off by less than a tenth of a deviation", s.low, s.values);
    end(&s);
}

static void random_circuits_are_within_their_bounds(void **state)
{
    const char *many = getenv("CIRCUITS");
    dpi_ckks_spec small = usual;
    (void)state;
    small.log_n = 10;
    small.depth = 3;
    circuits(&small, 512, many != NULL ? atoi(many) : 40, 5);
    circuits(&usual, 64, 4, 6);
}

/* ---- bytes ---- */

static void same_rows(const uint64_t *a, const uint64_t *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

static void ciphertexts_and_keys_come_through_bytes(void **state)
{
    static scene s;
    uint64_t seed = 12;
    dp_error err = {0};
    (void)state;
    begin(&s, &usual, 1024, 12);
    const size_t n = dpi_ckks_n(s.c);
    for (int seeded = 0; seeded < 2; seeded++) {
        draw(&s, 0, 3, &seed, seeded == 0);
        const size_t size = dpi_ckks_cipher_size(s.c, 3, seeded == 1);
        unsigned char *bytes = malloc(size);
        assert_non_null(bytes);
        dpi_ckks_cipher_write(s.c, &s.x[0], seeded == 1, bytes);
        assert_ok(
            dpi_ckks_cipher_read(s.c, 3, s.x[0].size, seeded == 1, size, bytes, &s.x[1], &err),
            err.text);
        for (int k = 0; k < 2; k++)
            same_rows(s.x[1].part[k], s.x[0].part[k], 4 * n);
        memcpy(s.of[1], s.of[0], sizeof s.of[0]);
        near(&s, 1);
        assert_fails(dpi_ckks_cipher_read(s.c, 3, 1, seeded == 1, size - 1, bytes, &s.x[1], &err),
                     DP_EPEER, &err, "was expected");
        assert_true(s.x[1].seeded == (seeded == 1));
        memset(bytes, 255, 8); /* 2^50 - 1 and more are no residues */
        assert_fails(dpi_ckks_cipher_read(s.c, 3, 1, seeded == 1, size, bytes, &s.x[1], &err),
                     DP_EPEER, &err, "not below their primes");
        assert_false(s.x[1].seeded);
        free(bytes);
    }
    const size_t size = dpi_ckks_switch_size(s.c);
    unsigned char *bytes = malloc(size);
    dpi_ckks_switch *k;
    dpi_ckks_public *public;
    assert_non_null(bytes);
    dpi_ckks_switch_write(s.turn[1], bytes);
    assert_ok(dpi_ckks_switch_read(s.c, dpi_ckks_rotation(s.c, steps[1]), size, bytes, &k, &err),
              err.text);
    dpi_ckks_switch_free(s.turn[1]);
    s.turn[1] = k;
    draw(&s, 0, 2, &seed, false);
    rotate(&s, 0, 1, 2);
    near(&s, 2);
    bytes[40] = bytes[41] = bytes[42] = bytes[43] = bytes[44] = bytes[45] = bytes[46] = bytes[47] =
        255;
    assert_fails(dpi_ckks_switch_read(s.c, DPI_CKKS_SQUARE, size, bytes, &k, &err), DP_EPEER, &err,
                 "a key came whose");
    assert_null(k);
    assert_true(dpi_ckks_public_size(s.c) <= size);
    dpi_ckks_public_write(s.public, bytes);
    assert_ok(dpi_ckks_public_read(s.c, dpi_ckks_public_size(s.c), bytes, &public, &err), err.text);
    dpi_ckks_public_free(s.public);
    s.public = public;
    draw(&s, 0, 2, &seed, true);
    near(&s, 0);
    assert_fails(dpi_ckks_public_read(s.c, 3, bytes, &public, &err), DP_EPEER, &err, "of 3 bytes");
    free(bytes);
    end(&s);
}

/* ---- what is refused, and what is not there ---- */

static void numbers_that_do_not_fit_are_refused(void **state)
{
    static scene s;
    static double re[1024];
    dpi_ckks_plain p;
    dp_error err = {0};
    (void)state;
    begin(&s, &usual, 1024, 9);
    assert_ok(dpi_ckks_plain_new(s.c, 1, &p, &err), err.text);
    re[3] = NAN;
    assert_fails(dpi_ckks_encode(s.c, 1, 0, 1024, re, NULL, s.room, &p, &err), DP_EDOMAIN, &err,
                 "place 3");
    for (size_t i = 0; i < 1024; i++)
        re[i] = 1e4; /* 2^40 10^4 > 2^49 */
    assert_fails(dpi_ckks_encode(s.c, 0, 0, 1024, re, NULL, s.room, &p, &err), DP_EDOMAIN, &err,
                 "do not fit level 0");
    assert_ok(dpi_ckks_encode(s.c, 1, 0, 1024, re, NULL, s.room, &p, &err), err.text);
    dpi_ckks_plain_free(&p);
    end(&s);
}

/* Without the key there is nothing but uniform residues to be seen: another key decrypts to numbers
 * that have nothing to do with those that were encrypted. */
static void another_key_decrypts_to_nothing(void **state)
{
    static scene s;
    static double re[1024], im[1024];
    uint64_t seed = 11;
    dpi_ckks_secret *other;
    dpi_ckks_plain p;
    dp_error err = {0};
    double square = 0;
    (void)state;
    begin(&s, &usual, 1024, 10);
    draw(&s, 0, 2, &seed, false);
    assert_ok(dpi_ckks_secret_new(s.c, &s.random, &other, &err), err.text);
    assert_ok(dpi_ckks_plain_new(s.c, 2, &p, &err), err.text);
    dpi_ckks_decrypt(other, &s.x[0], &p);
    dpi_ckks_decode(s.c, &p, 1024, s.room, re, im);
    for (size_t i = 0; i < 1024; i++)
        square += re[i] * re[i] / 1024;
    assert_true(sqrt(square) > 1e6);
    dpi_ckks_plain_free(&p);
    dpi_ckks_secret_free(other);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encrypted_is_decrypted),
        cmocka_unit_test(fewer_places_are_means),
        cmocka_unit_test(operations_are_within_their_bounds),
        cmocka_unit_test(digits_are_raised_once_for_all_rotations),
        cmocka_unit_test(errors_have_longer_tails_than_normal_ones),
        cmocka_unit_test(random_circuits_are_within_their_bounds),
        cmocka_unit_test(ciphertexts_and_keys_come_through_bytes),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused),
        cmocka_unit_test(another_key_decrypts_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
