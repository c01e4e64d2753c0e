/* Letters.
 *
 * The context of a letter is BLAKE2b of plan, round, attempt, writer, reader and name, each of a
 * fixed size: it is the associated data of the seal and goes into what is signed, so that a letter
 * is good in one place alone.  The nonce is BLAKE2b, under the sealing key, of context and body:
 * the same letter is the same bytes, and two that differ have different nonces. */
#include "silo/post.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"

enum {
    MAGIC = 4,
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    SEAL = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    SIGNATURE = crypto_sign_BYTES,
    BEFORE = MAGIC + 8 + NONCE,
    AROUND = BEFORE + SEAL + SIGNATURE,
    CONTEXT = 32,
    DIGEST = DPI_SILO_DIGEST,
    RUN_KEY = 32 + SIGNATURE,
    RUN_NAME = 16
};

static const unsigned char magic[MAGIC] = {'T', 'c', 'L', 1};
static const uint32_t usual_patience = 600000;

struct dpi_post {
    dpi_post_opts opts;
    char run[RUN_NAME + 1]; /* in tags */
    unsigned char pair[DPI_SILO_PARTIES][32];
    unsigned char run_keys[32]; /* a hash of all */
};

/* ---- run keys ---- */

static dp_status tag_of(const dpi_post *p, size_t from, const char *to, const char *round,
                        const char *name, char tag[DPI_CARRIER_TAG], dp_error *err)
{
    int n = snprintf(tag, DPI_CARRIER_TAG, "%s/%s/%s/%s/%s", p->run, round, p->opts.names[from], to,
                     name);
    return n > 0 && n < DPI_CARRIER_TAG ? DP_OK
                                        : dpi_fail(err, DP_EINVAL,
                                                   "a letter's tag is too "
                                                   "long");
}

/* What a run key's signature is of. */
static void announce(const dpi_post *p, const unsigned char public[32],
                     unsigned char digest[DIGEST])
{
    static const unsigned char purpose[] = "tacit silo run key";
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, DIGEST);
    (void)crypto_generichash_update(&h, purpose, sizeof purpose);
    (void)crypto_generichash_update(&h, p->opts.plan, DPI_SILO_HASH);
    (void)crypto_generichash_update(&h, public, 32);
    (void)crypto_generichash_final(&h, digest, DIGEST);
}

static dp_status take(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t n,
                      unsigned char *bytes, bool *fits, dp_error *err)
{
    unsigned char *got = NULL;
    size_t length = 0;
    dp_status status = c->kind->get(c, tag, wait_ms, n, &length, &got, err);
    *fits = status == DP_OK && length == n;
    if (*fits)
        memcpy(bytes, got, n);
    dpi_free(got);
    return status;
}

static dp_status witness(const dpi_post *p, bool leaves, size_t peer, const char *tag, size_t bytes,
                         dp_error *err)
{
    return p->opts.witness == NULL
               ? DP_OK
               : p->opts.witness(p->opts.witness_of, leaves, peer, tag, bytes, err);
}

static dp_status record(const dpi_post *p, bool leaves, const char *tag,
                        const unsigned char digest[DIGEST], bool *held, dp_error *err)
{
    *held = false;
    return p->opts.record == NULL
               ? DP_OK
               : p->opts.record(p->opts.record_of, leaves, tag, digest, held, err);
}

static dp_status post_own_key(const dpi_post *p, const unsigned char public[32], dp_error *err)
{
    unsigned char letter[RUN_KEY], there[RUN_KEY], digest[DIGEST];
    char tag[DPI_CARRIER_TAG];
    bool fits;
    memcpy(letter, public, 32);
    announce(p, public, digest);
    (void)crypto_sign_detached(letter + 32, NULL, digest, sizeof digest, p->opts.secret);
    dp_status status = tag_of(p, p->opts.party, "all", "keys", "key", tag, err);
    dpi_carrier *c = p->opts.carrier;
    for (size_t k = 0; k < p->opts.parties && status == DP_OK; k++)
        if (k != p->opts.party)
            status = witness(p, true, k, tag, sizeof letter, err);
    if (status == DP_OK)
        status = c->kind->put(c, tag, sizeof letter, letter, err);
    if (status == DP_OK)
        status = take(c, tag, 10000, sizeof there, there, &fits, err);
    if (status == DP_OK && (!fits || memcmp(there, letter, sizeof letter) != 0))
        return dpi_fail(
            err, DP_ESTATE,
            "%s has begun this run before, with keys that are not in this state; go on "
            "with the state of then; without it this plan cannot go on, and a new one is "
            "needed",
            p->opts.names[p->opts.party]);
    return status;
}

