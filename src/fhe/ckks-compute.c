/* Sums, products and rotations. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fhe/ckks-parts.h"

static void must_agree(size_t level, double scale, size_t other, double other_scale)
{
    if (level != other)
        dpi_misuse(__func__, "operands are at different levels; lower one of them");
    if (scale != other_scale)
        dpi_misuse(__func__, "operands have different scales; rescale products first");
}

void dpi_ckks_copy(const dpi_ckks *c, const dpi_ckks_cipher *x, dpi_ckks_cipher *to)
{
    to->seeded = false;
    if (x == to)
        return;
    dpi_ckks_must_hold(c, to->room, x->level);
    for (size_t k = 0; k < 2; k++)
        memcpy(to->part[k], x->part[k], (x->level + 1) * c->n * sizeof(uint64_t));
    to->level = x->level;
    to->scale = x->scale;
    to->size = x->size;
    to->noise = x->noise;
}

/* ---- sums ---- */

static void add_all(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                    bool minus, dpi_ckks_cipher *to)
{
    must_agree(x->level, x->scale, y->level, y->scale);
    dpi_ckks_must_hold(c, to->room, x->level);
    const double size = x->size + y->size, noise = x->noise + y->noise;
    for (size_t k = 0; k < 2; k++)
        for (size_t t = 0; t <= x->level; t++) {
            const dpi_ntt *ntt = c->ntt[t];
            const size_t at = t * c->n;
            (minus ? ntt->kernel->subtract : ntt->kernel->add)(ntt, x->part[k] + at,
                                                               y->part[k] + at, to->part[k] + at);
        }
    to->level = x->level;
    to->scale = x->scale;
    to->seeded = false;
    to->size = size;
    to->noise = noise;
}

void dpi_ckks_add(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                  dpi_ckks_cipher *to)
{
    add_all(c, x, y, false, to);
}

void dpi_ckks_subtract(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                       dpi_ckks_cipher *to)
{
    add_all(c, x, y, true, to);
}

void dpi_ckks_add_plain(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_plain *p,
                        dpi_ckks_cipher *to)
{
    must_agree(x->level, x->scale, p->level, p->scale);
    dpi_ckks_copy(c, x, to);
    for (size_t t = 0; t <= x->level; t++)
        c->ntt[t]->kernel->add(c->ntt[t], to->part[0] + t * c->n, p->row + t * c->n,
                               to->part[0] + t * c->n);
    to->size += p->size;
    to->noise += p->noise;
}

void dpi_ckks_add_number(const dpi_ckks *c, double a, dpi_ckks_cipher *x)
{
    for (size_t t = 0; t <= x->level; t++) {
        const uint64_t w = dpi_ckks_residue(c, t, llrint(a * x->scale));
        for (size_t i = t * c->n; i < (t + 1) * c->n; i++)
            x->part[0][i] = dpi_modulus_add(&c->ntt[t]->m, x->part[0][i], w);
    }
    x->noise += .5 / x->scale;
    x->size += fabs(a);
}

/* ---- products ---- */

static double product_noise(double x_size, double x_noise, double y_size, double y_noise)
{
    return x_size * y_noise + x_noise * y_size + x_noise * y_noise;
}

void dpi_ckks_multiply_plain(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_plain *p,
                             dpi_ckks_cipher *to)
{
    must_agree(x->level, 0, p->level, 0);
    dpi_ckks_copy(c, x, to);
    for (size_t k = 0; k < 2; k++)
        for (size_t t = 0; t <= x->level; t++)
            c->ntt[t]->kernel->multiply(c->ntt[t], to->part[k] + t * c->n, p->row + t * c->n,
                                        to->part[k] + t * c->n);
    to->noise = product_noise(to->size, to->noise, p->size, p->noise);
    to->size *= p->size;
    to->scale *= p->scale;
}

void dpi_ckks_zero_product(const dpi_ckks *c, size_t level, dpi_ckks_cipher *to)
{
    dpi_ckks_must_hold(c, to->room, level);
    for (size_t k = 0; k < 2; k++)
        memset(to->part[k], 0, (level + 1) * c->n * sizeof(uint64_t));
    to->level = level;
    to->size = to->noise = 0;
    to->scale = c->scale[level] * c->scale[level];
}

