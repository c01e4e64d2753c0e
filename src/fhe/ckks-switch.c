/* Switching keys, and dividing by primes: what costs transforms.
 *
 * At level l with d digits in use, k special primes: l + 1 inverse transforms and d (l + 1 + k) -
 * (l + 1) forward ones to raise; 2 (k inverse + l + 1 forward) to divide by P.  The products with
 * the key read 2 d (l + 1 + k) n words of it. */
#include <string.h>

#include "base/error.h"
#include "fhe/ckks-parts.h"

/* y[j] = x[j] (D / q_j)^-1 of rows that are not transformed, and u.  Doubles have u wrong where the
 * sum is within 2^-45 of a half, and x then is by as much beyond D / 2. */
static void begin_raising(const dpi_ckks *c, const dpi_ckks_raising *r, double *sum, uint64_t *row,
                          uint64_t *times)
{
    for (size_t i = 0; i < c->n; i++)
        sum[i] = 0.5;
    for (size_t j = 0; j < r->count; j++) {
        uint64_t *x = row + j * c->n;
        const double over = r->over[j];
        dpi_ckks_scale_row(c, r->first + j, r->own[j], x);
        for (size_t i = 0; i < c->n; i++)
            sum[i] += (double)(int64_t)x[i] * over;
    }
    for (size_t i = 0; i < c->n; i++)
        times[i] = (uint64_t)(int64_t)sum[i];
}

/* to[n] = what is raised modulo prime t, transformed. */
static void raise_to(const dpi_ckks *c, const dpi_ckks_raising *r, size_t t, const uint64_t *row,
                     const uint64_t *times, uint64_t *to)
{
    const uint64_t *of[DPI_CKKS_PRIMES + 1];
    for (size_t j = 0; j < r->count; j++)
        of[j] = row + j * c->n;
    of[r->count] = times;
    c->ntt[t]->kernel->weigh(c->ntt[t], r->count + 1, of, r->from + t * (r->count + 1), to);
    dpi_ntt_forward(c->ntt[t], to);
}

/* What is under way: of d, by key k, to `to`. */
typedef struct switching {
    const dpi_ckks *c;
    size_t level;
    const uint64_t *d;
    const dpi_ckks_switch *k;
    dpi_ckks_room *room;
    uint64_t *const *to;
} switching;

static size_t primes_at(const dpi_ckks *c, size_t level)
{
    return level + 1 + c->spec.special;
}

/* The i-th prime in use at a level. */
static size_t prime_of(const dpi_ckks *c, size_t level, size_t i)
{
    return i <= level ? i : c->levels + i - level - 1;
}

static size_t digits_of(const dpi_ckks *c, size_t level)
{
    return level / c->spec.alpha + 1;
}

/* The primes of digit i that there are at a level. */
static const dpi_ckks_raising *digit_of(const dpi_ckks *c, size_t level, size_t i)
{
    const size_t left = level + 1 - i * c->spec.alpha;
    return &c->digit[i][(left < c->spec.alpha ? left : c->spec.alpha) - 1];
}

static void invert_row(void *of, size_t t, size_t thread)
{
    const switching *s = of;
    uint64_t *row = s->room->row + t * s->c->n;
    (void)thread;
    memcpy(row, s->d + t * s->c->n, s->c->n * sizeof *row);
    dpi_ntt_inverse(s->c->ntt[t], row);
}

static void begin_digit(void *of, size_t i, size_t thread)
{
    const switching *s = of;
    const size_t n = s->c->n;
    const dpi_ckks_raising *r = digit_of(s->c, s->level, i);
    begin_raising(s->c, r, s->room->part + thread * n, s->room->row + r->first * n,
                  s->room->times + i * n);
}

static void begin_digits(switching *s)
{
    dpi_ckks_must_be_of(s->c, s->room->c);
    dpi_ckks_each(s->room, s->level + 1, invert_row, s);
    dpi_ckks_each(s->room, digits_of(s->c, s->level), begin_digit, s);
}

