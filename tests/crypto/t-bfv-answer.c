#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/bfv.h"
#include "tests/crypto/bfv-case.h"
#include "tests/lib/check.h"

static uint64_t message[CASE_MOST], added[CASE_MOST], got[CASE_MOST], expected[CASE_MOST];
static int64_t factor[CASE_MOST];
static size_t places[CASE_MOST];

/* The sum of a case becomes a factor of weights up to `most` times an encrypted message; what it
 * encrypts is `expected`. */
static double evaluate(bfv_case *x, int64_t most, uint64_t *seed)
{
    dp_error err = {0};
    const size_t n = x->f->n;
    const int bits = x->f->spec.plain_bits;
    case_message(n, bits, seed, message);
    case_factor(n, most, seed, factor);
    memset(expected, 0, sizeof expected);
    case_schoolbook(n, bits, factor, message, expected);
    assert_ok(dpi_bfv_encrypt(x->f, x->secret, message, &x->random, x->c, &err), err.text);
    dpi_bfv_plain(x->f, factor, x->plain);
    dpi_bfv_cipher_clear(x->f, x->sum);
    dpi_bfv_multiply_add(x->f, x->plain, x->c, x->sum);
    return (DPI_RLWE_COINS + 0.5) * (double)n * (double)most;
}

static int flood_of(const bfv_case *x, double noise)
{
    dp_error err = {0};
    int flood;
    assert_ok(dpi_bfv_flood(x->f, noise, DPI_BFV_HIDE, &flood, &err), err.text);
    return flood;
}

/* Answers from a copy of the sum, which stays. */
static dpi_bfv_answer *answer(bfv_case *x, size_t count, const uint64_t *plus, int flood)
{
    dp_error err = {0};
    dpi_bfv_answer *a;
    dpi_bfv_cipher *copy;
    assert_ok(dpi_bfv_answer_new(x->f, count, &a, &err), err.text);
    assert_ok(dpi_bfv_cipher_new(x->f, &copy, &err), err.text);
    dpi_bfv_add(x->f, x->sum, copy);
    const dpi_bfv_ask ask = {x->key, places, plus, flood, 0};
    assert_ok(dpi_bfv_answer_make(x->f, &ask, &x->random, copy, a, &err), err.text);
    dpi_bfv_cipher_free(copy);
    return a;
}

static void answers_are_exact(void **state)
{
    (void)state;
    static const dpi_bfv_spec specs[] = {{4096, 2, 50, 46}, {8192, 3, 50, 47}, {2048, 1, 50, 20}};
    static const size_t counts[] = {1, 64, 65, 2048};
    dp_error err = {0};
    uint64_t seed = 21;
    for (size_t s = 0; s < 3; s++) {
        bfv_case x;
        case_start(&x, specs[s].n, specs[s].levels, specs[s].prime_bits, specs[s].plain_bits);
        const uint64_t mask = ((uint64_t)1 << specs[s].plain_bits) - 1;
        const double noise = evaluate(&x, s == 2 ? 2 : 65536, &seed);
        const int flood = flood_of(&x, noise);
        for (size_t k = 0; k < 4; k++) {
            for (size_t j = 0; j < counts[k]; j++)
                places[j] = counts[k] == 1 ? x.f->n - 1 : (j * 37 + 5) % x.f->n;
            case_message(2048, specs[s].plain_bits, &seed, added);
            dpi_bfv_answer *a = answer(&x, counts[k], k % 2 != 0 ? added : NULL, flood);
            assert_ok(dpi_bfv_answer_open(x.f, x.secret, places, a, got, &err), err.text);
            for (size_t j = 0; j < counts[k]; j++)
                assert_int_equal(got[j],
                                 (expected[places[j]] + (k % 2 != 0 ? added[j] : 0)) & mask);
            dpi_bfv_answer_free(a);
        }
        case_end(&x);
    }
}

/* The noise in an answer of all n coefficients, in units of 2^flood / q, appended to `noise`. */
static void measure(bfv_case *x, const dpi_bfv_answer *a, int flood, double *noise)
{
    const dpi_bfv *f = x->f;
    for (size_t p = 0; p < f->n; p++) {
        const uint64_t off = case_phase(x, a, p, p) - (expected[p] << (64 - f->spec.plain_bits));
        noise[p] = (double)(int64_t)off * exp2(f->log_q - 64 - flood);
    }
}

