/* Noise of sums under a key of all owners: what is reckoned, beside what is measured. */
#include <gmp.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "crypto/bfv-parts.h"
#include "tests/crypto/threshold-scene.h"
#include "tests/lib/check.h"

/* A residue polynomial's coefficient as a number around zero. */
static double centred(const dpi_bfv *f, const uint64_t *phase, size_t j)
{
    double first = 0;
    for (size_t i = 0; i < f->levels; i++) {
        const dpi_modulus *m = &f->ntt[i]->m;
        const uint64_t r = phase[i * f->n + j];
        const double value = r > m->q / 2 ? -(double)(m->q - r) : (double)r;
        if (i == 0)
            first = value;
        assert_true(value == first); /* small, so the same modulo all primes */
    }
    return first;
}

/* Vectors of words that all have the top bit: their roundings and wraps are all there. */
static void noise_of_a_sum_is_as_reckoned(void **state)
{
    (void)state;
    for (size_t owners = 1; owners <= 8; owners = owners * 2 + 1) {
        scene x;
        dp_error err = {0};
        scene_start(&x, owners, 1 << 20);
        const dpi_bfv *f = x.t->f;
        dpi_bfv_cipher *c, *sum;
        uint64_t *message = dpi_alloc(f->n, sizeof *message), *total = dpi_bfv_polynomial(f);
        assert_ok(dpi_bfv_cipher_new(f, &c, &err), err.text);
        assert_ok(dpi_bfv_cipher_new(f, &sum, &err), err.text);
        memset(total, 0, f->n * sizeof *total);
        for (size_t k = 0; k < owners; k++) {
            for (size_t j = 0; j < f->n; j++) {
                dpi_rlwe_bytes(&x.random, sizeof *message, (unsigned char *)&message[j]);
                message[j] |= (uint64_t)1 << 63;
                total[j] += message[j];
            }
            assert_ok(dpi_bfv_encrypt_public(f, x.key->sum, message, &x.random, c, &err), err.text);
            dpi_bfv_add(f, c, sum);
        }
        double most = 0, squares = 0;
        for (size_t i = 0; i < f->levels; i++) {
            const dpi_ntt *ntt = f->ntt[i];
            for (size_t k = 0; k < owners; k++)
                ntt->kernel->multiply_add(ntt, sum->c1 + i * f->n,
                                          x.share[k]->secret->transformed + i * f->n,
                                          sum->c0 + i * f->n);
            dpi_ntt_inverse(ntt, sum->c0 + i * f->n);
            for (size_t j = 0; j < f->n; j++)
                sum->c0[i * f->n + j] = dpi_modulus_subtract(&ntt->m, sum->c0[i * f->n + j],
                                                             dpi_bfv_scaled(f, i, total[j]));
        }
        for (size_t j = 0; j < f->n; j++) {
            const double noise = centred(f, sum->c0, j);
            most = fmax(most, fabs(noise));
            squares += noise * noise;
        }
        /* e u and e1 s: each M^2 N (2/3) (21/2), all independent; of N numbers the deviation is
         * known to 1.5 %, and errors and secrets have a length that varies as much. */
        const double m = (double)owners, law = sqrt(2 * m * m * (double)f->n * 7);
        assert_close(sqrt(squares / (double)f->n), law, 0.1, 0);
        assert_true(most <= x.t->noise);
        assert_true(most > 3 * law && most < 6 * law);
        dpi_free(message);
        dpi_free(total);
        dpi_bfv_cipher_free(c);
        dpi_bfv_cipher_free(sum);
        scene_end(&x);
    }
}

/* A partial less c1 s_i, in units of 2^flood. */
static double flooding(const scene *x, size_t k, size_t j, const uint64_t *product)
{
    const dpi_bfv *f = x->t->f;
    uint64_t y[DPI_BFV_LEVELS], low, high, partial = 0;
    for (size_t i = 0; i < f->levels; i++)
        y[i] = dpi_modulus_multiply(&f->ntt[i]->m, product[i * f->n + j], f->level[i].over_rest[0]);
    high = dpi_bfv_fixed(f, y, 1, &low);
    for (int b = 7; b >= 0; b--)
        partial = partial << 8 | x->partial[k][8 * j + (size_t)b];
    /* The flood is far below 2^-64 q: the high words differ by one at most. */
    const double words = (double)(int64_t)(partial - high);
    const double rest = (double)x->partial[k][8 * x->n + j] * 0x1p-8 - (double)low * 0x1p-64;
    return (words + rest) * exp2(f->log_q - 64 - x->t->flood);
}

/* Those of all words, [n]. */
static void floods_of(const scene *x, size_t k, uint64_t *room, double *flood)
{
    const dpi_bfv *f = x->t->f;
    for (size_t i = 0; i < f->levels; i++) {
        const size_t at = i * f->n;
        f->ntt[i]->kernel->multiply(f->ntt[i], x->sum[k]->c1 + at,
                                    x->share[k]->secret->transformed + at, room + at);
        dpi_ntt_inverse(f->ntt[i], room + at);
    }
    for (size_t j = 0; j < x->n; j++)
        flood[j] = flooding(x, k, j, room);
}

