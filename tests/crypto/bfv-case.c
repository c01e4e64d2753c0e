#include "tests/crypto/bfv-case.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

void case_start(bfv_case *x, size_t n, int levels, int prime_bits, int plain_bits)
{
    static const unsigned char seed[DPI_RLWE_SEED] = "tests of lattice encryption, so!";
    const dpi_bfv_spec spec = {n, levels, prime_bits, plain_bits};
    dp_error err = {0};
    dpi_rlwe_start(&x->random, seed, "test");
    assert_ok(dpi_bfv_new(&spec, &x->f, &err), err.text);
    assert_ok(dpi_bfv_secret_new(x->f, &x->random, &x->secret, &err), err.text);
    assert_ok(dpi_bfv_cipher_new(x->f, &x->key, &err), err.text);
    assert_ok(dpi_bfv_cipher_new(x->f, &x->c, &err), err.text);
    assert_ok(dpi_bfv_cipher_new(x->f, &x->sum, &err), err.text);
    assert_ok(dpi_bfv_encrypt(x->f, x->secret, NULL, &x->random, x->key, &err), err.text);
    x->plain = dpi_bfv_polynomial(x->f);
    assert_non_null(x->plain);
}

void case_end(bfv_case *x)
{
    dpi_free(x->plain);
    dpi_bfv_cipher_free(x->key);
    dpi_bfv_cipher_free(x->c);
    dpi_bfv_cipher_free(x->sum);
    dpi_bfv_secret_free(x->secret);
    dpi_bfv_free(x->f);
    dpi_rlwe_end(&x->random);
}

void case_message(size_t n, int bits, uint64_t *seed, uint64_t *message)
{
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    for (size_t j = 0; j < n; j++) {
        (void)next_number(seed);
        message[j] = (*seed ^ *seed >> 29) & mask;
    }
    message[0] = 0;
    message[1] = mask;
    message[2] = mask / 2;
    message[3] = mask / 2 + 1;
    message[n - 1] = 1;
}

void case_factor(size_t n, int64_t most, uint64_t *seed, int64_t *factor)
{
    for (size_t j = 0; j < n; j++)
        factor[j] = (int64_t)rint(next_number(seed) * (double)most);
}

double case_norm(size_t n, const int64_t *factor)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += fabs((double)factor[j]);
    return sum;
}

void case_schoolbook(size_t n, int bits, const int64_t *factor, const uint64_t *message,
                     uint64_t *result)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n - i; j++)
            result[i + j] += (uint64_t)factor[i] * message[j];
        for (size_t j = n - i; j < n; j++)
            result[i + j - n] -= (uint64_t)factor[i] * message[j];
    }
    for (size_t j = 0; j < n; j++)
        result[j] &= UINT64_MAX >> (64 - bits);
}

double case_noise(bfv_case *x, const dpi_bfv_cipher *c, const uint64_t *message)
{
    const dpi_bfv *f = x->f;
    uint64_t *phase = dpi_bfv_polynomial(f);
    assert_non_null(phase);
    dpi_bfv_phase(f, x->secret, c, phase);
    double most = 0;
    for (size_t j = 0; j < f->n; j++) {
        int64_t first = 0;
        for (size_t i = 0; i < f->levels; i++) {
            const dpi_modulus *m = &f->ntt[i]->m;
            const uint64_t r =
                dpi_modulus_subtract(m, phase[i * f->n + j], dpi_bfv_scaled(f, i, message[j]));
            const int64_t noise = r > m->q / 2 ? (int64_t)r - (int64_t)m->q : (int64_t)r;
            if (i == 0)
                first = noise;
            assert_true(noise == first);
        }
        most = fmax(most, fabs((double)first));
    }
    dpi_free(phase);
    return most;
}

uint64_t case_phase(const bfv_case *x, const dpi_bfv_answer *a, size_t k, size_t place)
{
    const dpi_bfv *f = x->f;
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n; i++) {
        const uint64_t c1 = i <= place ? a->second[place - i] : 0 - a->second[f->n + place - i];
        sum += c1 * (uint64_t)(int64_t)x->secret->s[i];
    }
    return (a->first[k] << (64 - f->first_bits)) + (sum << (64 - f->second_bits));
}