/* Pearson's statistic against the uniform distribution on [-1, 1) in 16 cells. */
static double against_uniform(size_t n, const double *noise, double unit)
{
    enum { CELLS = 16 };
    double count[CELLS] = {0}, statistic = 0;
    for (size_t j = 0; j < n; j++) {
        const double cell = floor((noise[j] * unit + 1) / 2 * CELLS);
        count[(size_t)fmin(fmax(cell, 0), CELLS - 1)]++;
    }
    for (size_t i = 0; i < CELLS; i++)
        statistic += (count[i] - (double)n / CELLS) * (count[i] - (double)n / CELLS);
    return statistic / ((double)n / CELLS);
}

/* False failure: 1e-10.  The noise of evaluation is far below that of flooding.  Rounding to k + 3
 * bits is a quarter of it at most and blurs its ends, which adds some 20 to the statistic of 4096
 * numbers. */
static void noise_is_flooded_uniformly(void **state)
{
    (void)state;
    bfv_case x;
    case_start(&x, 4096, 2, 50, 46);
    uint64_t seed = 22;
    static double noise[4096];
    const int flood = flood_of(&x, evaluate(&x, 65536, &seed));
    for (size_t j = 0; j < x.f->n; j++)
        places[j] = j;
    dpi_bfv_answer *a = answer(&x, x.f->n, NULL, flood);
    measure(&x, a, flood, noise);
    dpi_bfv_answer_free(a);
    const double limit = gsl_cdf_chisq_Qinv(1e-10, 15);
    assert_true(against_uniform(x.f->n, noise, 1) < limit);
    /* Noise of 7/8 or 9/8 of the width would be seen. */
    assert_true(against_uniform(x.f->n, noise, 7.0 / 8) > limit);
    assert_true(against_uniform(x.f->n, noise, 9.0 / 8) > limit);
    case_end(&x);
}

/* Noise at the largest value that dpi_bfv_flood was told is still decrypted, one four times as
 * large is not: the bound is neither broken nor idle. */
static void the_bound_of_noise_holds_and_matters(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int over = 0; over < 2; over++) {
        bfv_case x;
        case_start(&x, 4096, 2, 50, 46);
        const double bound = exp2(52);
        const int flood = flood_of(&x, bound);
        memset(expected, 0, sizeof expected);
        for (size_t j = 0; j < x.f->n; j++) {
            places[j] = j;
            for (size_t i = 0; i < 2; i++)
                x.sum->c0[i * x.f->n + j] =
                    dpi_modulus_reduce(&x.f->ntt[i]->m, (uint64_t)1 << (over != 0 ? 54 : 52));
        }
        for (size_t i = 0; i < 2; i++)
            dpi_ntt_forward(x.f->ntt[i], x.sum->c0 + i * x.f->n);
        dpi_bfv_answer *a = answer(&x, x.f->n, NULL, flood);
        assert_ok(dpi_bfv_answer_open(x.f, x.secret, places, a, got, &err), err.text);
        size_t wrong = 0;
        for (size_t j = 0; j < x.f->n; j++)
            wrong += got[j] != 0;
        assert_true(over != 0 ? wrong > x.f->n / 2 : wrong == 0);
        dpi_bfv_answer_free(a);
        case_end(&x);
    }
}

static void noise_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    bfv_case x;
    case_start(&x, 4096, 2, 50, 46);
    dp_error err = {0};
    int flood;
    assert_fails(dpi_bfv_flood(x.f, exp2(53), DPI_BFV_HIDE, &flood, &err), DP_EPRIVACY, &err,
                 "does not fit");
    assert_fails(dpi_bfv_flood(x.f, INFINITY, DPI_BFV_HIDE, &flood, &err), DP_EPRIVACY, &err,
                 "does not fit");
    assert_fails(dpi_bfv_flood(x.f, NAN, DPI_BFV_HIDE, &flood, &err), DP_EPRIVACY, &err,
                 "does not fit");
    assert_int_equal(flood, 0);
    case_end(&x);
    case_start(&x, 8192, 4, 50, 2); /* more room than words: as wide as there are words for */
    assert_int_equal(flood_of(&x, 1), 190);
    case_end(&x);
}

