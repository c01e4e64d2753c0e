/* Answers: chosen coefficients of a computed ciphertext, made fresh, flooded and rounded.
 *
 * Before: c0 + c1 s = (q/t) m + b, |b| <= noise.  With the owner's public key (p0, p1) = (-a s +
 * e, a), u ternary, e1 an error and f uniform in [-2^flood, 2^flood): c1' = c1 + p1 u + e1,
 * c0' = c0 + p0 u + f + round(q added / t), so that c0' + c1' s = (q/t) (m + added) + (b + e u +
 * e1 s + half a unit) + f.  To the owner c1' looks uniform, by the hardness of u's ring-LWE
 * sample; the bracket is at most B, and f shifted by it is as f but for B / 2^(flood + 1) a
 * coefficient (doc/design/lattice.md).
 *
 * Then both are rounded to fractions: c1' to 1/2^w1, c0' to 1/2^w0.  The owner opens w1 - bit
 * fractions modulo 1, that is machine words modulo 2^64.  The rounding of c1' is off by 2^-(w1+1)
 * a coefficient and |s| <= n in sum, so with w1 = k + 3 + log2 n and w0 = k + 3 both roundings
 * make at most 2^-(k+3), and 3 q / 2^(k+3) is left of the half step q / 2^(k+1) for noise. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/packed.h"

dp_status dpi_bfv_hide(const dpi_bfv *f, size_t count, int *hide, dp_error *err)
{
    const double told = (double)count * (f->spec.plain_bits + 2) / (double)f->n;
    const double bits = fmax(ceil(log2(3) + told), DPI_BFV_HIDE);
    *hide = DPI_BFV_HIDE;
    if (f->spec.plain_bits == DPI_BFV_WHOLE)
        return dpi_fail(err, DP_EPRIVACY,
                        "plaintexts of %d bits are for sums; take fewer for answers",
                        f->spec.plain_bits);
    if (bits > f->spec.prime_bits - 1)
        return dpi_fail(err, DP_EPRIVACY,
                        "%zu results of %d bits in one answer of degree %zu leave nothing that "
                        "hides the rest of it; take fewer bits of plaintext",
                        count, f->spec.plain_bits, f->n);
    *hide = (int)bits;
    return DP_OK;
}

double dpi_bfv_fresh_noise(const dpi_bfv *f, int hide)
{
    return DPI_RLWE_COINS * (double)f->n * (exp2(hide - 1) + 1) + 0.5;
}

dp_status dpi_bfv_flood(const dpi_bfv *f, double noise, int hide, int *flood, dp_error *err)
{
    *flood = 0;
    /* 2^-12 of the room pays for the cuts of dpi_bfv_fraction, levels n 2^-78 <= 2^-(k + 15), and
     * for the logarithms here. */
    const double room = exp2(f->log_q - f->spec.plain_bits - 3) * 3 * (1 - 0x1p-12);
    const double left = room - noise - dpi_bfv_fresh_noise(f, hide);
    if (!(left >= 1))
        return dpi_fail(err, DP_EPRIVACY,
                        "noise up to 2^%.1f does not fit a modulus of 2^%.1f with plaintexts of %d "
                        "bits; take more primes or fewer bits",
                        log2(noise), f->log_q, f->spec.plain_bits);
    const int most = 64 * DPI_BFV_WORDS - 2, bits = (int)floor(log2(left));
    *flood = bits < most ? bits : most;
    return DP_OK;
}

dp_status dpi_bfv_answer_new(const dpi_bfv *f, size_t count, dpi_bfv_answer **a, dp_error *err)
{
    *a = NULL;
    if (f->spec.plain_bits == DPI_BFV_WHOLE)
        return dpi_fail(err, DP_EINVAL, "there are no answers of plaintexts of %d bits",
                        f->spec.plain_bits);
    dpi_bfv_answer *made = *a = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->count = count;
    made->second = dpi_alloc(f->n, sizeof *made->second);
    made->first = dpi_alloc(count, sizeof *made->first);
    if (made->second != NULL && made->first != NULL)
        return DP_OK;
    dpi_bfv_answer_free(made);
    *a = NULL;
    return dpi_fail_nomem(err);
}

void dpi_bfv_answer_free(dpi_bfv_answer *a)
{
    if (a != NULL) {
        dpi_free(a->second);
        dpi_free(a->first);
    }
    dpi_free(a);
}

/* ---- the server ---- */

