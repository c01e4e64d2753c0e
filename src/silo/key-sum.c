/* Sums under a key of all owners but the one who adds up: who sends what to whom.
 *
 * Round 0:       each of the rest, its part of the key to the rest      he.b
 * A round:       c0 to who adds up, c1 to the rest                      he.0, he.1
 *                the digest of all c1 to the rest                       he.g
 *                where all have the same, a partial to who adds up      he.d
 *                the sum, with who adds up's own words, to the rest     he.s
 *
 * Each sends before it waits, so nobody waits for ever.  Words have a check word behind them
 * (masks.h), which adds up as they do.  What an owner draws follows from its secret and from all
 * that it is drawn for, its vector among it: another vector is never encrypted with the same
 * numbers. */
#include "silo/key-sum.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/threshold.h"
#include "silo/masks.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are sent as they lie");

struct dpi_key_sum {
    dpi_key_sum_opts opts;
    size_t rest; /* owners of the key */
    dpi_threshold *t;
    dpi_threshold_share *share; /* NULL at who adds up */
    dpi_threshold_key *key;
};

/* What a round needs: letters of all of the rest. */
typedef struct key_round {
    dpi_key_sum *s;
    uint64_t round;
    size_t n; /* words, the check word among them */
    unsigned char context[32];
    uint64_t *words;
    unsigned char *opened[DPI_THRESHOLD_OWNERS], *partial[DPI_THRESHOLD_OWNERS], *shared;
    dpi_threshold_sum *sum;
} key_round;

static bool adds_up(const dpi_key_sum *s)
{
    return s->opts.party == s->opts.aggregator;
}

/* The party of an owner of the key, and back. */
static size_t party_of(const dpi_key_sum *s, size_t owner)
{
    return owner + (owner >= s->opts.aggregator);
}

static size_t owner_of(const dpi_key_sum *s)
{
    return s->opts.party - (s->opts.party > s->opts.aggregator);
}

static void hash_of(const dpi_key_sum *s, uint64_t round, const unsigned char question[32],
                    const char *purpose, unsigned char hash[32])
{
    unsigned char number[8];
    crypto_generichash_state h;
    dpi_put_number(number, round);
    (void)crypto_generichash_init(&h, s->opts.plan, DPI_SILO_HASH, 32);
    (void)crypto_generichash_update(&h, dpi_post_run_keys(s->opts.post), 32);
    (void)crypto_generichash_update(&h, number, sizeof number);
    (void)crypto_generichash_update(&h, question, 32);
    (void)crypto_generichash_update(&h, (const unsigned char *)purpose, strlen(purpose));
    (void)crypto_generichash_final(&h, hash, 32);
}

/* This owner's random numbers for a purpose and words. */
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

static dp_status send_rest(const dpi_key_sum *s, uint64_t round, const char *name, size_t n,
                           const unsigned char *body, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < s->rest && status == DP_OK; k++)
        if (party_of(s, k) != s->opts.party)
            status = dpi_post_send(s->opts.post, party_of(s, k), round, 0, name, n, body, err);
    return status;
}

static dp_status receive(const dpi_key_sum *s, size_t party, uint64_t round, const char *name,
                         size_t n, unsigned char *body, dp_error *err)
{
    return dpi_post_receive(s->opts.post, party, round, 0, name, 0, n, body, err);
}

/* ---- the key ---- */

static dp_status make_key(dpi_key_sum *s, dp_error *err)
{
    static const unsigned char none[32];
    const size_t size = dpi_threshold_public_size(s->t);
    unsigned char context[32], *public = dpi_alloc(size, 1);
    dpi_rlwe_stream random;
    dp_status status =
        public != NULL ? dpi_threshold_key_new(s->t, &s->key, err) : dpi_fail_nomem(err);
    if (status == DP_OK) {
        hash_of(s, 0, none, "share", context);
        start_random(s, context, 0, NULL, &random);
        status = dpi_threshold_share_new(s->t, owner_of(s), &random, &s->share, public, err);
        dpi_rlwe_end(&random);
    }
    if (status == DP_OK) {
        s->share->opened = s->opts.opened;
        status = dpi_threshold_key_add(s->t, s->key, owner_of(s), size, public, err);
    }
    if (status == DP_OK)
        status = send_rest(s, 0, "he.b", size, public, err);
    for (size_t k = 0; k < s->rest && status == DP_OK; k++) {
        if (k == owner_of(s))
            continue;
        status = receive(s, party_of(s, k), 0, "he.b", size, public, err);
        if (status == DP_OK)
            status = dpi_threshold_key_add(s->t, s->key, k, size, public, err);
    }
    dpi_free(public);
    return status;
}

