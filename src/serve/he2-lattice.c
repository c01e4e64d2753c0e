/* The row of the lattice scheme: numbers packed into polynomials.
 *
 * In mode linear the one layer is packed once, a convolution in its shape.  In mode permute every
 * layer is a matrix, whose rows and columns are put into the query's orders before it is packed
 * (doc/design/serve.md says why). */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/lattice.h"
#include "serve/protocol.h"

static const double privacy_bits = 40; /* of the answers' statistical distance */
enum { MOST_MATRIX = 1 << 27 };        /* numbers of a layer as a matrix */

/* What both sides derive from the plan. */
typedef struct common {
    dpi_serve_plan plan;
    dpi_bfv *f;
    dpi_lattice_plan layer[DPI_SERVE_LAYERS];
    bool windowed[DPI_SERVE_LAYERS]; /* a convolution in its shape */
} common;

static bool has_shape(const dp_stage *s)
{
    const dp_window *w = &s->window;
    return s->kind == DP_STAGE_CONVOLUTION && w->stride[0] == w->stride[1] &&
           w->padding[0] == w->padding[1];
}

static dpi_lattice_shape shape_of(const dpi_serve_plan *plan, size_t k, bool windowed)
{
    const dp_stage *s = dp_program_stage(plan->p, plan->layer[k].stage);
    const dp_stage *a = dp_program_stage(plan->p, (size_t)s->in[0]);
    int64_t most = ((int64_t)1 << s->weight_bits) - 1;
    if (!windowed)
        return dpi_lattice_dense(plan->layer[k].inputs, plan->layer[k].sent, most);
    return (dpi_lattice_shape){.channels = a->shape[2],
                               .height = a->shape[0],
                               .width = a->shape[1],
                               .filters = s->shape[2],
                               .kernel_height = s->window.size[0],
                               .kernel_width = s->window.size[1],
                               .stride = s->window.stride[0],
                               .padding = s->window.padding[0],
                               .weight_most = most};
}

static void free_common(common *c)
{
    dpi_bfv_free(c->f);
    c->f = NULL;
}

static dp_status make_common(const dpi_serve_plan *plan, dpi_mode mode, common *c, dp_error *err)
{
    dpi_lattice_shape shape[DPI_SERVE_LAYERS];
    dpi_bfv_spec spec;
    int bits = 0;
    *c = (common){.plan = *plan};
    for (size_t k = 0; k < plan->n_layers; k++) {
        c->windowed[k] =
            mode == DPI_MODE_LINEAR && has_shape(dp_program_stage(plan->p, plan->layer[k].stage));
        shape[k] = shape_of(plan, k, c->windowed[k]);
        bits = plan->layer[k].bits > bits ? plan->layer[k].bits : bits;
    }
    dp_status status =
        dpi_lattice_choose(plan->n_layers, shape, bits + 1, privacy_bits, &spec, err);
    if (status == DP_OK)
        status = dpi_bfv_new(&spec, &c->f, err);
    for (size_t k = 0; status == DP_OK && k < plan->n_layers; k++)
        status = dpi_lattice_plan_make(c->f, &shape[k], &c->layer[k], err);
    if (status != DP_OK)
        free_common(c);
    return status;
}

/* Layers in mode permute are matrices, which must not be too large. */
static dp_status check(const dpi_serve_plan *plan, dpi_mode mode, dp_error *err)
{
    for (size_t k = 0; mode == DPI_MODE_PERMUTE && k < plan->n_layers; k++)
        if (plan->layer[k].inputs > MOST_MATRIX / plan->layer[k].sent)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "stage %zu is too large as a matrix for the lattice in mode permute; "
                            "take Paillier's scheme",
                            plan->layer[k].stage);
    return DP_OK;
}

static dp_status cost(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                      dpi_serve_cost *cost, dp_error *err)
{
    common c;
    (void)opts;
    *cost = (dpi_serve_cost){0};
    dp_status status = check(plan, mode, err);
    if (status == DP_OK)
        status = make_common(plan, mode, &c, err);
    if (status != DP_OK)
        return status;
    cost->key = dpi_bfv_cipher_size(c.f);
    for (size_t k = 0; k < plan->n_layers; k++) {
        const dpi_lattice_plan *l = &c.layer[k];
        cost->up[k] = l->query_bytes;
        cost->down[k] = l->answer_bytes;
        cost->encrypted += l->queries;
        cost->products += (uint64_t)l->answers * l->groups;
        cost->decrypted += l->answers;
    }
    free_common(&c);
    return DP_OK;
}

static dp_status start_random(dpi_rlwe_stream *random, const char *label, dp_error *err)
{
    unsigned char seed[DPI_RLWE_SEED];
    dp_status status = dpi_rlwe_seed(seed, err);
    if (status == DP_OK)
        dpi_rlwe_start(random, seed, label);
    sodium_memzero(seed, sizeof seed);
    return status;
}

