/* The lattice's row: the client. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/he2-lattice.h"

typedef struct lattice_client {
    dpi_lattice_common c; /* first */
    dpi_bfv_secret *secret;
    dpi_bfv_cipher *key;
    dpi_rlwe_stream random;
    bool random_on;
    int64_t *room, *opened, *shares; /* [largest layer]; room is for what goes up */
    size_t most;
    dpi_masks *masks;
} lattice_client;

void dpi_lattice_client_free(void *client)
{
    lattice_client *c = client;
    if (c == NULL)
        return;
    if (c->random_on)
        dpi_rlwe_end(&c->random);
    if (c->room != NULL)
        sodium_memzero(c->room, c->most * sizeof *c->room);
    if (c->opened != NULL)
        sodium_memzero(c->opened, c->most * sizeof *c->opened);
    if (c->shares != NULL)
        sodium_memzero(c->shares, c->most * sizeof *c->shares);
    dpi_bfv_secret_free(c->secret);
    dpi_bfv_cipher_free(c->key);
    dpi_masks_free(c->masks);
    dpi_free(c->room);
    dpi_free(c->opened);
    dpi_free(c->shares);
    dpi_lattice_common_free(&c->c);
    dpi_free(c);
}

static dp_status make_room(lattice_client *c, dp_error *err)
{
    for (size_t k = 0; k < c->c.plan.n_layers; k++) {
        const dpi_serve_layer *l = &c->c.plan.layer[k];
        c->most = l->inputs > c->most ? l->inputs : c->most;
        c->most = l->sent > c->most ? l->sent : c->most;
    }
    c->room = dpi_alloc(c->most, sizeof *c->room);
    c->opened = dpi_alloc(c->most, sizeof *c->opened);
    c->shares = dpi_alloc(c->most, sizeof *c->shares);
    if (c->room == NULL || c->opened == NULL || c->shares == NULL)
        return dpi_fail_nomem(err);
    return dpi_masks_new(&c->c.plan, c->c.f->spec.plain_bits, DPI_MASKS_CLIENT, &c->masks, err);
}

