/* Intersection of ids by exponents in ristretto255: the arithmetic.
 *
 * Points are sent in ascending order of their bytes.  That order follows from the secret exponent
 * and tells nothing of the order of rows; and a reader sees at once that none comes twice.
 * The group has prime order: but for exponent 0, which has a chance of 2^-252, a product is the
 * identity where the point is, and libsodium refuses that as it does bytes that are no point. */
#include "silo/psi.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"

enum { POINT = DPI_PSI_POINT, HASH = crypto_core_ristretto255_HASHBYTES, PIECE = 64 };

/* A point or token, and the number of the id or place that it is of. */
typedef struct psi_token {
    unsigned char bytes[POINT];
    size_t of;
} psi_token;

struct dpi_psi {
    unsigned char exponent[crypto_core_ristretto255_SCALARBYTES];
    size_t n, count, others; /* ids here, points that are sent, points that have come */
    size_t threads;
    size_t *of;            /* [count] the id that a point that is sent is of; n and more: none */
    unsigned char *points; /* [count][POINT] */
    psi_token *tokens;     /* [others] of the other's points; NULL: not yet */
};

static int compare(const void *a, const void *b)
{
    return memcmp(((const psi_token *)a)->bytes, ((const psi_token *)b)->bytes, POINT);
}

static bool repeats(size_t n, const psi_token *sorted)
{
    for (size_t i = 1; i < n; i++)
        if (memcmp(sorted[i - 1].bytes, sorted[i].bytes, POINT) == 0)
            return true;
    return false;
}

/* ---- threads ---- */

typedef struct psi_job {
    const dpi_psi *psi;
    size_t n;
    const unsigned char *from; /* [n][HASH] hashes, or [n][POINT] points */
    bool hashed;
    unsigned char *to; /* [n][POINT] */
    atomic_size_t next;
    atomic_bool bad;
} psi_job;

static bool raise_one(const psi_job *j, size_t i)
{
    unsigned char point[POINT];
    const unsigned char *from = point;
    if (j->hashed)
        (void)crypto_core_ristretto255_from_hash(point, j->from + i * HASH);
    else
        from = j->from + i * POINT;
    return crypto_scalarmult_ristretto255(j->to + i * POINT, j->psi->exponent, from) == 0;
}

static void raise_pieces(void *of, size_t k)
{
    psi_job *j = of;
    (void)k;
    for (size_t at; (at = atomic_fetch_add(&j->next, PIECE)) < j->n;)
        for (size_t i = at; i < j->n && i < at + PIECE; i++)
            if (!raise_one(j, i))
                atomic_store(&j->bad, true);
}

/* DP_EPEER one is no point. */
static dp_status raise_all(psi_job *j, dp_error *err)
{
    dpi_pool *pool = NULL;
    dp_status status = dpi_pool_new(j->psi->threads, &pool, err);
    if (status != DP_OK)
        return status;
    atomic_init(&j->next, 0);
    atomic_init(&j->bad, false);
    dpi_pool_run(pool, raise_pieces, j);
    dpi_pool_free(pool);
    if (atomic_load(&j->bad))
        return dpi_fail(err, DP_EPEER,
                        "what stands for an id is no point of the group, or its "
                        "identity");
    return DP_OK;
}

/* ---- ids ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The hash of an id as it is compared; false where nothing is left of it. */
static bool hash_id(const dpi_psi_opts *o, const char *id, unsigned char hash[HASH])
{
    size_t n = strlen(id);
    while (n > 0 && is_space(id[n - 1]))
        n--;
    for (; n > 0 && is_space(*id); n--)
        id++;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, o->key, DPI_PSI_KEY, HASH);
    static const char use[] = "tacit psi 1";
    (void)crypto_generichash_update(&state, (const unsigned char *)use, sizeof use);
    (void)crypto_generichash_update(&state, (const unsigned char *)o->domain,
                                    strlen(o->domain) + 1);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c =
            (unsigned char)(id[i] >= 'A' && id[i] <= 'Z' ? id[i] - 'A' + 'a' : id[i]);
        (void)crypto_generichash_update(&state, &c, 1);
    }
    (void)crypto_generichash_final(&state, hash, HASH);
    sodium_memzero(&state, sizeof state);
    return n > 0;
}

static dp_status fail_twice(dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "two ids of this owner are the same (capitals and spaces around them do not "
                    "count); a row must have an id of its own");
}

static dp_status fail_empty(dp_error *err)
{
    return dpi_fail(err, DP_EDATA, "an id is empty; take its row out before linking");
}

