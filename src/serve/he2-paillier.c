/* The row of Paillier's scheme: a ciphertext for each number. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "crypto/dense.h"
#include "crypto/mask.h"
#include "crypto/narrow.h"
#include "serve/protocol.h"

enum {
    KEY_BITS = 2048,
    UNIT = 8,          /* outputs that are computed together */
    MOST_READY = 65536 /* encryptions of zero that are kept ready */
};

static dpi_paillier_options options_of(const dpi_serve_opts *opts)
{
    return (dpi_paillier_options){.bits = opts->key_bits > 0 ? opts->key_bits : KEY_BITS,
                                  .exponent_bits = opts->exponent_bits,
                                  .backend = opts->portable ? &dpi_montgomery_gmp : NULL};
}

static size_t cipher_bytes(const dpi_paillier_options *o)
{
    return o->bits / 4;
}

/* Bits of a layer's numbers with their sign, and how many of them a ciphertext brings down. */
static unsigned number_bits(const dpi_serve_plan *plan, size_t layer)
{
    return (unsigned)plan->layer[layer].bits + 1;
}

static size_t slots_of(const dpi_serve_plan *plan, const dpi_serve_opts *opts, size_t layer)
{
    size_t most = dpi_mask_slots(options_of(opts).bits, number_bits(plan, layer));
    return opts->slots > 0 && opts->slots < most ? opts->slots : most;
}

static size_t results_of(const dpi_serve_plan *plan, const dpi_serve_opts *opts, size_t layer)
{
    size_t slots = slots_of(plan, opts, layer);
    return (plan->layer[layer].sent + slots - 1) / slots;
}

static void write_ciphers(size_t limbs, size_t n, const mp_limb_t *c, unsigned char *to)
{
    for (size_t i = 0; i < n * limbs; i++)
        dpi_put_number(to + 8 * i, c[i]);
}

static void read_ciphers(size_t limbs, size_t n, const unsigned char *from, mp_limb_t *c)
{
    for (size_t i = 0; i < n * limbs; i++)
        c[i] = dpi_get_number(from + 8 * i);
}

/* Sums of any program fit: 62 bits and a sign in half of a key. */
static dp_status cost(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                      dpi_serve_cost *cost, dp_error *err)
{
    const dpi_paillier_options options = options_of(opts);
    (void)mode;
    *cost = (dpi_serve_cost){.key = dpi_paillier_public_bytes(options.bits)};
    if (options.bits < 192)
        return dpi_fail(err, DP_EINVAL, "keys of Paillier's scheme have 2048 or 3072 bits");
    for (size_t k = 0; k < plan->n_layers; k++) {
        const dp_stage *s = dp_program_stage(plan->p, plan->layer[k].stage);
        size_t results = results_of(plan, opts, k);
        cost->up[k] = plan->layer[k].inputs * cipher_bytes(&options);
        cost->down[k] = results * cipher_bytes(&options);
        cost->encrypted += plan->layer[k].inputs;
        cost->products += (uint64_t)s->n_weights * s->shape[0] * s->shape[1];
        cost->decrypted += results;
    }
    return DP_OK;
}

/* ---- the provider ---- */

typedef struct paillier_program {
    dpi_serve_plan plan;
    dpi_paillier_options options;
    dpi_dense *dense[DPI_SERVE_LAYERS];
    dpi_narrow *narrow[DPI_SERVE_LAYERS]; /* instead of dense: layers of few outputs */
    size_t results;                       /* of all layers: zeros that a query takes */
    dpi_serve_opts opts;
} paillier_program;

static void discard(void *of)
{
    paillier_program *c = of;
    for (size_t k = 0; c != NULL && k < c->plan.n_layers; k++) {
        dpi_dense_free(c->dense[k]);
        dpi_narrow_free(c->narrow[k]);
    }
    dpi_free(c);
}

