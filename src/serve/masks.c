#include "serve/masks.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/packed.h"

typedef struct kept_layer {
    bool ready;
    uint64_t *up, *down;      /* [inputs], the client's; [sent] */
    uint32_t *input, *output; /* the provider's orders, where the layer has them */
    bool orders_input, orders_output;
} kept_layer;

struct dpi_masks {
    const dpi_serve_plan *plan;
    int bits;
    kept_layer layer[DPI_SERVE_LAYERS];
    uint64_t *room; /* [most of a layer] */
    size_t most;
};

static void wipe(void *numbers, size_t bytes)
{
    if (numbers != NULL)
        sodium_memzero(numbers, bytes);
}

static void wipe_layer(const dpi_serve_layer *l, kept_layer *k)
{
    wipe(k->up, l->inputs * sizeof *k->up);
    wipe(k->down, l->sent * sizeof *k->down);
    wipe(k->input, l->inputs * sizeof *k->input);
    wipe(k->output, l->sent * sizeof *k->output);
    k->ready = false;
}

void dpi_masks_free(dpi_masks *m)
{
    for (size_t k = 0; m != NULL && k < m->plan->n_layers; k++) {
        wipe_layer(&m->plan->layer[k], &m->layer[k]);
        dpi_free(m->layer[k].up);
        dpi_free(m->layer[k].down);
        dpi_free(m->layer[k].input);
        dpi_free(m->layer[k].output);
    }
    if (m != NULL)
        wipe(m->room, m->most * sizeof *m->room);
    if (m != NULL)
        dpi_free(m->room);
    dpi_free(m);
}

static bool layer_new(const dpi_serve_layer *l, dpi_masks_side side, kept_layer *k)
{
    k->down = dpi_alloc(l->sent, sizeof *k->down);
    if (side == DPI_MASKS_CLIENT) {
        k->up = dpi_alloc(l->inputs, sizeof *k->up);
        return k->up != NULL && k->down != NULL;
    }
    k->input = dpi_alloc(l->inputs, sizeof *k->input);
    k->output = dpi_alloc(l->sent, sizeof *k->output);
    return k->down != NULL && k->input != NULL && k->output != NULL;
}

dp_status dpi_masks_new(const dpi_serve_plan *plan, int bits, dpi_masks_side side, dpi_masks **m,
                        dp_error *err)
{
    dpi_masks *made = *m = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->plan = plan;
    made->bits = bits;
    bool whole = true;
    for (size_t k = 0; k < plan->n_layers; k++) {
        const dpi_serve_layer *l = &plan->layer[k];
        whole = layer_new(l, side, &made->layer[k]) && whole;
        made->most = l->inputs > made->most ? l->inputs : made->most;
        made->most = l->sent > made->most ? l->sent : made->most;
    }
    made->room = dpi_alloc(made->most, sizeof *made->room);
    if (whole && made->room != NULL)
        return DP_OK;
    dpi_masks_free(made);
    *m = NULL;
    return dpi_fail_nomem(err);
}

size_t dpi_masks_bytes(int bits, size_t n)
{
    return dpi_packed_size(n, bits);
}

static uint64_t below(const dpi_masks *m)
{
    return ((uint64_t)1 << m->bits) - 1;
}

static void draw(const dpi_masks *m, dpi_rlwe_stream *random, size_t n, uint64_t *to)
{
    dpi_rlwe_bytes(random, n * sizeof *to, (unsigned char *)to);
    for (size_t i = 0; i < n; i++)
        to[i] &= below(m);
}

static dp_status nothing_kept(size_t layer, dp_error *err)
{
    return dpi_fail(err, DP_ESTATE, "layer %zu of the query was not prepared", layer);
}

static dp_status read_numbers(dpi_masks *m, size_t n, const unsigned char *from, dp_error *err)
{
    if (dpi_packed_read(n, m->bits, from, m->room))
        return DP_OK;
    return dpi_fail(err, DP_EPEER, "masked numbers came with bits behind the last");
}

/* ---- the client ---- */

const int64_t *dpi_masks_draw(dpi_masks *m, size_t layer, dpi_rlwe_stream *random)
{
    kept_layer *k = &m->layer[layer];
    k->ready = false;
    draw(m, random, m->plan->layer[layer].inputs, k->up);
    return (const int64_t *)k->up;
}

void dpi_masks_keep(dpi_masks *m, size_t layer, const int64_t *d)
{
    kept_layer *k = &m->layer[layer];
    for (size_t i = 0; i < m->plan->layer[layer].sent; i++)
        k->down[i] = (uint64_t)d[i];
    k->ready = true;
}

dp_status dpi_masks_send(dpi_masks *m, size_t layer, const int64_t *x, unsigned char *up,
                         dp_error *err)
{
    const size_t n = m->plan->layer[layer].inputs;
    const kept_layer *k = &m->layer[layer];
    if (!k->ready)
        return nothing_kept(layer, err);
    for (size_t i = 0; i < n; i++)
        m->room[i] = ((uint64_t)x[i] - k->up[i]) & below(m);
    dpi_packed_write(n, m->bits, m->room, up);
    return DP_OK;
}