/* Digit i modulo prime t: in `to`, or where it is already, of its own primes. */
static const uint64_t *raise_digit(const dpi_ckks *c, size_t level, size_t i, size_t t,
                                   const uint64_t *d, const dpi_ckks_room *room, uint64_t *to)
{
    const dpi_ckks_raising *r = digit_of(c, level, i);
    if (t >= r->first && t < r->first + r->count)
        return d + t * c->n;
    raise_to(c, r, t, room->row + r->first * c->n, room->times + i * c->n, to);
    return to;
}

/* All digits modulo one prime. */
static void raise_all(void *of, size_t i, size_t thread)
{
    const switching *s = of;
    const size_t n = s->c->n, t = prime_of(s->c, s->level, i);
    (void)thread;
    for (size_t j = 0; j < digits_of(s->c, s->level); j++) {
        uint64_t *to = s->room->raised + (j * s->c->primes + t) * n;
        const uint64_t *made = raise_digit(s->c, s->level, j, t, s->d, s->room, to);
        if (made != to)
            memcpy(to, made, n * sizeof *to);
    }
}

void dpi_ckks_raise(const dpi_ckks *c, size_t level, const uint64_t *d, dpi_ckks_room *room)
{
    switching s = {.c = c, .level = level, .d = d, .room = room};
    begin_digits(&s);
    dpi_ckks_each(room, primes_at(c, level), raise_all, &s);
}

/* Sums of products of digits x and key, modulo one prime. */
static void inner_row(const dpi_ckks *c, size_t digits, const uint64_t *const *x,
                      const dpi_ckks_switch *k, size_t t, dpi_ckks_room *room)
{
    const uint64_t *b[DPI_CKKS_PRIMES], *a[DPI_CKKS_PRIMES];
    dpi_ckks_must_be_of(c, k->c);
    for (size_t i = 0; i < digits; i++) {
        const size_t at = (i * c->primes + t) * c->n;
        b[i] = k->b + at;
        a[i] = k->a + at;
    }
    const dpi_ntt_terms terms = {.n = digits, .a = x, .b = b, .e = a};
    c->ntt[t]->kernel->inner(c->ntt[t], &terms, room->sum[0] + t * c->n, room->sum[1] + t * c->n);
}

/* ---- to += sum / P, rounded, for both parts ---- */

static void invert_special(void *of, size_t i, size_t thread)
{
    const switching *s = of;
    const size_t n = s->c->n, special = s->c->spec.special, t = s->c->levels + i % special;
    uint64_t *row = s->room->row + i * n;
    (void)thread;
    memcpy(row, s->room->sum[i / special] + t * n, n * sizeof *row);
    dpi_ntt_inverse(s->c->ntt[t], row);
}

static void begin_part(void *of, size_t p, size_t thread)
{
    const switching *s = of;
    const size_t n = s->c->n;
    begin_raising(s->c, &s->c->p, s->room->part + thread * n,
                  s->room->row + p * s->c->spec.special * n, s->room->times + p * n);
}

static void divide_row(void *of, size_t i, size_t thread)
{
    const switching *s = of;
    const dpi_ckks *c = s->c;
    const size_t n = c->n, p = i / (s->level + 1), t = i % (s->level + 1);
    const dpi_ntt *ntt = c->ntt[t];
    uint64_t *raised = s->room->spare + thread * n, *to = s->to[p] + t * n;
    raise_to(c, &c->p, t, s->room->row + p * c->spec.special * n, s->room->times + p * n, raised);
    ntt->kernel->subtract(ntt, s->room->sum[p] + t * n, raised, raised);
    dpi_ckks_scale_row(c, t, c->over_p[t], raised);
    ntt->kernel->add(ntt, to, raised, to);
}

static void divide_by_p(switching *s)
{
    dpi_ckks_each(s->room, 2 * s->c->spec.special, invert_special, s);
    dpi_ckks_each(s->room, 2, begin_part, s);
    dpi_ckks_each(s->room, 2 * (s->level + 1), divide_row, s);
}

/* ---- digits times keys ---- */