/* ---- images in the order of lattice.h, and back ---- */

/* to[c][pixel] = from[pixel][c]. */
static void to_planes(size_t pixels, size_t channels, const int64_t *from, int64_t *to)
{
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            to[c * pixels + i] = from[i * channels + c];
}

static void from_planes(size_t pixels, size_t channels, const int64_t *from, int64_t *to)
{
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            to[i * channels + c] = from[c * pixels + i];
}

/* ---- the provider ---- */

typedef struct lattice_program {
    common c;
    dpi_mode mode;
    dpi_lattice_layer *fixed;          /* mode linear */
    int64_t *bias[DPI_SERVE_LAYERS];   /* [outputs], of a convolution in planes */
    int32_t *matrix[DPI_SERVE_LAYERS]; /* mode permute: [outputs][inputs] */
} lattice_program;

static void discard(void *of)
{
    lattice_program *c = of;
    if (c == NULL)
        return;
    dpi_lattice_layer_free(c->fixed);
    for (size_t k = 0; k < c->c.plan.n_layers; k++) {
        dpi_free(c->bias[k]);
        dpi_free(c->matrix[k]);
    }
    free_common(&c->c);
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

static dp_status compile_layer(lattice_program *c, size_t k, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->c.plan.p, c->c.plan.layer[k].stage);
    dpi_serve_map map;
    dp_status status = dpi_serve_map_make(c->c.plan.p, c->c.plan.layer[k].stage, &map, err);
    if (status != DP_OK)
        return status;
    int32_t *w = c->c.windowed[k] ? weights_in_planes(s) : weights_as_matrix(&map);
    c->bias[k] = dpi_alloc(map.outputs, sizeof *c->bias[k]);
    if (w == NULL || c->bias[k] == NULL)
        status = dpi_fail_nomem(err);
    else if (c->c.windowed[k])
        to_planes(s->shape[0] * s->shape[1], s->shape[2], map.bias, c->bias[k]);
    else
        memcpy(c->bias[k], map.bias, map.outputs * sizeof *map.bias);
    if (status == DP_OK && c->mode == DPI_MODE_LINEAR)
        status = dpi_lattice_layer_new(&c->c.layer[k], w, &c->fixed, err);
    if (status == DP_OK && c->mode == DPI_MODE_PERMUTE)
        c->matrix[k] = w;
    else
        dpi_free(w);
    dpi_serve_map_free(&map);
    return status;
}

static dp_status compile(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                         void **made, dp_error *err)
{
    (void)opts;
    *made = NULL;
    dp_status status = check(plan, mode, err);
    lattice_program *c = status == DP_OK ? dpi_alloc(1, sizeof *c) : NULL;
    if (status == DP_OK && c == NULL)
        return dpi_fail_nomem(err);
    if (status == DP_OK)
        status = make_common(plan, mode, &c->c, err);
    if (status == DP_OK)
        c->mode = mode;
    for (size_t k = 0; status == DP_OK && k < plan->n_layers; k++)
        status = compile_layer(c, k, err);
    if (status == DP_OK)
        *made = c;
    else
        discard(c);
    return status;
}

typedef struct lattice_session {
    const lattice_program *of;
    dpi_bfv_cipher *key;
} lattice_session;

