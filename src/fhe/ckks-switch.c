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

static bool is_in_use(const dpi_ckks *c, size_t level, size_t t)
{
    return t <= level || t >= c->levels;
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

static void begin_digits(const dpi_ckks *c, size_t level, const uint64_t *d, dpi_ckks_room *room)
{
    dpi_ckks_must_be_of(c, room->c);
    memcpy(room->row, d, (level + 1) * c->n * sizeof *d);
    for (size_t t = 0; t <= level; t++)
        dpi_ntt_inverse(c->ntt[t], room->row + t * c->n);
    for (size_t i = 0; i < digits_of(c, level); i++) {
        const dpi_ckks_raising *r = digit_of(c, level, i);
        begin_raising(c, r, room->part, room->row + r->first * c->n, room->times + i * c->n);
    }
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

void dpi_ckks_raise(const dpi_ckks *c, size_t level, const uint64_t *d, dpi_ckks_room *room)
{
    begin_digits(c, level, d, room);
    for (size_t i = 0; i < digits_of(c, level); i++)
        for (size_t t = 0; t < c->primes; t++) {
            uint64_t *to = room->raised + (i * c->primes + t) * c->n;
            if (!is_in_use(c, level, t))
                continue;
            const uint64_t *made = raise_digit(c, level, i, t, d, room, to);
            if (made != to)
                memcpy(to, made, c->n * sizeof *to);
        }
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

/* to += sum / P, rounded. */
static void divide_by_p(const dpi_ckks *c, size_t level, uint64_t *sum, dpi_ckks_room *room,
                        uint64_t *to)
{
    const size_t n = c->n;
    uint64_t *row = room->row, *raised = room->spare;
    memcpy(row, sum + c->levels * n, c->spec.special * n * sizeof *row);
    for (size_t j = 0; j < c->spec.special; j++)
        dpi_ntt_inverse(c->ntt[c->levels + j], row + j * n);
    begin_raising(c, &c->p, room->part, row, room->times);
    for (size_t t = 0; t <= level; t++) {
        const dpi_modulus *m = &c->ntt[t]->m;
        raise_to(c, &c->p, t, row, room->times, raised);
        for (size_t i = 0; i < n; i++)
            raised[i] = dpi_modulus_subtract(m, sum[t * n + i], raised[i]);
        dpi_ckks_scale_row(c, t, c->over_p[t], raised);
        for (size_t i = 0; i < n; i++)
            to[t * n + i] = dpi_modulus_add(m, to[t * n + i], raised[i]);
    }
}

void dpi_ckks_inner(const dpi_ckks *c, size_t level, const dpi_ckks_switch *k, dpi_ckks_room *room,
                    uint64_t *const to[2])
{
    const size_t digits = digits_of(c, level);
    const uint64_t *x[DPI_CKKS_PRIMES];
    for (size_t t = 0; t < c->primes; t++) {
        if (!is_in_use(c, level, t))
            continue;
        for (size_t i = 0; i < digits; i++)
            x[i] = room->raised + (i * c->primes + t) * c->n;
        inner_row(c, digits, x, k, t, room);
    }
    for (int p = 0; p < 2; p++)
        divide_by_p(c, level, room->sum[p], room, to[p]);
}

/* A prime at a time: its digits are read while they are in a cache. */
void dpi_ckks_switch_once(const dpi_ckks *c, size_t level, const uint64_t *d,
                          const dpi_ckks_switch *k, dpi_ckks_room *room, uint64_t *const to[2])
{
    const size_t digits = digits_of(c, level);
    const uint64_t *x[DPI_CKKS_PRIMES];
    begin_digits(c, level, d, room);
    for (size_t t = 0; t < c->primes; t++) {
        if (!is_in_use(c, level, t))
            continue;
        for (size_t i = 0; i < digits; i++)
            x[i] = raise_digit(c, level, i, t, d, room, room->raised + i * c->n);
        inner_row(c, digits, x, k, t, room);
    }
    for (int p = 0; p < 2; p++)
        divide_by_p(c, level, room->sum[p], room, to[p]);
}

/* ---- rescaling ---- */

/* Rows 0 ... level - 1 are divided by the prime of row `level`, rounded. */
static void divide_by_last(const dpi_ckks *c, size_t level, dpi_ckks_room *room, uint64_t *row)
{
    const size_t n = c->n;
    const dpi_modulus *last = &c->ntt[level]->m;
    uint64_t *x = row + level * n, *lifted = room->row;
    dpi_ntt_inverse(c->ntt[level], x);
    for (size_t i = 0; i < n; i++)
        x[i] = dpi_modulus_add(last, x[i], last->q / 2);
    for (size_t t = 0; t < level; t++) {
        const dpi_modulus *m = &c->ntt[t]->m;
        const uint64_t half = dpi_ckks_reduce(c, t, last->q / 2);
        for (size_t i = 0; i < n; i++)
            lifted[i] = dpi_modulus_subtract(m, dpi_ckks_reduce(c, t, x[i]), half);
        dpi_ntt_forward(c->ntt[t], lifted);
        for (size_t i = 0; i < n; i++)
            row[t * n + i] = dpi_modulus_subtract(m, row[t * n + i], lifted[i]);
        dpi_ckks_scale_row(c, t, c->over_q[level][t], row + t * n);
    }
}

void dpi_ckks_divide(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    for (size_t k = 0; k < 2; k++)
        divide_by_last(c, x->level, room, x->part[k]);
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
