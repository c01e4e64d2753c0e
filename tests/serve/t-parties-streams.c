/* No number of a key stream serves twice: over sessions, lanes, queries and layers of real parties
 * every key, every place in its stream and every seed that is used is looked at.
 *
 * Calls of OpenSSL and of dpi_deal_draw by parties, which are threads of this program, go through
 * this file. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "serve/party-parts.h"
#include "tests/lib/numbers.h"
#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"

enum { KEY = 16, PLACE = 16, NONCE = 12, MOST = 40000, SESSIONS = 3, LANES = 2, QUERIES = 2 };

/* A cipher's context at a place: what was drawn there, or which nonce a hash had. */
typedef struct use {
    size_t context; /* contexts are numbered as they are given a key */
    bool hashes;
    unsigned char key[KEY], place[PLACE], first[KEY]; /* first: bytes that were drawn there */
    size_t bytes;
} use;

/* Numbers of a seed that a machine has drawn. */
typedef struct dealt {
    unsigned char seed[DPI_DEAL_SEED];
    uint64_t at;
    size_t n;
    dpi_ring ring;
} dealt;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static use uses[MOST];
static dealt deals[MOST];
static size_t n_uses, n_deals, n_contexts;

/* Which context a cipher is now, and its use. */
static struct {
    const EVP_CIPHER_CTX *cipher;
    size_t context, use; /* use SIZE_MAX: none since its key came */
    unsigned char key[KEY];
    bool hashes;
} ciphers[MOST];
static size_t n_ciphers;

static size_t find_cipher(const EVP_CIPHER_CTX *cipher)
{
    size_t i = 0;
    while (i < n_ciphers && ciphers[i].cipher != cipher)
        i++;
    if (i == MOST)
        abort();
    if (i == n_ciphers)
        ciphers[n_ciphers++].cipher = cipher;
    return i;
}

/* ---- in the parties' threads ---- */

int __real_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *type, ENGINE *engine,
                              const unsigned char *key, const unsigned char *iv);
int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *type, ENGINE *engine,
                              const unsigned char *key, const unsigned char *iv);
int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *type, ENGINE *engine,
                              const unsigned char *key, const unsigned char *iv)
{
    (void)pthread_mutex_lock(&lock);
    const size_t i = find_cipher(c);
    if (key != NULL) {
        ciphers[i].context = n_contexts++;
        ciphers[i].hashes = type == EVP_aes_128_gcm();
        memcpy(ciphers[i].key, key, KEY);
    }
    if (iv != NULL) {
        if (n_uses == MOST)
            abort();
        use *u = &uses[n_uses];
        *u = (use){.context = ciphers[i].context, .hashes = ciphers[i].hashes};
        memcpy(u->key, ciphers[i].key, KEY);
        memcpy(u->place, iv, u->hashes ? NONCE : PLACE);
        ciphers[i].use = n_uses++;
    }
    (void)pthread_mutex_unlock(&lock);
    return __real_EVP_EncryptInit_ex(c, type, engine, key, iv);
}

int __real_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, unsigned char *to, int *done,
                             const unsigned char *from, int n);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, unsigned char *to, int *done,
                             const unsigned char *from, int n);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, unsigned char *to, int *done,
                             const unsigned char *from, int n)
{
    const int good = __real_EVP_EncryptUpdate(c, to, done, from, n);
    (void)pthread_mutex_lock(&lock);
    use *u = &uses[ciphers[find_cipher(c)].use];
    if (to != NULL && u->bytes == 0 && n >= KEY)
        memcpy(u->first, to, KEY);
    u->bytes += (size_t)n;
    (void)pthread_mutex_unlock(&lock);
    return good;
}

void __real_dpi_deal_draw(dpi_ring ring, const unsigned char seed[DPI_DEAL_SEED], uint64_t at,
                          size_t n, void *out);
void __wrap_dpi_deal_draw(dpi_ring ring, const unsigned char seed[DPI_DEAL_SEED], uint64_t at,
                          size_t n, void *out);
void __wrap_dpi_deal_draw(dpi_ring ring, const unsigned char seed[DPI_DEAL_SEED], uint64_t at,
                          size_t n, void *out)
{
    (void)pthread_mutex_lock(&lock);
    if (n_deals == MOST)
        abort();
    deals[n_deals] = (dealt){.at = at, .n = n, .ring = ring};
    memcpy(deals[n_deals++].seed, seed, DPI_DEAL_SEED);
    (void)pthread_mutex_unlock(&lock);
    __real_dpi_deal_draw(ring, seed, at, n, out);
}

/* ---- sessions ---- */

static void hold_sessions(size_t parties, daemons *d)
{
    enum { INPUTS = 8, HIDDEN = 4, RECORDS = 3 };
    double w[INPUTS * HIDDEN], x[RECORDS * INPUTS];
    int64_t y[RECORDS * HIDDEN];
    uint64_t numbers = 3;
    size_t answered;
    dp_error err = {0};
    n_uses = n_deals = n_contexts = n_ciphers = 0;
    fill(&numbers, INPUTS * HIDDEN, w);
    fill(&numbers, RECORDS * INPUTS, x);
    dp_program *p = dp_program_new();
    const int h = dp_program_dense(p, dp_program_input(p, INPUTS, "x", -1, 1), HIDDEN, w, NULL);
    (void)dp_program_relu(p, h);
    (void)finish(p);
    if (!daemons_start(d, &(daemons_opts){.n = parties, .lanes = LANES}, &err))
        fail_msg("%s", err.text);
    assert_ok(daemons_share(d, p, &err), err.text);
    for (size_t s = 0; s < SESSIONS; s++) {
        const dp_ask_parties_opts o = {
            .identity = d->client, .parties = d->parties, .records = RECORDS, .lanes = LANES};
        dp_ask *ask;
        assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
        for (size_t q = 0; q < QUERIES; q++)
            assert_ok(dp_ask_many(ask, RECORDS, x, y, &answered, &err), err.text);
        dp_ask_free(ask);
    }
    dp_program_free(p);
}

