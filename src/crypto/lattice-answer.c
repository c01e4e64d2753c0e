/* Linear layers on encrypted vectors: the server. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/lattice.h"

/* ---- weights ---- */

dp_status dpi_lattice_weights(const dpi_lattice_plan *plan, size_t n, const int32_t *w,
                              dp_error *err)
{
    const int64_t most = plan->shape.weight_most;
    for (size_t i = 0; i < n; i++)
        if (w[i] > most || w[i] < -most)
            return dpi_fail(err, DP_EDOMAIN,
                            "a weight is beyond the bound %lld of the plan, on which noise and "
                            "privacy depend; scale the weights or plan with a larger bound",
                            (long long)most);
    return DP_OK;
}

dp_status dpi_lattice_layer_new(const dpi_lattice_plan *plan, const int32_t *w,
                                dpi_lattice_layer **layer, dp_error *err)
{
    *layer = NULL;
    const dpi_lattice_shape *s = &plan->shape;
    const size_t n = s->filters * s->channels * s->kernel_height * s->kernel_width;
    dp_status status = dpi_lattice_weights(plan, n, w, err);
    if (status != DP_OK)
        return status;
    const dpi_bfv *f = plan->f;
    const size_t count = plan->packs * plan->groups;
    int64_t *factor = dpi_alloc(f->n, sizeof *factor);
    dpi_lattice_layer *made = dpi_alloc(1, sizeof *made);
    if (made != NULL) {
        made->plan = plan;
        made->factors = dpi_alloc(count, sizeof *made->factors);
    }
    bool whole = factor != NULL && made != NULL && made->factors != NULL;
    for (size_t i = 0; i < count && whole; i++) {
        made->factors[i] = dpi_bfv_polynomial(f);
        whole = made->factors[i] != NULL;
        if (whole) {
            dpi_lattice_factor(plan, w, i / plan->groups, i % plan->groups, factor);
            dpi_bfv_plain(f, factor, made->factors[i]);
        }
    }
    dpi_wipe_free(factor, f->n * sizeof *factor);
    if (!whole) {
        dpi_lattice_layer_free(made);
        return dpi_fail_nomem(err);
    }
    *layer = made;
    return DP_OK;
}

void dpi_lattice_layer_free(dpi_lattice_layer *layer)
{
    if (layer == NULL)
        return;
    const dpi_lattice_plan *plan = layer->plan;
    for (size_t i = 0; layer->factors != NULL && i < plan->packs * plan->groups; i++)
        dpi_wipe_free(layer->factors[i], plan->f->levels * plan->f->n * sizeof(uint64_t));
    dpi_free(layer->factors);
    dpi_free(layer);
}

/* ---- queries ---- */

dp_status dpi_lattice_queries_new(const dpi_bfv *f, size_t n, dpi_lattice_queries **queries,
                                  dp_error *err)
{
    dpi_lattice_queries *made = *queries = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->c = dpi_alloc(n, sizeof(dpi_bfv_cipher *));
    dp_status status = made->c != NULL ? DP_OK : dpi_fail_nomem(err);
    for (; made->n < n && status == DP_OK; made->n++)
        status = dpi_bfv_cipher_new(f, &made->c[made->n], err);
    if (status == DP_OK)
        return DP_OK;
    dpi_lattice_queries_free(made);
    *queries = NULL;
    return status;
}

void dpi_lattice_queries_free(dpi_lattice_queries *queries)
{
    for (size_t i = 0; queries != NULL && i < queries->n; i++)
        dpi_bfv_cipher_free(queries->c[i]);
    if (queries != NULL)
        dpi_free(queries->c);
    dpi_free(queries);
}

dp_status dpi_lattice_read(const dpi_lattice_plan *plan, size_t first, size_t last,
                           const unsigned char *query, dpi_lattice_queries *queries, dp_error *err)
{
    const size_t size = dpi_bfv_cipher_size(plan->f);
    dp_status status = DP_OK;
    for (size_t i = first; i < last && status == DP_OK; i++)
        status = dpi_bfv_cipher_read(plan->f, size, query + i * size, queries->c[i], err);
    return status;
}

/* ---- answers ---- */

/* What one thread has of its own. */
typedef struct desk {
    dpi_bfv_cipher *sum;
    int32_t *weights;                    /* [groups][n]; NULL where factors are ready */
    uint64_t *made;                      /* [groups][n], factors of one level */
    const uint64_t **factor, **c0, **c1; /* [groups] */
    size_t *places, *results;            /* [n] */
    uint64_t *values;                    /* [n] */
} desk;

static dp_status desk_new(const dpi_lattice_layer *layer, desk *d, dp_error *err)
{
    const dpi_lattice_plan *plan = layer->plan;
    const size_t n = plan->f->n, groups = plan->groups;
    d->places = dpi_alloc(n, sizeof *d->places);
    d->results = dpi_alloc(n, sizeof *d->results);
    d->values = dpi_alloc(n, sizeof *d->values);
    d->factor = dpi_alloc(3 * groups, sizeof *d->factor);
    bool whole = d->places != NULL && d->results != NULL && d->values != NULL && d->factor != NULL;
    if (whole) {
        d->c0 = d->factor + groups;
        d->c1 = d->c0 + groups;
    }
    if (layer->factors == NULL) {
        d->weights = dpi_alloc(groups * n, sizeof *d->weights);
        d->made = dpi_alloc(groups * n, sizeof *d->made);
        whole = whole && d->weights != NULL && d->made != NULL;
    }
    return whole ? dpi_bfv_cipher_new(plan->f, &d->sum, err) : dpi_fail_nomem(err);
}