/* Adds a run key to the hash of all; they come in the order of parties. */
static void add_run_key(dpi_post *p, const unsigned char public[32])
{
    (void)crypto_generichash(p->run_keys, 32, public, 32, p->run_keys, 32);
}

static dp_status hear_key(dpi_post *p, size_t peer, const unsigned char secret[32],
                          const unsigned char mine[32], dp_error *err)
{
    unsigned char letter[RUN_KEY], digest[DIGEST], shared[32];
    char tag[DPI_CARRIER_TAG];
    bool fits = false;
    dp_error found = {DP_OK, ""};
    dp_status status = tag_of(p, peer, "all", "keys", "key", tag, err);
    if (status == DP_OK)
        status =
            take(p->opts.carrier, tag, p->opts.patience_ms, sizeof letter, letter, &fits, &found);
    if (status == DP_ETIMEOUT)
        return dpi_fail(err, DP_ETIMEOUT,
                        "%s has not begun: no key of it has come in %u s; begin again when all "
                        "owners do",
                        p->opts.names[peer], p->opts.patience_ms / 1000);
    if (status != DP_OK)
        return dpi_fail(err, status, "%s", found.text);
    announce(p, letter, digest);
    if (!fits ||
        crypto_sign_verify_detached(letter + 32, digest, sizeof digest, p->opts.publics[peer]) != 0)
        return dpi_fail(err, DP_EPEER,
                        "the key in %s's name is not signed by %s; somebody else writes to the "
                        "mailbox",
                        p->opts.names[peer], p->opts.names[peer]);
    if (crypto_scalarmult(shared, secret, letter) != 0)
        return dpi_fail(err, DP_EPEER, "the key of %s is none", p->opts.names[peer]);
    bool first = p->opts.party < peer;
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, shared, sizeof shared, 32);
    (void)crypto_generichash_update(&h, first ? mine : letter, 32);
    (void)crypto_generichash_update(&h, first ? letter : mine, 32);
    (void)crypto_generichash_update(&h, p->opts.plan, DPI_SILO_HASH);
    (void)crypto_generichash_final(&h, p->pair[peer], 32);
    sodium_memzero(shared, sizeof shared);
    add_run_key(p, letter);
    return witness(p, false, peer, tag, sizeof letter, err);
}

dp_status dpi_post_open(const dpi_post_opts *opts, unsigned char run_secret[32], dpi_post **post,
                        dp_error *err)
{
    unsigned char mine[32];
    *post = NULL;
    if (opts->party >= opts->parties || opts->parties > DPI_SILO_PARTIES)
        dpi_misuse(__func__, "a party that there is not");
    if (sodium_init() < 0)
        return dpi_fail(err, DP_EENTROPY, "the system gives no randomness");
    dpi_post *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(err);
    memset(p, 0, sizeof *p);
    p->opts = *opts;
    if (p->opts.patience_ms == 0)
        p->opts.patience_ms = usual_patience;
    (void)sodium_bin2hex(p->run, sizeof p->run, opts->plan, RUN_NAME / 2);
    if (sodium_is_zero(run_secret, 32))
        randombytes_buf(run_secret, 32);
    (void)crypto_scalarmult_base(mine, run_secret);
    dp_status status = post_own_key(p, mine, err);
    for (size_t k = 0; k < opts->parties && status == DP_OK; k++)
        if (k != opts->party)
            status = hear_key(p, k, run_secret, mine, err);
        else
            add_run_key(p, mine);
    if (status == DP_OK)
        *post = p;
    else
        dpi_post_close(p);
    return status;
}

