/* Values, rooms and keys. */
#include <math.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

/* ---- values ---- */

static uint64_t *rows(const dpi_ckks *c, size_t n)
{
    return dpi_alloc(c->n * n, sizeof(uint64_t));
}

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

dp_status dpi_ckks_plain_new(const dpi_ckks *c, size_t level, dpi_ckks_plain *p, dp_error *err)
{
    *p = (dpi_ckks_plain){.level = level, .row = rows(c, level + 1), .room = c->n * (level + 1)};
    return p->row != NULL ? DP_OK : dpi_fail_nomem(err);
}

dp_status dpi_ckks_cipher_new(const dpi_ckks *c, size_t level, dpi_ckks_cipher *x, dp_error *err)
{
    *x = (dpi_ckks_cipher){.level = level, .room = c->n * (level + 1)};
    bool all = true;
    for (int k = 0; k < 3; k++)
        all = (x->part[k] = rows(c, level + 1)) != NULL && all;
    if (all)
        return DP_OK;
    dpi_ckks_cipher_free(x);
    return dpi_fail_nomem(err);
}

void dpi_ckks_plain_free(dpi_ckks_plain *p)
{
    wipe(p->row, p->room * sizeof *p->row);
    *p = (dpi_ckks_plain){.row = NULL};
}

void dpi_ckks_cipher_free(dpi_ckks_cipher *x)
{
    for (int k = 0; k < 3; k++)
        dpi_free(x->part[k]);
    *x = (dpi_ckks_cipher){.part = {NULL}};
}

void dpi_ckks_must_be_of(const dpi_ckks *c, const dpi_ckks *other)
{
    if (c != other)
        dpi_misuse(__func__, "a room, a key or a matrix is of another context");
}

void dpi_ckks_must_hold(const dpi_ckks *c, size_t room, size_t level)
{
    if (level >= c->levels || room < c->n * (level + 1))
        dpi_misuse(__func__, "a value has no room for that level");
}

/* ---- rooms ---- */

static size_t rows_of(const dpi_ckks *c)
{
    return 2 * c->spec.special > c->levels ? 2 * c->spec.special : c->levels;
}

static size_t times_of(const dpi_ckks *c)
{
    return c->digits > 2 ? c->digits : 2;
}

dp_status dpi_ckks_room_new(const dpi_ckks *c, dpi_ckks_room **to, dp_error *err)
{
    dpi_ckks_room *r = *to = dpi_alloc(1, sizeof *r);
    if (r == NULL)
        return dpi_fail_nomem(err);
    *r = (dpi_ckks_room){.c = c,
                         .threads = 1,
                         .raised = rows(c, c->digits * c->primes),
                         .spare = rows(c, 1),
                         .sum = {rows(c, c->primes), rows(c, c->primes)},
                         .row = rows(c, rows_of(c)),
                         .part = dpi_alloc(c->n, sizeof(double)),
                         .re = dpi_alloc(c->n / 2, sizeof(double)),
                         .im = dpi_alloc(c->n / 2, sizeof(double)),
                         .times = rows(c, times_of(c)),
                         .whole = dpi_alloc(c->n, sizeof(int64_t)),
                         .small = {dpi_alloc(c->n, 1), dpi_alloc(c->n, 1)}};
    if (r->raised != NULL && r->spare != NULL && r->sum[0] != NULL && r->sum[1] != NULL &&
        r->row != NULL && r->part != NULL && r->re != NULL && r->im != NULL && r->times != NULL &&
        r->whole != NULL && r->small[0] != NULL && r->small[1] != NULL)
        return DP_OK;
    dpi_ckks_room_free(r);
    *to = NULL;
    return dpi_fail_nomem(err);
}

void dpi_ckks_room_free(dpi_ckks_room *r)
{
    if (r == NULL)
        return;
    const size_t n = r->c->n, row = n * sizeof(uint64_t);
    while (r->n_kept > 0)
        dpi_ckks_cipher_free(&r->kept[--r->n_kept]);
    wipe(r->raised, r->c->digits * r->c->primes * row);
    wipe(r->spare, r->threads * row);
    for (int k = 0; k < 2; k++) {
        wipe(r->sum[k], r->c->primes * row);
        wipe(r->small[k], n);
    }
    wipe(r->re, n / 2 * sizeof *r->re);
    wipe(r->im, n / 2 * sizeof *r->im);
    wipe(r->row, rows_of(r->c) * row);
    wipe(r->part, r->threads * n * sizeof *r->part);
    wipe(r->times, times_of(r->c) * row);
    wipe(r->whole, n * sizeof *r->whole);
    dpi_free(r);
}