/* y = z + d, in [-2^(bits-1), 2^(bits-1)); whether all are within the layer's bits. */
static bool unmask(const dpi_masks *m, const dpi_serve_layer *l, const uint64_t *d, int64_t *y)
{
    const uint64_t half = (uint64_t)1 << (m->bits - 1);
    uint64_t beyond = 0;
    for (size_t i = 0; i < l->sent; i++) {
        const uint64_t v = (((m->room[i] + d[i]) & below(m)) ^ half) - half;
        const uint64_t size = (v ^ (0 - (v >> 63))) + (v >> 63);
        beyond |= size >> l->bits;
        y[i] = (int64_t)v;
    }
    return beyond == 0;
}

dp_status dpi_masks_open(dpi_masks *m, size_t layer, const unsigned char *down, int64_t *y,
                         dp_error *err)
{
    const dpi_serve_layer *l = &m->plan->layer[layer];
    kept_layer *k = &m->layer[layer];
    dp_status status = k->ready ? read_numbers(m, l->sent, down, err) : nothing_kept(layer, err);
    if (status == DP_OK && !unmask(m, l, k->down, y))
        status = dpi_fail(err, DP_EPEER, "an answer is beyond what the program can give");
    if (status != DP_OK)
        memset(y, 0, l->sent * sizeof *y);
    wipe_layer(l, k);
    wipe(m->room, m->most * sizeof *m->room);
    return status;
}

/* ---- the provider ---- */

void dpi_masks_begin(dpi_masks *m, size_t layer, const dpi_serve_order_pair *order,
                     dpi_rlwe_stream *random, int64_t *less)
{
    const dpi_serve_layer *l = &m->plan->layer[layer];
    kept_layer *k = &m->layer[layer];
    draw(m, random, l->sent, k->down);
    for (size_t i = 0; i < l->sent; i++)
        less[i] = (int64_t)(0 - k->down[i]);
    k->orders_input = order->input != NULL;
    k->orders_output = order->output != NULL;
    if (k->orders_input)
        memcpy(k->input, order->input, l->inputs * sizeof *k->input);
    if (k->orders_output)
        memcpy(k->output, order->output, l->sent * sizeof *k->output);
    k->ready = true;
}

typedef struct product {
    const dpi_serve_map *map;
    const kept_layer *k;
    const uint64_t *x; /* [inputs], in the order of the program */
    uint64_t mask;
    uint64_t *z; /* [sent] */
} product;

DPI_LOOPS static uint64_t inner(size_t n, const int32_t *w, const uint64_t *x)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)(int64_t)w[i] * x[i];
    return sum;
}

static uint64_t output_of(const product *j, size_t o)
{
    const dpi_serve_map *map = j->map;
    uint64_t sum = (uint64_t)map->bias[o];
    if (map->begin == NULL)
        return sum + inner(map->inputs, map->weights + o * map->inputs, j->x);
    for (size_t t = map->begin[o]; t < map->begin[o + 1]; t++)
        sum += (uint64_t)(int64_t)map->weights[map->weight[t]] * j->x[map->input[t]];
    return sum;
}

static dp_status outputs(void *user, size_t first, size_t last, dp_error *err)
{
    const product *j = user;
    (void)err;
    for (size_t i = first; i < last; i++) {
        const size_t o = j->k->orders_output ? j->k->output[i] : i;
        j->z[i] = (output_of(j, o) + j->k->down[i]) & j->mask;
    }
    return DP_OK;
}

dp_status dpi_masks_answer(dpi_masks *m, size_t layer, const dpi_serve_map *map,
                           const unsigned char *up, unsigned char *down, dpi_pool *pool,
                           size_t threads, dp_error *err)
{
    enum { PIECE = 1 << 16 }; /* products, below which waking a thread takes longer */
    const dpi_serve_layer *l = &m->plan->layer[layer];
    const size_t products =
        map->begin == NULL ? map->inputs : map->begin[map->outputs] / map->outputs;
    kept_layer *k = &m->layer[layer];
    if (!k->ready)
        return nothing_kept(layer, err);
    uint64_t *x = dpi_alloc(l->inputs, sizeof *x);
    dp_status status = x != NULL ? read_numbers(m, l->inputs, up, err) : dpi_fail_nomem(err);
    for (size_t i = 0; status == DP_OK && i < l->inputs; i++)
        x[k->orders_input ? k->input[i] : i] = m->room[i];
    product j = {.map = map, .k = k, .x = x, .mask = below(m), .z = m->room};
    if (status == DP_OK)
        status =
            dpi_serve_parts(pool, threads, l->sent, 1 + PIECE / (products + 1), outputs, &j, err);
    if (status == DP_OK)
        dpi_packed_write(l->sent, m->bits, m->room, down);
    wipe_layer(l, k);
    wipe(m->room, m->most * sizeof *m->room);
    dpi_free(x);
    return status;
}