static bool alike(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

/* Contexts with the same key: how many. */
static size_t contexts_of(const use *of)
{
    size_t n = 0;
    for (size_t i = 0; i < n_uses; i++) {
        bool before = !alike(uses[i].key, of->key, KEY);
        for (size_t j = 0; j < i && !before; j++)
            before = uses[j].context == uses[i].context;
        n += !before;
    }
    return n;
}

/* How many keys there are of ciphers or of hashes, each in `members` contexts. */
static size_t count_keys(bool hashes, size_t members)
{
    size_t keys = 0;
    for (size_t i = 0; i < n_uses; i++) {
        bool known = uses[i].hashes != hashes;
        for (size_t j = 0; j < i && !known; j++)
            known = alike(uses[j].key, uses[i].key, KEY);
        if (known)
            continue;
        assert_int_equal(contexts_of(&uses[i]), members);
        keys++;
    }
    return keys;
}

/* Streams of two places are different, and members of a set are at the same places and draw the
 * same there; nobody is at a place twice. */
static void check_places(void)
{
    for (size_t i = 0; i < n_uses; i++)
        for (size_t j = 0; j < i; j++) {
            const use *a = &uses[i], *b = &uses[j];
            const bool key = alike(a->key, b->key, KEY), place = alike(a->place, b->place, PLACE);
            assert_true(!key || a->hashes == b->hashes);
            assert_false(key && place && a->context == b->context);
            if (a->hashes || b->hashes || a->bytes == 0 || b->bytes == 0)
                continue;
            assert_true(alike(a->first, b->first, KEY) == (key && place));
            if (key && place)
                assert_int_equal(a->bytes, b->bytes);
        }
}

/* A place of a stream is a layer, in the first four bytes: its stream does not reach the next
 * one. */
static void check_lengths(size_t layers)
{
    static const unsigned char rest[PLACE - 4];
    for (size_t i = 0; i < n_uses; i++) {
        const unsigned char *p = uses[i].place;
        if (uses[i].hashes)
            continue;
        const size_t layer =
            (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | (size_t)p[3];
        assert_true(layer < QUERIES * layers);
        assert_memory_equal(p + 4, rest, sizeof rest);
        assert_true(uses[i].bytes < (size_t)1 << 32);
    }
}

static void check_streams(size_t parties)
{
    daemons d;
    hold_sessions(parties, &d);
    daemons_stop(&d);
    /* Of each session and lane: sets that draw; among four, hashes for two roles of each set of
     * views. */
    const size_t sets = parties == 3 ? dpi_trio.n_sets : dpi_quad.n_sets;
    assert_int_equal(count_keys(false, parties - 1), SESSIONS * LANES * sets);
    assert_int_equal(count_keys(true, 2),
                     parties == 3 ? 0 : SESSIONS * LANES * (1 + 1 + 3 + 3 * 3));
    check_places();
    check_lengths(3); /* input, layer, relu */
    print_message("# %zu places of streams and hashes\n", n_uses);
}

static void places_of_key_streams_serve_once_among_three(void **state)
{
    (void)state;
    check_streams(3);
}

static void places_of_key_streams_serve_once_among_four(void **state)
{
    (void)state;
    check_streams(4);
}

/* ---- seeds of what is given ---- */

/* Whether it is a seed of the model, whose numbers are the same in all lanes and sessions. */
static bool is_of_model(const daemons *d, const dealt *a)
{
    for (size_t i = 0; i < d->opts.n; i++)
        for (size_t c = 0; c < d->opts.n; c++)
            if (alike(d->party[i]->model->seed[c], a->seed, DPI_DEAL_SEED))
                return true;
    return false;
}

static bool overlap(const dealt *a, const dealt *b)
{
    return a->at < b->at + b->n && b->at < a->at + a->n;
}

/* Each number of a client's seed is drawn once by each party that has the seed, and in one query;
 * of another lane or session seeds are different. */
static void numbers_of_seeds_serve_once(void **state)
{
    (void)state;
    for (size_t parties = 3; parties <= 4; parties++) {
        daemons d;
        size_t seeds = 0;
        hold_sessions(parties, &d);
        for (size_t i = 0; i < n_deals; i++) {
            size_t times = 0;
            bool known = is_of_model(&d, &deals[i]);
            for (size_t j = 0; j < n_deals && !known; j++) {
                const bool same = alike(deals[i].seed, deals[j].seed, DPI_DEAL_SEED);
                known = known || (same && j < i && !overlap(&deals[i], &deals[j]));
                times += same && overlap(&deals[i], &deals[j]);
                assert_true(!same || deals[i].ring == deals[j].ring);
                if (same && overlap(&deals[i], &deals[j]))
                    assert_true(deals[i].at == deals[j].at && deals[i].n == deals[j].n);
            }
            if (known)
                continue;
            assert_int_equal(times, parties - 1); /* all but the one whose component it is */
            seeds++;
        }
        /* Of the first query, whose numbers each of these parties has listed. */
        assert_int_equal(seeds, SESSIONS * LANES * (parties - 1) * (parties - 1));
        daemons_stop(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_of_key_streams_serve_once_among_three),
        cmocka_unit_test(places_of_key_streams_serve_once_among_four),
        cmocka_unit_test(numbers_of_seeds_serve_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