enum { N = 8192, BINS = 16 };

static void check_evenly(const dpi_threshold *t, const double *flood)
{
    size_t count[BINS] = {0};
    double statistic = 0, most = 0;
    for (size_t j = 0; j < N; j++) {
        const double place = floor((flood[j] + 1) / 2 * BINS);
        most = fmax(most, fabs(flood[j]));
        count[(size_t)fmin(fmax(place, 0), BINS - 1)]++;
    }
    for (size_t b = 0; b < BINS; b++)
        statistic += pow((double)count[b] - (double)N / BINS, 2) / ((double)N / BINS);
    assert_true(statistic < gsl_cdf_chisq_Qinv(1e-10, BINS - 1));
    assert_true(most <= 1 + exp2(t->f->log_q - 73 - t->flood) * 1.125); /* and roundings */
}

/* Of two owners and two sums. */
static void partials_are_flooded_evenly_and_anew(void **state)
{
    static double flood[4][N];
    (void)state;
    scene x;
    scene_start(&x, 2, 1 << 20);
    uint64_t *room = dpi_bfv_polynomial(x.t->f);
    for (size_t s = 0; s < 4; s += 2) {
        scene_make(&x, N, 0);
        scene_partials(&x);
        for (size_t k = 0; k < 2; k++) {
            floods_of(&x, k, room, flood[s + k]);
            check_evenly(x.t, flood[s + k]);
        }
    }
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < a; b++) {
            double product = 0;
            for (size_t j = 0; j < N; j++)
                product += 3 * flood[a][j] * flood[b][j];
            assert_true(fabs(product) < 6.5 * sqrt(N)); /* beyond it once in 1e10 */
        }
    dpi_free(room);
    scene_end(&x);
}

/* What is off a whole word in the opened sum: within the bound, and not far below it. */
static void noise_of_what_is_opened_is_within_a_half(void **state)
{
    (void)state;
    for (size_t owners = 2; owners <= 8; owners += 3) {
        scene x;
        double most = 0;
        scene_start(&x, owners, 1 << 20);
        scene_make(&x, 8192, 1);
        scene_partials(&x);
        scene_check(&x);
        for (size_t j = 0; j < x.n; j++) {
            unsigned low = 128;
            for (size_t k = 0; k < owners; k++)
                low += (unsigned)x.opened[k][8 * x.n + j] + x.partial[k][8 * x.n + j];
            most = fmax(most, fabs((double)(low & 255) - 128));
        }
        const double m = (double)owners, unit = exp2(x.t->f->log_q - 72);
        const double bound = (x.t->noise + m * exp2(x.t->flood)) / unit + 2 * m * 0.5625;
        assert_true(bound < 128 && most <= bound);
        assert_true(most > bound / 4);
        scene_end(&x);
    }
}

static void the_flood_is_the_largest_that_fits(void **state)
{
    static const size_t owners[] = {1, 2, 3, 5, 8, 33, 64};
    (void)state;
    mpz_t q, sum, step;
    mpz_inits(q, sum, step, NULL);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const dpi_threshold_spec spec = {.owners = owners[i], .openings = 1 << 20};
        dpi_threshold *t;
        dp_error err = {0};
        assert_ok(dpi_threshold_new(&spec, &t, &err), err.text);
        assert_true(t->bits >= 52);
        const double m = (double)owners[i];
        assert_close(t->noise, m * (m * 2 * 21 * 8192 + 21.5) + 0.5, 1e-15, 0);
        assert_close(t->bits, t->flood + 1 - log2(t->noise) - 33, 1e-12, 0);
        mpz_set_ui(q, 1);
        for (size_t l = 0; l < t->f->levels; l++)
            mpz_mul_ui(q, q, t->f->ntt[l]->m.q);
        assert_true(mpz_sizeinbase(q, 2) <= 214 && t->f->n == 8192);
        /* In units of 2^-76 q: 2 M fractions are off by 8 + 1 each, and half a step is 2^11. */
        for (int more = 0; more < 2; more++) {
            mpz_set_ui(sum, 1);
            mpz_mul_2exp(sum, sum, (mp_bitcnt_t)(t->flood + more));
            mpz_mul_ui(sum, sum, owners[i]);
            mpz_add_ui(sum, sum, (unsigned long)ceil(t->noise));
            mpz_mul_2exp(sum, sum, 76);
            mpz_mul_ui(step, q, 18 * owners[i]);
            mpz_add(sum, sum, step);
            mpz_mul_2exp(step, q, 11);
            assert_true((mpz_cmp(sum, step) < 0) == (more == 0));
        }
        dpi_threshold_free(t);
    }
    mpz_clears(q, sum, step, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_of_a_sum_is_as_reckoned),
        cmocka_unit_test(partials_are_flooded_evenly_and_anew),
        cmocka_unit_test(noise_of_what_is_opened_is_within_a_half),
        cmocka_unit_test(the_flood_is_the_largest_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
