/* Additive BFV: contexts, keys, encryption, arithmetic.
 *
 * q = q_1 ... q_L is never written as one number.  round(q m / t) of t = 2^k is (q m + t/2 - h) /
 * t with h = (q m + t/2) mod t, which needs q modulo 2^64 only, and is (t/2 - h) / t modulo each
 * prime. Fractions of q: x / q = sum_i y_i / q_i modulo 1, y_i = x (q / q_i)^-1 mod q_i, in
 * 128-bit fixed point (bfv-answer.c).  A uniform polynomial is uniform transformed too, so a's
 * seed gives the transform at once. */
#include "crypto/bfv.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/packed.h"

/* log2 q that the guidelines allow for 2^10, 2^11, ... at 128 bits, uniform ternary secrets
 * (Bossuat et al., eprint 2024/463). */
static const int most_log_q[] = {26, 53, 106, 214, 430, 868};

static int log_of(size_t n)
{
    int log = 0;
    while ((size_t)1 << log < n)
        log++;
    return log;
}

static dp_status allowed(const dpi_bfv_spec *s, dp_error *err)
{
    if (s->n < 1024 || s->n > 32768 || (s->n & (s->n - 1)) != 0)
        return dpi_fail(err, DP_EINVAL, "the degree is a power of two of 1024 .. 32768, not %zu",
                        s->n);
    if (s->levels < 1 || s->levels > DPI_BFV_LEVELS)
        return dpi_fail(err, DP_EINVAL, "the modulus has 1 .. %d primes, not %d", DPI_BFV_LEVELS,
                        s->levels);
    const int least = log_of(s->n) + 34; /* see open_many in bfv-answer.c */
    if (s->prime_bits < least || s->prime_bits > DPI_MODULUS_BITS)
        return dpi_fail(err, DP_EINVAL, "primes for degree %zu have %d .. %d bits, not %d", s->n,
                        least, DPI_MODULUS_BITS, s->prime_bits);
    const int most = DPI_PACKED_MOST - 3 - log_of(s->n); /* second_bits must fit */
    const bool whole = s->plain_bits == DPI_BFV_WHOLE;
    if (!whole && (s->plain_bits < 2 || s->plain_bits > most || s->plain_bits > s->prime_bits))
        return dpi_fail(err, DP_EINVAL,
                        "plaintexts of degree %zu with primes of %d bits have 2 .. %d bits, not %d",
                        s->n, s->prime_bits, most < s->prime_bits ? most : s->prime_bits,
                        s->plain_bits);
    if (whole &&
        s->levels * (s->prime_bits - 1) < 70) /* 2^64 times twice the noise of a fresh one */
        return dpi_fail(err, DP_EINVAL,
                        "plaintexts of %d bits need a modulus of more than %d primes of %d bits",
                        s->plain_bits, s->levels, s->prime_bits);
    const int limit = most_log_q[log_of(s->n) - 10];
    if (s->levels * s->prime_bits > limit)
        return dpi_fail(
            err, DP_EPRIVACY,
            "a modulus of %d bits at degree %zu is below 128 bits of security; up to %d "
            "bits are allowed, take a higher degree",
            s->levels * s->prime_bits, s->n, limit);
    return DP_OK;
}

/* floor(2^128 / q), q > 1 odd, by long division. */
static void reciprocal(uint64_t q, uint64_t part[2])
{
    uint64_t rest = 1;
    part[0] = part[1] = 0;
    for (int i = 127; i >= 0; i--) {
        rest *= 2;
        part[i / 64] |= (uint64_t)(rest >= q) << i % 64;
        rest = dpi_modulus_once(rest, q);
    }
}

static void fill_level(dpi_bfv *f, size_t i)
{
    struct dpi_bfv_level *level = &f->level[i];
    const dpi_modulus *m = &f->ntt[i]->m;
    level->over_t[0] =
        dpi_modulus_inverse(m, dpi_modulus_power(m, 2, (uint64_t)f->spec.plain_bits));
    uint64_t rest = 1;
    for (size_t j = 0; j < f->levels; j++)
        if (j != i)
            rest = dpi_modulus_multiply(m, rest, dpi_modulus_reduce(m, f->ntt[j]->m.q));
    level->over_rest[0] = dpi_modulus_inverse(m, rest);
    level->over_t[1] = dpi_ntt_beside(f->ntt[i], level->over_t[0]);
    level->over_rest[1] = dpi_ntt_beside(f->ntt[i], level->over_rest[0]);
    reciprocal(m->q, level->part);
    for (int j = 0; j < DPI_BFV_WORDS; j++)
        level->word[j] = dpi_modulus_power(m, 2, 64 * (uint64_t)j);
}