static dp_status compile_layer(paillier_program *c, size_t k, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->plan.p, c->plan.layer[k].stage);
    dpi_serve_map map;
    dp_status status = dpi_serve_map_make(c->plan.p, c->plan.layer[k].stage, &map, err);
    if (status != DP_OK)
        return status;
    const dpi_dense_layer layer = {.inputs = map.inputs,
                                   .outputs = map.outputs,
                                   .n_weights = map.n_weights,
                                   .weights = map.weights,
                                   .begin = map.begin,
                                   .input = map.input,
                                   .weight = map.weight,
                                   .bias = map.bias,
                                   .weight_bits = (unsigned)s->weight_bits};
    if (map.begin == NULL && dpi_narrow_cost(&layer) < dpi_dense_cost(&layer))
        status = dpi_narrow_new(&layer, 0, &c->narrow[k], err);
    else
        status = dpi_dense_new(&layer, DPI_DENSE_BEST, 0, &c->dense[k], err);
    c->results += results_of(&c->plan, &c->opts, k);
    dpi_serve_map_free(&map);
    return status;
}

static dp_status compile(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                         void **made, dp_error *err)
{
    (void)mode;
    *made = NULL;
    paillier_program *c = dpi_alloc(1, sizeof *c);
    if (c == NULL)
        return dpi_fail_nomem(err);
    c->plan = *plan;
    c->options = options_of(opts);
    c->opts = *opts;
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < plan->n_layers; k++)
        status = compile_layer(c, k, err);
    if (status == DP_OK)
        *made = c;
    else
        discard(c);
    return status;
}

typedef struct paillier_session {
    const paillier_program *of;
    dpi_paillier_public *key;
    dpi_zeros *zeros;
    mp_limb_t *in[DPI_SERVE_LAYERS], *out[DPI_SERVE_LAYERS]; /* ciphertexts of each layer */
    dpi_narrow_desk *desk[DPI_SERVE_LAYERS];
} paillier_session;

static void close_session(void *of)
{
    paillier_session *s = of;
    if (s == NULL)
        return;
    for (size_t k = 0; k < DPI_SERVE_LAYERS; k++) {
        dpi_narrow_desk_free(s->desk[k]);
        dpi_free(s->in[k]);
        dpi_free(s->out[k]);
    }
    dpi_zeros_free(s->zeros);
    dpi_paillier_public_free(s->key);
    dpi_free(s);
}

/* Layers may be computed at the same time, each for another query. */
static dp_status make_session_room(paillier_session *s, dp_error *err)
{
    const dpi_serve_plan *plan = &s->of->plan;
    size_t bytes = cipher_bytes(&s->of->options);
    for (size_t k = 0; k < plan->n_layers; k++) {
        size_t inputs = plan->layer[k].inputs, sent = plan->layer[k].sent;
        size_t outputs = dp_program_stage(plan->p, plan->layer[k].stage)->size;
        s->in[k] = dpi_alloc(inputs > sent ? inputs : sent, bytes);
        s->out[k] = dpi_alloc(outputs > sent ? outputs : sent, bytes);
        if (s->in[k] == NULL || s->out[k] == NULL)
            return dpi_fail_nomem(err);
    }
    return DP_OK;
}

/* Encryptions of zero: eight cost as much as one, so they are made when eight are missing, and then
 * enough for a query must be left. */
static size_t kept_ready(const paillier_program *c)
{
    size_t results = c->results < MOST_READY ? c->results : MOST_READY;
    return (results + 2 * UNIT - 1) / UNIT * UNIT;
}

static dp_status open_session(const void *of, const unsigned char *key, void **made, dp_error *err)
{
    const paillier_program *c = of;
    paillier_session *s = dpi_alloc(1, sizeof *s);
    *made = NULL;
    if (s == NULL)
        return dpi_fail_nomem(err);
    s->of = c;
    dpi_paillier_options options = c->options;
    options.whole_alone = true;
    dp_status status = make_session_room(s, err);
    if (status == DP_OK)
        status = dpi_paillier_read_public(&options, dpi_paillier_public_bytes(options.bits), key,
                                          &s->key, err);
    if (status == DP_OK)
        status = dpi_zeros_new(s->key, DPI_ZEROS_WHOLE, kept_ready(c), &s->zeros, err);
    if (status == DP_OK)
        *made = s;
    else
        close_session(s);
    return status;
}