void dpi_post_close(dpi_post *p)
{
    if (p == NULL)
        return;
    sodium_memzero(p, sizeof *p);
    dpi_free(p);
}

const unsigned char *dpi_post_run_keys(const dpi_post *p)
{
    return p->run_keys;
}

void dpi_post_pair_key(const dpi_post *p, size_t peer, const char *purpose, unsigned char key[32])
{
    (void)crypto_generichash(key, 32, (const unsigned char *)purpose, strlen(purpose),
                             p->pair[peer], 32);
}

void dpi_post_context(const dpi_post *p, uint64_t round, const unsigned char question[32],
                      const char *purpose, unsigned char hash[32])
{
    unsigned char number[8];
    crypto_generichash_state h;
    dpi_put_number(number, round);
    (void)crypto_generichash_init(&h, p->opts.plan, DPI_SILO_HASH, 32);
    (void)crypto_generichash_update(&h, p->run_keys, sizeof p->run_keys);
    (void)crypto_generichash_update(&h, number, sizeof number);
    (void)crypto_generichash_update(&h, question, 32);
    (void)crypto_generichash_update(&h, (const unsigned char *)purpose, strlen(purpose));
    (void)crypto_generichash_final(&h, hash, 32);
}

void dpi_post_sign(const dpi_post *p, size_t n, const unsigned char *bytes,
                   unsigned char signature[64])
{
    (void)crypto_sign_detached(signature, NULL, bytes, n, p->opts.secret);
}

bool dpi_post_verify(const dpi_post *p, size_t party, size_t n, const unsigned char *bytes,
                     const unsigned char signature[64])
{
    return crypto_sign_verify_detached(signature, bytes, n, p->opts.publics[party]) == 0;
}

/* ---- letters ---- */

/* Where a letter belongs. */
typedef struct letter_place {
    size_t from, to;
    uint64_t round;
    uint32_t attempt;
    const char *name;
    unsigned char context[CONTEXT], key[32];
    char tag[DPI_CARRIER_TAG];
} letter_place;

static dp_status find_place(const dpi_post *p, size_t peer, letter_place *at, dp_error *err)
{
    unsigned char numbers[32], name[DPI_SILO_NAME] = {0};
    char round[64];
    crypto_generichash_state h;
    if (peer >= p->opts.parties || peer == p->opts.party || strlen(at->name) >= DPI_SILO_NAME)
        dpi_misuse(__func__, "a letter to nobody, or without a name");
    memcpy(name, at->name, strlen(at->name));
    dpi_put_number(numbers, at->round);
    dpi_put_number(numbers + 8, at->attempt);
    dpi_put_number(numbers + 16, at->from);
    dpi_put_number(numbers + 24, at->to);
    (void)crypto_generichash_init(&h, p->opts.plan, DPI_SILO_HASH, CONTEXT);
    (void)crypto_generichash_update(&h, numbers, sizeof numbers);
    (void)crypto_generichash_update(&h, name, sizeof name);
    (void)crypto_generichash_final(&h, at->context, CONTEXT);
    dpi_post_pair_key(p, peer, "letter", at->key);
    (void)snprintf(round, sizeof round, "%llu-%u", (unsigned long long)at->round, at->attempt);
    return tag_of(p, at->from, p->opts.names[at->to], round, at->name, at->tag, err);
}

/* What is signed: all of a letter before its signature, where it belongs. */
static void digest_of(const letter_place *at, size_t n, const unsigned char *letter,
                      unsigned char digest[DIGEST])
{
    (void)crypto_generichash(digest, DIGEST, letter, n, at->context, CONTEXT);
}

