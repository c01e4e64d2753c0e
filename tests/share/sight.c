#include "tests/share/sight.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is sent ---- */

static void append(sight_bytes *to, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    to->at = realloc(to->at, to->n + n);
    if (to->at == NULL)
        abort(); /* in another thread than the test's */
    memcpy(to->at + to->n, bytes, n);
    to->n += n;
}

static void note(void *user, const scene_message *message)
{
    sight *of = user;
    if (message->kind != DPI_MESH_POSTED)
        return;
    append(&of->sent[message->from][message->to], message->bytes, message->n);
    of->messages[message->from][message->to]++;
    if (message->phase == DPI_PREPARE)
        of->early[message->from] += message->n;
    else
        of->late[message->from] += message->n;
}

/* ---- the gate ---- */

bool sight_is(sight_kind kind, dpi_ring ring)
{
    return kind == SIGHT_PRODUCT || ring != DPI_RING_BITS;
}

/* n numbers v. */
static dpi_share give(dpi_party *p, dpi_ring ring, size_t n, int64_t v, uint64_t seed)
{
    int64_t *x = calloc(n, sizeof *x);
    if (x == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        x[i] = v;
    dpi_share share = scene_give(p, ring, n, x, seed);
    free(x);
    return share;
}

static void hold(const dpi_party *p, dpi_ring ring, const dpi_share *x, sight_bytes part[],
                 size_t n_parts)
{
    for (size_t k = 0; dpi_party_works(p) && k < n_parts; k++)
        if (x->part[k] != NULL)
            append(&part[k], x->part[k], x->n * dpi_ring_bytes(ring));
}

static void run_layer(dpi_party *p, sight *of, dpi_share *z)
{
    size_t records = of->n / SIGHT_OUTPUTS;
    const dpi_linear l = {.records = records,
                          .outputs = SIGHT_OUTPUTS,
                          .terms = SIGHT_TERMS,
                          .inputs = SIGHT_TERMS,
                          .stops = 1};
    dpi_share x = give(p, of->ring, records * SIGHT_TERMS, of->x, 1);
    dpi_share w = give(p, of->ring, SIGHT_OUTPUTS * SIGHT_TERMS, of->y, 2);
    dpi_share bias = give(p, of->ring, SIGHT_OUTPUTS, of->x, 3);
    p->row->linear(p, of->ring, &l, &x, &w, &bias, of->kind == SIGHT_SHIFTED ? of->shift : 0, z);
    dpi_share_free(&x);
    dpi_share_free(&w);
    dpi_share_free(&bias);
}

static void run_bits(dpi_party *p, sight *of, const dpi_share *x, dpi_share *z)
{
    static const int plane[SIGHT_PLANES] = {0, 1, 2};
    static const uint64_t coefficient[SIGHT_BITS] = {1, 3};
    size_t words = dpi_share_words(of->n);
    dpi_share b = give(p, DPI_RING_BITS, SIGHT_BITS * words, of->x, 3), bit[SIGHT_BITS];
    for (size_t k = 0; k < SIGHT_BITS; k++)
        bit[k] = dpi_share_from(DPI_RING_BITS, &b, k * words, words);
    if (of->kind == SIGHT_FROM_BITS) {
        p->row->from_bits(p, of->ring, SIGHT_BITS, bit, coefficient, z);
    } else if (of->kind == SIGHT_INJECT) {
        p->row->inject(p, of->ring, bit, x, z);
    } else {
        dpi_share m = scene_share(p, DPI_RING_BITS, SIGHT_PLANES * words);
        dpi_share u = scene_share(p, DPI_RING_BITS, SIGHT_PLANES * words);
        p->row->to_bits(p, of->ring, x, SIGHT_PLANES, plane, &m, &u);
        hold(p, DPI_RING_BITS, &u, of->part[p->role], 2);
        hold(p, DPI_RING_BITS, &m, &of->operand[p->role], 1);
        dpi_share_free(&m);
        dpi_share_free(&u);
    }
    dpi_share_free(&b);
}

static void body(dpi_party *p, void *user)
{
    sight *of = user;
    dpi_share x = give(p, of->ring, of->n, of->x, 4), y = give(p, of->ring, of->n, of->y, 5);
    dpi_share z = scene_share(p, of->ring, of->n);
    if (of->kind == SIGHT_PRODUCT)
        p->row->multiply(p, of->ring, &x, &y, &z);
    else if (of->kind == SIGHT_LINEAR || of->kind == SIGHT_SHIFTED)
        run_layer(p, of, &z);
    else if (of->kind == SIGHT_HALVES)
        p->row->halves(p, of->ring, &x, of->shift, &z);
    else
        run_bits(p, of, &x, &z);
    if (of->kind != SIGHT_TO_BITS) {
        hold(p, of->ring, &z, of->part[p->role], 2);
        hold(p, of->ring, &x, &of->operand[p->role], 1);
    }
    if (p->role == 0)
        hold(p, of->ring, &y, &of->factor, 1);
    dpi_share_free(&x);
    dpi_share_free(&y);
    dpi_share_free(&z);
}

void sight_run(const scene *s, sight *of)
{
    const scene_opts o = {
        .row = &dpi_trio, .body = body, .user = of, .apart = of->apart, .tamper = note};
    scene_run_well(s, &o, of->end);
}

void sight_free(sight *of)
{
    for (size_t i = 0; i < SIGHT_ROLES; i++) {
        for (size_t j = 0; j < SIGHT_ROLES; j++)
            free(of->sent[i][j].at);
        free(of->part[i][0].at);
        free(of->part[i][1].at);
        free(of->operand[i].at);
    }
    free(of->factor.at);
}