dp_status dpi_lattice_client_new(const dpi_serve_plan *plan, dpi_mode mode,
                                 const dpi_serve_opts *opts, void **client, dp_error *err)
{
    (void)opts;
    *client = NULL;
    dp_status status = dpi_lattice_check(plan, mode, err);
    lattice_client *c = status == DP_OK ? dpi_alloc(1, sizeof *c) : NULL;
    if (status == DP_OK && c == NULL)
        return dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_lattice_common_make(plan, mode, &c->c, err);
    if (status == DP_OK)
        status = dpi_rlwe_begin(&c->random, "tacit serve lattice client", err);
    if (status == DP_OK)
        c->random_on = true;
    if (status == DP_OK)
        status = make_room(c, err);
    if (status == DP_OK)
        status = dpi_bfv_secret_new(c->c.f, &c->random, &c->secret, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(c->c.f, &c->key, err);
    if (status == DP_OK)
        status = dpi_bfv_encrypt(c->c.f, c->secret, NULL, &c->random, c->key, err);
    if (status == DP_OK)
        *client = c;
    else
        dpi_lattice_client_free(c);
    return status;
}

void dpi_lattice_write_key(const void *client, unsigned char *to)
{
    const lattice_client *c = client;
    dpi_bfv_cipher_write(c->c.f, c->key, to);
}

/* ---- a query ---- */

typedef struct asked_work {
    const lattice_client *c;
    size_t layer;
    const int64_t *x;
    unsigned char *up;
    const unsigned char *down;
    int64_t *y;
} asked_work;

static dp_status encrypt_some(void *user, size_t first, size_t last, dp_error *err)
{
    const asked_work *j = user;
    dpi_rlwe_stream random;
    dp_status status = dpi_rlwe_begin(&random, "tacit serve lattice query", err);
    if (status == DP_OK) {
        status = dpi_lattice_query_some(&j->c->c.layer[j->layer], j->c->secret, j->x, first, last,
                                        &random, j->up, err);
        dpi_rlwe_end(&random);
    }
    return status;
}

static dp_status open_some(void *user, size_t first, size_t last, dp_error *err)
{
    const asked_work *j = user;
    return dpi_lattice_open_some(&j->c->c.layer[j->layer], j->c->secret, first, last, j->down, j->y,
                                 err);
}

dp_status dpi_lattice_encrypt(void *client, size_t layer, const int64_t *values, unsigned char *up,
                              dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = client;
    const dpi_lattice_plan *plan = &c->c.layer[layer];
    const dpi_lattice_shape *shape = &plan->shape;
    asked_work j = {.c = c, .layer = layer, .x = values, .up = up};
    if (c->c.windowed[layer]) {
        dpi_lattice_to_planes(shape->height * shape->width, shape->channels, values, c->room);
        j.x = c->room;
    }
    dp_status status = dpi_serve_parts(pool, threads, plan->queries, 1, encrypt_some, &j, err);
    if (status != DP_OK)
        memset(up, 0, plan->query_bytes);
    return status;
}

/* Numbers modulo the plaintexts' modulus. */
static dp_status open_numbers(lattice_client *c, size_t layer, const unsigned char *down,
                              int64_t *values, dpi_pool *pool, size_t threads, dp_error *err)
{
    const dpi_lattice_plan *plan = &c->c.layer[layer];
    const bool windowed = c->c.windowed[layer];
    asked_work j = {.c = c, .layer = layer, .down = down, .y = windowed ? c->opened : values};
    dp_status status = dpi_serve_parts(pool, threads, plan->answers, 1, open_some, &j, err);
    if (status == DP_OK && windowed)
        dpi_lattice_from_planes(plan->out_height * plan->out_width, plan->shape.filters, c->opened,
                                values);
    return status;
}

dp_status dpi_lattice_decrypt(void *client, size_t layer, const unsigned char *down,
                              int64_t *values, dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = client;
    const dpi_serve_layer *l = &c->c.plan.layer[layer];
    dp_status status = open_numbers(c, layer, down, values, pool, threads, err);
    bool inside = true;
    for (size_t i = 0; status == DP_OK && i < l->sent; i++)
        inside = (llabs(values[i]) >> l->bits == 0) && inside;
    if (status == DP_OK && !inside)
        status = dpi_fail(err, DP_EPEER, "an answer is beyond what the program can give");
    if (status != DP_OK)
        memset(values, 0, l->sent * sizeof *values);
    return status;
}

/* ---- a query whose encrypted part is done ahead ---- */

dp_status dpi_lattice_mask(void *client, size_t layer, const int64_t *values, unsigned char *up,
                           dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = client;
    (void)values;
    const int64_t *masks = dpi_masks_draw(c->masks, layer, &c->random);
    return dpi_lattice_encrypt(c, layer, masks, up, pool, threads, err);
}

dp_status dpi_lattice_keep(void *client, size_t layer, const unsigned char *down, int64_t *values,
                           dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = client;
    (void)values;
    dp_status status = open_numbers(c, layer, down, c->shares, pool, threads, err);
    if (status == DP_OK)
        dpi_masks_keep(c->masks, layer, c->shares);
    sodium_memzero(c->shares, c->most * sizeof *c->shares);
    return status;
}

dp_status dpi_lattice_send(void *client, size_t layer, const int64_t *values, unsigned char *up,
                           dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = client;
    (void)pool;
    (void)threads;
    return dpi_masks_send(c->masks, layer, values, up, err);
}

dp_status dpi_lattice_take(void *client, size_t layer, const unsigned char *down, int64_t *values,
                           dpi_pool *pool, size_t threads, dp_error *err)
{
    lattice_client *c = client;
    (void)pool;
    (void)threads;
    return dpi_masks_open(c->masks, layer, down, values, err);
}
