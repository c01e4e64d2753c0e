/* Sums of words under a key that all owners have shares of.
 *
 * Legend: M owners, N degree, q modulus, t = 2^64, 21 the largest error.
 *
 * Owner i: s_i ternary, b_i = -a s_i + e_i.  Key: b = sum b_i = -a s + e with s = sum s_i.
 * Ciphertext of m_i: c0_i = b u + e0 + round(q m_i / t), c1_i = a u + e1.
 * Partial: d_i = c1 s_i + f_i with c1 = sum c1_i, f_i uniform in [-2^F, 2^F).
 * Sum: c0 + sum d_i = (q / t) sum m_i + noise + sum f_i, c0 = sum c0_i.
 *
 * Noise of the sum before the f_i: sum over M of e u + e0 + e1 s + a rounding, at most
 * M (2 M 21 N + 21 + 1/2); half a unit more where it is measured from round(q m / t).  Sent are
 * c0_i and d_i as fractions of q in 2^-72, each off by 2^-73 of rounding and 2^-76 of what
 * dpi_bfv_fixed cuts.  All must be below half a step: M (42 M N + 21.5) + M 2^F + 2 M (9/8) 2^-73 q
 * < 2^-65 q.  F is the largest for which that holds.
 *
 * c1_i is uniform where it is transformed as where it is not, so it stays as it is. */
#include "crypto/threshold.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"

static uint64_t everybody(size_t owners)
{
    return UINT64_MAX >> (64 - owners);
}

static dp_status choose_flood(dpi_threshold *t, dp_error *err)
{
    const double owners = (double)t->spec.owners, n = (double)t->f->n;
    t->noise = owners * (2 * owners * DPI_RLWE_COINS * n + DPI_RLWE_COINS + 0.5) + 0.5;
    /* 2^-12 of the room pays for the logarithms. */
    const double step = 0x1p-65 - 2 * owners * 1.125 * 0x1p-73;
    const double room = exp2(t->f->log_q) * step * (1 - 0x1p-12) - t->noise;
    t->flood = room > owners ? (int)floor(log2(room / owners)) : 0;
    t->bits = t->flood + 1 - log2(t->noise * n * (double)t->spec.openings);
    if (t->bits >= DPI_THRESHOLD_BITS)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "%llu openings of %zu owners' sums under one key would have %.1f bits of "
                    "privacy, and %d are wanted; take a key for fewer openings",
                    (unsigned long long)t->spec.openings, t->spec.owners, t->bits,
                    DPI_THRESHOLD_BITS);
}

dp_status dpi_threshold_new(const dpi_threshold_spec *spec, dpi_threshold **t, dp_error *err)
{
    static const dpi_bfv_spec ring = {DPI_THRESHOLD_DEGREE, 4, 47, DPI_BFV_WHOLE};
    *t = NULL;
    if (spec->owners < 1 || spec->owners > DPI_THRESHOLD_OWNERS || spec->openings < 1)
        return dpi_fail(err, DP_EINVAL, "a key is for 1 .. %d owners and an opening at least",
                        DPI_THRESHOLD_OWNERS);
    dpi_threshold *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->spec = *spec;
    dp_status status = dpi_bfv_new(&ring, &made->f, err);
    if (status == DP_OK)
        status = choose_flood(made, err);
    if (status == DP_OK)
        *t = made;
    else
        dpi_threshold_free(made);
    return status;
}

void dpi_threshold_free(dpi_threshold *t)
{
    if (t != NULL)
        dpi_bfv_free(t->f);
    dpi_free(t);
}

size_t dpi_threshold_polynomials(const dpi_threshold *t, size_t n)
{
    return n / t->f->n + (n % t->f->n != 0);
}

size_t dpi_threshold_public_size(const dpi_threshold *t)
{
    return dpi_bfv_cipher_size(t->f);
}

size_t dpi_threshold_shared_size(const dpi_threshold *t, size_t n)
{
    return dpi_threshold_polynomials(t, n) * dpi_bfv_polynomial_size(t->f);
}

size_t dpi_threshold_opened_size(size_t n)
{
    return DPI_THRESHOLD_WORD * n;
}

size_t dpi_threshold_partial_size(size_t n)
{
    return DPI_THRESHOLD_WORD * n;
}

/* ---- keys ---- */

