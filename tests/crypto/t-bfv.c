#include "crypto/bfv.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/crypto/bfv-case.h"
#include "tests/lib/check.h"

static const struct shape {
    size_t n;
    int levels, prime_bits, plain_bits;
} shapes[] = {{2048, 1, 50, 30}, {4096, 2, 50, 46}, {4096, 2, 47, 20}, {8192, 3, 50, 46},
              {8192, 4, 50, 2},  {8192, 3, 48, 47}, {4096, 2, 50, 64}, {8192, 4, 47, 64}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint64_t message[CASE_MOST], other[CASE_MOST], got[CASE_MOST], expected[CASE_MOST];
static int64_t factor[CASE_MOST];

static void start(bfv_case *x, size_t i)
{
    case_start(x, shapes[i].n, shapes[i].levels, shapes[i].prime_bits, shapes[i].plain_bits);
}

static void encrypt(bfv_case *x, const uint64_t *m)
{
    dp_error err = {0};
    assert_ok(dpi_bfv_encrypt(x->f, x->secret, m, &x->random, x->c, &err), err.text);
}

static void check_message(bfv_case *x, const dpi_bfv_cipher *c, const uint64_t *m)
{
    dp_error err = {0};
    assert_ok(dpi_bfv_decrypt(x->f, x->secret, c, got, &err), err.text);
    assert_memory_equal(got, m, x->f->n * sizeof *got);
}

static void what_is_encrypted_is_decrypted(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (size_t i = 0; i < SHAPES; i++) {
        bfv_case x;
        start(&x, i);
        memset(message, 0, sizeof message);
        check_message(&x, x.key, message);
        case_message(x.f->n, shapes[i].plain_bits, &seed, message);
        encrypt(&x, message);
        check_message(&x, x.c, message);
        case_end(&x);
    }
}

/* round(q m / t) by GMP. */
static void scaled_messages_are_rounded_exactly(void **state)
{
    (void)state;
    mpz_t q, v;
    mpz_inits(q, v, NULL);
    for (size_t i = 0; i < SHAPES; i++) {
        bfv_case x;
        start(&x, i);
        mpz_set_ui(q, 1);
        for (size_t l = 0; l < x.f->levels; l++)
            mpz_mul_ui(q, q, x.f->ntt[l]->m.q);
        const uint64_t half = (uint64_t)1 << (shapes[i].plain_bits - 1), last = half - 1 + half;
        const uint64_t m[] = {0, 1, half - 1, half, last, 0x9e3779b97f4a7c15 & last, last / 3};
        for (size_t j = 0; j < sizeof m / sizeof *m; j++) {
            mpz_mul_ui(v, q, m[j]);
            mpz_add_ui(v, v, half);
            mpz_fdiv_q_2exp(v, v, (mp_bitcnt_t)shapes[i].plain_bits);
            for (size_t l = 0; l < x.f->levels; l++)
                assert_int_equal(dpi_bfv_scaled(x.f, l, m[j]), mpz_fdiv_ui(v, x.f->ntt[l]->m.q));
        }
        assert_close(x.f->log_q, log2(mpz_get_d(q)), 1e-9, 0);
        assert_true(x.f->log_q < log2(mpz_get_d(q)));
        case_end(&x);
    }
    mpz_clears(q, v, NULL);
}

static void fresh_noise_is_the_error_alone(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (size_t i = 0; i < SHAPES; i++) {
        bfv_case x;
        start(&x, i);
        case_message(x.f->n, shapes[i].plain_bits, &seed, message);
        encrypt(&x, message);
        const double noise = case_noise(&x, x.c, message);
        assert_true(noise <= DPI_RLWE_COINS);
        /* One error of 2048 or more is above 7 but for chances below 1e-20. */
        assert_true(noise > 7);
        case_end(&x);
    }
}

static void sums_and_products_are_those_of_messages(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (size_t i = 1; i < SHAPES; i += 2) {
        bfv_case x;
        start(&x, i);
        const size_t n = x.f->n;
        double norm = 0;
        memset(expected, 0, sizeof expected);
        for (int k = 0; k < 2; k++) {
            case_message(n, shapes[i].plain_bits, &seed, message);
            case_factor(n, k == 0 ? 65536 : 3, &seed, factor);
            if (k == 0)
                factor[0] = -65536;
            encrypt(&x, message);
            dpi_bfv_plain(x.f, factor, x.plain);
            dpi_bfv_multiply_add(x.f, x.plain, x.c, x.sum);
            case_schoolbook(n, shapes[i].plain_bits, factor, message, expected);
            norm += case_norm(n, factor);
        }
        case_message(n, shapes[i].plain_bits, &seed, other);
        encrypt(&x, other);
        dpi_bfv_add(x.f, x.c, x.sum);
        for (size_t j = 0; j < n; j++)
            expected[j] = (expected[j] + other[j]) & UINT64_MAX >> (64 - shapes[i].plain_bits);
        check_message(&x, x.sum, expected);
        const double noise = case_noise(&x, x.sum, expected);
        assert_true(noise <= (DPI_RLWE_COINS + 0.5) * (norm + 1));
        /* Errors of either sign mostly cancel; a bound without the factor's size would not hold. */
        assert_true(noise > DPI_RLWE_COINS * 65536.0);
        case_end(&x);
    }
}

/* A factor that is one power of X times the largest weight meets the bound but for the error. */
static void noise_grows_by_the_magnitude_of_the_factor(void **state)
{
    (void)state;
    bfv_case x;
    start(&x, 1);
    memset(factor, 0, sizeof factor);
    factor[77] = -65536;
    memset(message, 0, sizeof message);
    memset(expected, 0, sizeof expected);
    encrypt(&x, message);
    const double before = case_noise(&x, x.c, message);
    dpi_bfv_plain(x.f, factor, x.plain);
    dpi_bfv_multiply_add(x.f, x.plain, x.c, x.sum);
    assert_close(case_noise(&x, x.sum, expected), 65536 * before, 0, 0);
    case_end(&x);
}

static void bytes_come_back(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (size_t i = 0; i < SHAPES; i++) {
        bfv_case x;
        start(&x, i);
        dp_error err = {0};
        const size_t size = dpi_bfv_cipher_size(x.f);
        const size_t bits = (size_t)(shapes[i].levels * shapes[i].prime_bits);
        assert_int_equal(size, 32 + shapes[i].n / 8 * bits);
        unsigned char *bytes = malloc(size);
        assert_non_null(bytes);
        case_message(x.f->n, shapes[i].plain_bits, &seed, message);
        encrypt(&x, message);
        dpi_bfv_cipher_write(x.f, x.c, bytes);
        assert_ok(dpi_bfv_cipher_read(x.f, size, bytes, x.sum, &err), err.text);
        check_message(&x, x.sum, message);
        free(bytes);
        case_end(&x);
    }
}

static void malformed_bytes_are_refused(void **state)
{
    (void)state;
    bfv_case x;
    start(&x, 2); /* primes of 47 bits: residues do not end at bytes */
    dp_error err = {0};
    const size_t size = dpi_bfv_cipher_size(x.f), half = (size - 32) / 2;
    unsigned char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    encrypt(&x, NULL);
    dpi_bfv_cipher_write(x.f, x.c, bytes);
    assert_fails(dpi_bfv_cipher_read(x.f, size - 1, bytes, x.sum, &err), DP_EPEER, &err, "bytes");
    assert_fails(dpi_bfv_cipher_read(x.f, size + 1, bytes, x.sum, &err), DP_EPEER, &err, "bytes");
    assert_fails(dpi_bfv_cipher_read(x.f, 0, bytes, x.sum, &err), DP_EPEER, &err, "0 bytes");
    for (size_t level = 0; level < 2; level++) {
        /* The first residue becomes the prime itself, then one below it. */
        const uint64_t q = x.f->ntt[level]->m.q;
        unsigned char *at = bytes + 32 + level * half, kept[8];
        memcpy(kept, at, 8);
        for (uint64_t down = 0; down < 2; down++) {
            for (int i = 0; i < 6; i++) {
                const unsigned char keep = i == 5 ? 0x80 : 0;
                at[i] = (unsigned char)((at[i] & keep) | (q - down) >> 8 * i);
            }
            if (down == 0)
                assert_fails(dpi_bfv_cipher_read(x.f, size, bytes, x.sum, &err), DP_EPEER, &err,
                             "not below prime");
            else
                assert_ok(dpi_bfv_cipher_read(x.f, size, bytes, x.sum, &err), err.text);
        }
        memcpy(at, kept, 8);
    }
    free(bytes);
    case_end(&x);
}

static void two_encryptions_have_nothing_in_common(void **state)
{
    (void)state;
    bfv_case x;
    start(&x, 1);
    dp_error err = {0};
    encrypt(&x, NULL);
    assert_ok(dpi_bfv_encrypt(x.f, x.secret, NULL, &x.random, x.sum, &err), err.text);
    assert_memory_not_equal(x.c->seed, x.sum->seed, sizeof x.c->seed);
    size_t same = 0;
    for (size_t j = 0; j < 2 * x.f->n; j++)
        same += (x.c->c0[j] == x.sum->c0[j]) + (x.c->c1[j] == x.sum->c1[j]);
    assert_int_equal(same, 0); /* by chance: below 2^-34, and the seed is fixed */
    case_end(&x);
}

static void another_key_opens_nothing(void **state)
{
    (void)state;
    bfv_case x;
    start(&x, 1);
    dp_error err = {0};
    dpi_bfv_secret *wrong;
    assert_ok(dpi_bfv_secret_new(x.f, &x.random, &wrong, &err), err.text);
    memset(message, 0, sizeof message);
    encrypt(&x, message);
    assert_ok(dpi_bfv_decrypt(x.f, wrong, x.c, got, &err), err.text);
    size_t zeros = 0;
    for (size_t j = 0; j < x.f->n; j++)
        zeros += got[j] == 0;
    assert_true(zeros < 3);
    dpi_bfv_secret_free(wrong);
    case_end(&x);
}

/* With 1000 for both halves of the key the randomness of an encryption lies open: 1000 u + e0 and
 * 1000 u + e1. */
static void public_encryptions_have_errors_in_both_halves(void **state)
{
    (void)state;
    bfv_case x;
    dp_error err = {0};
    case_start(&x, 4096, 2, 50, 64);
    for (size_t j = 0; j < 2 * x.f->n; j++)
        x.key->c0[j] = x.key->c1[j] = 1000;
    assert_ok(dpi_bfv_encrypt_public(x.f, x.key, NULL, &x.random, x.c, &err), err.text);
    double sum[5] = {0};
    dpi_ntt_inverse(x.f->ntt[0], x.c->c0);
    dpi_ntt_inverse(x.f->ntt[0], x.c->c1);
    for (size_t j = 0; j < x.f->n; j++) {
        const double q = (double)x.f->ntt[0]->m.q, first = remainder((double)x.c->c0[j], q);
        const double second = remainder((double)x.c->c1[j], q), u = rint(first / 1000);
        const double e0 = first - 1000 * u, e1 = second - 1000 * u;
        assert_true(fabs(u) <= 1 && fabs(e0) <= DPI_RLWE_COINS && fabs(e1) <= DPI_RLWE_COINS);
        sum[0] += u * u * 3 / 2;
        sum[1] += e0 * e0 / 10.5;
        sum[2] += e1 * e1 / 10.5;
        sum[3] += e0 * e1 / 10.5;
        sum[4] += u * e0 / sqrt(7);
    }
    const double n = (double)x.f->n;
    for (int i = 0; i < 5; i++) /* deviations are at most sqrt(2 n) */
        assert_close(sum[i], i < 3 ? n : 0, 0, 6.5 * sqrt(2 * n));
    case_end(&x);
}

static void public_encryptions_are_decrypted(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (size_t i = 1; i < SHAPES; i++) {
        bfv_case x;
        dp_error err = {0};
        start(&x, i);
        case_message(x.f->n, shapes[i].plain_bits, &seed, message);
        assert_ok(dpi_bfv_encrypt_public(x.f, x.key, message, &x.random, x.c, &err), err.text);
        check_message(&x, x.c, message);
        const double noise = case_noise(&x, x.c, message), n = (double)x.f->n;
        assert_true(noise <= DPI_RLWE_COINS * (2 * n + 1));
        assert_true(noise > 2 * sqrt(14 * n));
        case_end(&x);
    }
}

static void parameters_that_are_not_secure_are_refused(void **state)
{
    (void)state;
    static const struct refused {
        dpi_bfv_spec spec;
        dp_status status;
        const char *why;
    } refused[] = {
        {{4096, 3, 50, 30}, DP_EPRIVACY, "up to 106 bits"},
        {{2048, 2, 46, 30}, DP_EPRIVACY, "up to 53 bits"},
        {{1024, 1, 44, 30}, DP_EPRIVACY, "up to 26 bits"},
        {{4096, 5, 20, 30}, DP_EINVAL, "primes"},
        {{4096, 0, 50, 30}, DP_EINVAL, "primes"},
        {{4096, 2, 51, 30}, DP_EINVAL, "46 .. 50 bits"},
        {{8192, 2, 46, 30}, DP_EINVAL, "47 .. 50 bits"},
        {{4095, 2, 50, 30}, DP_EINVAL, "power of two"},
        {{512, 1, 50, 30}, DP_EINVAL, "power of two"},
        {{65536, 1, 50, 30}, DP_EINVAL, "power of two"},
        {{4096, 2, 50, 49}, DP_EINVAL, "2 .. 48 bits, not 49"},
        {{8192, 3, 47, 48}, DP_EINVAL, "2 .. 47 bits, not 48"},
        {{4096, 2, 50, 1}, DP_EINVAL, "not 1"},
        {{4096, 2, 50, 63}, DP_EINVAL, "not 63"},
        {{2048, 1, 50, 64}, DP_EINVAL, "more than 1 primes of 50 bits"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        dp_error err = {0};
        dpi_bfv *f;
        assert_fails(dpi_bfv_new(&refused[i].spec, &f, &err), refused[i].status, &err,
                     refused[i].why);
        assert_null(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encrypted_is_decrypted),
        cmocka_unit_test(scaled_messages_are_rounded_exactly),
        cmocka_unit_test(fresh_noise_is_the_error_alone),
        cmocka_unit_test(sums_and_products_are_those_of_messages),
        cmocka_unit_test(noise_grows_by_the_magnitude_of_the_factor),
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(malformed_bytes_are_refused),
        cmocka_unit_test(two_encryptions_have_nothing_in_common),
        cmocka_unit_test(another_key_opens_nothing),
        cmocka_unit_test(public_encryptions_have_errors_in_both_halves),
        cmocka_unit_test(public_encryptions_are_decrypted),
        cmocka_unit_test(parameters_that_are_not_secure_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
