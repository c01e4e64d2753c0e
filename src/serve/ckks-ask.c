/* The row of CKKS: the client.  Its keys are made once, and are the larger part of what it sends. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/ckks.h"

typedef struct ckks_client {
    dpi_circuit circuit;
    int in_fraction, out_fraction, bits;
    bool random_on;
    dpi_rlwe_stream random;
    dpi_ckks_secret *secret;
    dpi_ckks_room *room;
    unsigned char *key;
    double *place; /* [places] of what goes and comes */
    dpi_ckks_plain plain;
    dpi_ckks_cipher x;
} ckks_client;

void dpi_ckks_client_free(void *of)
{
    ckks_client *c = of;
    if (c == NULL)
        return;
    const size_t places = c->circuit.c != NULL ? dpi_ckks_n(c->circuit.c) / 2 : 0;
    if (c->place != NULL)
        sodium_memzero(c->place, places * sizeof *c->place);
    dpi_free(c->place);
    dpi_free(c->key);
    dpi_ckks_plain_free(&c->plain);
    dpi_ckks_cipher_free(&c->x);
    dpi_ckks_room_free(c->room);
    dpi_ckks_secret_free(c->secret);
    if (c->random_on)
        dpi_rlwe_end(&c->random);
    dpi_circuit_free(&c->circuit);
    dpi_free(c);
}

/* ---- keys ---- */

static dp_status add_switch(ckks_client *c, size_t turn, unsigned char **to, dp_error *err)
{
    dpi_ckks_switch *k;
    dp_status status = dpi_ckks_switch_new(c->secret, turn, &c->random, &k, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_switch_write(k, *to);
    dpi_ckks_switch_free(k);
    *to += dpi_ckks_switch_size(c->circuit.c);
    return DP_OK;
}

static dp_status make_key(ckks_client *c, dp_error *err)
{
    dpi_ckks_public *p = NULL;
    unsigned char *to = c->key = dpi_alloc(dpi_ckks_row_key(&c->circuit), 1);
    if (to == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_ckks_public_new(c->secret, &c->random, &p, err);
    if (status == DP_OK) {
        dpi_ckks_public_write(p, to);
        to += dpi_ckks_public_size(c->circuit.c);
    }
    dpi_ckks_public_free(p);
    if (status == DP_OK && c->circuit.squares)
        status = add_switch(c, DPI_CKKS_SQUARE, &to, err);
    for (size_t k = 0; k < c->circuit.n_turns && status == DP_OK; k++)
        status = add_switch(c, dpi_ckks_rotation(c->circuit.c, c->circuit.turns[k]), &to, err);
    return status;
}

void dpi_ckks_client_write_key(const void *client, unsigned char *to)
{
    const ckks_client *c = client;
    memcpy(to, c->key, dpi_ckks_row_key(&c->circuit));
}

static dp_status make(ckks_client *c, dp_error *err)
{
    const dpi_ckks *f = c->circuit.c;
    dp_status status = dpi_rlwe_begin(&c->random, "tacit serve ckks client", err);
    c->random_on = status == DP_OK;
    if (status == DP_OK)
        status = dpi_ckks_secret_new(f, &c->random, &c->secret, err);
    if (status == DP_OK)
        status = dpi_ckks_room_new(f, &c->room, err);
    if (status == DP_OK)
        status = dpi_ckks_plain_new(f, dpi_ckks_depth(f), &c->plain, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_new(f, dpi_ckks_depth(f), &c->x, err);
    if (status == DP_OK)
        status = make_key(c, err);
    if (status != DP_OK)
        return status;
    c->place = dpi_alloc(dpi_ckks_n(f) / 2, sizeof *c->place);
    return c->place != NULL ? DP_OK : dpi_fail_nomem(err);
}

dp_status dpi_ckks_client_new(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                              void **client, dp_error *err)
{
    (void)mode;
    (void)opts;
    *client = NULL;
    ckks_client *c = dpi_alloc(1, sizeof *c);
    if (c == NULL)
        return dpi_fail_nomem(err);
    memset(c, 0, sizeof *c);
    dp_status status = dpi_circuit_make(plan, &c->circuit, err);
    if (status == DP_OK) {
        c->in_fraction = dp_program_stage(plan->p, 0)->fraction;
        c->out_fraction = dp_program_stage(plan->p, dpi_circuit_last(&c->circuit)->stage)->fraction;
        c->bits = plan->layer[0].bits;
        status = make(c, err);
    }
    if (status == DP_OK)
        *client = c;
    else
        dpi_ckks_client_free(c);
    return status;
}

/* ---- a query ---- */

dp_status dpi_ckks_client_encrypt(void *client, size_t layer, const int64_t *values,
                                  unsigned char *up, dpi_pool *pool, size_t threads, dp_error *err)
{
    ckks_client *c = client;
    const dpi_placement *in = &c->circuit.in;
    const dpi_ckks *f = c->circuit.c;
    (void)layer;
    (void)pool;
    (void)threads;
    memset(c->place, 0, in->period * sizeof *c->place);
    for (size_t i = 0; i < in->n; i++)
        c->place[in->place[i]] = ldexp((double)values[i], -c->in_fraction);
    dp_status status = dpi_ckks_encode(f, dpi_ckks_depth(f), 0, in->period, c->place, NULL, c->room,
                                       &c->plain, err);
    if (status == DP_OK) {
        dpi_ckks_encrypt(c->secret, &c->plain, &c->random, c->room, &c->x);
        dpi_ckks_cipher_write(f, &c->x, true, up);
    }
    sodium_memzero(c->place, in->period * sizeof *c->place);
    if (status != DP_OK)
        memset(up, 0, dpi_ckks_cipher_size(f, dpi_ckks_depth(f), true));
    return status;
}

/* The integer nearest to an answer; one that errors have brought beyond its bits is the last within
 * them. */
static bool take(const ckks_client *c, double x, int64_t *value)
{
    const double v = ldexp(x / dpi_circuit_last(&c->circuit)->times, c->out_fraction);
    const double most = ldexp(1, c->bits) - 1;
    *value = (int64_t)fmax(-most, fmin(most, nearbyint(v)));
    return fabs(v) <= 2 * most + 2;
}

dp_status dpi_ckks_client_decrypt(void *client, size_t layer, const unsigned char *down,
                                  int64_t *values, dpi_pool *pool, size_t threads, dp_error *err)
{
    ckks_client *c = client;
    const dpi_placement *out = &dpi_circuit_last(&c->circuit)->out;
    const dpi_ckks *f = c->circuit.c;
    bool inside = true;
    (void)layer;
    (void)pool;
    (void)threads;
    dp_status status =
        dpi_ckks_answer_read(f, out->period, 1, dpi_ckks_row_answer(&c->circuit), down, &c->x, err);
    memset(values, 0, out->n * sizeof *values);
    if (status != DP_OK)
        return status;
    dpi_ckks_decrypt(c->secret, &c->x, &c->plain);
    dpi_ckks_decode(f, &c->plain, out->period, c->room, c->place, NULL);
    for (size_t i = 0; i < out->n; i++)
        inside = take(c, c->place[out->place[i]], &values[i]) && inside;
    sodium_memzero(c->place, out->period * sizeof *c->place);
    if (inside)
        return DP_OK;
    memset(values, 0, out->n * sizeof *values);
    return dpi_fail(err, DP_EPEER, "an answer is beyond what the program can give");
}