/* Adds p0 u and p1 u + e1, and leaves the sum untransformed. */
static void make_fresh(const dpi_bfv *f, const dpi_bfv_cipher *key, const int64_t *u,
                       const int8_t *e1, uint64_t *room, dpi_bfv_cipher *sum)
{
    for (size_t i = 0; i < f->levels; i++) {
        const dpi_ntt *ntt = f->ntt[i];
        const size_t at = i * f->n;
        dpi_bfv_wide(f, i, u, room);
        ntt->kernel->multiply_add(ntt, key->c0 + at, room, sum->c0 + at);
        ntt->kernel->multiply_add(ntt, key->c1 + at, room, sum->c1 + at);
        dpi_ntt_inverse(ntt, sum->c0 + at);
        dpi_ntt_inverse(ntt, sum->c1 + at);
        dpi_bfv_add_small(f, i, e1, sum->c1 + at);
    }
}

void dpi_bfv_add_flood(const dpi_bfv *f, int flood, const uint64_t *middle, dpi_rlwe_stream *random,
                       uint64_t *x)
{
    uint64_t word[DPI_BFV_WORDS];
    unsigned char bytes[8 * DPI_BFV_WORDS];
    const int words = flood / 64 + 1; /* flood + 1 bits */
    dpi_rlwe_bytes(random, 8 * (size_t)words, bytes);
    for (int j = 0; j < words; j++)
        word[j] = dpi_load_word(bytes + 8 * j);
    word[words - 1] &= UINT64_MAX >> (63 - flood % 64);
    for (size_t i = 0; i < f->levels; i++) {
        const dpi_modulus *m = &f->ntt[i]->m;
        uint64_t sum = x[i * f->n];
        for (int j = 0; j < words; j++) {
            /* A word is a high and a low half of 32 bits, each below the prime. */
            const uint64_t high = dpi_modulus_multiply(m, word[j] >> 32, (uint64_t)1 << 32);
            const uint64_t value = dpi_modulus_add(m, high, word[j] & 0xffffffff);
            sum = dpi_modulus_add(m, sum, dpi_modulus_multiply(m, value, f->level[i].word[j]));
        }
        x[i * f->n] = dpi_modulus_subtract(m, sum, middle[i]);
    }
    sodium_memzero(word, sizeof word);
    sodium_memzero(bytes, sizeof bytes);
}

static void answer_first(const dpi_bfv *f, const dpi_bfv_ask *ask, dpi_rlwe_stream *random,
                         uint64_t *c0, dpi_bfv_answer *a)
{
    uint64_t middle[DPI_BFV_LEVELS];
    for (size_t i = 0; i < f->levels; i++)
        middle[i] = dpi_modulus_power(&f->ntt[i]->m, 2, (uint64_t)ask->flood);
    for (size_t k = 0; k < a->count; k++) {
        uint64_t *x = c0 + ask->places[k];
        dpi_bfv_add_flood(f, ask->flood, middle, random, x);
        for (size_t i = 0; i < f->levels && ask->added != NULL; i++)
            x[i * f->n] =
                dpi_modulus_add(&f->ntt[i]->m, x[i * f->n], dpi_bfv_scaled(f, i, ask->added[k]));
        a->first[k] = dpi_bfv_fraction(f, x, f->n, f->first_bits);
    }
}

/* `room` is what is left of c0. */
static void answer_second(const dpi_bfv *f, const uint64_t *c1, uint64_t *room, dpi_bfv_answer *a)
{
    memcpy(room, c1, f->levels * f->n * sizeof *room);
    for (size_t i = 0; i < f->levels; i++) {
        const uint64_t *factor = f->level[i].over_rest;
        f->ntt[i]->kernel->scale(f->ntt[i], factor[0], factor[1], room + i * f->n);
    }
    for (size_t j = 0; j < f->n; j++)
        a->second[j] = dpi_bfv_combine(f, room + j, f->n, f->second_bits);
}

dp_status dpi_bfv_answer_make(const dpi_bfv *f, const dpi_bfv_ask *ask, dpi_rlwe_stream *random,
                              dpi_bfv_cipher *sum, dpi_bfv_answer *a, dp_error *err)
{
    const int hide = ask->hide > 0 ? ask->hide : DPI_BFV_HIDE;
    int64_t *u = dpi_alloc(f->n, sizeof *u);
    int8_t *e1 = dpi_alloc(f->n, sizeof *e1);
    uint64_t *room = dpi_alloc(f->n, sizeof *room);
    dp_status status = u != NULL && e1 != NULL && room != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        dpi_rlwe_wide(random, hide, f->n, u);
        dpi_rlwe_errors(random, f->n, e1);
        make_fresh(f, ask->key, u, e1, room, sum);
        answer_first(f, ask, random, sum->c0, a);
        answer_second(f, sum->c1, sum->c0, a);
    }
    dpi_wipe_free(u, f->n * sizeof *u);
    dpi_wipe_free(e1, f->n * sizeof *e1);
    dpi_wipe_free(room, f->n * sizeof *room);
    return status;
}

