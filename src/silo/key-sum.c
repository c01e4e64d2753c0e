/* Kernels of sums under a key of all owners but the one who adds up.
 *
 *   keypart   b_i, from which all make b             once, to the rest
 *   sealed    c1_i                                   to the rest
 *   cover     c0_i                                   to who adds up
 *   agree     the digest of all c1                   to the rest
 *   partial   d_i, where all have the same digest    to who adds up
 *   combine   the sum of all c0 and d, and x         in the clear, to all
 *
 * An owner's vector is encrypted by `sealed`, and `cover` hands out the other half. */
#include "silo/key-sum.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/threshold.h"
#include "silo/masks.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are sent as they lie");

struct dpi_key_sum {
    dpi_key_sum_opts opts;
    size_t rest;     /* owners of the key */
    uint64_t blocks; /* polynomials of a round, at most */
    dpi_threshold *t;
    dpi_threshold_share *share; /* NULL at who adds up */
    dpi_threshold_key *key;
    dpi_threshold_sum *sum; /* of this round */
    unsigned char *covered; /* of this owner's vector, [n_covered] */
    size_t n_covered;
};

static const unsigned char none[32];

static size_t aggregator(const dpi_key_sum *s)
{
    return s->opts.part->aggregator;
}

/* The party of an owner of the key, and this party's number there. */
static size_t party_of(const dpi_key_sum *s, size_t owner)
{
    return owner + (owner >= aggregator(s));
}

static size_t owner_of(const dpi_key_sum *s)
{
    const size_t self = s->opts.part->party;
    return self - (self > aggregator(s));
}

static const unsigned char *value(const dpi_key_sum *s, const dpi_silo_values *of, size_t owner)
{
    return of->from[party_of(s, owner)].bytes;
}

static void check_key(const dpi_key_sum *s, const dpi_silo_machine *m, unsigned char key[32])
{
    dpi_post_context(s->opts.post, m->round, m->question, "check", key);
}

/* This owner's random numbers for what `context` and words say. */
static void start_random(const dpi_key_sum *s, const unsigned char context[32], size_t n,
                         const uint64_t *words, dpi_rlwe_stream *random)
{
    unsigned char seed[32];
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, s->opts.secret, 32, sizeof seed);
    (void)crypto_generichash_update(&h, context, 32);
    if (n > 0)
        (void)crypto_generichash_update(&h, (const unsigned char *)words, n * sizeof *words);
    (void)crypto_generichash_final(&h, seed, sizeof seed);
    dpi_rlwe_start(random, seed, "tacit key sum");
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(&h, sizeof h);
}

/* x[n] and its check word, owned by the caller; NULL when memory is out. */
static uint64_t *with_check(const dpi_key_sum *s, const dpi_silo_machine *m,
                            const dpi_silo_values *x)
{
    unsigned char key[32];
    uint64_t *words = dpi_alloc(m->n + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    memcpy(words, x->from[s->opts.part->party].bytes, m->n * sizeof *words);
    check_key(s, m, key);
    words[m->n] = dpi_mask_check(key, m->n, words);
    return words;
}

/* ---- the key ---- */

static void drop_key(dpi_key_sum *s)
{
    dpi_threshold_share_free(s->share);
    dpi_threshold_key_free(s->key);
    s->share = NULL;
    s->key = NULL;
}

static dp_status keypart(void *of, dpi_silo_machine *m, const dpi_silo_step *step,
                         const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                         dp_error *err)
{
    dpi_key_sum *s = of;
    unsigned char context[32];
    dpi_rlwe_stream random;
    (void)m;
    (void)step;
    (void)in;
    drop_key(s);
    dp_status status = dpi_threshold_key_new(s->t, &s->key, err);
    if (status != DP_OK)
        return status;
    dpi_post_context(s->opts.post, 0, none, "share", context);
    start_random(s, context, 0, NULL, &random);
    status = dpi_threshold_share_new(s->t, owner_of(s), &random, &s->share, out->bytes, err);
    dpi_rlwe_end(&random);
    return status == DP_OK
               ? dpi_threshold_key_add(s->t, s->key, owner_of(s), out->n, out->bytes, err)
               : status;
}

/* The others' parts, when they are first needed. */
static dp_status complete_key(dpi_key_sum *s, const dpi_silo_values *parts, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < s->rest && status == DP_OK; k++)
        if ((s->key->owners >> k & 1) == 0)
            status = dpi_threshold_key_add(s->t, s->key, k, parts->from[party_of(s, k)].n,
                                           value(s, parts, k), err);
    return status;
}

