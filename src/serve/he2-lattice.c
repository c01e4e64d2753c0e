/* The row of the lattice scheme: numbers packed into polynomials.  Here: the provider.
 *
 * In mode linear the one layer is packed once, a convolution in its shape.  In mode permute every
 * layer is a matrix, whose rows and columns are put into the query's orders while it is packed
 * (doc/design/serve.md says why). */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/he2-lattice.h"

typedef struct lattice_program {
    dpi_lattice_common c; /* first */
    dpi_mode mode;
    dpi_serve_map map[DPI_SERVE_LAYERS];
    dpi_lattice_layer *fixed; /* mode linear */
    int64_t *planes;          /* of a convolution in its shape: its bias [outputs] in planes */
} lattice_program;

static void discard(void *of)
{
    lattice_program *c = of;
    if (c == NULL)
        return;
    dpi_lattice_layer_free(c->fixed);
    for (size_t k = 0; k < c->c.plan.n_layers; k++)
        dpi_serve_map_free(&c->map[k]);
    dpi_free(c->planes);
    dpi_lattice_common_free(&c->c);
    dpi_free(c);
}

/* weights[filters][channels][places] of weights[filters][places][channels]. */
static int32_t *weights_in_planes(const dp_stage *s)
{
    size_t filters = s->shape[2], places = s->window.size[0] * s->window.size[1];
    size_t channels = s->n_weights / filters / places;
    int32_t *w = dpi_alloc(s->n_weights, sizeof *w);
    for (size_t f = 0; w != NULL && f < filters; f++)
        for (size_t i = 0; i < places; i++)
            for (size_t c = 0; c < channels; c++)
                w[(f * channels + c) * places + i] = s->weights[(f * places + i) * channels + c];
    return w;
}

static int32_t *weights_as_matrix(const dpi_serve_map *map)
{
    int32_t *w = dpi_alloc(map->inputs * map->outputs, sizeof *w);
    if (w == NULL)
        return NULL;
    if (map->begin == NULL)
        memcpy(w, map->weights, map->inputs * map->outputs * sizeof *w);
    for (size_t o = 0; map->begin != NULL && o < map->outputs; o++)
        for (size_t t = map->begin[o]; t < map->begin[o + 1]; t++)
            w[o * map->inputs + map->input[t]] = map->weights[map->weight[t]];
    return w;
}

/* The one layer of mode linear. */
static dp_status compile_fixed(lattice_program *c, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->c.plan.p, c->c.plan.layer[0].stage);
    const dpi_serve_map *map = &c->map[0];
    int32_t *w = c->c.windowed[0] ? weights_in_planes(s) : weights_as_matrix(map);
    if (c->c.windowed[0])
        c->planes = dpi_alloc(map->outputs, sizeof *c->planes);
    if (w == NULL || (c->c.windowed[0] && c->planes == NULL)) {
        dpi_free(w);
        return dpi_fail_nomem(err);
    }
    if (c->c.windowed[0])
        dpi_lattice_to_planes(s->shape[0] * s->shape[1], s->shape[2], map->bias, c->planes);
    dp_status status = dpi_lattice_layer_new(&c->c.layer[0], w, &c->fixed, err);
    dpi_free(w);
    return status;
}

static dp_status compile(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                         void **made, dp_error *err)
{
    (void)opts;
    *made = NULL;
    dp_status status = dpi_lattice_check(plan, mode, err);
    lattice_program *c = status == DP_OK ? dpi_alloc(1, sizeof *c) : NULL;
    if (status == DP_OK && c == NULL)
        return dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_lattice_common_make(plan, mode, &c->c, err);
    if (status == DP_OK)
        c->mode = mode;
    for (size_t k = 0; status == DP_OK && k < plan->n_layers; k++) {
        status = dpi_serve_map_make(plan->p, plan->layer[k].stage, &c->map[k], err);
        if (status == DP_OK)
            status =
                dpi_lattice_weights(&c->c.layer[k], c->map[k].n_weights, c->map[k].weights, err);
    }
    if (status == DP_OK && mode == DPI_MODE_LINEAR)
        status = compile_fixed(c, err);
    if (status == DP_OK)
        *made = c;
    else
        discard(c);
    return status;
}

/* ---- sessions ---- */

typedef struct lattice_session {
    const lattice_program *of;
    dpi_bfv_cipher *key;
    dpi_lattice_queries *queries[DPI_SERVE_LAYERS]; /* room, made for a layer's first query */
    dpi_masks *masks;                               /* made for the first query that is prepared */
} lattice_session;

static void close_session(void *of)
{
    lattice_session *s = of;
    if (s != NULL) {
        dpi_bfv_cipher_free(s->key);
        for (size_t k = 0; k < DPI_SERVE_LAYERS; k++)
            dpi_lattice_queries_free(s->queries[k]);
        dpi_masks_free(s->masks);
    }
    dpi_free(s);
}