static void close_session(void *of)
{
    lattice_session *s = of;
    if (s != NULL)
        dpi_bfv_cipher_free(s->key);
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

/* A layer with rows and columns in the query's orders; the bias follows into added[sent]. */
static dp_status order_layer(const lattice_program *c, size_t k, const dpi_serve_order_pair *order,
                             dpi_lattice_layer **layer, int64_t *added, dp_error *err)
{
    const dpi_serve_layer *l = &c->c.plan.layer[k];
    int32_t *w = dpi_alloc(l->sent * l->inputs, sizeof *w);
    if (w == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < l->sent; i++) {
        size_t row = order->output != NULL ? order->output[i] : i;
        const int32_t *from = c->matrix[k] + row * l->inputs;
        added[i] = c->bias[k][row];
        for (size_t j = 0; j < l->inputs; j++)
            w[i * l->inputs + j] = from[order->input != NULL ? order->input[j] : j];
    }
    dp_status status = dpi_lattice_layer_new(&c->c.layer[k], w, layer, err);
    dpi_free(w);
    return status;
}

static dp_status run_layer(void *of, size_t k, const dpi_serve_order_pair *order,
                           const unsigned char *up, unsigned char *down, dpi_pool *pool,
                           size_t threads, dp_error *err)
{
    const lattice_session *s = of;
    const lattice_program *c = s->of;
    const dpi_lattice_plan *plan = &c->c.layer[k];
    dpi_lattice_layer *own = NULL;
    int64_t *added = NULL;
    dpi_rlwe_stream random;
    (void)pool;
    (void)threads;
    dp_status status = start_random(&random, "tacit serve lattice answer", err);
    if (status != DP_OK)
        return status;
    if (c->mode == DPI_MODE_PERMUTE) {
        added = dpi_alloc(c->c.plan.layer[k].sent, sizeof *added);
        status = added == NULL ? dpi_fail_nomem(err) : order_layer(c, k, order, &own, added, err);
    }
    if (status == DP_OK)
        status = dpi_lattice_answer(own != NULL ? own : c->fixed, s->key, plan->query_bytes, up,
                                    added != NULL ? added : c->bias[k], &random, down, err);
    dpi_rlwe_end(&random);
    dpi_lattice_layer_free(own);
    dpi_free(added);
    return status;
}

static bool idle(void *of)
{
    (void)of;
    return false;
}

/* ---- the client ---- */

typedef struct lattice_client {
    common c;
    dpi_bfv_secret *secret;
    dpi_bfv_cipher *key;
    dpi_rlwe_stream random;
    bool random_on;
    int64_t *room; /* [largest stage] */
} lattice_client;

static void client_free(void *of)
{
    lattice_client *c = of;
    if (c == NULL)
        return;
    if (c->random_on)
        dpi_rlwe_end(&c->random);
    dpi_bfv_secret_free(c->secret);
    dpi_bfv_cipher_free(c->key);
    dpi_free(c->room);
    free_common(&c->c);
    dpi_free(c);
}

static dp_status client_new(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                            void **made, dp_error *err)
{
    (void)opts;
    *made = NULL;
    dp_status status = check(plan, mode, err);
    lattice_client *c = status == DP_OK ? dpi_alloc(1, sizeof *c) : NULL;
    if (status == DP_OK && c == NULL)
        return dpi_fail_nomem(err);
    if (status == DP_OK)
        status = make_common(plan, mode, &c->c, err);
    if (status == DP_OK)
        status = start_random(&c->random, "tacit serve lattice client", err);
    if (status == DP_OK)
        c->random_on = true;
    if (status == DP_OK && (c->room = dpi_alloc(plan->most, sizeof *c->room)) == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_bfv_secret_new(c->c.f, &c->random, &c->secret, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(c->c.f, &c->key, err);
    if (status == DP_OK)
        status = dpi_bfv_encrypt(c->c.f, c->secret, NULL, &c->random, c->key, err);
    if (status == DP_OK)
        *made = c;
    else
        client_free(c);
    return status;
}

static void write_key(const void *of, unsigned char *to)
{
    const lattice_client *c = of;
    dpi_bfv_cipher_write(c->c.f, c->key, to);
}

static dp_status client_encrypt(void *of, size_t k, const int64_t *values, unsigned char *up,
                                dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = of;
    const dpi_lattice_shape *shape = &c->c.layer[k].shape;
    (void)pool;
    (void)threads;
    if (c->c.windowed[k])
        to_planes(shape->height * shape->width, shape->channels, values, c->room);
    return dpi_lattice_query(&c->c.layer[k], c->secret, c->c.windowed[k] ? c->room : values,
                             &c->random, up, err);
}

static dp_status client_decrypt(void *of, size_t k, const unsigned char *down, int64_t *values,
                                dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = of;
    const dpi_lattice_plan *plan = &c->c.layer[k];
    const dpi_serve_layer *layer = &c->c.plan.layer[k];
    (void)pool;
    (void)threads;
    dp_status status = dpi_lattice_open(plan, c->secret, plan->answer_bytes, down,
                                        c->c.windowed[k] ? c->room : values, err);
    if (status == DP_OK && c->c.windowed[k])
        from_planes(plan->out_height * plan->out_width, plan->shape.filters, c->room, values);
    bool inside = true;
    for (size_t i = 0; i < layer->sent; i++)
        inside = (llabs(values[i]) >> layer->bits == 0) && inside;
    if (status == DP_OK && !inside)
        status = dpi_fail(err, DP_EPEER, "an answer is beyond what the program can give");
    if (status != DP_OK)
        memset(values, 0, layer->sent * sizeof *values);
    return status;
}

const dpi_serve_row dpi_he2_lattice = {.protocol = DPI_PROTOCOL_HE2_LATTICE,
                                       .cost = cost,
                                       .compile = compile,
                                       .discard = discard,
                                       .open = open_session,
                                       .layer = run_layer,
                                       .idle = idle,
                                       .close = close_session,
                                       .client_new = client_new,
                                       .client_free = client_free,
                                       .client_idle = idle,
                                       .write_key = write_key,
                                       .encrypt = client_encrypt,
                                       .decrypt = client_decrypt};

const dpi_serve_row *const dpi_serve_rows[DPI_N_PROTOCOLS] = {
    [DPI_PROTOCOL_HE2_PAILLIER] = &dpi_he2_paillier, [DPI_PROTOCOL_HE2_LATTICE] = &dpi_he2_lattice};