/* Its k-th prime. */
static uint64_t prime_of(const dpi_bfv_spec *spec, size_t k)
{
    return dpi_modulus_find(spec->prime_bits, 2 * (uint64_t)spec->n, k);
}

dp_status dpi_bfv_describe(const dpi_bfv_spec *spec, dpi_bfv *f, dp_error *err)
{
    *f = (dpi_bfv){.spec = *spec, .n = spec->n, .q_low = 1};
    dp_status status = allowed(spec, err);
    if (status != DP_OK)
        return status;
    f->levels = (size_t)spec->levels;
    for (size_t i = 0; i < f->levels; i++) {
        const uint64_t q = prime_of(spec, i);
        if (q == 0)
            return dpi_fail(err, DP_EINVAL, "there are no %d primes of %d bits for degree %zu",
                            spec->levels, spec->prime_bits, spec->n);
        f->q_low *= q;
        f->log_q += log2((double)q) - 1e-9;
    }
    f->first_bits = spec->plain_bits + 3;
    f->second_bits = spec->plain_bits + 3 + log_of(f->n);
    return DP_OK;
}

dp_status dpi_bfv_new(const dpi_bfv_spec *spec, dpi_bfv **f, dp_error *err)
{
    dpi_bfv *made = *f = dpi_alloc(1, sizeof *made);
    dp_status status = made != NULL ? dpi_bfv_describe(spec, made, err) : dpi_fail_nomem(err);
    for (size_t i = 0; status == DP_OK && i < made->levels; i++)
        status = dpi_ntt_new(made->n, prime_of(spec, i), NULL, &made->ntt[i], err);
    if (status != DP_OK) {
        dpi_bfv_free(made);
        *f = NULL;
        return status;
    }
    for (size_t i = 0; i < made->levels; i++)
        fill_level(made, i);
    return DP_OK;
}

void dpi_bfv_free(dpi_bfv *f)
{
    for (size_t i = 0; f != NULL && i < f->levels; i++)
        dpi_ntt_free(f->ntt[i]);
    dpi_free(f);
}

uint64_t *dpi_bfv_polynomial(const dpi_bfv *f)
{
    return dpi_alloc(f->levels * f->n, sizeof(uint64_t));
}

/* ---- small polynomials ---- */

DPI_LOOPS static void add_small(const dpi_modulus *m, size_t n, const int8_t *small, uint64_t *out)
{
    const uint64_t q = m->q;
    for (size_t j = 0; j < n; j++) {
        const uint64_t value = (uint64_t)(int64_t)small[j];
        const uint64_t less = out[j] + value + (q & (0 - (value >> 63))) - q;
        out[j] = less + (q & (0 - (less >> 63)));
    }
}

void dpi_bfv_add_small(const dpi_bfv *f, size_t level, const int8_t *small, uint64_t *out)
{
    add_small(&f->ntt[level]->m, f->n, small, out);
}

void dpi_bfv_small(const dpi_bfv *f, size_t level, const int8_t *small, uint64_t *out)
{
    memset(out, 0, f->n * sizeof *out);
    add_small(&f->ntt[level]->m, f->n, small, out);
    dpi_ntt_forward(f->ntt[level], out);
}

/* t/2 - h of n messages, modulo a prime. */
DPI_LOOPS static void numerators(int plain_bits, uint64_t q_low, const dpi_modulus *m, size_t n,
                                 const uint64_t *message, uint64_t *out)
{
    const uint64_t t = (uint64_t)1 << plain_bits, q = m->q;
    for (size_t j = 0; j < n; j++) {
        const uint64_t h = (q_low * message[j] + t / 2) & (t - 1), value = t / 2 - h;
        out[j] = value + (q & (0 - (value >> 63)));
    }
}

/* The same of t = 2^64: t/2 - h = (2^64 - 1 - h) - (2^63 - 1), of which the first is a word,
 * brought below the prime in halves of 32 bits. */
static void whole_numerators(uint64_t q_low, const dpi_modulus *m, size_t n,
                             const uint64_t *message, uint64_t *out)
{
    const uint64_t half = (uint64_t)1 << 63, less = dpi_modulus_reduce(m, half - 1);
    for (size_t j = 0; j < n; j++) {
        const uint64_t word = ~(q_low * message[j] + half);
        const uint64_t high = dpi_modulus_multiply(m, word >> 32, (uint64_t)1 << 32);
        out[j] = dpi_modulus_subtract(m, dpi_modulus_add(m, high, word & 0xffffffff), less);
    }
}

static void numerators_of(const dpi_bfv *f, size_t level, size_t n, const uint64_t *message,
                          uint64_t *out)
{
    const dpi_modulus *m = &f->ntt[level]->m;
    if (f->spec.plain_bits == DPI_BFV_WHOLE)
        whole_numerators(f->q_low, m, n, message, out);
    else
        numerators(f->spec.plain_bits, f->q_low, m, n, message, out);
}