dp_status dpi_threshold_share_new(const dpi_threshold *t, size_t owner, dpi_rlwe_stream *random,
                                  dpi_threshold_share **share, unsigned char *public, dp_error *err)
{
    if (owner >= t->spec.owners)
        dpi_misuse(__func__, "an owner that there is not");
    *share = NULL;
    dpi_bfv_cipher *zero = NULL;
    dpi_threshold_share *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->owner = owner;
    dpi_rlwe_bytes(random, sizeof made->flooding, made->flooding);
    dp_status status = dpi_bfv_secret_new(t->f, random, &made->secret, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(t->f, &zero, err);
    if (status == DP_OK) {
        memcpy(zero->seed, t->spec.seed, sizeof zero->seed);
        status = dpi_bfv_encrypt_from(t->f, made->secret, NULL, random, zero, err);
    }
    if (status == DP_OK) {
        dpi_bfv_cipher_write(t->f, zero, public);
        *share = made;
    } else {
        dpi_threshold_share_free(made);
    }
    dpi_bfv_cipher_free(zero);
    return status;
}

void dpi_threshold_share_free(dpi_threshold_share *share)
{
    if (share != NULL)
        dpi_bfv_secret_free(share->secret);
    dpi_wipe_free(share, share != NULL ? sizeof *share : 0);
}

dp_status dpi_threshold_key_new(const dpi_threshold *t, dpi_threshold_key **key, dp_error *err)
{
    *key = NULL;
    dpi_threshold_key *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_bfv_cipher_new(t->f, &made->sum, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(t->f, &made->part, err);
    if (status == DP_OK)
        *key = made;
    else
        dpi_threshold_key_free(made);
    return status;
}

void dpi_threshold_key_free(dpi_threshold_key *key)
{
    if (key != NULL) {
        dpi_bfv_cipher_free(key->sum);
        dpi_bfv_cipher_free(key->part);
    }
    dpi_free(key);
}

/* That an owner's part may come now. */
static dp_status first_time(const dpi_threshold *t, uint64_t have, size_t owner, const char *what,
                            dp_error *err)
{
    if (owner < t->spec.owners && (have >> owner & 1) == 0)
        return DP_OK;
    return dpi_fail(err, DP_EPEER, "a second %s of owner %zu came, or there are %zu owners alone",
                    what, owner + 1, t->spec.owners);
}

dp_status dpi_threshold_key_add(const dpi_threshold *t, dpi_threshold_key *key, size_t owner,
                                size_t n_bytes, const unsigned char *from, dp_error *err)
{
    dp_status status = first_time(t, key->owners, owner, "part of the key", err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_read(t->f, n_bytes, from, key->part, err);
    if (status != DP_OK)
        return status;
    if (memcmp(key->part->seed, t->spec.seed, sizeof t->spec.seed) != 0)
        return dpi_fail(err, DP_EPEER, "owner %zu's part of the key is made with another seed",
                        owner + 1);
    dpi_bfv_add_polynomial(t->f, key->part->c0, key->sum->c0);
    if (key->owners == 0)
        dpi_bfv_add_polynomial(t->f, key->part->c1, key->sum->c1);
    key->owners |= (uint64_t)1 << owner;
    return DP_OK;
}

/* ---- sums ---- */

dp_status dpi_threshold_sum_new(const dpi_threshold *t, dpi_threshold_share *share,
                                const unsigned char context[DPI_THRESHOLD_HASH], size_t n,
                                dpi_threshold_sum **sum, dp_error *err)
{
    *sum = NULL;
    dpi_threshold_sum *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->t = t;
    made->n = n;
    made->share = share;
    memcpy(made->context, context, sizeof made->context);
    made->c1 =
        dpi_alloc(dpi_threshold_polynomials(t, n), t->f->levels * t->f->n * sizeof *made->c1);
    made->room = dpi_bfv_polynomial(t->f);
    if (made->c1 != NULL && made->room != NULL) {
        *sum = made;
        return DP_OK;
    }
    dpi_threshold_sum_free(made);
    return dpi_fail_nomem(err);
}

void dpi_threshold_sum_free(dpi_threshold_sum *sum)
{
    if (sum != NULL) {
        dpi_free(sum->c1);
        dpi_free(sum->room);
    }
    dpi_free(sum);
}

/* Words in polynomial k. */
static size_t words_in(const dpi_threshold_sum *sum, size_t k)
{
    const size_t left = sum->n - k * sum->t->f->n;
    return left < sum->t->f->n ? left : sum->t->f->n;
}

static uint64_t *second_of(const dpi_threshold_sum *sum, size_t k)
{
    return sum->c1 + k * sum->t->f->levels * sum->t->f->n;
}

static void is_there(dpi_threshold_sum *sum, size_t owner, const unsigned char *shared)
{
    (void)crypto_generichash(sum->hash[owner], DPI_THRESHOLD_HASH, shared,
                             dpi_threshold_shared_size(sum->t, sum->n), NULL, 0);
    sum->owners |= (uint64_t)1 << owner;
}

/* Encrypts the words of one polynomial. */
static dp_status encrypt_one(dpi_threshold_sum *sum, const dpi_threshold_key *key, size_t k,
                             const uint64_t *words, dpi_rlwe_stream *random, dpi_bfv_cipher *c,
                             const dpi_threshold_parts *parts, dp_error *err)
{
    const dpi_bfv *f = sum->t->f;
    const size_t count = words_in(sum, k), size = dpi_bfv_polynomial_size(f);
    memset(sum->room, 0, f->n * sizeof *sum->room);
    memcpy(sum->room, words + k * f->n, count * sizeof *words);
    const dp_status status = dpi_bfv_encrypt_public(f, key->sum, sum->room, random, c, err);
    sodium_memzero(sum->room, f->n * sizeof *sum->room);
    if (status != DP_OK)
        return status;
    dpi_bfv_add_polynomial(f, c->c1, second_of(sum, k));
    dpi_bfv_polynomial_write(f, c->c1, parts->shared + k * size);
    for (size_t i = 0; i < f->levels; i++)
        dpi_ntt_inverse(f->ntt[i], c->c0 + i * f->n);
    dpi_threshold_fractions(f, c->c0, count, k * f->n, sum->n, parts->opened);
    return DP_OK;
}

dp_status dpi_threshold_encrypt(dpi_threshold_sum *sum, const dpi_threshold_key *key,
                                const uint64_t *words, dpi_rlwe_stream *random,
                                const dpi_threshold_parts *parts, dp_error *err)
{
    const dpi_threshold *t = sum->t;
    if (key->owners != everybody(t->spec.owners))
        return dpi_fail(err, DP_ESTATE, "owners' parts of the key are missing");
    if ((sum->owners >> sum->share->owner & 1) != 0 || sum->spoiled)
        return dpi_fail(err, DP_ESTATE, "a vector is encrypted once for a sum");
    dpi_bfv_cipher *c;
    dp_status status = dpi_bfv_cipher_new(t->f, &c, err);
    for (size_t k = 0; k < dpi_threshold_polynomials(t, sum->n) && status == DP_OK; k++)
        status = encrypt_one(sum, key, k, words, random, c, parts, err);
    dpi_bfv_cipher_free(c);
    sum->spoiled = status != DP_OK;
    if (status == DP_OK)
        is_there(sum, sum->share->owner, parts->shared);
    return status;
}

dp_status dpi_threshold_sum_add(dpi_threshold_sum *sum, size_t owner, size_t n_bytes,
                                const unsigned char *shared, dp_error *err)
{
    const dpi_threshold *t = sum->t;
    const uint64_t self = (uint64_t)1 << sum->share->owner;
    const size_t size = dpi_bfv_polynomial_size(t->f);
    dp_status status = first_time(t, sum->owners | self, owner, "vector", err);
    if (status == DP_OK && n_bytes != dpi_threshold_shared_size(t, sum->n))
        status =
            dpi_fail(err, DP_EPEER, "an encrypted vector of %zu bytes came, of %zu was expected",
                     n_bytes, dpi_threshold_shared_size(t, sum->n));
    for (size_t k = 0; k < dpi_threshold_polynomials(t, sum->n) && status == DP_OK; k++) {
        status = dpi_bfv_polynomial_read(t->f, shared + k * size, sum->room, err);
        if (status == DP_OK)
            dpi_bfv_add_polynomial(t->f, sum->room, second_of(sum, k));
    }
    if (status == DP_OK)
        is_there(sum, owner, shared);
    else
        sum->spoiled = true;
    return status;
}

dp_status dpi_threshold_digest(const dpi_threshold_sum *sum,
                               unsigned char digest[DPI_THRESHOLD_HASH], dp_error *err)
{
    const size_t owners = sum->t->spec.owners;
    unsigned char sizes[16];
    crypto_generichash_state h;
    memset(digest, 0, DPI_THRESHOLD_HASH);
    if (sum->owners != everybody(owners) || sum->spoiled)
        return dpi_fail(err, DP_ESTATE,
                        "the vectors of all owners must be in a sum before it is opened; nothing "
                        "is opened");
    dpi_put_number(sizes, owners);
    dpi_put_number(sizes + 8, sum->n);
    (void)crypto_generichash_init(&h, NULL, 0, DPI_THRESHOLD_HASH);
    (void)crypto_generichash_update(&h, sum->context, sizeof sum->context);
    (void)crypto_generichash_update(&h, sizes, sizeof sizes);
    (void)crypto_generichash_update(&h, sum->hash[0], owners * DPI_THRESHOLD_HASH);
    (void)crypto_generichash_final(&h, digest, DPI_THRESHOLD_HASH);
    return DP_OK;
}

/* ---- opening ---- */

static dp_status may_open(const dpi_threshold_sum *sum, const unsigned char *digests,
                          unsigned char digest[DPI_THRESHOLD_HASH], dp_error *err)
{
    const dpi_threshold *t = sum->t;
    const dp_status status = dpi_threshold_digest(sum, digest, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < t->spec.owners; k++)
        if (memcmp(digests + k * DPI_THRESHOLD_HASH, digest, DPI_THRESHOLD_HASH) != 0)
            return dpi_fail(err, DP_EPEER,
                            "owner %zu has not the same vectors for this sum as owner %zu; nothing "
                            "is opened",
                            k + 1, sum->share->owner + 1);
    if (sum->share->opened + dpi_threshold_polynomials(t, sum->n) <= t->spec.openings)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "more would be opened under this key than the %llu polynomials that it is for; "
                    "take a new one",
                    (unsigned long long)t->spec.openings);
}

/* The noise of a partial follows from the share and from what is opened. */
static void start_flood(const dpi_threshold_share *share,
                        const unsigned char digest[DPI_THRESHOLD_HASH], dpi_rlwe_stream *random)
{
    unsigned char seed[DPI_RLWE_SEED];
    (void)crypto_generichash(seed, sizeof seed, digest, DPI_THRESHOLD_HASH, share->flooding,
                             sizeof share->flooding);
    dpi_rlwe_start(random, seed, "tacit threshold flood");
    sodium_memzero(seed, sizeof seed);
}

dp_status dpi_threshold_partial(dpi_threshold_sum *sum, const unsigned char *digests,
                                unsigned char *partial, dp_error *err)
{
    const dpi_bfv *f = sum->t->f;
    dpi_threshold_share *share = sum->share;
    unsigned char digest[DPI_THRESHOLD_HASH];
    dpi_rlwe_stream random;
    uint64_t middle[DPI_BFV_LEVELS];
    const dp_status status = may_open(sum, digests, digest, err);
    if (status != DP_OK)
        return status;
    share->opened += dpi_threshold_polynomials(sum->t, sum->n);
    start_flood(share, digest, &random);
    for (size_t i = 0; i < f->levels; i++)
        middle[i] = dpi_modulus_power(&f->ntt[i]->m, 2, (uint64_t)sum->t->flood);
    for (size_t k = 0; k < dpi_threshold_polynomials(sum->t, sum->n); k++) {
        for (size_t i = 0; i < f->levels; i++) {
            const size_t at = i * f->n;
            f->ntt[i]->kernel->multiply(f->ntt[i], second_of(sum, k) + at,
                                        share->secret->transformed + at, sum->room + at);
            dpi_ntt_inverse(f->ntt[i], sum->room + at);
        }
        for (size_t j = 0; j < words_in(sum, k); j++)
            dpi_bfv_add_flood(f, sum->t->flood, middle, &random, sum->room + j);
        dpi_threshold_fractions(f, sum->room, words_in(sum, k), k * f->n, sum->n, partial);
    }
    sodium_memzero(sum->room, f->levels * f->n * sizeof *sum->room);
    dpi_rlwe_end(&random);
    return DP_OK;
}
