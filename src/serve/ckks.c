/* The row of CKKS: the provider.  One ciphertext comes and one goes; what is between is a circuit
 * (circuit.h), and the answer is renewed before it goes: an encryption of 0 and a flood are added,
 * so that whoever has the key learns the answer and little of how it was computed; and of what else
 * a vector holds that was not repeated as it should be, nothing goes. */
#include "serve/ckks.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { MOST_KEY = 1 << 30 /* bytes of a session's keys as they are sent */ };

size_t dpi_ckks_row_key(const dpi_circuit *c)
{
    return dpi_ckks_public_size(c->c) + (c->squares + c->n_turns) * dpi_ckks_switch_size(c->c);
}

size_t dpi_ckks_row_answer(const dpi_circuit *c)
{
    return dpi_ckks_answer_size(c->c, dpi_circuit_last(c)->out.period);
}

static dp_status row_cost(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                          dpi_serve_cost *cost, dp_error *err)
{
    dpi_circuit c;
    (void)mode;
    (void)opts;
    *cost = (dpi_serve_cost){0};
    dp_status status = dpi_circuit_make(plan, &c, err);
    if (status == DP_OK && dpi_ckks_row_key(&c) > MOST_KEY)
        status = dpi_fail(err, DP_EUNSUPPORTED,
                          "the program needs %zu rotations, whose keys have more than 1 GiB; take "
                          "narrower layers, or another protocol",
                          c.n_turns);
    if (status == DP_OK)
        *cost = (dpi_serve_cost){.key = dpi_ckks_row_key(&c),
                                 .up = {dpi_ckks_cipher_size(c.c, dpi_ckks_depth(c.c), true)},
                                 .down = {dpi_ckks_row_answer(&c)},
                                 .encrypted = 1,
                                 .products = c.diagonals,
                                 .decrypted = 1};
    dpi_circuit_free(&c);
    return status;
}

/* ---- the program ---- */

typedef struct ckks_program {
    dpi_circuit circuit;
    dpi_ckks_matrix **matrix; /* [steps] of linear ones */
    dpi_ckks_plain *bias;     /* [steps] row NULL: none */
} ckks_program;

static void discard(void *of)
{
    ckks_program *p = of;
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->circuit.n_steps; i++) {
        if (p->matrix != NULL)
            dpi_ckks_matrix_free(p->matrix[i]);
        if (p->bias != NULL)
            dpi_ckks_plain_free(&p->bias[i]);
    }
    dpi_free(p->matrix);
    dpi_free(p->bias);
    dpi_circuit_free(&p->circuit);
    dpi_free(p);
}

static dp_status encode_bias(ckks_program *p, size_t i, dpi_ckks_room *room, dp_error *err)
{
    const dpi_circuit_step *step = &p->circuit.step[i];
    const dp_stage *s = dp_program_stage(p->circuit.p, step->stage);
    if (s->bias == NULL)
        return DP_OK;
    double *b = dpi_alloc(step->out.period, sizeof *b);
    if (b == NULL)
        return dpi_fail_nomem(err);
    memset(b, 0, step->out.period * sizeof *b);
    for (size_t o = 0; o < s->size; o++)
        b[step->out.place[o]] = ldexp((double)s->bias[o % s->n_bias], -s->fraction) * step->times;
    dp_status status = dpi_ckks_plain_new(p->circuit.c, step->level - 1, &p->bias[i], err);
    if (status == DP_OK)
        status = dpi_ckks_encode(p->circuit.c, step->level - 1, 0, step->out.period, b, NULL, room,
                                 &p->bias[i], err);
    dpi_free(b);
    return status;
}