/* ---- the client ---- */

/* The inner product of n words with -1, 0, 1, modulo 2^64. */
DPI_LOOPS static uint64_t inner(size_t n, const uint64_t *x, const int8_t *s)
{
    uint64_t sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += x[j] * (uint64_t)(int64_t)s[j];
    return sum;
}

/* Coefficients of c1 s one by one: that of X^p is sum_i c1[p - i] s[i], where c1[-j] = -c1[n - j];
 * with c1 written twice, first negated, it is an inner product with s from its end. */
static dp_status open_few(const dpi_bfv *f, const dpi_bfv_secret *secret, const size_t *places,
                          const dpi_bfv_answer *a, uint64_t *product, dp_error *err)
{
    uint64_t *twice = dpi_alloc(2 * f->n, sizeof *twice);
    if (twice == NULL)
        return dpi_fail_nomem(err);
    for (size_t j = 0; j < f->n; j++) {
        twice[j] = 0 - a->second[j];
        twice[f->n + j] = a->second[j];
    }
    for (size_t k = 0; k < a->count; k++)
        product[k] = inner(f->n, twice + places[k] + 1, secret->backwards);
    dpi_free(twice);
    return DP_OK;
}

/* All coefficients by the transform of the first prime: c1 in two halves of at most 32 bits, whose
 * products with s are at most 2^32 n < q_1 / 2 in magnitude, hence exact. */
static dp_status open_many(const dpi_bfv *f, const dpi_bfv_secret *secret, const size_t *places,
                           const dpi_bfv_answer *a, uint64_t *product, dp_error *err)
{
    const dpi_ntt *ntt = f->ntt[0];
    uint64_t *half = dpi_alloc(f->n, sizeof *half);
    if (half == NULL)
        return dpi_fail_nomem(err);
    memset(product, 0, a->count * sizeof *product);
    for (int shift = 0; shift <= 32; shift += 32) {
        for (size_t j = 0; j < f->n; j++)
            half[j] = a->second[j] >> shift & 0xffffffff;
        dpi_ntt_forward(ntt, half);
        ntt->kernel->multiply(ntt, half, secret->transformed, half);
        dpi_ntt_inverse(ntt, half);
        for (size_t k = 0; k < a->count; k++) {
            const uint64_t x = half[places[k]], above = (ntt->m.q / 2 - x) >> 63;
            product[k] += (x - (ntt->m.q & (0 - above))) << shift;
        }
    }
    dpi_wipe_free(half, f->n * sizeof *half);
    return DP_OK;
}

dp_status dpi_bfv_answer_open(const dpi_bfv *f, const dpi_bfv_secret *secret, const size_t *places,
                              const dpi_bfv_answer *a, uint64_t *message, dp_error *err)
{
    enum { FEW = 64 }; /* where four transforms are cheaper: measured */
    dp_status status = (a->count <= FEW ? open_few : open_many)(f, secret, places, a, message, err);
    const int bits = f->spec.plain_bits;
    for (size_t k = 0; k < a->count && status == DP_OK; k++) {
        const uint64_t phase =
            (a->first[k] << (64 - f->first_bits)) + (message[k] << (64 - f->second_bits));
        message[k] = (phase + ((uint64_t)1 << (63 - bits))) >> (64 - bits);
    }
    return status;
}

/* ---- bytes ---- */

size_t dpi_bfv_answer_size(const dpi_bfv *f, size_t count)
{
    return dpi_packed_size(f->n, f->second_bits) + dpi_packed_size(count, f->first_bits);
}

void dpi_bfv_answer_write(const dpi_bfv *f, const dpi_bfv_answer *a, unsigned char *to)
{
    dpi_packed_write(f->n, f->second_bits, a->second, to);
    dpi_packed_write(a->count, f->first_bits, a->first, to + dpi_packed_size(f->n, f->second_bits));
}

dp_status dpi_bfv_answer_read(const dpi_bfv *f, size_t n_bytes, const unsigned char *from,
                              dpi_bfv_answer *a, dp_error *err)
{
    if (n_bytes != dpi_bfv_answer_size(f, a->count))
        return dpi_fail(err, DP_EPEER, "an answer of %zu bytes came, of %zu was expected", n_bytes,
                        dpi_bfv_answer_size(f, a->count));
    const size_t second = dpi_packed_size(f->n, f->second_bits);
    if (!dpi_packed_read(f->n, f->second_bits, from, a->second) ||
        !dpi_packed_read(a->count, f->first_bits, from + second, a->first))
        return dpi_fail(err, DP_EPEER, "an answer came with bits behind its last number");
    return DP_OK;
}