dp_status dpi_key_sum_new(const dpi_key_sum_opts *opts, dpi_key_sum **s, dp_error *err)
{
    static const unsigned char none[32];
    *s = NULL;
    if (opts->parties < 2 || opts->parties > DPI_SILO_PARTIES || opts->party >= opts->parties ||
        opts->aggregator >= opts->parties)
        dpi_misuse(__func__, "owners that there are not");
    dpi_key_sum *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->opts = *opts;
    made->rest = opts->parties - 1;
    dpi_threshold_spec spec = {.owners = made->rest, .openings = opts->openings};
    hash_of(made, 0, none, "key", spec.seed);
    dp_status status = dpi_threshold_new(&spec, &made->t, err);
    if (status == DP_OK && !adds_up(made))
        status = make_key(made, err);
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
    dpi_threshold_share_free(s->share);
    dpi_threshold_key_free(s->key);
    dpi_threshold_free(s->t);
    dpi_free(s);
}

/* ---- an owner of the key ---- */

static dp_status give_vector(key_round *r, dp_error *err)
{
    dpi_key_sum *s = r->s;
    const dpi_threshold_parts parts = {r->opened[0], r->shared};
    const size_t size = dpi_threshold_shared_size(s->t, r->n);
    dpi_rlwe_stream random;
    dp_status status = dpi_threshold_sum_new(s->t, s->share, r->context, r->n, &r->sum, err);
    if (status != DP_OK)
        return status;
    start_random(s, r->context, r->n, r->words, &random);
    status = dpi_threshold_encrypt(r->sum, s->key, r->words, &random, &parts, err);
    dpi_rlwe_end(&random);
    if (status == DP_OK)
        status = dpi_post_send(s->opts.post, s->opts.aggregator, r->round, 0, "he.0",
                               dpi_threshold_opened_size(r->n), r->opened[0], err);
    if (status == DP_OK)
        status = send_rest(s, r->round, "he.1", size, r->shared, err);
    for (size_t k = 0; k < s->rest && status == DP_OK; k++) {
        if (k == owner_of(s))
            continue;
        status = receive(s, party_of(s, k), r->round, "he.1", size, r->shared, err);
        if (status == DP_OK)
            status = dpi_threshold_sum_add(r->sum, k, size, r->shared, err);
    }
    return status;
}

static dp_status give_partial(key_round *r, dp_error *err)
{
    enum { HASH = DPI_THRESHOLD_HASH };
    dpi_key_sum *s = r->s;
    unsigned char digests[DPI_THRESHOLD_OWNERS * HASH], *own = digests + owner_of(s) * HASH;
    dp_status status = dpi_threshold_digest(r->sum, own, err);
    if (status == DP_OK)
        status = send_rest(s, r->round, "he.g", HASH, own, err);
    for (size_t k = 0; k < s->rest && status == DP_OK; k++)
        if (k != owner_of(s))
            status = receive(s, party_of(s, k), r->round, "he.g", HASH, digests + k * HASH, err);
    if (status == DP_OK)
        status = dpi_threshold_partial(r->sum, digests, r->partial[0], err);
    if (status == DP_OK)
        status = dpi_post_send(s->opts.post, s->opts.aggregator, r->round, 0, "he.d",
                               dpi_threshold_partial_size(r->n), r->partial[0], err);
    return status;
}

/* ---- who adds up ---- */