void dpi_ckks_multiply_add_number(const dpi_ckks *c, const dpi_ckks_cipher *x, double a,
                                  dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    const double scale = c->scale[x->level];
    must_agree(x->level, x->scale * scale, to->level, to->scale);
    for (size_t t = 0; t <= x->level; t++) {
        const uint64_t w[2] = {1, dpi_ckks_residue(c, t, llrint(a * scale))};
        for (size_t k = 0; k < 2; k++) {
            uint64_t *row = to->part[k] + t * c->n;
            const uint64_t *of[2] = {row, x->part[k] + t * c->n};
            c->ntt[t]->kernel->weigh(c->ntt[t], 2, of, w, room->row);
            memcpy(row, room->row, c->n * sizeof *row);
        }
    }
    to->noise += fabs(a) * x->noise + .5 / scale * x->size;
    to->size += fabs(a) * x->size;
}

void dpi_ckks_multiply_add_plain(const dpi_ckks *c, const dpi_ckks_cipher *x,
                                 const dpi_ckks_plain *p, dpi_ckks_cipher *to)
{
    must_agree(x->level, 0, p->level, 0);
    for (size_t k = 0; k < 2; k++)
        for (size_t t = 0; t <= x->level; t++)
            c->ntt[t]->kernel->multiply_add(c->ntt[t], x->part[k] + t * c->n, p->row + t * c->n,
                                            to->part[k] + t * c->n);
    to->noise += product_noise(x->size, x->noise, p->size, p->noise);
    to->size += x->size * p->size;
    to->scale = x->scale * p->scale;
}

typedef struct multiplying {
    const dpi_ckks *c;
    const dpi_ckks_room *room;
    const dpi_ckks_cipher *x, *y;
    dpi_ckks_cipher *to;
} multiplying;

/* x0 y0, x0 y1 + x1 y0, x1 y1 modulo one prime; `to` may be x or y. */
static void multiply_rows(void *of, size_t t, size_t thread)
{
    const multiplying *s = of;
    const dpi_ntt *ntt = s->c->ntt[t];
    const size_t at = t * s->c->n;
    uint64_t *middle = s->room->spare + thread * s->c->n;
    ntt->kernel->multiply(ntt, s->x->part[0] + at, s->y->part[1] + at, middle);
    ntt->kernel->multiply_add(ntt, s->x->part[1] + at, s->y->part[0] + at, middle);
    ntt->kernel->multiply(ntt, s->x->part[1] + at, s->y->part[1] + at, s->to->part[2] + at);
    ntt->kernel->multiply(ntt, s->x->part[0] + at, s->y->part[0] + at, s->to->part[0] + at);
    memcpy(s->to->part[1] + at, middle, s->c->n * sizeof *middle);
}

void dpi_ckks_multiply(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                       const dpi_ckks_switch *square, dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    const size_t level = x->level;
    const double size = x->size * y->size, scale = x->scale * y->scale;
    const double noise = product_noise(x->size, x->noise, y->size, y->noise);
    must_agree(level, 0, y->level, 0);
    dpi_ckks_must_hold(c, to->room, level);
    dpi_ckks_must_be_of(c, room->c);
    multiplying s = {c, room, x, y, to};
    dpi_ckks_each(room, level + 1, multiply_rows, &s);
    to->level = level;
    to->seeded = false;
    to->scale = scale;
    to->size = size;
    to->noise = noise;
    dpi_ckks_relinearise(c, square, room, to);
}

void dpi_ckks_multiply_add(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                           dpi_ckks_cipher *to)
{
    must_agree(x->level, 0, y->level, 0);
    must_agree(x->level, x->scale * y->scale, to->level, to->scale);
    for (size_t t = 0; t <= x->level; t++)
        for (size_t k = 0; k < 4; k++) {
            const size_t i = k / 2, j = k % 2;
            c->ntt[t]->kernel->multiply_add(c->ntt[t], x->part[i] + t * c->n, y->part[j] + t * c->n,
                                            to->part[i + j] + t * c->n);
        }
    to->noise += product_noise(x->size, x->noise, y->size, y->noise);
    to->size += x->size * y->size;
}

void dpi_ckks_relinearise(const dpi_ckks *c, const dpi_ckks_switch *square, dpi_ckks_room *room,
                          dpi_ckks_cipher *x)
{
    if (square->place != NULL)
        dpi_misuse(__func__, "products take the key of DPI_CKKS_SQUARE");
    dpi_ckks_switch_once(c, x->level, x->part[2], square, room, x->part);
    x->noise += dpi_ckks_spread(c, dpi_ckks_switching(c, x->level), x->scale);
}