static dp_status encode_all(ckks_program *p, dp_error *err)
{
    dpi_ckks_room *room;
    dp_status status = dpi_ckks_room_new(p->circuit.c, &room, err);
    for (size_t i = 0; i < p->circuit.n_steps && status == DP_OK; i++) {
        const dpi_circuit_step *step = &p->circuit.step[i];
        if (step->kind != DPI_CIRCUIT_LINEAR)
            continue;
        status =
            dpi_ckks_matrix_map(p->circuit.c, &step->map, step->level, room, &p->matrix[i], err);
        if (status == DP_OK)
            status = encode_bias(p, i, room, err);
    }
    dpi_ckks_room_free(room);
    return status;
}

static dp_status compile(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                         void **compiled, dp_error *err)
{
    (void)mode;
    (void)opts;
    *compiled = NULL;
    ckks_program *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(err);
    *p = (ckks_program){0};
    dp_status status = dpi_circuit_make(plan, &p->circuit, err);
    const size_t n = p->circuit.n_steps;
    if (status == DP_OK) {
        p->matrix = dpi_alloc(n, sizeof(dpi_ckks_matrix *));
        p->bias = dpi_alloc(n, sizeof *p->bias);
        status = p->matrix != NULL && p->bias != NULL ? DP_OK : dpi_fail_nomem(err);
    }
    if (p->matrix != NULL)
        memset(p->matrix, 0, n * sizeof(dpi_ckks_matrix *));
    if (p->bias != NULL)
        memset(p->bias, 0, n * sizeof *p->bias);
    if (status == DP_OK)
        status = encode_all(p, err);
    if (status == DP_OK)
        *compiled = p;
    else
        discard(p);
    return status;
}

/* ---- a session ---- */

typedef struct ckks_session {
    const ckks_program *p;
    dpi_ckks_public *public;
    dpi_ckks_switch *square, **turn; /* [turns] */
    dpi_ckks_room *room;
    dpi_ckks_cipher x, y;
    dpi_rlwe_stream random;
    bool random_on;
} ckks_session;

static void close_session(void *of)
{
    ckks_session *s = of;
    if (s == NULL)
        return;
    dpi_ckks_public_free(s->public);
    dpi_ckks_switch_free(s->square);
    for (size_t k = 0; s->turn != NULL && k < s->p->circuit.n_turns; k++)
        dpi_ckks_switch_free(s->turn[k]);
    dpi_free(s->turn);
    dpi_ckks_room_free(s->room);
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    if (s->random_on)
        dpi_rlwe_end(&s->random);
    dpi_free(s);
}

static dp_status read_switch(const dpi_ckks *c, size_t turn, const unsigned char **key,
                             dpi_ckks_switch **to, dp_error *err)
{
    const size_t n = dpi_ckks_switch_size(c);
    dp_status status = dpi_ckks_switch_read(c, turn, n, *key, to, err);
    *key += n;
    return status;
}

static dp_status read_keys(ckks_session *s, const unsigned char *key, dp_error *err)
{
    const dpi_circuit *circuit = &s->p->circuit;
    const dpi_ckks *c = circuit->c;
    dp_status status = dpi_ckks_public_read(c, dpi_ckks_public_size(c), key, &s->public, err);
    key += dpi_ckks_public_size(c);
    if (status == DP_OK && circuit->squares)
        status = read_switch(c, DPI_CKKS_SQUARE, &key, &s->square, err);
    for (size_t k = 0; k < circuit->n_turns && status == DP_OK; k++)
        status = read_switch(c, dpi_ckks_rotation(c, circuit->turns[k]), &key, &s->turn[k], err);
    return status;
}