static bool idle(void *of)
{
    paillier_session *s = of;
    dp_error err = {0};
    size_t added = 0;
    return kept_ready(s->of) - dpi_zeros_ready(s->zeros) >= UNIT &&
           dpi_zeros_fill(s->zeros, UNIT, &added, &err) == DP_OK && added > 0;
}

typedef struct outputs_of {
    paillier_session *s;
    size_t layer;
    const dpi_dense_inputs *inputs;
} outputs_of;

static dp_status compute_dense(void *user, size_t first, size_t last, dp_error *err)
{
    const outputs_of *o = user;
    size_t limbs = cipher_bytes(&o->s->of->options) / 8;
    return dpi_dense_outputs(o->s->of->dense[o->layer], o->inputs, NULL, first, last,
                             o->s->out[o->layer] + first * limbs, err);
}

/* Results first ... last - 1, of numbers that stand in order in s->in[layer], to s->out[layer]. */
static dp_status pack(void *user, size_t first, size_t last, dp_error *err)
{
    const outputs_of *o = user;
    const paillier_program *c = o->s->of;
    size_t limbs = cipher_bytes(&c->options) / 8, sent = c->plan.layer[o->layer].sent;
    size_t slots = slots_of(&c->plan, &c->opts, o->layer);
    size_t end = last * slots < sent ? last * slots : sent;
    const dpi_packing how = {.key = o->s->key,
                             .zeros = o->s->zeros,
                             .slots = slots,
                             .bits = number_bits(&c->plan, o->layer),
                             .bare = c->opts.bare};
    return dpi_paillier_pack(&how, end - first * slots, o->s->in[o->layer] + first * slots * limbs,
                             o->s->out[o->layer] + first * limbs, err);
}

/* Outputs of layer k in s->out[k], of the inputs in s->in[k]. */
static dp_status run_dense(paillier_session *s, size_t k, dpi_pool *pool, size_t threads,
                           dp_error *err)
{
    size_t outputs = dp_program_stage(s->of->plan.p, s->of->plan.layer[k].stage)->size;
    dpi_dense_inputs *inputs = NULL;
    dp_status status = dpi_dense_take(s->of->dense[k], s->key, s->in[k], &inputs, err);
    outputs_of job = {.s = s, .layer = k, .inputs = inputs};
    if (status == DP_OK)
        status = dpi_serve_parts(pool, threads, outputs, UNIT, compute_dense, &job, err);
    dpi_dense_inputs_free(inputs);
    return status;
}

static dp_status take_narrow(void *user, size_t first, size_t last, dp_error *err)
{
    const outputs_of *o = user;
    size_t limbs = cipher_bytes(&o->s->of->options) / 8;
    return dpi_narrow_take(o->s->desk[o->layer], first, last, o->s->in[o->layer] + first * limbs,
                           err);
}

static dp_status compute_narrow(void *user, size_t first, size_t last, dp_error *err)
{
    const outputs_of *o = user;
    return dpi_narrow_multiply(o->s->desk[o->layer], first, last, err);
}

static dp_status run_narrow(paillier_session *s, size_t k, dpi_pool *pool, size_t threads,
                            dp_error *err)
{
    outputs_of job = {.s = s, .layer = k};
    dp_status status = DP_OK;
    if (s->desk[k] == NULL) /* now that the number of threads is known */
        status = dpi_narrow_desk_new(s->of->narrow[k], s->key, threads, &s->desk[k], err);
    if (status == DP_OK)
        status = dpi_serve_parts(pool, threads, s->of->plan.layer[k].inputs, UNIT, take_narrow,
                                 &job, err);
    if (status == DP_OK)
        status = dpi_serve_parts(pool, threads, dpi_narrow_groups(s->desk[k]), 1, compute_narrow,
                                 &job, err);
    return status == DP_OK ? dpi_narrow_finish(s->desk[k], NULL, s->out[k], err) : status;
}