dp_status dpi_post_send(dpi_post *p, size_t to, uint64_t round, uint32_t attempt, const char *name,
                        size_t n, const unsigned char *body, dp_error *err)
{
    letter_place at = {
        .from = p->opts.party, .to = to, .round = round, .attempt = attempt, .name = name};
    unsigned char digest[DIGEST];
    bool held = false;
    crypto_generichash_state h;
    dp_status status = find_place(p, to, &at, err);
    unsigned char *letter = status == DP_OK ? dpi_alloc(n + AROUND, 1) : NULL;
    if (status == DP_OK && letter == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK) {
        unsigned char *nonce = letter + MAGIC + 8;
        memcpy(letter, magic, MAGIC);
        dpi_put_number(letter + MAGIC, n);
        (void)crypto_generichash_init(&h, at.key, sizeof at.key, NONCE);
        (void)crypto_generichash_update(&h, at.context, CONTEXT);
        (void)crypto_generichash_update(&h, body, n);
        (void)crypto_generichash_final(&h, nonce, NONCE);
        (void)crypto_aead_xchacha20poly1305_ietf_encrypt(letter + BEFORE, NULL, body, n, at.context,
                                                         CONTEXT, NULL, nonce, at.key);
        digest_of(&at, n + BEFORE + SEAL, letter, digest);
        dpi_post_sign(p, sizeof digest, digest, letter + n + BEFORE + SEAL);
        status = record(p, true, at.tag, digest, &held, err);
    }
    if (status == DP_OK && !held)
        status = witness(p, true, to, at.tag, n + AROUND, err);
    if (status == DP_OK && !held)
        status = p->opts.carrier->kind->put(p->opts.carrier, at.tag, n + AROUND, letter, err);
    dpi_free(letter);
    sodium_memzero(&at, sizeof at);
    return status;
}

/* Opens a letter of `length` bytes whose body must have n. */
static bool open_letter(const dpi_post *p, const letter_place *at, size_t length,
                        const unsigned char *letter, size_t n, unsigned char *body,
                        unsigned char digest[DIGEST])
{
    if (length != n + AROUND || memcmp(letter, magic, MAGIC) != 0 ||
        dpi_get_number(letter + MAGIC) != n)
        return false;
    digest_of(at, length - SIGNATURE, letter, digest);
    return dpi_post_verify(p, at->from, DIGEST, digest, letter + length - SIGNATURE) &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(body, NULL, NULL, letter + BEFORE, n + SEAL,
                                                      at->context, CONTEXT, letter + MAGIC + 8,
                                                      at->key) == 0;
}

static const char *again(const dpi_post *p)
{
    return p->opts.again != NULL ? p->opts.again : "run again when it does, and the run goes on";
}

dp_status dpi_post_receive(dpi_post *p, size_t from, uint64_t round, uint32_t attempt,
                           const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                           dp_error *err)
{
    letter_place at = {
        .from = from, .to = p->opts.party, .round = round, .attempt = attempt, .name = name};
    unsigned char *letter = NULL, digest[DIGEST];
    size_t length = 0;
    bool held;
    dpi_carrier *c = p->opts.carrier;
    dp_error found = {DP_OK, ""};
    uint32_t wait = wait_ms > 0 ? wait_ms : p->opts.patience_ms;
    dp_status status = find_place(p, from, &at, err);
    if (status == DP_OK)
        status = c->kind->get(c, at.tag, wait, n + AROUND, &length, &letter, &found);
    if (status == DP_ETIMEOUT)
        status = dpi_fail(
            err, DP_ETIMEOUT, "%s is not heard: no '%s' of round %llu has come in %u s; %s",
            p->opts.names[from], name, (unsigned long long)round, wait / 1000, again(p));
    else if (status != DP_OK)
        status = dpi_fail(err, status, "%s", found.text);
    else if (!open_letter(p, &at, length, letter, n, body, digest))
        status = dpi_fail(err, DP_EPEER,
                          "what stands in the mailbox as %s is no letter of %s: it was changed or "
                          "written by somebody else",
                          at.tag, p->opts.names[from]);
    if (status == DP_OK)
        status = record(p, false, at.tag, digest, &held, err);
    if (status == DP_OK)
        status = witness(p, false, from, at.tag, length, err);
    if (status != DP_OK && n > 0)
        sodium_memzero(body, n);
    dpi_free(letter);
    sodium_memzero(&at, sizeof at);
    return status;
}