/* Rows above the level below `level` are left out, and x is multiplied by a number and divided by
 * one prime, once: what rounding adds is as of one level, however many there are between. */
static void lower(const dpi_ckks *c, size_t level, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    if (x->level <= level)
        return;
    const double exact = c->scale[level] / x->scale * (double)c->ntt[level + 1]->m.q;
    const uint64_t whole = (uint64_t)llrint(exact);
    x->level = level + 1;
    for (size_t k = 0; k < 2; k++)
        for (size_t t = 0; t <= x->level; t++) {
            const uint64_t w = dpi_ckks_reduce(c, t, whole);
            dpi_ckks_scale_row(c, t, (dpi_ckks_factor){w, dpi_ntt_beside(c->ntt[t], w)},
                               x->part[k] + t * c->n);
        }
    x->noise += x->size * fabs((double)whole - exact) / exact;
    x->scale *= exact;
    dpi_ckks_divide(c, room, x);
    x->scale = c->scale[level];
}

/* Scales above the depth are larger than primes below it may be. */
void dpi_ckks_lower(const dpi_ckks *c, size_t level, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    dpi_ckks_must_be_of(c, room->c);
    if (x->level > level && x->scale != c->scale[x->level])
        dpi_misuse(__func__, "what is lowered has the scale of its level; rescale products first");
    lower(c, level < c->spec.depth ? c->spec.depth : level, room, x);
    lower(c, level, room, x);
}

/* ---- rotations ---- */

typedef struct turned_rows {
    const dpi_ckks *c;
    const dpi_ckks_switch *k;
    const dpi_ckks_room *room;
    dpi_ckks_cipher *x;
} turned_rows;

static void turn_row(void *of, size_t i, size_t thread)
{
    const turned_rows *s = of;
    const size_t n = s->c->n, rows = s->x->level + 1;
    uint64_t *row = s->x->part[i / rows] + i % rows * n, *spare = s->room->spare + thread * n;
    memcpy(spare, row, n * sizeof *row);
    for (size_t j = 0; j < n; j++)
        row[j] = spare[s->k->place[j]];
}

/* From s(X^(1 / turn)) to s. */
static void turn(const dpi_ckks *c, const dpi_ckks_switch *k, dpi_ckks_room *room,
                 dpi_ckks_cipher *x)
{
    turned_rows s = {c, k, room, x};
    if (k->place == NULL)
        dpi_misuse(__func__, "rotations do not take the key of DPI_CKKS_SQUARE");
    dpi_ckks_each(room, 2 * (x->level + 1), turn_row, &s);
    x->noise += dpi_ckks_spread(c, dpi_ckks_switching(c, x->level), x->scale);
}

void dpi_ckks_turn_raised(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                          dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    dpi_ckks_copy(c, x, to);
    if (k == NULL)
        return;
    memset(to->part[1], 0, (x->level + 1) * c->n * sizeof(uint64_t));
    dpi_ckks_inner(c, x->level, k, room, to->part);
    turn(c, k, room, to);
}

void dpi_ckks_rotate_all(const dpi_ckks *c, const dpi_ckks_cipher *x, size_t count,
                         const dpi_ckks_switch *const *k, dpi_ckks_room *room,
                         dpi_ckks_cipher *const *to)
{
    dpi_ckks_raise(c, x->level, x->part[1], room);
    for (size_t i = 0; i < count; i++)
        if (to[i] == x)
            dpi_misuse(__func__, "what is rotated is not written to, as there are others to come");
    for (size_t i = 0; i < count; i++)
        dpi_ckks_turn_raised(c, x, k[i], room, to[i]);
}

/* (c0, 0) and what switching makes of c1, under s(X^(1 / turn)); and that turned. */
void dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                     dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    const size_t all = (x->level + 1) * c->n * sizeof(uint64_t);
    dpi_ckks_copy(c, x, to);
    memcpy(to->part[2], to->part[1], all);
    memset(to->part[1], 0, all);
    dpi_ckks_switch_once(c, to->level, to->part[2], k, room, to->part);
    turn(c, k, room, to);
}
