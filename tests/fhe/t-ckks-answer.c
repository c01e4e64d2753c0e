/* Answers: of a vector goes what is repeated, and no more. */
#include <stdlib.h>
#include <string.h>

#include "fhe/ckks.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { LOG_N = 11, ALL = 1 << (LOG_N - 1), MOST = 16 };

static const dpi_ckks_spec usual = {.log_n = LOG_N,
                                    .first_bits = 50,
                                    .scale_bits = 40,
                                    .depth = 1,
                                    .special = 1,
                                    .alpha = 1,
                                    .toy = true};

typedef struct scene {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_rlwe_stream random;
    dpi_ckks_plain p;
    dpi_ckks_cipher x, y;
    double place[ALL];
} scene;

static void begin(scene *s)
{
    static const unsigned char seed[DPI_RLWE_SEED] = {21};
    uint64_t numbers = 3;
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    dpi_rlwe_start(&s->random, seed, "a test of answers");
    assert_ok(dpi_ckks_new(&usual, &s->c, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->c, &s->room, &err), err.text);
    assert_ok(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), err.text);
    assert_ok(dpi_ckks_plain_new(s->c, 0, &s->p, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 0, &s->x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, 0, &s->y, &err), err.text);
    for (int i = 0; i < ALL; i++)
        s->place[i] = next_number(&numbers);
    assert_ok(dpi_ckks_encode(s->c, 0, 0, ALL, s->place, NULL, s->room, &s->p, &err), err.text);
    dpi_ckks_encrypt(s->secret, &s->p, &s->random, s->room, &s->x);
}

static void end(scene *s)
{
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_plain_free(&s->p);
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_free(s->c);
    dpi_rlwe_end(&s->random);
}

/* Whoever has encrypted a vector that is not repeated has means of its places, and no single one:
 * all that is behind the point is the same. */
static void what_is_not_repeated_does_not_go(void **state)
{
    static scene s;
    double y[MOST], whole[ALL];
    dp_error err = {0};
    (void)state;
    begin(&s);
    for (size_t places = 1; places <= MOST; places *= 4) {
        const size_t n = dpi_ckks_answer_size(s.c, places);
        unsigned char *bytes = malloc(n);
        assert_non_null(bytes);
        assert_int_equal(n, (2 * places * 50 + 7) / 8 + 2 * ALL * 50 / 8);
        dpi_ckks_answer_write(s.c, &s.x, places, s.room, bytes);
        assert_ok(dpi_ckks_answer_read(s.c, places, 1, n, bytes, &s.y, &err), err.text);
        dpi_ckks_decrypt(s.secret, &s.y, &s.p);
        dpi_ckks_decode(s.c, &s.p, places, s.room, y, NULL);
        for (size_t i = 0; i < places; i++) {
            double mean = 0;
            for (size_t k = i; k < ALL; k += places)
                mean += s.place[k] / (double)(ALL / places);
            assert_close(y[i], mean, 0, 1e-9);
        }
        dpi_ckks_decode(s.c, &s.p, ALL, s.room, whole, NULL);
        for (int i = 0; i < ALL; i++)
            assert_true(whole[i] > 1 || whole[i] < -1); /* c1 times the secret */
        free(bytes);
    }
    end(&s);
}

static void other_bytes_are_refused(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    begin(&s);
    const size_t n = dpi_ckks_answer_size(s.c, 1);
    unsigned char *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t at = 0; at < n; at += n / 3) {
        dpi_ckks_answer_write(s.c, &s.x, 1, s.room, bytes);
        memset(bytes + at, 255, at == 0 ? 7 : 14); /* a residue of 2^50 - 1 */
        assert_fails(dpi_ckks_answer_read(s.c, 1, 1, n, bytes, &s.y, &err), DP_EPEER, &err,
                     "not below their primes");
    }
    dpi_ckks_answer_write(s.c, &s.x, 1, s.room, bytes);
    bytes[12] |= 0xf0; /* 100 bits are twelve bytes and a half */
    assert_fails(dpi_ckks_answer_read(s.c, 1, 1, n, bytes, &s.y, &err), DP_EPEER, &err,
                 "not below their primes");
    assert_fails(dpi_ckks_answer_read(s.c, 1, 1, n - 1, bytes, &s.y, &err), DP_EPEER, &err,
                 "was expected");
    free(bytes);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_repeated_does_not_go),
                                       cmocka_unit_test(other_bytes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