/* ---- an owner of the key ---- */

static void drop_sum(dpi_key_sum *s)
{
    dpi_threshold_sum_free(s->sum);
    dpi_free(s->covered);
    s->sum = NULL;
    s->covered = NULL;
    s->n_covered = 0;
}

static dp_status encrypt(dpi_key_sum *s, const dpi_silo_machine *m, const uint64_t *words,
                         unsigned char *shared, dp_error *err)
{
    const dpi_threshold_parts parts = {s->covered, shared};
    unsigned char context[32];
    dpi_rlwe_stream random;
    dpi_post_context(s->opts.post, m->round, m->question, "sum", context);
    dp_status status = dpi_threshold_sum_new(s->t, s->share, context, m->n + 1, &s->sum, err);
    if (status != DP_OK)
        return status;
    start_random(s, context, m->n + 1, words, &random);
    status = dpi_threshold_encrypt(s->sum, s->key, words, &random, &parts, err);
    dpi_rlwe_end(&random);
    return status;
}

/* x, parts of the key -> c1 */
static dp_status sealed(void *of, dpi_silo_machine *m, const dpi_silo_step *step,
                        const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                        dp_error *err)
{
    dpi_key_sum *s = of;
    (void)step;
    if (m->n > s->opts.most)
        return dpi_fail(err, DP_EPRIVACY,
                        "a sum of %zu numbers would be opened under a key for sums of %zu", m->n,
                        s->opts.most);
    drop_sum(s);
    dp_status status = complete_key(s, in[1], err);
    if (status != DP_OK)
        return status;
    uint64_t *words = with_check(s, m, in[0]);
    s->n_covered = dpi_threshold_opened_size(m->n + 1);
    s->covered = dpi_alloc(s->n_covered, 1);
    status = words != NULL && s->covered != NULL ? encrypt(s, m, words, out->bytes, err)
                                                 : dpi_fail_nomem(err);
    dpi_wipe_free(words, (m->n + 1) * sizeof *words);
    return status;
}

/* x, c1 -> c0 */
static dp_status cover(void *of, dpi_silo_machine *m, const dpi_silo_step *step,
                       const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                       dp_error *err)
{
    const dpi_key_sum *s = of;
    (void)m;
    (void)step;
    (void)in;
    if (s->covered == NULL || s->n_covered != out->n)
        return dpi_fail(err, DP_ESTATE, "a vector is covered before it is sealed");
    memcpy(out->bytes, s->covered, out->n);
    return DP_OK;
}

/* c1 of all -> digest */
static dp_status agree(void *of, dpi_silo_machine *m, const dpi_silo_step *step,
                       const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                       dp_error *err)
{
    const dpi_key_sum *s = of;
    dp_status status = DP_OK;
    (void)m;
    (void)step;
    if (s->sum == NULL)
        return dpi_fail(err, DP_ESTATE, "owners agree on vectors before there are any");
    for (size_t k = 0; k < s->rest && status == DP_OK; k++)
        if (k != owner_of(s))
            status = dpi_threshold_sum_add(s->sum, k, in[0]->from[party_of(s, k)].n,
                                           value(s, in[0], k), err);
    return status == DP_OK ? dpi_threshold_digest(s->sum, out->bytes, err) : status;
}

/* c1 and digests of all -> d */
static dp_status partial(void *of, dpi_silo_machine *m, const dpi_silo_step *step,
                         const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                         dp_error *err)
{
    enum { HASH = DPI_THRESHOLD_HASH };
    dpi_key_sum *s = of;
    unsigned char digests[DPI_THRESHOLD_OWNERS * HASH];
    (void)step;
    if (s->sum == NULL)
        return dpi_fail(err, DP_ESTATE, "a sum would be opened of vectors that are not there");
    for (size_t k = 0; k < s->rest; k++)
        memcpy(digests + k * HASH, value(s, in[1], k), HASH);
    s->share->opened =
        m->round - 1 < s->opts.rounds ? (m->round - 1) * s->blocks : s->t->spec.openings;
    const dp_status status = dpi_threshold_partial(s->sum, digests, out->bytes, err);
    drop_sum(s);
    return status;
}

