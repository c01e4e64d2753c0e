/* Linear layers on encrypted vectors: queries, answers, and what lies at which coefficient
 * (lattice-plan.c has the formulas). */
#include "crypto/lattice.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"

/* ---- what lies where ---- */

static size_t upper(size_t from, size_t step, size_t end)
{
    return end - from < step ? end : from + step;
}

void dpi_lattice_message(const dpi_lattice_plan *p, size_t query, const int64_t *x,
                         uint64_t *message)
{
    const dpi_lattice_shape *s = &p->shape;
    const uint64_t mask = ((uint64_t)1 << p->f->spec.plain_bits) - 1;
    const size_t from = query % p->groups * p->group_channels;
    const size_t top = query / p->groups * p->tile_rows * s->stride; /* in padded rows */
    memset(message, 0, p->f->n * sizeof *message);
    for (size_t c = from; c < upper(from, p->group_channels, s->channels); c++)
        for (size_t i = 0; i < p->area / p->width; i++) {
            if (top + i < s->padding || top + i - s->padding >= s->height)
                continue;
            const int64_t *row = x + (c * s->height + top + i - s->padding) * s->width;
            uint64_t *at = message + (c - from) * p->area + i * p->width + s->padding;
            for (size_t j = 0; j < s->width; j++)
                at[j] = (uint64_t)row[j] & mask;
        }
}

/* o_m of the m-th filter of a pack. */
static size_t origin(const dpi_lattice_plan *p, size_t m)
{
    return ((m + 1) * p->group_channels - 1) * p->area + (p->shape.kernel_height - 1) * p->width +
           p->shape.kernel_width - 1;
}

void dpi_lattice_factor(const dpi_lattice_plan *p, const int32_t *w, size_t pack, size_t group,
                        int64_t *factor)
{
    const dpi_lattice_shape *s = &p->shape;
    const size_t filter = pack * p->pack_filters, channel = group * p->group_channels;
    memset(factor, 0, p->f->n * sizeof *factor);
    for (size_t m = filter; m < upper(filter, p->pack_filters, s->filters); m++)
        for (size_t c = channel; c < upper(channel, p->group_channels, s->channels); c++) {
            const int32_t *kernel = w + (m * s->channels + c) * s->kernel_height * s->kernel_width;
            const size_t at = origin(p, m - filter) - (c - channel) * p->area;
            for (size_t i = 0; i < s->kernel_height; i++)
                for (size_t j = 0; j < s->kernel_width; j++)
                    factor[at - i * p->width - j] = kernel[i * s->kernel_width + j];
        }
}

size_t dpi_lattice_places(const dpi_lattice_plan *p, size_t answer, size_t *places, size_t *results)
{
    const dpi_lattice_shape *s = &p->shape;
    const size_t filter = answer % p->packs * p->pack_filters;
    const size_t row = answer / p->packs * p->tile_rows;
    size_t count = 0;
    for (size_t m = filter; m < upper(filter, p->pack_filters, s->filters); m++)
        for (size_t i = row; i < upper(row, p->tile_rows, p->out_height); i++)
            for (size_t j = 0; j < p->out_width; j++, count++) {
                if (places == NULL)
                    continue;
                places[count] =
                    origin(p, m - filter) + (i - row) * s->stride * p->width + j * s->stride;
                results[count] = (m * p->out_height + i) * p->out_width + j;
            }
    return count;
}

/* ---- the client ---- */

dp_status dpi_lattice_query(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                            const int64_t *x, dpi_rlwe_stream *random, unsigned char *to,
                            dp_error *err)
{
    const dpi_bfv *f = plan->f;
    dpi_bfv_cipher *c = NULL;
    uint64_t *message = dpi_alloc(f->n, sizeof *message);
    dp_status status = message != NULL ? dpi_bfv_cipher_new(f, &c, err) : dpi_fail_nomem(err);
    for (size_t i = 0; i < plan->queries && status == DP_OK; i++) {
        dpi_lattice_message(plan, i, x, message);
        status = dpi_bfv_encrypt(f, secret, message, random, c, err);
        if (status == DP_OK)
            dpi_bfv_cipher_write(f, c, to + i * dpi_bfv_cipher_size(f));
    }
    if (status != DP_OK)
        memset(to, 0, plan->query_bytes);
    dpi_bfv_cipher_free(c);
    dpi_wipe_free(message, f->n * sizeof *message);
    return status;
}