dp_status dpi_ckks_room_share(dpi_ckks_room *room, dpi_pool *pool, size_t threads, dp_error *err)
{
    const dpi_ckks *c = room->c;
    threads = pool == NULL ? 1 : threads < c->primes ? threads : c->primes;
    if (threads > room->threads) {
        uint64_t *spare = rows(c, threads);
        double *part = dpi_alloc(threads * c->n, sizeof *part);
        if (spare == NULL || part == NULL) {
            dpi_free(spare);
            dpi_free(part);
            return dpi_fail_nomem(err);
        }
        wipe(room->spare, room->threads * c->n * sizeof *spare);
        wipe(room->part, room->threads * c->n * sizeof *part);
        room->spare = spare;
        room->part = part;
        room->threads = threads;
    }
    room->pool = threads > 1 ? pool : NULL;
    return DP_OK;
}

typedef struct round_of_work {
    void (*work)(void *of, size_t i, size_t thread);
    void *of;
    size_t n, threads;
    atomic_size_t next;
} round_of_work;

static void take(void *user, size_t thread)
{
    round_of_work *r = user;
    for (size_t i; thread < r->threads && (i = atomic_fetch_add(&r->next, 1)) < r->n;)
        r->work(r->of, i, thread);
}

void dpi_ckks_each(const dpi_ckks_room *room, size_t n,
                   void (*work)(void *of, size_t i, size_t thread), void *of)
{
    round_of_work r = {.work = work, .of = of, .n = n, .threads = room->threads};
    if (room->pool == NULL || n < 2)
        take(&r, 0);
    else
        dpi_pool_run(room->pool, take, &r);
}

dp_status dpi_ckks_take(dpi_ckks_room *room, size_t level, dpi_ckks_cipher *x, dp_error *err)
{
    const size_t words = room->c->n * (level + 1);
    dpi_ckks_cipher *least = NULL;
    for (dpi_ckks_cipher *k = room->kept; k < room->kept + room->n_kept; k++)
        if (k->room >= words && (least == NULL || k->room < least->room))
            least = k;
    if (least == NULL)
        return dpi_ckks_cipher_new(room->c, level, x, err);
    *x = *least;
    *least = room->kept[--room->n_kept];
    x->level = level;
    return DP_OK;
}

void dpi_ckks_give(dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    if (x->part[0] != NULL && room->n_kept < DPI_CKKS_KEPT)
        room->kept[room->n_kept++] = *x;
    else
        dpi_ckks_cipher_free(x);
    *x = (dpi_ckks_cipher){.part = {NULL}};
}

/* ---- polynomials ---- */

void dpi_ckks_small(const dpi_ckks *c, size_t first, size_t last, const int8_t *small,
                    uint64_t *row)
{
    for (size_t t = first; t < last; t++) {
        uint64_t *to = row + (t - first) * c->n;
        for (size_t i = 0; i < c->n; i++)
            to[i] = dpi_modulus_signed(&c->ntt[t]->m, small[i]);
        dpi_ntt_forward(c->ntt[t], to);
    }
}

void dpi_ckks_expand(const dpi_ckks *c, size_t last, const unsigned char seed[DPI_RLWE_SEED],
                     uint64_t *a)
{
    dpi_rlwe_stream uniform;
    dpi_rlwe_start(&uniform, seed, "tacit ckks a");
    for (size_t t = 0; t < last; t++)
        dpi_rlwe_uniform(&uniform, &c->ntt[t]->m, c->n, a + t * c->n);
    dpi_rlwe_end(&uniform);
}

void dpi_ckks_sample(const dpi_ckks *c, const uint64_t *minus, size_t last, dpi_rlwe_stream *random,
                     int8_t *e, uint64_t *b, uint64_t *a, unsigned char seed[DPI_RLWE_SEED])
{
    dpi_rlwe_bytes(random, DPI_RLWE_SEED, seed);
    dpi_rlwe_errors(random, c->n, e);
    dpi_ckks_small(c, 0, last, e, b);
    dpi_ckks_expand(c, last, seed, a);
    for (size_t t = 0; t < last; t++)
        c->ntt[t]->kernel->multiply_add(c->ntt[t], a + t * c->n, minus + t * c->n, b + t * c->n);
}

/* ---- secrets ---- */