/* Even of a sum of zeros, whose c1 is zero, c1 must come out uniform; false failure 1e-10. */
static void plaintexts_of_words_have_no_answers(void **state)
{
    (void)state;
    bfv_case x;
    dp_error err = {0};
    dpi_bfv_answer *a;
    int hide;
    case_start(&x, 4096, 2, 50, DPI_BFV_WHOLE);
    assert_fails(dpi_bfv_hide(x.f, 1, &hide, &err), DP_EPRIVACY, &err, "are for sums");
    assert_fails(dpi_bfv_answer_new(x.f, 1, &a, &err), DP_EINVAL, &err, "no answers");
    assert_null(a);
    case_end(&x);
}

static void second_halves_are_fresh(void **state)
{
    (void)state;
    bfv_case x;
    case_start(&x, 4096, 2, 50, 46);
    dpi_bfv_answer *a = answer(&x, 1, NULL, 50), *b = answer(&x, 1, NULL, 50);
    double count[64] = {0}, statistic = 0;
    size_t same = 0;
    for (size_t j = 0; j < x.f->n; j++) {
        count[a->second[j] >> (x.f->second_bits - 6)]++;
        same += a->second[j] == b->second[j];
    }
    for (size_t i = 0; i < 64; i++)
        statistic += (count[i] - 64) * (count[i] - 64) / 64;
    assert_true(statistic < gsl_cdf_chisq_Qinv(1e-10, 63));
    assert_int_equal(same, 0);
    assert_true(a->first[0] != b->first[0]);
    dpi_bfv_answer_free(a);
    dpi_bfv_answer_free(b);
    case_end(&x);
}

/* Less a u, of the same u, what is left of c1 before rounding is an error of variance 21/2: a
 * sum of 4096 squares is within a third of its mean but for 1e-15.  Rounded answers would not
 * show it. */
static void second_halves_hide_behind_an_error(void **state)
{
    (void)state;
    bfv_case x;
    case_start(&x, 4096, 2, 50, 46);
    dp_error err = {0};
    static int64_t u[4096];
    static uint64_t small[4096];
    dpi_bfv_answer *a;
    assert_ok(dpi_bfv_answer_new(x.f, 1, &a, &err), err.text);
    dpi_rlwe_stream again = x.random;
    dpi_rlwe_wide(&again, 20, x.f->n, u);
    places[0] = 0;
    const dpi_bfv_ask ask = {x.key, places, NULL, 40, 20};
    assert_ok(dpi_bfv_answer_make(x.f, &ask, &x.random, x.sum, a, &err), err.text);
    for (size_t i = 0; i < x.f->levels; i++) {
        const dpi_ntt *ntt = x.f->ntt[i];
        double squares = 0;
        for (size_t j = 0; j < x.f->n; j++)
            small[j] = dpi_modulus_signed(&ntt->m, u[j]);
        dpi_ntt_forward(ntt, small);
        ntt->kernel->multiply(ntt, small, x.key->c1 + i * x.f->n, small);
        dpi_ntt_inverse(ntt, small);
        for (size_t j = 0; j < x.f->n; j++) {
            const uint64_t e = dpi_modulus_subtract(&ntt->m, x.sum->c1[i * x.f->n + j], small[j]);
            const double error = e > ntt->m.q / 2 ? -(double)(ntt->m.q - e) : (double)e;
            assert_true(fabs(error) <= DPI_RLWE_COINS);
            squares += error * error;
        }
        assert_close(squares / (double)x.f->n, DPI_RLWE_COINS / 2.0, 1.0 / 3, 0);
    }
    dpi_bfv_answer_free(a);
    case_end(&x);
}

/* Who sends q/t as a public key reads u, modulo 2^k, off the first half of an answer. */
static void read_u(bfv_case *x, int hide, int64_t *u, uint64_t *told)
{
    dp_error err = {0};
    dpi_bfv_answer *a;
    const size_t n = x->f->n;
    dpi_bfv_cipher_clear(x->f, x->key);
    for (size_t i = 0; i < x->f->levels; i++) {
        x->key->c0[i * n] = dpi_bfv_scaled(x->f, i, 1);
        dpi_ntt_forward(x->f->ntt[i], x->key->c0 + i * n);
    }
    dpi_bfv_cipher_clear(x->f, x->sum);
    for (size_t j = 0; j < n; j++)
        places[j] = j;
    dpi_rlwe_stream again = x->random;
    dpi_rlwe_wide(&again, hide, n, u);
    const dpi_bfv_ask ask = {x->key, places, NULL, 20, hide};
    assert_ok(dpi_bfv_answer_new(x->f, n, &a, &err), err.text);
    assert_ok(dpi_bfv_answer_make(x->f, &ask, &x->random, x->sum, a, &err), err.text);
    const uint64_t mask = ((uint64_t)1 << x->f->spec.plain_bits) - 1;
    for (size_t j = 0; j < n; j++)
        told[j] = (a->first[j] + 4) >> 3 & mask;
    dpi_bfv_answer_free(a);
}