static dp_status open_session(const void *of, const unsigned char *key, void **made, dp_error *err)
{
    const lattice_program *c = of;
    lattice_session *s = dpi_alloc(1, sizeof *s);
    *made = NULL;
    if (s == NULL)
        return dpi_fail_nomem(err);
    s->of = c;
    dp_status status = dpi_bfv_cipher_new(c->c.f, &s->key, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_read(c->c.f, dpi_bfv_cipher_size(c->c.f), key, s->key, err);
    if (status == DP_OK)
        *made = s;
    else
        close_session(s);
    return status;
}

/* Of each layer its own: they may be computed at the same time. */
static dp_status make_room(lattice_session *s, size_t k, dp_error *err)
{
    const dpi_lattice_common *c = &s->of->c;
    return s->queries[k] != NULL
               ? DP_OK
               : dpi_lattice_queries_new(c->f, c->layer[k].queries, &s->queries[k], err);
}

/* ---- a layer with rows and columns in the query's orders ---- */

typedef struct ordered {
    const dpi_lattice_plan *plan;
    const dpi_serve_map *map;
    const uint32_t *output; /* or NULL */
    size_t *at;             /* [inputs]: dpi_lattice_input_at of where each stands */
} ordered;

static void fill_dense(const dpi_serve_map *map, size_t o, const size_t *at, int32_t *row)
{
    const int32_t *w = map->weights + o * map->inputs;
    for (size_t j = 0; j < map->inputs; j++)
        row[at[j]] = w[j];
}

static void fill_windows(const dpi_serve_map *map, size_t o, const size_t *at, int32_t *row)
{
    for (size_t t = map->begin[o]; t < map->begin[o + 1]; t++)
        row[at[map->input[t]]] = map->weights[map->weight[t]];
}

static void fill(const void *user, size_t pack, int32_t *factors)
{
    const ordered *l = user;
    const dpi_lattice_plan *plan = l->plan;
    const size_t first = pack * plan->pack_filters, left = plan->outputs - first;
    const size_t count = left < plan->pack_filters ? left : plan->pack_filters;
    for (size_t m = 0; m < count; m++)
        (l->map->begin == NULL ? fill_dense : fill_windows)(
            l->map, l->output != NULL ? l->output[first + m] : first + m, l->at,
            factors + dpi_lattice_output_at(plan, m));
}

/* Where inputs stand, and the bias in the order of what goes down. */
static dp_status put_in_order(const lattice_program *c, size_t k, const dpi_serve_order_pair *order,
                              ordered *l, int64_t *bias, dp_error *err)
{
    const dpi_serve_layer *layer = &c->c.plan.layer[k];
    *l = (ordered){.plan = &c->c.layer[k], .map = &c->map[k], .output = order->output};
    l->at = dpi_alloc(layer->inputs, sizeof *l->at);
    if (l->at == NULL)
        return dpi_fail_nomem(err);
    for (size_t j = 0; j < layer->inputs; j++)
        l->at[order->input != NULL ? order->input[j] : j] = dpi_lattice_input_at(l->plan, j);
    for (size_t i = 0; i < layer->sent; i++)
        bias[i] = c->map[k].bias[order->output != NULL ? order->output[i] : i];
    return DP_OK;
}

/* ---- answers ---- */

typedef struct answer_work {
    dpi_lattice_ask ask;
    dpi_lattice_queries *queries;
    const unsigned char *up;
    unsigned char *down;
} answer_work;

static dp_status read_some(void *user, size_t first, size_t last, dp_error *err)
{
    const answer_work *j = user;
    return dpi_lattice_read(j->ask.layer->plan, first, last, j->up, j->queries, err);
}

static dp_status answer_some(void *user, size_t first, size_t last, dp_error *err)
{
    const answer_work *j = user;
    dpi_rlwe_stream random;
    dp_status status = dpi_rlwe_begin(&random, "tacit serve lattice answer", err);
    if (status == DP_OK) {
        status = dpi_lattice_answer_some(&j->ask, first, last, &random, j->down, err);
        dpi_rlwe_end(&random);
    }
    return status;
}

/* The product of layer k and what came up, and added[sent]. */
static dp_status evaluate(lattice_session *s, size_t k, const dpi_lattice_layer *layer,
                          const int64_t *added, const unsigned char *up, unsigned char *down,
                          dpi_pool *pool, size_t threads, dp_error *err)
{
    const dpi_lattice_plan *plan = layer->plan;
    dp_status status = make_room(s, k, err);
    answer_work j = {{layer, s->queries[k], s->key, added}, s->queries[k], up, down};
    if (status == DP_OK)
        status = dpi_serve_parts(pool, threads, plan->queries, 1, read_some, &j, err);
    if (status == DP_OK)
        status = dpi_serve_parts(pool, threads, plan->answers, 1, answer_some, &j, err);
    if (status != DP_OK)
        memset(down, 0, plan->answer_bytes);
    return status;
}

/* W x + bias, or W x + added. */
static dp_status run(lattice_session *s, size_t k, const dpi_serve_order_pair *order,
                     const int64_t *added, const unsigned char *up, unsigned char *down,
                     dpi_pool *pool, size_t threads, dp_error *err)
{
    const lattice_program *c = s->of;
    if (c->mode == DPI_MODE_LINEAR) {
        const int64_t *bias = c->planes != NULL ? c->planes : c->map[k].bias;
        return evaluate(s, k, c->fixed, added != NULL ? added : bias, up, down, pool, threads, err);
    }
    ordered l = {0};
    int64_t *bias = dpi_alloc(c->c.plan.layer[k].sent, sizeof *bias);
    dp_status status =
        bias != NULL ? put_in_order(c, k, order, &l, bias, err) : dpi_fail_nomem(err);
    const dpi_lattice_layer layer = {.plan = &c->c.layer[k], .fill = fill, .user = &l};
    if (status == DP_OK)
        status = evaluate(s, k, &layer, added != NULL ? added : bias, up, down, pool, threads, err);
    if (l.at != NULL)
        sodium_memzero(l.at, c->c.plan.layer[k].inputs * sizeof *l.at);
    dpi_free(l.at);
    dpi_free(bias);
    return status;
}

static dp_status run_layer(void *of, size_t k, const dpi_serve_order_pair *order,
                           const unsigned char *up, unsigned char *down, dpi_pool *pool,
                           size_t threads, dp_error *err)
{
    return run(of, k, order, NULL, up, down, pool, threads, err);
}

/* ---- queries that are prepared ---- */

/* Less in the order of the layer's answers. */
static dp_status prepare_less(lattice_session *s, size_t k, const dpi_serve_order_pair *order,
                              int64_t *less, int64_t *planes, dp_error *err)
{
    const lattice_program *c = s->of;
    const dpi_lattice_plan *plan = &c->c.layer[k];
    dpi_rlwe_stream random;
    dp_status status = s->masks != NULL ? DP_OK
                                        : dpi_masks_new(&c->c.plan, c->c.f->spec.plain_bits,
                                                        DPI_MASKS_PROVIDER, &s->masks, err);
    if (status == DP_OK)
        status = dpi_rlwe_begin(&random, "tacit serve lattice masks", err);
    if (status != DP_OK)
        return status;
    dpi_masks_begin(s->masks, k, order, &random, less);
    dpi_rlwe_end(&random);
    if (c->c.windowed[k])
        dpi_lattice_to_planes(plan->out_height * plan->out_width, plan->shape.filters, less,
                              planes);
    return DP_OK;
}

static dp_status prepare(void *of, size_t k, const dpi_serve_order_pair *order,
                         const unsigned char *up, unsigned char *down, dpi_pool *pool,
                         size_t threads, dp_error *err)
{
    lattice_session *s = of;
    const size_t sent = s->of->c.plan.layer[k].sent;
    int64_t *less = dpi_alloc(2 * sent, sizeof *less);
    if (less == NULL)
        return dpi_fail_nomem(err);
    dp_status status = prepare_less(s, k, order, less, less + sent, err);
    if (status == DP_OK)
        status = run(s, k, order, s->of->c.windowed[k] ? less + sent : less, up, down, pool,
                     threads, err);
    sodium_memzero(less, 2 * sent * sizeof *less);
    dpi_free(less);
    return status;
}

static dp_status run_masked(void *of, size_t k, const dpi_serve_order_pair *none,
                            const unsigned char *up, unsigned char *down, dpi_pool *pool,
                            size_t threads, dp_error *err)
{
    lattice_session *s = of;
    (void)none;
    if (s->masks == NULL)
        return dpi_fail(err, DP_ESTATE, "the query was not prepared");
    return dpi_masks_answer(s->masks, k, &s->of->map[k], up, down, pool, threads, err);
}

static bool idle(void *of)
{
    (void)of;
    return false;
}

static const dpi_serve_masked masked = {.prepare = prepare,
                                        .layer = run_masked,
                                        .mask = dpi_lattice_mask,
                                        .keep = dpi_lattice_keep,
                                        .send = dpi_lattice_send,
                                        .take = dpi_lattice_take};

const dpi_serve_row dpi_he2_lattice = {.protocol = DPI_PROTOCOL_HE2_LATTICE,
                                       .cost = dpi_lattice_cost,
                                       .compile = compile,
                                       .discard = discard,
                                       .open = open_session,
                                       .layer = run_layer,
                                       .idle = idle,
                                       .close = close_session,
                                       .client_new = dpi_lattice_client_new,
                                       .client_free = dpi_lattice_client_free,
                                       .client_idle = idle,
                                       .write_key = dpi_lattice_write_key,
                                       .encrypt = dpi_lattice_encrypt,
                                       .decrypt = dpi_lattice_decrypt,
                                       .masked = &masked};