dp_status dpi_ckks_secret_new(const dpi_ckks *c, dpi_rlwe_stream *random, dpi_ckks_secret **to,
                              dp_error *err)
{
    dpi_ckks_secret *s = *to = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    *s = (dpi_ckks_secret){.c = c,
                           .digit = dpi_alloc(c->n, 1),
                           .row = rows(c, c->primes),
                           .minus = rows(c, c->primes)};
    if (s->digit == NULL || s->row == NULL || s->minus == NULL) {
        dpi_ckks_secret_free(s);
        *to = NULL;
        return dpi_fail_nomem(err);
    }
    (void)sodium_mlock(s->digit, c->n); /* as far as the system lets it */
    (void)sodium_mlock(s->row, c->primes * c->n * sizeof *s->row);
    (void)sodium_mlock(s->minus, c->primes * c->n * sizeof *s->minus);
    dpi_rlwe_ternary(random, c->n, s->digit);
    dpi_ckks_small(c, 0, c->primes, s->digit, s->row);
    for (size_t t = 0; t < c->primes; t++)
        for (size_t i = t * c->n; i < (t + 1) * c->n; i++)
            s->minus[i] = dpi_modulus_subtract(&c->ntt[t]->m, 0, s->row[i]);
    return DP_OK;
}

void dpi_ckks_secret_free(dpi_ckks_secret *s)
{
    if (s == NULL)
        return;
    if (s->digit != NULL)
        (void)sodium_munlock(s->digit, s->c->n); /* wipes */
    if (s->row != NULL)
        (void)sodium_munlock(s->row, s->c->primes * s->c->n * sizeof *s->row);
    if (s->minus != NULL)
        (void)sodium_munlock(s->minus, s->c->primes * s->c->n * sizeof *s->minus);
    dpi_free(s->digit);
    dpi_free(s->row);
    dpi_free(s->minus);
    dpi_free(s);
}

dp_status dpi_ckks_public_room(const dpi_ckks *c, dpi_ckks_public **to, dp_error *err)
{
    dpi_ckks_public *p = *to = dpi_alloc(1, sizeof *p);
    if (p != NULL)
        *p = (dpi_ckks_public){.c = c, .b = rows(c, c->levels), .a = rows(c, c->levels)};
    if (p != NULL && p->b != NULL && p->a != NULL)
        return DP_OK;
    dpi_ckks_public_free(p);
    *to = NULL;
    return dpi_fail_nomem(err);
}