uint64_t dpi_bfv_scaled(const dpi_bfv *f, size_t level, uint64_t message)
{
    uint64_t numerator;
    numerators_of(f, level, 1, &message, &numerator);
    return dpi_modulus_multiply(&f->ntt[level]->m, numerator, f->level[level].over_t[0]);
}

void dpi_bfv_encode(const dpi_bfv *f, size_t level, const uint64_t *message, const int8_t *e,
                    uint64_t *out)
{
    const dpi_ntt *ntt = f->ntt[level];
    memset(out, 0, f->n * sizeof *out);
    if (message != NULL) {
        numerators_of(f, level, f->n, message, out);
        ntt->kernel->scale(ntt, f->level[level].over_t[0], f->level[level].over_t[1], out);
    }
    add_small(&ntt->m, f->n, e, out);
    dpi_ntt_forward(ntt, out);
}

DPI_LOOPS static void residues(uint64_t q, size_t n, const int32_t *small, uint64_t *out)
{
    for (size_t j = 0; j < n; j++) {
        const uint64_t value = (uint64_t)(int64_t)small[j];
        out[j] = value + (q & (0 - (value >> 63)));
    }
}

void dpi_bfv_residues(const dpi_bfv *f, size_t level, const int32_t *coefficients, uint64_t *out)
{
    residues(f->ntt[level]->m.q, f->n, coefficients, out);
    dpi_ntt_forward(f->ntt[level], out);
}

DPI_LOOPS static void wide_residues(uint64_t q, size_t n, const int64_t *wide, uint64_t *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (uint64_t)wide[j] + (q & (0 - ((uint64_t)wide[j] >> 63)));
}

void dpi_bfv_wide(const dpi_bfv *f, size_t level, const int64_t *wide, uint64_t *out)
{
    wide_residues(f->ntt[level]->m.q, f->n, wide, out);
    dpi_ntt_forward(f->ntt[level], out);
}

void dpi_bfv_plain(const dpi_bfv *f, const int64_t *coefficients, uint64_t *plain)
{
    for (size_t i = 0; i < f->levels; i++)
        dpi_bfv_wide(f, i, coefficients, plain + i * f->n);
}

/* ---- keys ---- */

dp_status dpi_bfv_secret_new(const dpi_bfv *f, dpi_rlwe_stream *random, dpi_bfv_secret **secret,
                             dp_error *err)
{
    *secret = NULL;
    dpi_bfv_secret *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->n = f->n;
    made->bytes = f->levels * f->n * sizeof *made->transformed;
    made->s = dpi_alloc(f->n, sizeof *made->s);
    made->backwards = dpi_alloc(f->n, sizeof *made->backwards);
    made->transformed = dpi_bfv_polynomial(f);
    if (made->s == NULL || made->backwards == NULL || made->transformed == NULL) {
        dpi_bfv_secret_free(made);
        return dpi_fail_nomem(err);
    }
    dpi_rlwe_ternary(random, f->n, made->s);
    for (size_t j = 0; j < f->n; j++)
        made->backwards[j] = made->s[f->n - 1 - j];
    for (size_t i = 0; i < f->levels; i++)
        dpi_bfv_small(f, i, made->s, made->transformed + i * f->n);
    *secret = made;
    return DP_OK;
}

void dpi_bfv_secret_free(dpi_bfv_secret *secret)
{
    if (secret == NULL)
        return;
    dpi_wipe_free(secret->s, secret->n);
    dpi_wipe_free(secret->backwards, secret->n);
    dpi_wipe_free(secret->transformed, secret->bytes);
    dpi_free(secret);
}

void dpi_wipe_free(void *block, size_t n)
{
    if (block != NULL)
        sodium_memzero(block, n);
    dpi_free(block);
}

/* ---- ciphertexts ---- */

dp_status dpi_bfv_cipher_new(const dpi_bfv *f, dpi_bfv_cipher **c, dp_error *err)
{
    dpi_bfv_cipher *made = *c = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->c0 = dpi_bfv_polynomial(f);
    made->c1 = dpi_bfv_polynomial(f);
    if (made->c0 != NULL && made->c1 != NULL)
        return DP_OK;
    dpi_bfv_cipher_free(made);
    *c = NULL;
    return dpi_fail_nomem(err);
}

void dpi_bfv_cipher_free(dpi_bfv_cipher *c)
{
    if (c != NULL) {
        dpi_free(c->c0);
        dpi_free(c->c1);
    }
    dpi_free(c);
}

void dpi_bfv_cipher_clear(const dpi_bfv *f, dpi_bfv_cipher *c)
{
    memset(c->seed, 0, sizeof c->seed);
    memset(c->c0, 0, f->levels * f->n * sizeof *c->c0);
    memset(c->c1, 0, f->levels * f->n * sizeof *c->c1);
}

