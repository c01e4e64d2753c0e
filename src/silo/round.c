/* Kernels of a secure sum, and the order in which things are kept and sent.
 *
 *   y_i = x_i, check + PRG(b_i) + sum over j > i of PRG(k_ij) - sum over j < i of PRG(k_ij)
 *
 * k_ij follows from what i and j share, b_i from what i alone knows, both from plan, round and
 * question.  The aggregator names the set U of owners whose y it has.  Every member writes it down,
 * signs it, and having seen all signatures reveals b_i and k_ij of each j that is not in U.  Of two
 * sets for one round an owner signs one; so nobody gets b_j and k_ij of one j, and a sum without
 * all masks is that of U alone.
 *
 * An owner that is not in U waits for the sum like the others, and goes on with it. */
#include "silo/round.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"
#include "silo/key-sum.h"
#include "silo/masks.h"
#include "silo/state.h"

static const uint32_t usual_lack = 30000;

struct dpi_silo_round {
    dpi_silo_round_opts opts;
    dpi_silo_state state;
    dpi_post *post;
    dpi_silo_machine machine;
    dpi_key_sum *key; /* NULL: sums are not under a key */
    uint64_t done;    /* rounds */
};

static size_t parties(const dpi_silo_round *r)
{
    return r->opts.part->parties;
}

static size_t self(const dpi_silo_round *r)
{
    return r->opts.part->party;
}

static bool is_in(uint64_t set, size_t k)
{
    return (set >> k & 1) != 0;
}