static void desk_free(const dpi_lattice_layer *layer, desk *d)
{
    const size_t n = layer->plan->f->n, groups = layer->plan->groups;
    dpi_bfv_cipher_free(d->sum);
    dpi_wipe_free(d->weights, groups * n * sizeof *d->weights);
    dpi_wipe_free(d->made, groups * n * sizeof *d->made);
    dpi_free(d->factor);
    dpi_free(d->places);
    dpi_free(d->results);
    dpi_wipe_free(d->values, n * sizeof *d->values);
}

/* sum = the factors of answer i times the queries of its tile, level by level. */
static void multiply(const dpi_lattice_ask *ask, size_t i, desk *d)
{
    const dpi_lattice_plan *plan = ask->layer->plan;
    const dpi_bfv *f = plan->f;
    const size_t groups = plan->groups, pack = i % plan->packs, n = f->n;
    dpi_bfv_cipher *const *queries = ask->queries->c + i / plan->packs * groups;
    if (d->weights != NULL) {
        memset(d->weights, 0, groups * n * sizeof *d->weights);
        ask->layer->fill(ask->layer->user, pack, d->weights);
    }
    for (size_t level = 0; level < f->levels; level++) {
        const size_t at = level * n;
        for (size_t g = 0; g < groups; g++) {
            if (d->weights != NULL)
                dpi_bfv_residues(f, level, d->weights + g * n, d->made + g * n);
            d->factor[g] =
                d->weights != NULL ? d->made + g * n : ask->layer->factors[pack * groups + g] + at;
            d->c0[g] = queries[g]->c0 + at;
            d->c1[g] = queries[g]->c1 + at;
        }
        const dpi_ntt *ntt = f->ntt[level];
        const dpi_ntt_terms terms = {groups, d->factor, d->c0, d->c1};
        ntt->kernel->inner(ntt, &terms, d->sum->c0 + at, d->sum->c1 + at);
    }
}

/* Computes answer number i, writes it, and moves on. */
static dp_status answer_one(const dpi_lattice_ask *ask, size_t i, desk *d, dpi_rlwe_stream *random,
                            unsigned char **to, dp_error *err)
{
    const dpi_lattice_plan *plan = ask->layer->plan;
    const dpi_bfv *f = plan->f;
    const size_t count = dpi_lattice_places(plan, i, d->places, d->results);
    dpi_bfv_answer *a;
    dp_status status = dpi_bfv_answer_new(f, count, &a, err);
    if (status != DP_OK)
        return status;
    multiply(ask, i, d);
    for (size_t k = 0; k < count && ask->added != NULL; k++)
        d->values[k] = (uint64_t)ask->added[d->results[k]];
    const dpi_bfv_ask of = {ask->key, d->places, ask->added != NULL ? d->values : NULL, plan->flood,
                            plan->hide};
    status = dpi_bfv_answer_make(f, &of, random, d->sum, a, err);
    if (status == DP_OK) {
        dpi_bfv_answer_write(f, a, *to);
        *to += dpi_bfv_answer_size(f, count);
    }
    dpi_bfv_answer_free(a);
    return status;
}

dp_status dpi_lattice_answer_some(const dpi_lattice_ask *ask, size_t first, size_t last,
                                  dpi_rlwe_stream *random, unsigned char *to, dp_error *err)
{
    desk d = {0};
    unsigned char *at = to + dpi_lattice_answer_at(ask->layer->plan, first);
    dp_status status = desk_new(ask->layer, &d, err);
    for (size_t i = first; i < last && status == DP_OK; i++)
        status = answer_one(ask, i, &d, random, &at, err);
    desk_free(ask->layer, &d);
    return status;
}

dp_status dpi_lattice_answer(const dpi_lattice_layer *layer, const dpi_bfv_cipher *key,
                             size_t n_bytes, const unsigned char *query, const int64_t *added,
                             dpi_rlwe_stream *random, unsigned char *to, dp_error *err)
{
    const dpi_lattice_plan *plan = layer->plan;
    dpi_lattice_queries *queries = NULL;
    dp_status status = DP_OK;
    if (n_bytes != plan->query_bytes)
        status = dpi_fail(err, DP_EPEER, "a query of %zu bytes came, of %zu was expected", n_bytes,
                          plan->query_bytes);
    if (status == DP_OK)
        status = dpi_lattice_queries_new(plan->f, plan->queries, &queries, err);
    if (status == DP_OK)
        status = dpi_lattice_read(plan, 0, plan->queries, query, queries, err);
    const dpi_lattice_ask ask = {layer, queries, key, added};
    if (status == DP_OK)
        status = dpi_lattice_answer_some(&ask, 0, plan->answers, random, to, err);
    if (status != DP_OK)
        memset(to, 0, plan->answer_bytes);
    dpi_lattice_queries_free(queries);
    return status;
}