/* Where u is small that is all of it, and what it hides is bare.  An answer's own u keeps at least
 * log2 3 bits a coefficient, here 4, of which nothing is told: 16 values, each as often. */
static void whoever_made_up_a_key_has_u_left_to_find(void **state)
{
    (void)state;
    enum { N = 2048, BITS = 20, LEFT = 4 };
    static int64_t u[N];
    static uint64_t told[N];
    bfv_case x;
    dp_error err = {0};
    size_t count[1 << LEFT] = {0};
    double statistic = 0;
    int hide;
    case_start(&x, N, 1, 50, BITS);
    read_u(&x, DPI_BFV_HIDE, u, told);
    for (size_t j = 0; j < N; j++)
        assert_int_equal(told[j], (uint64_t)u[j] % (1 << BITS));
    assert_ok(dpi_bfv_hide(x.f, N, &hide, &err), err.text);
    assert_int_equal(hide, BITS + LEFT);
    read_u(&x, hide, u, told);
    for (size_t j = 0; j < N; j++) {
        assert_int_equal(told[j], (uint64_t)u[j] % (1 << BITS));
        count[(uint64_t)u[j] >> BITS & ((1 << LEFT) - 1)]++;
    }
    for (size_t i = 0; i < 1 << LEFT; i++)
        statistic += ((double)count[i] - N / 16.0) * ((double)count[i] - N / 16.0) / (N / 16.0);
    assert_true(statistic < gsl_cdf_chisq_Qinv(1e-10, 15));
    assert_ok(dpi_bfv_hide(x.f, 1, &hide, &err), err.text);
    assert_int_equal(hide, DPI_BFV_HIDE);
    case_end(&x);
    case_start(&x, N, 1, 50, 49);
    assert_fails(dpi_bfv_hide(x.f, N, &hide, &err), DP_EPRIVACY, &err, "leave nothing");
    case_end(&x);
}

static void bytes_come_back_and_malformed_ones_are_refused(void **state)
{
    (void)state;
    bfv_case x;
    case_start(&x, 4096, 2, 50, 46);
    dp_error err = {0};
    uint64_t seed = 24;
    enum { COUNT = 5 };
    const int flood = flood_of(&x, evaluate(&x, 100, &seed));
    for (size_t j = 0; j < COUNT; j++)
        places[j] = 800 * j + 783;
    dpi_bfv_answer *a = answer(&x, COUNT, NULL, flood), *b;
    assert_ok(dpi_bfv_answer_new(x.f, COUNT, &b, &err), err.text);
    const size_t size = dpi_bfv_answer_size(x.f, COUNT);
    assert_int_equal(size, 4096 / 8 * 61 + (5 * 49 + 7) / 8);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    dpi_bfv_answer_write(x.f, a, bytes);
    assert_ok(dpi_bfv_answer_read(x.f, size, bytes, b, &err), err.text);
    assert_memory_equal(a->first, b->first, COUNT * sizeof *a->first);
    assert_memory_equal(a->second, b->second, x.f->n * sizeof *a->second);
    assert_fails(dpi_bfv_answer_read(x.f, size - 1, bytes, b, &err), DP_EPEER, &err, "bytes");
    bytes[size - 1] |= 0x80;
    assert_fails(dpi_bfv_answer_read(x.f, size, bytes, b, &err), DP_EPEER, &err, "behind");
    free(bytes);
    dpi_bfv_answer_free(a);
    dpi_bfv_answer_free(b);
    case_end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_exact),
        cmocka_unit_test(noise_is_flooded_uniformly),
        cmocka_unit_test(the_bound_of_noise_holds_and_matters),
        cmocka_unit_test(noise_that_does_not_fit_is_refused),
        cmocka_unit_test(plaintexts_of_words_have_no_answers),
        cmocka_unit_test(second_halves_are_fresh),
        cmocka_unit_test(second_halves_hide_behind_an_error),
        cmocka_unit_test(whoever_made_up_a_key_has_u_left_to_find),
        cmocka_unit_test(bytes_come_back_and_malformed_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