/* Room for one answer: its places, which results they are, and their values. */
typedef struct answer_room {
    size_t *places, *results;
    uint64_t *values;
} answer_room;

static dp_status room_new(const dpi_lattice_plan *plan, answer_room *room, dp_error *err)
{
    const size_t n = plan->f->n;
    *room = (answer_room){dpi_alloc(n, sizeof(size_t)), dpi_alloc(n, sizeof(size_t)),
                          dpi_alloc(n, sizeof(uint64_t))};
    return room->places != NULL && room->results != NULL && room->values != NULL
               ? DP_OK
               : dpi_fail_nomem(err);
}

static void room_free(const dpi_lattice_plan *plan, answer_room *room)
{
    dpi_free(room->places);
    dpi_free(room->results);
    dpi_wipe_free(room->values, plan->f->n * sizeof *room->values);
}

/* Opens answer number i, at `from`, and moves on. */
static dp_status open_one(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret, size_t i,
                          answer_room *room, const unsigned char **from, int64_t *y, dp_error *err)
{
    const dpi_bfv *f = plan->f;
    const size_t count = dpi_lattice_places(plan, i, room->places, room->results);
    dpi_bfv_answer *a;
    dp_status status = dpi_bfv_answer_new(f, count, &a, err);
    if (status != DP_OK)
        return status;
    status = dpi_bfv_answer_read(f, dpi_bfv_answer_size(f, count), *from, a, err);
    if (status == DP_OK)
        status = dpi_bfv_answer_open(f, secret, room->places, a, room->values, err);
    const uint64_t half = (uint64_t)1 << (f->spec.plain_bits - 1);
    for (size_t k = 0; k < count && status == DP_OK; k++)
        y[room->results[k]] = (int64_t)((room->values[k] ^ half) - half);
    *from += dpi_bfv_answer_size(f, count);
    dpi_bfv_answer_free(a);
    return status;
}

dp_status dpi_lattice_open(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                           size_t n_bytes, const unsigned char *from, int64_t *y, dp_error *err)
{
    answer_room room = {0};
    dp_status status = DP_OK;
    if (n_bytes != plan->answer_bytes)
        status = dpi_fail(err, DP_EPEER, "answers of %zu bytes came, of %zu were expected", n_bytes,
                          plan->answer_bytes);
    if (status == DP_OK)
        status = room_new(plan, &room, err);
    for (size_t i = 0; i < plan->answers && status == DP_OK; i++)
        status = open_one(plan, secret, i, &room, &from, y, err);
    if (status != DP_OK)
        memset(y, 0, plan->outputs * sizeof *y);
    room_free(plan, &room);
    return status;
}

/* ---- the server ---- */

static dp_status check_weights(const dpi_lattice_plan *plan, const int32_t *w, dp_error *err)
{
    const dpi_lattice_shape *s = &plan->shape;
    const size_t count = s->filters * s->channels * s->kernel_height * s->kernel_width;
    for (size_t i = 0; i < count; i++)
        if (w[i] > s->weight_most || w[i] < -s->weight_most)
            return dpi_fail(err, DP_EDOMAIN,
                            "a weight is beyond the bound %lld of the plan, on which noise and "
                            "privacy depend; scale the weights or plan with a larger bound",
                            (long long)s->weight_most);
    return DP_OK;
}