static size_t count(uint64_t set)
{
    size_t n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

/* Owners that a sum must be of: two sets of so many share somebody who is honest, and enough shares
 * of noise are in each. */
static size_t quorum(const dpi_silo_round *r)
{
    size_t m = parties(r), least = m - r->opts.dropouts;
    size_t half = (m + r->opts.colluders) / 2 + 1;
    return r->opts.dropouts > 0 && half > least ? half : least;
}

/* ---- keys ---- */

static void set_question(dpi_silo_round *r, const unsigned char question[32])
{
    r->machine.round = r->done + 1;
    memcpy(r->machine.question, question, 32);
}

/* What all of a round follows from. */
static void context_of(const dpi_silo_round *r, const char *purpose, unsigned char hash[32])
{
    dpi_post_context(r->post, r->machine.round, r->machine.question, purpose, hash);
}

static void own_key(const dpi_silo_round *r, unsigned char key[32])
{
    unsigned char context[32];
    context_of(r, "mask of one", context);
    (void)crypto_generichash(key, 32, context, sizeof context, r->state.self, 32);
}

static void pair_key(const dpi_silo_round *r, size_t peer, unsigned char key[32])
{
    unsigned char context[32], shared[32];
    context_of(r, "mask of two", context);
    dpi_post_pair_key(r->post, peer, "mask", shared);
    (void)crypto_generichash(key, 32, context, sizeof context, shared, sizeof shared);
    sodium_memzero(shared, sizeof shared);
}

void dpi_silo_round_share(dpi_silo_round *r, const unsigned char question[32], size_t n,
                          const uint64_t *values, unsigned char key[32])
{
    unsigned char context[32], secret[32];
    crypto_generichash_state h;
    set_question(r, question);
    context_of(r, "share of noise", context);
    (void)crypto_generichash(secret, 32, r->opts.post.secret, DPI_SILO_SECRET, r->state.noise, 32);
    (void)crypto_generichash_init(&h, secret, sizeof secret, 32);
    (void)crypto_generichash_update(&h, context, sizeof context);
    (void)crypto_generichash_update(&h, (const unsigned char *)values, n * sizeof *values);
    (void)crypto_generichash_final(&h, key, 32);
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(&h, sizeof h);
}

static void check_key(const dpi_silo_round *r, unsigned char key[32])
{
    context_of(r, "check", key);
}

/* ---- kernels ---- */

/* x, check -> the same, masked */
static dp_status mask(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                      const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                      dp_error *err)
{
    const dpi_silo_round *r = of;
    unsigned char key[32];
    uint64_t *y = (uint64_t *)(void *)out->bytes;
    const uint64_t *x = (const uint64_t *)(const void *)in[0]->from[self(r)].bytes;
    (void)s;
    (void)err;
    memcpy(y, x, m->n * sizeof *y);
    check_key(r, key);
    y[m->n] = dpi_mask_check(key, m->n, x);
    own_key(r, key);
    dpi_mask_add(key, false, m->n + 1, y);
    for (size_t j = 0; j < parties(r); j++)
        if (j != self(r)) {
            pair_key(r, j, key);
            dpi_mask_add(key, j < self(r), m->n + 1, y);
        }
    sodium_memzero(key, sizeof key);
    return DP_OK;
}

/* masked vectors -> the set of those that are here, which is the one that was named before, where
 * one was */
static dp_status roster(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                        const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                        dp_error *err)
{
    dpi_silo_round *r = of;
    uint64_t here = 0, set = r->state.set;
    (void)m;
    (void)s;
    for (size_t k = 0; k < parties(r); k++)
        here |= (uint64_t)(in[0]->from[k].bytes != NULL) << k;
    if (set == 0)
        set = here;
    if ((set & ~here) != 0 || count(set) < quorum(r))
        return dpi_fail(err, DP_ETIMEOUT,
                        "%zu of %zu owners are heard in round %llu, and a sum must be of %zu; run "
                        "again when more are there",
                        count(here), parties(r), (unsigned long long)r->machine.round, quorum(r));
    dpi_put_number(out->bytes, set);
    if (r->state.set == set)
        return DP_OK;
    r->state.set = set;
    return dpi_silo_state_keep(&r->state, err);
}

static void digest_of_set(const dpi_silo_round *r, uint64_t set, unsigned char digest[32 + 8])
{
    context_of(r, "set", digest);
    dpi_put_number(digest + 32, set);
}

/* The set that the aggregator has named. */
static uint64_t named(const dpi_silo_round *r, const dpi_silo_values *u)
{
    const dpi_silo_value *v = &u->from[r->opts.part->aggregator];
    return v->bytes != NULL ? dpi_get_number(v->bytes) : 0;
}

/* the set -> a signature under it, once in a round */
static dp_status consent(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                         const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                         dp_error *err)
{
    dpi_silo_round *r = of;
    uint64_t set = named(r, in[0]),
             all = parties(r) < 64 ? ((uint64_t)1 << parties(r)) - 1 : UINT64_MAX;
    unsigned char digest[40];
    (void)s;
    if ((set & ~all) != 0 || count(set) < quorum(r))
        return dpi_fail(err, DP_EPEER,
                        "the aggregator names %zu owners for a sum that must be of %zu",
                        count(set & all), quorum(r));
    m->absent |= all & ~set;
    m->needed = set;
    m->gone = all & ~set;
    if (!is_in(set, self(r))) {
        out->n = 0;
        return DP_OK;
    }
    if (r->state.set != 0 && r->state.set != set)
        return dpi_fail(err, DP_EPEER,
                        "the aggregator names a second set of owners for round %llu; who signed "
                        "both would help to open one owner's numbers",
                        (unsigned long long)r->machine.round);
    r->state.set = set;
    dp_status status = dpi_silo_state_keep(&r->state, err);
    digest_of_set(r, set, digest);
    if (status == DP_OK)
        dpi_post_sign(r->post, sizeof digest, digest, out->bytes);
    return status;
}

/* the set, its members' signatures -> b of this owner, and the keys that it shares with those who
 * are not in the set */
static dp_status unlock(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                        const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                        dp_error *err)
{
    dpi_silo_round *r = of;
    uint64_t set = named(r, in[0]);
    unsigned char digest[40];
    (void)m;
    (void)s;
    if (!is_in(set, self(r))) {
        out->n = 0;
        return DP_OK;
    }
    if (set != r->state.set)
        return dpi_fail(err, DP_EPEER,
                        "keys of round %llu are asked for under another set than the one that was "
                        "signed; nothing is revealed",
                        (unsigned long long)r->machine.round);
    digest_of_set(r, set, digest);
    for (size_t k = 0; k < parties(r); k++)
        if (is_in(set, k) &&
            (in[1]->from[k].bytes == NULL ||
             !dpi_post_verify(r->post, k, sizeof digest, digest, in[1]->from[k].bytes)))
            return dpi_fail(err, DP_EPEER,
                            "%s has not signed the set of owners that this one has; nothing is "
                            "revealed",
                            r->opts.post.names[k]);
    own_key(r, out->bytes + 32 * self(r));
    for (size_t j = 0; j < parties(r); j++)
        if (!is_in(set, j))
            pair_key(r, j, out->bytes + 32 * j);
    return DP_OK;
}

/* masked vectors, the set, what its members reveal -> the sum */
static dp_status add_all(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                         const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                         dp_error *err)
{
    const dpi_silo_round *r = of;
    uint64_t set = named(r, in[1]), *sum = (uint64_t *)(void *)out->bytes;
    (void)s;
    for (size_t i = 0; i < parties(r); i++) {
        const uint64_t *y = (const uint64_t *)(const void *)in[0]->from[i].bytes;
        const unsigned char *keys = in[2]->from[i].bytes;
        if (!is_in(set, i))
            continue;
        if (y == NULL || keys == NULL)
            return dpi_fail(err, DP_ETIMEOUT, "%s has not revealed what opens the sum",
                            r->opts.post.names[i]);
        for (size_t j = 0; j < m->n + 1; j++)
            sum[j] += y[j];
        dpi_mask_add(keys + 32 * i, true, m->n + 1, sum);
        for (size_t j = 0; j < parties(r); j++)
            if (!is_in(set, j))
                dpi_mask_add(keys + 32 * j, i < j, m->n + 1, sum);
    }
    return DP_OK;
}

/* x -> x, check */
static dp_status plain(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                       const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                       dp_error *err)
{
    const dpi_silo_round *r = of;
    unsigned char key[32];
    uint64_t *y = (uint64_t *)(void *)out->bytes;
    (void)s;
    (void)err;
    memcpy(y, in[0]->from[self(r)].bytes, m->n * sizeof *y);
    check_key(r, key);
    y[m->n] = dpi_mask_check(key, m->n, y);
    return DP_OK;
}

static dp_status add_plain(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                           const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                           dp_error *err)
{
    const dpi_silo_round *r = of;
    uint64_t *sum = (uint64_t *)(void *)out->bytes;
    (void)s;
    for (size_t i = 0; i < parties(r); i++) {
        const uint64_t *y = (const uint64_t *)(const void *)in[0]->from[i].bytes;
        if (y == NULL)
            return dpi_fail(err, DP_ETIMEOUT, "%s is not heard", r->opts.post.names[i]);
        for (size_t j = 0; j < m->n + 1; j++)
            sum[j] += y[j];
    }
    return DP_OK;
}

/* Whether owners' vectors go to who adds up as they are. */
static bool is_plain(const dpi_silo_part *part)
{
    bool plain_step = false;
    for (size_t k = 0; k < part->n_steps; k++)
        plain_step = plain_step || part->steps[k].kind == DPI_SILO_PLAIN;
    return plain_step;
}

/* sum, check -> sum */
static dp_status open_sum(void *of, dpi_silo_machine *m, const dpi_silo_step *s,
                          const dpi_silo_values *const in[DPI_SILO_ARGS], dpi_silo_value *out,
                          dp_error *err)
{
    const dpi_silo_round *r = of;
    unsigned char key[32];
    const uint64_t *sum =
        (const uint64_t *)(const void *)in[0]->from[r->opts.part->aggregator].bytes;
    (void)s;
    check_key(r, key);
    if (sum == NULL || dpi_mask_check(key, m->n, sum) != sum[m->n])
        return dpi_fail(err, DP_EPEER,
                        "what was opened in round %llu is no sum: owners have come to different "
                        "questions, because one has another version, another processor, or does "
                        "not follow the plan%s",
                        (unsigned long long)m->round,
                        is_plain(r->opts.part) ? "" : ".  Nothing of anybody's records is in it");
    memcpy(out->bytes, sum, m->n * sizeof *sum);
    return DP_OK;
}

/* ---- rounds ---- */

static dp_status make_key(dpi_silo_round *r, dp_error *err)
{
    const dpi_key_sum_opts opts = {.post = r->post,
                                   .secret = r->state.self,
                                   .part = r->opts.part,
                                   .rounds = r->opts.rounds,
                                   .most = r->opts.most};
    dp_status status = dpi_key_sum_new(&opts, &r->key, err);
    if (status == DP_OK)
        dpi_key_sum_install(r->key, &r->machine);
    return status;
}

dp_status dpi_silo_round_new(const dpi_silo_round_opts *opts, dpi_silo_round **round, dp_error *err)
{
    dpi_silo_round *r = dpi_alloc(1, sizeof *r);
    *round = NULL;
    if (r == NULL)
        return dpi_fail_nomem(err);
    memset(r, 0, sizeof *r);
    r->opts = *opts;
    r->state.lock = -1;
    if (parties(r) > 64 || opts->dropouts >= parties(r) ||
        opts->colluders >= parties(r) - opts->dropouts)
        dpi_misuse(__func__, "owners of whom nobody is honest");
    static dpi_silo_kernel *const kernels[DPI_SILO_N_STEPS] = {
        [DPI_SILO_MASK] = mask,          [DPI_SILO_ROSTER] = roster,  [DPI_SILO_CONSENT] = consent,
        [DPI_SILO_UNLOCK] = unlock,      [DPI_SILO_ADDALL] = add_all, [DPI_SILO_PLAIN] = plain,
        [DPI_SILO_ADDPLAIN] = add_plain, [DPI_SILO_OPEN] = open_sum};
    for (int k = 0; k < DPI_SILO_N_STEPS; k++) {
        r->machine.kernel[k] = kernels[k];
        r->machine.of[k] = r;
    }
    unsigned char whose[DPI_SILO_HASH];
    dpi_silo_state_whose(opts->post.plan, opts->post.publics[opts->post.party], whose);
    dp_status status = dpi_silo_state_open(opts->state, whose, &r->state, err);
    if (status == DP_OK)
        status = dpi_silo_state_meet(&r->state, &r->opts.post, &r->post, err);
    if (status == DP_OK)
        status = dpi_silo_machine_init(&r->machine, opts->part, err);
    if (status == DP_OK && dpi_silo_has_key(opts->part))
        status = make_key(r, err);
    r->machine.post = r->post;
    r->machine.costs = opts->costs;
    r->machine.lack_ms = opts->lack_ms > 0 ? opts->lack_ms : usual_lack;
    if (status == DP_OK)
        *round = r;
    else
        dpi_silo_round_free(r);
    return status;
}

void dpi_silo_round_free(dpi_silo_round *r)
{
    if (r == NULL)
        return;
    dpi_silo_machine_free(&r->machine);
    dpi_key_sum_free(r->key);
    dpi_post_close(r->post);
    dpi_silo_state_free(&r->state);
    dpi_free(r);
}

void dpi_silo_round_skip(dpi_silo_round *r, uint64_t done)
{
    r->done = done;
}

bool dpi_silo_round_begun(const dpi_silo_round *r)
{
    return r->state.round > r->done;
}

/* What was begun in this round before takes the place of the vector; or this is its beginning. */
static dp_status begin(dpi_silo_round *r, size_t n, uint64_t *values, dp_error *err)
{
    dpi_silo_state *s = &r->state;
    uint64_t round = r->machine.round;
    if (s->round > round)
        return dpi_fail(err, DP_EPRIVACY,
                        "round %llu was opened before, and would be opened again with other noise; "
                        "go on with the journal that belongs to this state",
                        (unsigned long long)round);
    if (round - s->round > 1)
        return dpi_fail(
            err, DP_EPRIVACY,
            "round %llu comes behind round %llu of this state, which is an older copy; go "
            "on with the newest, or all need a new plan",
            (unsigned long long)round, (unsigned long long)s->round);
    if (s->round < round)
        return dpi_silo_state_begin(s, round, r->machine.question, n, values, err);
    if (s->n != n || memcmp(s->question, r->machine.question, 32) != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "round %llu was begun before with another question; go on with the journal "
                        "that belongs to this state, and the same model and options",
                        (unsigned long long)round);
    memcpy(values, s->x, n * sizeof *values);
    return DP_OK;
}

dp_status dpi_silo_round_open(void *round, const unsigned char question[32], size_t n,
                              uint64_t *values, dp_error *err)
{
    dpi_silo_round *r = round;
    dpi_silo_machine *m = &r->machine;
    set_question(r, question);
    dp_status status = begin(r, n, values, err);
    m->absent = 0;
    m->needed = r->state.set; /* named before a crash: its members are waited for */
    if (status == DP_OK)
        status = dpi_silo_execute(m, n, values, err);
    if (status == DP_OK)
        r->done++;
    else
        sodium_memzero(values, n * sizeof *values);
    return status;
}