dp_status dpi_ckks_public_new(const dpi_ckks_secret *s, dpi_rlwe_stream *random,
                              dpi_ckks_public **to, dp_error *err)
{
    int8_t *e = dpi_alloc(s->c->n, 1);
    *to = NULL;
    dp_status status = e != NULL ? dpi_ckks_public_room(s->c, to, err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        dpi_ckks_sample(s->c, s->minus, s->c->levels, random, e, (*to)->b, (*to)->a, (*to)->seed);
    wipe(e, s->c->n);
    return status;
}

void dpi_ckks_public_free(dpi_ckks_public *p)
{
    if (p == NULL)
        return;
    dpi_free(p->b);
    dpi_free(p->a);
    dpi_free(p);
}

/* ---- keys for switching ---- */

/* Where place j of a polynomial at X^turn is in that at X: 2 rev(j') + 1 = turn (2 rev(j) + 1). */
static void find_places(const dpi_ckks *c, size_t turn, uint32_t *place)
{
    const int log = c->spec.log_n;
    for (size_t j = 0; j < c->n; j++) {
        size_t bits = 0, back = 0;
        for (int k = 0; k < log; k++)
            bits |= (j >> k & 1) << (log - 1 - k);
        const size_t power = (2 * bits + 1) * turn % (2 * c->n), half = (power - 1) / 2;
        for (int k = 0; k < log; k++)
            back |= (half >> k & 1) << (log - 1 - k);
        place[j] = (uint32_t)back;
    }
}

static void turn_row(const dpi_ckks *c, const uint32_t *place, const uint64_t *from, uint64_t *to)
{
    for (size_t j = 0; j < c->n; j++)
        to[j] = from[place[j]];
}

/* b += P from in the rows of each digit. */
static void add_message(const dpi_ckks *c, const uint64_t *from, uint64_t *b)
{
    for (size_t t = 0; t < c->levels; t++) {
        const dpi_modulus *m = &c->ntt[t]->m;
        uint64_t *to = b + (t / c->spec.alpha * c->primes + t) * c->n;
        for (size_t j = 0; j < c->n; j++)
            to[j] =
                dpi_modulus_add(m, to[j], dpi_modulus_multiply(m, from[t * c->n + j], c->p_mod[t]));
    }
}

dp_status dpi_ckks_switch_room(const dpi_ckks *c, size_t turn, dpi_ckks_switch **to, dp_error *err)
{
    const bool turns = turn != DPI_CKKS_SQUARE;
    if (turns && (turn % 2 == 0 || turn >= 2 * c->n))
        dpi_misuse(__func__, "X becomes an odd power of itself, below 2 n");
    dpi_ckks_switch *k = *to = dpi_alloc(1, sizeof *k);
    if (k != NULL)
        *k = (dpi_ckks_switch){.c = c,
                               .place = turns ? dpi_alloc(c->n, sizeof *k->place) : NULL,
                               .b = rows(c, c->digits * c->primes),
                               .a = rows(c, c->digits * c->primes)};
    if (k == NULL || k->b == NULL || k->a == NULL || (turns && k->place == NULL)) {
        dpi_ckks_switch_free(k);
        *to = NULL;
        return dpi_fail_nomem(err);
    }
    if (turns)
        find_places(c, turn, k->place);
    return DP_OK;
}

/* The power that takes back X -> X^turn: by Newton's steps, each of which doubles the bits that are
 * right. */
static size_t inverse_of(size_t turn, size_t order)
{
    size_t x = turn;
    for (int k = 0; k < 6; k++)
        x = x * (2 + order - turn * x % order) % order;
    return x;
}

/* What a key is of, and minus what it is made with: to switch from the square to s, or from s to
 * s(X^(1 / turn)), which turning makes s. */
static dp_status find_secrets(const dpi_ckks_secret *s, size_t turn, uint64_t *from,
                              uint64_t *minus, dp_error *err)
{
    const dpi_ckks *c = s->c;
    uint32_t *place = turn != DPI_CKKS_SQUARE ? dpi_alloc(c->n, sizeof *place) : NULL;
    if (turn == DPI_CKKS_SQUARE) {
        memcpy(minus, s->minus, c->primes * c->n * sizeof *minus);
        for (size_t t = 0; t < c->levels; t++)
            c->ntt[t]->kernel->multiply(c->ntt[t], s->row + t * c->n, s->row + t * c->n,
                                        from + t * c->n);
        return DP_OK;
    }
    if (place == NULL)
        return dpi_fail_nomem(err);
    find_places(c, inverse_of(turn, 2 * c->n), place);
    memcpy(from, s->row, c->levels * c->n * sizeof *from);
    for (size_t t = 0; t < c->primes; t++)
        turn_row(c, place, s->minus + t * c->n, minus + t * c->n);
    dpi_free(place);
    return DP_OK;
}

/* To what `minus` is minus of, of a turn or none. */
static dp_status make_switch(const dpi_ckks *c, size_t turn, const uint64_t *from,
                             const uint64_t *minus, dpi_rlwe_stream *random, dpi_ckks_switch **to,
                             dp_error *err)
{
    const size_t each = c->primes * c->n;
    int8_t *e = dpi_alloc(c->n, 1);
    dp_status status = e != NULL ? dpi_ckks_switch_room(c, turn, to, err) : dpi_fail_nomem(err);
    if (status == DP_OK) {
        dpi_ckks_switch *k = *to;
        for (size_t i = 0; i < c->digits; i++)
            dpi_ckks_sample(c, minus, c->primes, random, e, k->b + i * each, k->a + i * each,
                            k->seed[i]);
        add_message(c, from, k->b);
    }
    wipe(e, c->n);
    return status;
}

dp_status dpi_ckks_switch_from(const dpi_ckks_secret *s, const uint64_t *from,
                               dpi_rlwe_stream *random, dpi_ckks_switch **to, dp_error *err)
{
    *to = NULL;
    return make_switch(s->c, DPI_CKKS_SQUARE, from, s->minus, random, to, err);
}

dp_status dpi_ckks_switch_new(const dpi_ckks_secret *s, size_t turn, dpi_rlwe_stream *random,
                              dpi_ckks_switch **to, dp_error *err)
{
    const dpi_ckks *c = s->c;
    const size_t each = c->primes * c->n;
    uint64_t *from = rows(c, c->levels), *minus = rows(c, c->primes);
    *to = NULL;
    dp_status status = from != NULL && minus != NULL ? find_secrets(s, turn, from, minus, err)
                                                     : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = make_switch(c, turn, from, minus, random, to, err);
    wipe(from, c->levels * c->n * sizeof *from);
    wipe(minus, each * sizeof *minus);
    return status;
}

size_t dpi_ckks_rotation(const dpi_ckks *c, int steps)
{
    const size_t half = c->n / 2;
    size_t turn = 1;
    for (size_t r = (size_t)(steps % (int)half + (int)half) % half; r > 0; r--)
        turn = turn * 5 % (2 * c->n);
    return turn;
}

size_t dpi_ckks_conjugation(const dpi_ckks *c)
{
    return 2 * c->n - 1;
}

void dpi_ckks_switch_free(dpi_ckks_switch *k)
{
    if (k == NULL)
        return;
    dpi_free(k->place);
    dpi_free(k->b);
    dpi_free(k->a);
    dpi_free(k);
}