static dp_status open_session(const void *compiled, const unsigned char *key, void **session,
                              dp_error *err)
{
    const ckks_program *p = compiled;
    const dpi_ckks *c = p->circuit.c;
    *session = NULL;
    ckks_session *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    *s = (ckks_session){.p = p,
                        .turn = dpi_alloc(p->circuit.n_turns + 1, sizeof(dpi_ckks_switch *))};
    dp_status status = s->turn != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        memset(s->turn, 0, (p->circuit.n_turns + 1) * sizeof(dpi_ckks_switch *));
        status = dpi_rlwe_begin(&s->random, "tacit serve ckks provider", err);
        s->random_on = status == DP_OK;
    }
    if (status == DP_OK)
        status = dpi_ckks_room_new(c, &s->room, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_new(c, dpi_ckks_depth(c), &s->x, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_new(c, dpi_ckks_depth(c), &s->y, err);
    if (status == DP_OK)
        status = read_keys(s, key, err);
    if (status == DP_OK)
        *session = s;
    else
        close_session(s);
    return status;
}

/* ---- a query ---- */

/* x becomes what the step makes of it. */
static dp_status run_step(ckks_session *s, size_t i, dp_error *err)
{
    const dpi_circuit *circuit = &s->p->circuit;
    const dpi_circuit_step *step = &circuit->step[i];
    const dpi_ckks *c = circuit->c;
    const dpi_ckks_turns turns = {.n = circuit->n_turns,
                                  .steps = circuit->turns,
                                  .key = (const dpi_ckks_switch *const *)s->turn};
    dp_status status = DP_OK;
    if (step->kind == DPI_CIRCUIT_SQUARE) {
        dpi_ckks_multiply(c, &s->x, &s->x, s->square, s->room, &s->x);
        dpi_ckks_rescale(c, s->room, &s->x);
        return DP_OK;
    }
    if (step->kind == DPI_CIRCUIT_LINEAR)
        status = dpi_ckks_matrix_apply(c, s->p->matrix[i], &s->x, &turns, s->room, &s->y, err);
    else
        status =
            dpi_ckks_polynomial(c, step->degree, step->a, &s->x, s->square, s->room, &s->y, err);
    if (status == DP_OK && s->p->bias[i].row != NULL)
        dpi_ckks_add_plain(c, &s->y, &s->p->bias[i], &s->y);
    const dpi_ckks_cipher kept = s->x;
    s->x = s->y;
    s->y = kept;
    return status;
}

static dp_status run_layer(void *session, size_t layer, const dpi_serve_order_pair *order,
                           const unsigned char *up, unsigned char *down, dpi_pool *pool,
                           size_t threads, dp_error *err)
{
    ckks_session *s = session;
    const dpi_circuit *circuit = &s->p->circuit;
    const dpi_ckks *c = circuit->c;
    const dp_stage *in = dp_program_stage(circuit->p, 0);
    const size_t top = dpi_ckks_depth(c);
    (void)layer;
    (void)order;
    dp_status status = dpi_ckks_room_share(s->room, pool, threads, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_read(c, top, ldexp(1, in->bits - in->fraction), true,
                                      dpi_ckks_cipher_size(c, top, true), up, &s->x, err);
    for (size_t i = 0; i < circuit->n_steps && status == DP_OK; i++)
        status = run_step(s, i, err);
    if (status != DP_OK) {
        memset(down, 0, dpi_ckks_row_answer(circuit));
        return status;
    }
    dpi_ckks_renew(s->public, circuit->flood, &s->random, s->room, &s->x);
    dpi_ckks_answer_write(c, &s->x, dpi_circuit_last(circuit)->out.period, s->room, down);
    return DP_OK;
}

/* Nothing can be done ahead. */
static bool idle(void *of)
{
    (void)of;
    return false;
}

const dpi_serve_row dpi_ckks_row = {.protocol = DPI_PROTOCOL_CKKS,
                                    .whole = true,
                                    .cost = row_cost,
                                    .compile = compile,
                                    .discard = discard,
                                    .open = open_session,
                                    .layer = run_layer,
                                    .idle = idle,
                                    .close = close_session,
                                    .client_new = dpi_ckks_client_new,
                                    .client_free = dpi_ckks_client_free,
                                    .client_idle = idle,
                                    .write_key = dpi_ckks_client_write_key,
                                    .encrypt = dpi_ckks_client_encrypt,
                                    .decrypt = dpi_ckks_client_decrypt};