/* What follows from a seed for a purpose: 64 bytes. */
static void expand(const unsigned char seed[DPI_PSI_KEY], const char *purpose,
                   unsigned char bytes[64])
{
    (void)crypto_generichash(bytes, 64, (const unsigned char *)purpose, strlen(purpose), seed,
                             DPI_PSI_KEY);
}

/* Uniform but for 2^-252. */
static void draw_exponent(const unsigned char seed[DPI_PSI_KEY], dpi_psi *p)
{
    unsigned char wide[crypto_core_ristretto255_NONREDUCEDSCALARBYTES];
    expand(seed, "exponent", wide);
    crypto_core_ristretto255_scalar_reduce(p->exponent, wide);
    sodium_memzero(wide, sizeof wide);
}

/* Hashes of ids, and of nothing for what pads. */
static dp_status hash_ids(const dpi_psi_opts *o, const dpi_psi *p, const char *const *ids,
                          unsigned char *hashes, dp_error *err)
{
    unsigned char padding[64];
    for (size_t i = 0; i < p->n; i++)
        if (!hash_id(o, ids[i], hashes + i * HASH))
            return fail_empty(err);
    expand(o->seed, "padding", padding);
    randombytes_buf_deterministic(hashes + p->n * HASH, (p->count - p->n) * HASH, padding);
    sodium_memzero(padding, sizeof padding);
    return DP_OK;
}

/* points and of, from raised[count] in the order of ids. */
static dp_status put_in_order(dpi_psi *p, const unsigned char *raised, dp_error *err)
{
    psi_token *sorted = dpi_alloc(p->count, sizeof *sorted);
    if (sorted == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < p->count; i++) {
        memcpy(sorted[i].bytes, raised + i * POINT, POINT);
        sorted[i].of = i;
    }
    qsort(sorted, p->count, sizeof *sorted, compare);
    for (size_t i = 0; i < p->count; i++) {
        memcpy(p->points + i * POINT, sorted[i].bytes, POINT);
        p->of[i] = sorted[i].of;
    }
    const dp_status status = repeats(p->count, sorted) ? fail_twice(err) : DP_OK;
    sodium_memzero(sorted, p->count * sizeof *sorted);
    dpi_free(sorted);
    return status;
}

/* o->seed is set. */
static dp_status make_points(const dpi_psi_opts *o, dpi_psi *p, const char *const *ids,
                             dp_error *err)
{
    draw_exponent(o->seed, p);
    unsigned char *hashes = dpi_alloc(p->count, HASH), *raised = dpi_alloc(p->count, POINT);
    p->points = dpi_alloc(p->count, POINT);
    p->of = dpi_alloc(p->count, sizeof *p->of);
    dp_status status = hashes != NULL && raised != NULL && p->points != NULL && p->of != NULL
                           ? hash_ids(o, p, ids, hashes, err)
                           : dpi_fail_nomem(err);
    psi_job j = {.psi = p, .n = p->count, .from = hashes, .hashed = true, .to = raised};
    if (status == DP_OK)
        status = raise_all(&j, err);
    if (status == DP_OK)
        status = put_in_order(p, raised, err);
    if (hashes != NULL)
        sodium_memzero(hashes, p->count * HASH);
    dpi_free(hashes);
    dpi_free(raised);
    return status;
}

/* ---- public ---- */

dp_status dpi_psi_new(const dpi_psi_opts *opts, size_t n, const char *const *ids, dpi_psi **psi,
                      dp_error *err)
{
    dpi_psi_opts o = *opts;
    unsigned char drawn[DPI_PSI_KEY];
    *psi = NULL;
    const size_t count = o.padded > 0 ? o.padded : n;
    if (count > DPI_PSI_MOST || n > count)
        return dpi_fail(err, DP_EINVAL,
                        "%zu ids were given, to be sent as %zu points; at most %d are sent, and no "
                        "fewer than there are ids",
                        n, count, (int)DPI_PSI_MOST);
    if (sodium_init() < 0)
        return dpi_fail(err, DP_EENTROPY, "the system gives no randomness");
    dpi_psi *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(err);
    p->n = n;
    p->count = count;
    p->threads = o.threads > 0 ? o.threads : 1;
    randombytes_buf(drawn, sizeof drawn);
    if (o.seed == NULL)
        o.seed = drawn;
    dp_status status = make_points(&o, p, ids, err);
    sodium_memzero(drawn, sizeof drawn);
    sodium_memzero(o.key, sizeof o.key);
    if (status == DP_OK)
        *psi = p;
    else
        dpi_psi_free(p);
    return status;
}