dp_status dpi_lattice_layer_new(const dpi_lattice_plan *plan, const int32_t *w,
                                dpi_lattice_layer **layer, dp_error *err)
{
    *layer = NULL;
    dp_status status = check_weights(plan, w, err);
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

/* What a call of dpi_lattice_answer has of its own. */
typedef struct serving {
    const dpi_lattice_layer *layer;
    const dpi_bfv_cipher *key;
    const int64_t *added;
    dpi_rlwe_stream *random;
    dpi_bfv_cipher **queries; /* [groups], of one tile */
    dpi_bfv_cipher *sum;
    answer_room room;
} serving;

static dp_status serving_new(serving *v, dp_error *err)
{
    const dpi_lattice_plan *plan = v->layer->plan;
    v->queries = dpi_alloc(plan->groups, sizeof(dpi_bfv_cipher *));
    dp_status status = v->queries != NULL ? room_new(plan, &v->room, err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(plan->f, &v->sum, err);
    for (size_t g = 0; g < plan->groups && status == DP_OK; g++)
        status = dpi_bfv_cipher_new(plan->f, &v->queries[g], err);
    return status;
}

static void serving_free(serving *v)
{
    const dpi_lattice_plan *plan = v->layer->plan;
    for (size_t g = 0; v->queries != NULL && g < plan->groups; g++)
        dpi_bfv_cipher_free(v->queries[g]);
    dpi_free(v->queries);
    dpi_bfv_cipher_free(v->sum);
    room_free(plan, &v->room);
}

/* Computes answer number i from the queries of its tile, writes it, and moves on. */
static dp_status answer_one(serving *v, size_t i, unsigned char **to, dp_error *err)
{
    const dpi_lattice_plan *plan = v->layer->plan;
    const dpi_bfv *f = plan->f;
    const size_t count = dpi_lattice_places(plan, i, v->room.places, v->room.results);
    uint64_t *const *factors = v->layer->factors + i % plan->packs * plan->groups;
    dpi_bfv_answer *a;
    dp_status status = dpi_bfv_answer_new(f, count, &a, err);
    if (status != DP_OK)
        return status;
    dpi_bfv_cipher_clear(f, v->sum);
    for (size_t g = 0; g < plan->groups; g++)
        dpi_bfv_multiply_add(f, factors[g], v->queries[g], v->sum);
    for (size_t k = 0; k < count && v->added != NULL; k++)
        v->room.values[k] = (uint64_t)v->added[v->room.results[k]];
    const dpi_bfv_ask ask = {v->key, v->room.places, v->added != NULL ? v->room.values : NULL,
                             plan->flood};
    status = dpi_bfv_answer_make(f, &ask, v->random, v->sum, a, err);
    if (status == DP_OK) {
        dpi_bfv_answer_write(f, a, *to);
        *to += dpi_bfv_answer_size(f, count);
    }
    dpi_bfv_answer_free(a);
    return status;
}

dp_status dpi_lattice_answer(const dpi_lattice_layer *layer, const dpi_bfv_cipher *key,
                             size_t n_bytes, const unsigned char *query, const int64_t *added,
                             dpi_rlwe_stream *random, unsigned char *to, dp_error *err)
{
    const dpi_lattice_plan *plan = layer->plan;
    const size_t size = dpi_bfv_cipher_size(plan->f);
    if (n_bytes != plan->query_bytes) {
        memset(to, 0, plan->answer_bytes);
        return dpi_fail(err, DP_EPEER, "a query of %zu bytes came, of %zu was expected", n_bytes,
                        plan->query_bytes);
    }
    serving v = {.layer = layer, .key = key, .added = added, .random = random};
    unsigned char *at = to;
    dp_status status = serving_new(&v, err);
    for (size_t tile = 0; tile < plan->tiles && status == DP_OK; tile++) {
        for (size_t g = 0; g < plan->groups && status == DP_OK; g++, query += size)
            status = dpi_bfv_cipher_read(plan->f, size, query, v.queries[g], err);
        for (size_t i = 0; i < plan->packs && status == DP_OK; i++)
            status = answer_one(&v, tile * plan->packs + i, &at, err);
    }
    if (status != DP_OK)
        memset(to, 0, plan->answer_bytes);
    serving_free(&v);
    return status;
}