static dp_status run_layer(void *of, size_t k, const dpi_serve_order_pair *order,
                           const unsigned char *up, unsigned char *down, dpi_pool *pool,
                           size_t threads, dp_error *err)
{
    paillier_session *s = of;
    const dpi_serve_layer *layer = &s->of->plan.layer[k];
    size_t bytes = cipher_bytes(&s->of->options), limbs = bytes / 8;
    size_t results = results_of(&s->of->plan, &s->of->opts, k);
    outputs_of job = {.s = s, .layer = k};
    for (size_t i = 0; i < layer->inputs; i++) {
        size_t to = order->input != NULL ? order->input[i] : i;
        read_ciphers(limbs, 1, up + i * bytes, s->in[k] + to * limbs);
    }
    dp_status status = s->of->narrow[k] != NULL ? run_narrow(s, k, pool, threads, err)
                                                : run_dense(s, k, pool, threads, err);
    for (size_t i = 0; status == DP_OK && i < layer->sent; i++) {
        size_t from = order->output != NULL ? order->output[i] : i;
        memcpy(s->in[k] + i * limbs, s->out[k] + from * limbs, bytes);
    }
    if (status == DP_OK)
        status = dpi_serve_parts(pool, threads, results, 1, pack, &job, err);
    if (status == DP_OK)
        write_ciphers(limbs, results, s->out[k], down);
    return status;
}

/* ---- the client ---- */

typedef struct paillier_client {
    dpi_serve_plan plan;
    dpi_paillier_options options;
    dpi_serve_opts opts;
    dpi_paillier_key *key;
    dpi_paillier_public *public; /* of the same key, for zeros made ahead */
    dpi_zeros *zeros;
    mp_limb_t *up[DPI_SERVE_LAYERS], *down[DPI_SERVE_LAYERS]; /* ciphertexts of each layer */
} paillier_client;

static void client_free(void *of)
{
    paillier_client *c = of;
    if (c == NULL)
        return;
    dpi_zeros_free(c->zeros);
    dpi_paillier_public_free(c->public);
    dpi_paillier_free(c->key);
    for (size_t k = 0; k < DPI_SERVE_LAYERS; k++) {
        dpi_free(c->up[k]);
        dpi_free(c->down[k]);
    }
    dpi_free(c);
}

/* Room for the zeros that all layers of a query take. */
static dp_status prepare_zeros(paillier_client *c, dp_error *err)
{
    size_t limbs, inputs = 0;
    const mp_limb_t *n = dpi_paillier_modulus(c->key, &limbs);
    for (size_t k = 0; k < c->plan.n_layers; k++)
        inputs += c->plan.layer[k].inputs;
    dp_status status = dpi_paillier_public_new(&c->options, limbs, n, &c->public, err);
    if (status == DP_OK)
        status = dpi_zeros_new(c->public, DPI_ZEROS_STEPS,
                               inputs < MOST_READY ? inputs : MOST_READY, &c->zeros, err);
    if (status == DP_OK)
        dpi_zeros_hold(c->zeros, c->key);
    return status;
}

static bool client_idle(void *of)
{
    paillier_client *c = of;
    dp_error err = {0};
    size_t added = 0;
    return dpi_zeros_fill(c->zeros, UNIT, &added, &err) == DP_OK && added > 0;
}

static dp_status make_client_room(paillier_client *c, dp_error *err)
{
    size_t bytes = cipher_bytes(&c->options);
    for (size_t k = 0; k < c->plan.n_layers; k++) {
        c->up[k] = dpi_alloc(c->plan.layer[k].inputs, bytes);
        c->down[k] = dpi_alloc(results_of(&c->plan, &c->opts, k), bytes);
        if (c->up[k] == NULL || c->down[k] == NULL)
            return dpi_fail_nomem(err);
    }
    return DP_OK;
}