/* Hashes of ids are compared, cut to the size of a point. */
void dpi_psi_list(size_t n, const char *const *ids, char text[DPI_PSI_LIST])
{
    const dpi_psi_opts o = {.domain = "list"};
    unsigned char hash[HASH], all[DPI_PSI_LIST / 2];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof all);
    for (size_t i = 0; i < n; i++) {
        (void)hash_id(&o, ids[i], hash);
        (void)crypto_generichash_update(&state, hash, sizeof hash);
    }
    (void)crypto_generichash_final(&state, all, sizeof all);
    (void)sodium_bin2hex(text, DPI_PSI_LIST, all, sizeof all);
    sodium_memzero(&state, sizeof state);
    sodium_memzero(all, sizeof all);
}

dp_status dpi_psi_check_ids(size_t n, const char *const *ids, dp_error *err)
{
    const dpi_psi_opts o = {.domain = ""};
    psi_token *sorted = dpi_alloc(n, sizeof *sorted);
    dp_status status = sorted != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t i = 0; i < n && status == DP_OK; i++) {
        unsigned char hash[HASH];
        if (!hash_id(&o, ids[i], hash))
            status = fail_empty(err);
        memcpy(sorted[i].bytes, hash, POINT);
        sorted[i].of = i;
    }
    if (status == DP_OK) {
        qsort(sorted, n, sizeof *sorted, compare);
        status = repeats(n, sorted) ? fail_twice(err) : DP_OK;
    }
    if (sorted != NULL)
        sodium_memzero(sorted, n * sizeof *sorted);
    dpi_free(sorted);
    return status;
}

void dpi_psi_free(dpi_psi *p)
{
    if (p == NULL)
        return;
    if (p->of != NULL)
        sodium_memzero(p->of, p->count * sizeof *p->of);
    if (p->tokens != NULL)
        sodium_memzero(p->tokens, p->others * sizeof *p->tokens);
    dpi_free(p->of);
    dpi_free(p->points);
    dpi_free(p->tokens);
    sodium_memzero(p, sizeof *p);
    dpi_free(p);
}

const unsigned char *dpi_psi_points(const dpi_psi *p, size_t *count)
{
    *count = p->count;
    return p->points;
}

dp_status dpi_psi_raise(dpi_psi *p, size_t m, const unsigned char *points, unsigned char *tokens,
                        dp_error *err)
{
    if (p->tokens != NULL)
        return dpi_fail(err, DP_ESTATE, "an exponent raises one list of points, and has");
    for (size_t i = 1; i < m; i++)
        if (memcmp(points + (i - 1) * POINT, points + i * POINT, POINT) >= 0)
            return dpi_fail(err, DP_EPEER, "points came out of order, or one of them twice");
    psi_job j = {.psi = p, .n = m, .from = points, .to = tokens};
    dp_status status = raise_all(&j, err);
    if (status != DP_OK)
        return status;
    p->tokens = dpi_alloc(m, sizeof *p->tokens);
    if (p->tokens == NULL)
        return dpi_fail_nomem(err);
    p->others = m;
    for (size_t i = 0; i < m; i++)
        memcpy(p->tokens[i].bytes, tokens + i * POINT, POINT);
    qsort(p->tokens, m, sizeof *p->tokens, compare);
    return DP_OK;
}

/* Walks through both sorted lists. */
static void merge(const dpi_psi *p, const psi_token *own, size_t *common, size_t *rows,
                  unsigned char print[32])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, 32);
    for (size_t i = 0, k = 0; i < p->count && k < p->others;) {
        const int way = compare(&own[i], &p->tokens[k]);
        if (way == 0 && own[i].of < p->n) {
            (void)crypto_generichash_update(&state, own[i].bytes, POINT);
            rows[(*common)++] = own[i].of;
        }
        i += way <= 0;
        k += way >= 0;
    }
    (void)crypto_generichash_final(&state, print, 32);
}

dp_status dpi_psi_match(dpi_psi *p, const unsigned char *returned, size_t *common, size_t *rows,
                        unsigned char print[32], dp_error *err)
{
    *common = 0;
    memset(print, 0, 32);
    if (p->tokens == NULL)
        return dpi_fail(err, DP_ESTATE, "the other's points are raised before tokens are compared");
    psi_token *own = dpi_alloc(p->count, sizeof *own);
    if (own == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < p->count; i++) {
        memcpy(own[i].bytes, returned + i * POINT, POINT);
        own[i].of = p->of[i];
    }
    qsort(own, p->count, sizeof *own, compare);
    dp_status status = DP_OK;
    if (repeats(p->count, own))
        status = dpi_fail(err, DP_EPEER, "one token came back for two ids");
    else
        merge(p, own, common, rows, print);
    sodium_memzero(own, p->count * sizeof *own);
    dpi_free(own);
    return status;
}
