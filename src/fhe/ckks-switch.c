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
static void begin_raising(const dpi_ckks *c, const dpi_ckks_raising *r, dpi_ckks_room *room)
{
    double *sum = room->part;
    for (size_t i = 0; i < c->n; i++)
        sum[i] = 0.5;
    for (size_t j = 0; j < r->count; j++) {
        uint64_t *x = room->row + j * c->n;
        const double over = r->over[j];
        dpi_ckks_scale_row(c, r->first + j, r->own[j], x);
        for (size_t i = 0; i < c->n; i++)
            sum[i] += (double)(int64_t)x[i] * over;
    }
    for (size_t i = 0; i < c->n; i++)
        room->times[i] = (uint64_t)(int64_t)sum[i];
}

/* to[n] = what is raised modulo prime t. */
static void raise_to(const dpi_ckks *c, const dpi_ckks_raising *r, size_t t,
                     const dpi_ckks_room *room, uint64_t *to)
{
    const uint64_t *of[DPI_CKKS_PRIMES + 1];
    for (size_t j = 0; j < r->count; j++)
        of[j] = room->row + j * c->n;
    of[r->count] = room->times;
    c->ntt[t]->kernel->weigh(c->ntt[t], r->count + 1, of, r->from + t * (r->count + 1), to);
}

static bool is_in_use(const dpi_ckks *c, size_t level, size_t t)
{
    return t <= level || t >= c->levels;
}

static size_t digits_of(const dpi_ckks *c, size_t level)
{
    return level / c->spec.alpha + 1;
}

void dpi_ckks_raise(const dpi_ckks *c, size_t level, const uint64_t *d, dpi_ckks_room *room)
{
    const size_t n = c->n, alpha = c->spec.alpha;
    for (size_t i = 0; i < digits_of(c, level); i++) {
        const size_t left = level + 1 - i * alpha, count = left < alpha ? left : alpha;
        const dpi_ckks_raising *r = &c->digit[i][count - 1];
        uint64_t *to = room->raised + i * c->primes * n;
        memcpy(room->row, d + r->first * n, count * n * sizeof *d);
        for (size_t j = 0; j < count; j++)
            dpi_ntt_inverse(c->ntt[r->first + j], room->row + j * n);
        begin_raising(c, r, room);
        for (size_t t = 0; t < c->primes; t++) {
            if (!is_in_use(c, level, t))
                continue;
            if (t >= r->first && t < r->first + count) {
                memcpy(to + t * n, d + t * n, n * sizeof *d);
                continue;
            }
            raise_to(c, r, t, room, to + t * n);
            dpi_ntt_forward(c->ntt[t], to + t * n);
        }
    }
}

/* Sums of products of digits and key, modulo one prime. */
static void inner_row(const dpi_ckks *c, size_t digits, const dpi_ckks_switch *k, size_t t,
                      dpi_ckks_room *room)
{
    const uint64_t *x[DPI_CKKS_PRIMES], *b[DPI_CKKS_PRIMES], *a[DPI_CKKS_PRIMES];
    for (size_t i = 0; i < digits; i++) {
        const size_t at = (i * c->primes + t) * c->n;
        x[i] = room->raised + at;
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
    begin_raising(c, &c->p, room);
    for (size_t t = 0; t <= level; t++) {
        const dpi_modulus *m = &c->ntt[t]->m;
        raise_to(c, &c->p, t, room, raised);
        dpi_ntt_forward(c->ntt[t], raised);
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
    for (size_t t = 0; t < c->primes; t++)
        if (is_in_use(c, level, t))
            inner_row(c, digits_of(c, level), k, t, room);
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

void dpi_ckks_rescale(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    if (x->level == 0)
        dpi_misuse(__func__, "there is no level below");
    for (size_t k = 0; k < x->parts; k++)
        divide_by_last(c, x->level, room, x->part[k]);
    x->level--;
    x->seeded = false;
    x->scale = c->scale[x->level];
    x->noise += dpi_ckks_spread(c, dpi_ckks_rounding(c), x->scale);
}