static dp_status client_new(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                            void **made, dp_error *err)
{
    (void)mode;
    paillier_client *c = dpi_alloc(1, sizeof *c);
    *made = NULL;
    if (c == NULL)
        return dpi_fail_nomem(err);
    c->plan = *plan;
    c->options = options_of(opts);
    c->opts = *opts;
    dp_status status = make_client_room(c, err);
    if (status == DP_OK)
        status = dpi_paillier_generate(&c->options, &c->key, err);
    if (status == DP_OK)
        status = prepare_zeros(c, err);
    if (status == DP_OK)
        *made = c;
    else
        client_free(c);
    return status;
}

static void write_key(const void *of, unsigned char *to)
{
    dpi_paillier_write_public(((const paillier_client *)of)->key, to);
}

typedef struct coded {
    const paillier_client *c;
    const int64_t *from;
    int64_t *to;
    size_t layer;
} coded;

static dp_status encrypt_part(void *user, size_t first, size_t last, dp_error *err)
{
    const coded *n = user;
    size_t count = last - first;
    mp_limb_t *c = n->c->up[n->layer] + first * (cipher_bytes(&n->c->options) / 8);
    return dpi_zeros_encrypt(n->c->zeros, count, n->from + first, c, err);
}

static dp_status decrypt_part(void *user, size_t first, size_t last, dp_error *err)
{
    const coded *n = user;
    const dpi_serve_plan *plan = &n->c->plan;
    size_t limbs = cipher_bytes(&n->c->options) / 8, sent = plan->layer[n->layer].sent;
    size_t slots = slots_of(plan, &n->c->opts, n->layer);
    size_t end = last * slots < sent ? last * slots : sent;
    return dpi_paillier_unpack(n->c->key, slots, number_bits(plan, n->layer), end - first * slots,
                               n->c->down[n->layer] + first * limbs, n->to + first * slots, err);
}

static dp_status client_encrypt(void *of, size_t layer, const int64_t *values, unsigned char *up,
                                dpi_pool *pool, size_t threads, dp_error *err)
{
    const paillier_client *c = of;
    size_t n = c->plan.layer[layer].inputs, limbs = cipher_bytes(&c->options) / 8;
    coded job = {.c = c, .from = values, .layer = layer};
    dp_status status = dpi_serve_parts(pool, threads, n, UNIT, encrypt_part, &job, err);
    if (status == DP_OK)
        write_ciphers(limbs, n, c->up[layer], up);
    return status;
}

static dp_status client_decrypt(void *of, size_t layer, const unsigned char *down, int64_t *values,
                                dpi_pool *pool, size_t threads, dp_error *err)
{
    const paillier_client *c = of;
    size_t n = results_of(&c->plan, &c->opts, layer), limbs = cipher_bytes(&c->options) / 8;
    coded job = {.c = c, .to = values, .layer = layer};
    read_ciphers(limbs, n, down, c->down[layer]);
    dp_status status = dpi_serve_parts(pool, threads, n, 1, decrypt_part, &job, err);
    if (status != DP_OK)
        memset(values, 0, c->plan.layer[layer].sent * sizeof *values);
    return status;
}

const dpi_serve_row dpi_he2_paillier = {.protocol = DPI_PROTOCOL_HE2_PAILLIER,
                                        .cost = cost,
                                        .compile = compile,
                                        .discard = discard,
                                        .open = open_session,
                                        .layer = run_layer,
                                        .idle = idle,
                                        .close = close_session,
                                        .client_new = client_new,
                                        .client_free = client_free,
                                        .client_idle = client_idle,
                                        .write_key = write_key,
                                        .encrypt = client_encrypt,
                                        .decrypt = client_decrypt};