/* ---- who adds up ---- */

/* Adds up what was opened of the others and this party's words, which become the sum. */
static dp_status add_up(const dpi_key_sum *s, const dpi_silo_machine *m, const uint64_t *opened,
                        const uint64_t *own, uint64_t *sum, dp_error *err)
{
    unsigned char key[32];
    check_key(s, m, key);
    if (dpi_mask_check(key, m->n, opened) != opened[m->n])
        return dpi_fail(err, DP_EPEER,
                        "what was opened in round %llu is no sum: an owner has come to another "
                        "question, or does not follow the plan; nobody is told of it",
                        (unsigned long long)m->round);
    for (size_t j = 0; j < m->n + 1; j++)
        sum[j] = opened[j] + own[j];
    return DP_OK;
}

/* x, c0 and d of all -> sum, check */
static dp_status combine(void *of, dpi_silo_machine *m, const dpi_silo_step *step,
                         const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                         dp_error *err)
{
    const dpi_key_sum *s = of;
    const size_t size = (m->n + 1) * sizeof(uint64_t);
    const unsigned char *covered[DPI_THRESHOLD_OWNERS], *partials[DPI_THRESHOLD_OWNERS];
    uint64_t *opened = dpi_alloc(m->n + 1, sizeof *opened), *own = with_check(s, m, in[0]);
    (void)step;
    for (size_t k = 0; k < s->rest; k++) {
        covered[k] = value(s, in[1], k);
        partials[k] = value(s, in[2], k);
    }
    dp_status status = opened != NULL && own != NULL
                           ? dpi_threshold_open(s->rest, covered, partials, m->n + 1, opened, err)
                           : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = add_up(s, m, opened, own, (uint64_t *)(void *)out->bytes, err);
    dpi_wipe_free(opened, size);
    dpi_wipe_free(own, size);
    return status;
}

/* ---- runs ---- */

dp_status dpi_key_sum_new(const dpi_key_sum_opts *opts, dpi_key_sum **s, dp_error *err)
{
    *s = NULL;
    if (opts->part->parties < 2 || opts->rounds < 1)
        dpi_misuse(__func__, "owners or sums that there are not");
    dpi_key_sum *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    *made = (dpi_key_sum){.opts = *opts,
                          .rest = opts->part->parties - 1,
                          .blocks = opts->most / DPI_THRESHOLD_DEGREE + 1};
    dpi_threshold_spec spec = {.owners = made->rest,
                               .openings = opts->rounds <= UINT64_MAX / made->blocks
                                               ? opts->rounds * made->blocks
                                               : UINT64_MAX};
    dpi_post_context(opts->post, 0, none, "key", spec.seed);
    dp_status status = dpi_threshold_new(&spec, &made->t, err);
    if (status == DP_OK)
        *s = made;
    else
        dpi_key_sum_free(made);
    return status;
}

void dpi_key_sum_free(dpi_key_sum *s)
{
    if (s == NULL)
        return;
    drop_sum(s);
    drop_key(s);
    dpi_threshold_free(s->t);
    dpi_free(s);
}

void dpi_key_sum_install(dpi_key_sum *s, dpi_silo_machine *m)
{
    static const struct {
        dpi_silo_step_kind kind;
        dpi_silo_kernel *kernel;
    } kernels[] = {{DPI_SILO_KEYPART, keypart}, {DPI_SILO_SEALED, sealed},
                   {DPI_SILO_COVER, cover},     {DPI_SILO_AGREE, agree},
                   {DPI_SILO_PARTIAL, partial}, {DPI_SILO_COMBINE, combine}};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        m->kernel[kernels[k].kind] = kernels[k].kernel;
        m->of[kernels[k].kind] = s;
    }
}