static void inner_raised(void *of, size_t i, size_t thread)
{
    const switching *s = of;
    const size_t t = prime_of(s->c, s->level, i), digits = digits_of(s->c, s->level);
    const uint64_t *x[DPI_CKKS_PRIMES];
    (void)thread;
    for (size_t j = 0; j < digits; j++)
        x[j] = s->room->raised + (j * s->c->primes + t) * s->c->n;
    inner_row(s->c, digits, x, s->k, t, s->room);
}

void dpi_ckks_inner(const dpi_ckks *c, size_t level, const dpi_ckks_switch *k, dpi_ckks_room *room,
                    uint64_t *const to[2])
{
    switching s = {.c = c, .level = level, .k = k, .room = room, .to = to};
    dpi_ckks_each(room, primes_at(c, level), inner_raised, &s);
    divide_by_p(&s);
}

/* A prime at a time: its digits are read while they are in a cache. */
static void inner_once(void *of, size_t i, size_t thread)
{
    const switching *s = of;
    const size_t t = prime_of(s->c, s->level, i), digits = digits_of(s->c, s->level);
    const uint64_t *x[DPI_CKKS_PRIMES];
    for (size_t j = 0; j < digits; j++)
        x[j] = raise_digit(s->c, s->level, j, t, s->d, s->room,
                           s->room->raised + (thread * digits + j) * s->c->n);
    inner_row(s->c, digits, x, s->k, t, s->room);
}

void dpi_ckks_switch_once(const dpi_ckks *c, size_t level, const uint64_t *d,
                          const dpi_ckks_switch *k, dpi_ckks_room *room, uint64_t *const to[2])
{
    switching s = {.c = c, .level = level, .d = d, .k = k, .room = room, .to = to};
    begin_digits(&s);
    dpi_ckks_each(room, primes_at(c, level), inner_once, &s);
    divide_by_p(&s);
}

/* ---- rescaling ---- */

typedef struct dividing {
    const dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_cipher *x;
} dividing;

static void begin_dividing(void *of, size_t part, size_t thread)
{
    const dividing *s = of;
    const size_t n = s->c->n, level = s->x->level;
    const dpi_modulus *last = &s->c->ntt[level]->m;
    uint64_t *x = s->x->part[part] + level * n;
    (void)thread;
    dpi_ntt_inverse(s->c->ntt[level], x);
    for (size_t j = 0; j < n; j++)
        x[j] = dpi_modulus_add(last, x[j], last->q / 2);
}

/* A row is divided by the prime of the last one, rounded. */
static void divide_by_last(void *of, size_t i, size_t thread)
{
    const dividing *s = of;
    const dpi_ckks *c = s->c;
    const size_t n = c->n, level = s->x->level, t = i % level;
    const dpi_modulus *m = &c->ntt[t]->m;
    const uint64_t half = dpi_ckks_reduce(c, t, c->ntt[level]->m.q / 2);
    const uint64_t *x = s->x->part[i / level] + level * n;
    uint64_t *row = s->x->part[i / level] + t * n, *lifted = s->room->spare + thread * n;
    for (size_t j = 0; j < n; j++)
        lifted[j] = dpi_modulus_subtract(m, dpi_ckks_reduce(c, t, x[j]), half);
    dpi_ntt_forward(c->ntt[t], lifted);
    c->ntt[t]->kernel->subtract(c->ntt[t], row, lifted, row);
    dpi_ckks_scale_row(c, t, c->over_q[level][t], row);
}

void dpi_ckks_divide(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    dividing s = {c, room, x};
    dpi_ckks_each(room, 2, begin_dividing, &s);
    dpi_ckks_each(room, 2 * x->level, divide_by_last, &s);
    x->scale /= (double)c->ntt[x->level]->m.q;
    x->level--;
    x->seeded = false;
    x->noise += dpi_ckks_spread(c, dpi_ckks_rounding(c), x->scale);
}

void dpi_ckks_rescale(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    dpi_ckks_must_be_of(c, room->c);
    if (x->level == 0)
        dpi_misuse(__func__, "there is no level below");
    if (x->scale != c->scale[x->level] * c->factor[x->level])
        dpi_misuse(__func__,
                   "only products of two values at the scale of their level are rescaled");
    dpi_ckks_divide(c, room, x);
    x->scale = c->scale[x->level];
}