void dpi_bfv_expand(const dpi_bfv *f, dpi_bfv_cipher *c)
{
    dpi_rlwe_stream stream;
    dpi_rlwe_start(&stream, c->seed, "tacit bfv c1");
    for (size_t i = 0; i < f->levels; i++)
        dpi_rlwe_uniform(&stream, &f->ntt[i]->m, f->n, c->c1 + i * f->n);
    dpi_rlwe_end(&stream);
}

DPI_LOOPS static void subtract(const dpi_modulus *m, size_t n, const uint64_t *b, uint64_t *a)
{
    const uint64_t q = m->q;
    for (size_t j = 0; j < n; j++) {
        const uint64_t less = a[j] - b[j];
        a[j] = less + (q & (0 - (less >> 63)));
    }
}

dp_status dpi_bfv_encrypt(const dpi_bfv *f, const dpi_bfv_secret *secret, const uint64_t *message,
                          dpi_rlwe_stream *random, dpi_bfv_cipher *c, dp_error *err)
{
    dpi_rlwe_bytes(random, sizeof c->seed, c->seed);
    return dpi_bfv_encrypt_from(f, secret, message, random, c, err);
}

dp_status dpi_bfv_encrypt_from(const dpi_bfv *f, const dpi_bfv_secret *secret,
                               const uint64_t *message, dpi_rlwe_stream *random, dpi_bfv_cipher *c,
                               dp_error *err)
{
    int8_t *e = dpi_alloc(f->n, sizeof *e);
    uint64_t *as = dpi_alloc(f->n, sizeof *as);
    dp_status status = e != NULL && as != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        dpi_rlwe_errors(random, f->n, e);
        dpi_bfv_expand(f, c);
    }
    for (size_t i = 0; i < f->levels && status == DP_OK; i++) {
        const dpi_ntt *ntt = f->ntt[i];
        uint64_t *c0 = c->c0 + i * f->n;
        dpi_bfv_encode(f, i, message, e, c0);
        ntt->kernel->multiply(ntt, c->c1 + i * f->n, secret->transformed + i * f->n, as);
        subtract(&ntt->m, f->n, as, c0);
    }
    dpi_wipe_free(e, f->n * sizeof *e);
    dpi_wipe_free(as, f->n * sizeof *as);
    return status;
}

void dpi_bfv_phase(const dpi_bfv *f, const dpi_bfv_secret *secret, const dpi_bfv_cipher *c,
                   uint64_t *phase)
{
    for (size_t i = 0; i < f->levels; i++) {
        const size_t at = i * f->n;
        memcpy(phase + at, c->c0 + at, f->n * sizeof *phase);
        f->ntt[i]->kernel->multiply_add(f->ntt[i], c->c1 + at, secret->transformed + at,
                                        phase + at);
        dpi_ntt_inverse(f->ntt[i], phase + at);
    }
}

dp_status dpi_bfv_decrypt(const dpi_bfv *f, const dpi_bfv_secret *secret, const dpi_bfv_cipher *c,
                          uint64_t *message, dp_error *err)
{
    uint64_t *phase = dpi_bfv_polynomial(f);
    if (phase == NULL)
        return dpi_fail_nomem(err);
    dpi_bfv_phase(f, secret, c, phase);
    for (size_t j = 0; j < f->n; j++)
        message[j] = dpi_bfv_fraction(f, phase + j, f->n, f->spec.plain_bits);
    dpi_wipe_free(phase, f->levels * f->n * sizeof *phase);
    return DP_OK;
}

void dpi_bfv_multiply_add(const dpi_bfv *f, const uint64_t *plain, const dpi_bfv_cipher *c,
                          dpi_bfv_cipher *sum)
{
    for (size_t i = 0; i < f->levels; i++) {
        const size_t at = i * f->n;
        const dpi_ntt *ntt = f->ntt[i];
        ntt->kernel->multiply_add(ntt, c->c0 + at, plain + at, sum->c0 + at);
        ntt->kernel->multiply_add(ntt, c->c1 + at, plain + at, sum->c1 + at);
    }
}

void dpi_bfv_add_polynomial(const dpi_bfv *f, const uint64_t *a, uint64_t *sum)
{
    for (size_t i = 0; i < f->levels; i++)
        for (size_t j = i * f->n; j < (i + 1) * f->n; j++)
            sum[j] = dpi_modulus_add(&f->ntt[i]->m, sum[j], a[j]);
}

void dpi_bfv_add(const dpi_bfv *f, const dpi_bfv_cipher *c, dpi_bfv_cipher *sum)
{
    dpi_bfv_add_polynomial(f, c->c0, sum->c0);
    dpi_bfv_add_polynomial(f, c->c1, sum->c1);
}