static dp_status check(const unsigned char key[32], const key_round *r, const uint64_t *words,
                       dp_error *err)
{
    if (dpi_mask_check(key, r->n - 1, words) == words[r->n - 1])
        return DP_OK;
    return dpi_fail(err, DP_EPEER,
                    "what was opened in round %llu is no sum: an owner has another question, or "
                    "does not follow the plan",
                    (unsigned long long)r->round);
}

static dp_status add_up(key_round *r, const unsigned char key[32], dp_error *err)
{
    const dpi_key_sum *s = r->s;
    uint64_t *sum = dpi_alloc(r->n, sizeof *sum);
    dp_status status = sum != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t k = 0; k < s->rest && status == DP_OK; k++) {
        status = receive(s, party_of(s, k), r->round, "he.0", dpi_threshold_opened_size(r->n),
                         r->opened[k], err);
        if (status == DP_OK)
            status = receive(s, party_of(s, k), r->round, "he.d", dpi_threshold_partial_size(r->n),
                             r->partial[k], err);
    }
    if (status == DP_OK)
        status = dpi_threshold_open(s->rest, (const unsigned char *const *)r->opened,
                                    (const unsigned char *const *)r->partial, r->n, sum, err);
    if (status == DP_OK)
        status = check(key, r, sum, err);
    for (size_t j = 0; j < r->n && status == DP_OK; j++)
        r->words[j] += sum[j];
    dpi_wipe_free(sum, r->n * sizeof *sum);
    if (status == DP_OK)
        status = send_rest(s, r->round, "he.s", r->n * sizeof *r->words,
                           (const unsigned char *)r->words, err);
    return status;
}

/* ---- rounds ---- */

static dp_status make_room(key_round *r, dp_error *err)
{
    const dpi_key_sum *s = r->s;
    const size_t letters = adds_up(s) ? s->rest : 1;
    r->words = dpi_alloc(r->n, sizeof *r->words);
    r->shared = dpi_alloc(dpi_threshold_shared_size(s->t, r->n), 1);
    bool all = r->words != NULL && r->shared != NULL;
    for (size_t k = 0; k < letters; k++) {
        r->opened[k] = dpi_alloc(dpi_threshold_opened_size(r->n), 1);
        r->partial[k] = dpi_alloc(dpi_threshold_partial_size(r->n), 1);
        all = all && r->opened[k] != NULL && r->partial[k] != NULL;
    }
    return all ? DP_OK : dpi_fail_nomem(err);
}

static void free_room(key_round *r)
{
    dpi_wipe_free(r->words, r->n * sizeof *r->words);
    dpi_free(r->shared);
    for (size_t k = 0; k < DPI_THRESHOLD_OWNERS; k++) {
        dpi_free(r->opened[k]);
        dpi_free(r->partial[k]);
    }
    dpi_threshold_sum_free(r->sum);
}

dp_status dpi_key_sum_open(dpi_key_sum *s, uint64_t round, const unsigned char question[32],
                           size_t n, uint64_t *values, dp_error *err)
{
    key_round r = {.s = s, .round = round, .n = n + 1};
    unsigned char key[32];
    dp_status status = make_room(&r, err);
    hash_of(s, round, question, "sum", r.context);
    hash_of(s, round, question, "check", key);
    if (status == DP_OK) {
        memcpy(r.words, values, n * sizeof *values);
        r.words[n] = dpi_mask_check(key, n, values);
    }
    if (status == DP_OK && adds_up(s)) {
        status = add_up(&r, key, err);
    } else if (status == DP_OK) {
        status = give_vector(&r, err);
        if (status == DP_OK)
            status = give_partial(&r, err);
        if (status == DP_OK)
            status = receive(s, s->opts.aggregator, round, "he.s", r.n * sizeof *r.words,
                             (unsigned char *)r.words, err);
    }
    if (status == DP_OK)
        status = check(key, &r, r.words, err);
    if (status == DP_OK)
        memcpy(values, r.words, n * sizeof *values);
    else
        memset(values, 0, n * sizeof *values);
    free_room(&r);
    return status;
}
