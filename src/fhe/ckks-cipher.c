/* Encoding, encryption, and what decryption gives. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fhe/ckks-parts.h"

/* ---- encoding ---- */

static double most_coefficient(const dpi_ckks *c, size_t level)
{
    const double q = (double)c->ntt[0]->m.q / 2;
    return fmin(level > 0 ? q * (double)c->ntt[1]->m.q : q, 0x1p62);
}

/* whole[n] = places times the scale, rounded; false where one is too large. */
static bool round_all(const dpi_ckks *c, size_t places, double scale, double most,
                      dpi_ckks_room *room)
{
    const size_t gap = c->n / 2 / places;
    bool good = true;
    memset(room->whole, 0, c->n * sizeof *room->whole);
    for (size_t k = 0; k < places; k++)
        for (int part = 0; part < 2; part++) {
            const double x = (part == 0 ? room->re : room->im)[k] * scale;
            const bool fits = fabs(x) < most;
            room->whole[k * gap + (size_t)part * (c->n / 2)] = fits ? (int64_t)llrint(x) : 0;
            good = good && fits;
        }
    return good;
}

dp_status dpi_ckks_encode(const dpi_ckks *c, size_t level, double scale, size_t places,
                          const double *re, const double *im, dpi_ckks_room *room,
                          dpi_ckks_plain *p, dp_error *err)
{
    const size_t n = c->n;
    double size = 0;
    if (places < 1 || places > n / 2 || (places & (places - 1)) != 0 || level >= c->levels)
        dpi_misuse(__func__, "places are a power of two up to n / 2, and levels those there are");
    dpi_ckks_must_be_of(c, room->c);
    dpi_ckks_must_hold(c, p->room, level);
    for (size_t k = 0; k < places; k++) {
        room->re[k] = re[k];
        room->im[k] = im != NULL ? im[k] : 0;
        size = fmax(size, hypot(room->re[k], room->im[k]));
        if (!isfinite(room->re[k]) || !isfinite(room->im[k]))
            return dpi_fail(err, DP_EDOMAIN, "place %zu (from 0) is no number", k);
    }
    p->level = level;
    p->scale = scale > 0 ? scale : c->factor[level];
    p->size = size;
    p->noise = dpi_ckks_spread(c, 1.0 / 12, p->scale) + 0x1p-50 * size;
    dpi_embedding_inverse(c->embedding, places, room->re, room->im);
    if (!round_all(c, places, p->scale, most_coefficient(c, level), room))
        return dpi_fail(err, DP_EDOMAIN,
                        "numbers up to %.3g times the scale 2^%.1f do not fit level %zu", size,
                        log2(p->scale), level);
    for (size_t t = 0; t <= level; t++) {
        for (size_t i = 0; i < n; i++)
            p->row[t * n + i] = dpi_ckks_residue(c, t, room->whole[i]);
        dpi_ntt_forward(c->ntt[t], p->row + t * n);
    }
    return DP_OK;
}

/* The number below q_0 q_1 / 2 in magnitude that has these residues: x_0 + q_0 h. */
static double lift(const dpi_ckks *c, uint64_t over, uint64_t x0, uint64_t x1)
{
    const dpi_modulus *m = &c->ntt[1]->m;
    const uint64_t less = dpi_modulus_subtract(m, x1, dpi_ckks_reduce(c, 1, x0));
    const uint64_t h = dpi_modulus_multiply(m, less, over);
    const double around = h > m->q / 2 ? -(double)(m->q - h) : (double)h;
    return (double)x0 + (double)c->ntt[0]->m.q * around;
}

void dpi_ckks_decode(const dpi_ckks *c, const dpi_ckks_plain *p, size_t places, dpi_ckks_room *room,
                     double *re, double *im)
{
    if (places < 1 || places > c->n / 2 || (places & (places - 1)) != 0)
        dpi_misuse(__func__, "places are a power of two up to n / 2");
    dpi_ckks_must_be_of(c, room->c);
    const size_t n = c->n, gap = n / 2 / places;
    const dpi_modulus *m = &c->ntt[0]->m;
    uint64_t *x[2] = {room->sum[0], room->sum[1]}, over = 0;
    for (size_t t = 0; t < 2 && t <= p->level; t++) {
        memcpy(x[t], p->row + t * n, n * sizeof *x[t]);
        dpi_ntt_inverse(c->ntt[t], x[t]);
    }
    if (p->level > 0)
        over = dpi_modulus_inverse(&c->ntt[1]->m, dpi_ckks_reduce(c, 1, m->q));
    for (size_t k = 0; k < places; k++)
        for (int part = 0; part < 2; part++) {
            const size_t i = k * gap + (size_t)part * (n / 2);
            const uint64_t x0 = x[0][i];
            const double alone = x0 > m->q / 2 ? -(double)(m->q - x0) : (double)x0;
            const double v = p->level > 0 ? lift(c, over, x0, x[1][i]) : alone;
            (part == 0 ? room->re : room->im)[k] = v / p->scale;
        }
    dpi_embedding_forward(c->embedding, places, room->re, room->im);
    memcpy(re, room->re, places * sizeof *re);
    if (im != NULL)
        memcpy(im, room->im, places * sizeof *im);
}

/* ---- encryption ---- */

static void begin(const dpi_ckks *c, const dpi_ckks_plain *p, bool by_secret, dpi_ckks_cipher *x)
{
    dpi_ckks_must_hold(c, x->room, p->level);
    x->level = p->level;
    x->seeded = by_secret;
    x->scale = p->scale;
    x->size = p->size;
    x->noise = dpi_ckks_fresh(c, by_secret, p->size, p->scale);
}

static void add_rows(const dpi_ckks *c, size_t level, const uint64_t *x, uint64_t *to)
{
    for (size_t t = 0; t <= level; t++)
        for (size_t i = t * c->n; i < (t + 1) * c->n; i++)
            to[i] = dpi_modulus_add(&c->ntt[t]->m, to[i], x[i]);
}

void dpi_ckks_encrypt(const dpi_ckks_secret *s, const dpi_ckks_plain *p, dpi_rlwe_stream *random,
                      dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    dpi_ckks_must_be_of(s->c, room->c);
    begin(s->c, p, true, x);
    dpi_ckks_sample(s->c, s->minus, p->level + 1, random, room->small[0], x->part[0], x->part[1],
                    x->seed);
    add_rows(s->c, p->level, p->row, x->part[0]);
}

/* x += (b v + e0, a v + e1): 0, encrypted. */
static void add_zero(const dpi_ckks_public *k, dpi_rlwe_stream *random, dpi_ckks_room *room,
                     dpi_ckks_cipher *x)
{
    const dpi_ckks *c = k->c;
    const size_t last = x->level + 1;
    const uint64_t *const key[2] = {k->b, k->a};
    uint64_t *v = room->sum[0], *e = room->sum[1];
    dpi_rlwe_ternary(random, c->n, room->small[0]);
    dpi_ckks_small(c, 0, last, room->small[0], v);
    for (int part = 0; part < 2; part++) {
        dpi_rlwe_errors(random, c->n, room->small[1]);
        dpi_ckks_small(c, 0, last, room->small[1], e);
        add_rows(c, x->level, e, x->part[part]);
        for (size_t t = 0; t < last; t++)
            c->ntt[t]->kernel->multiply_add(c->ntt[t], key[part] + t * c->n, v + t * c->n,
                                            x->part[part] + t * c->n);
    }
}

void dpi_ckks_encrypt_public(const dpi_ckks_public *k, const dpi_ckks_plain *p,
                             dpi_rlwe_stream *random, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    const dpi_ckks *c = k->c;
    const size_t all = (p->level + 1) * c->n * sizeof(uint64_t);
    dpi_ckks_must_be_of(c, room->c);
    begin(c, p, false, x);
    memcpy(x->part[0], p->row, all);
    memset(x->part[1], 0, all);
    add_zero(k, random, room, x);
}

/* ---- renewal ---- */

static double flood_spread(const dpi_ckks *c, int bits, double scale)
{
    return dpi_ckks_spread(c, exp2(2 * bits) / 12, scale);
}

int dpi_ckks_flood_bits(const dpi_ckks *c, size_t level, double spread)
{
    int bits = 0;
    while (bits < DPI_CKKS_FLOOD && flood_spread(c, bits + 1, c->scale[level]) <= spread)
        bits++;
    return bits;
}

void dpi_ckks_renew(const dpi_ckks_public *k, int bits, dpi_rlwe_stream *random,
                    dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    const dpi_ckks *c = k->c;
    dpi_ckks_must_be_of(c, room->c);
    if (bits < 0 || bits > DPI_CKKS_FLOOD)
        dpi_misuse(__func__, "floods have 0 to DPI_CKKS_FLOOD bits");
    add_zero(k, random, room, x);
    x->noise += dpi_ckks_fresh(c, false, 0, x->scale);
    x->seeded = false;
    if (bits == 0)
        return;
    dpi_rlwe_wide(random, bits, c->n, room->whole);
    for (size_t t = 0; t <= x->level; t++) {
        uint64_t *row = room->sum[0] + t * c->n;
        for (size_t i = 0; i < c->n; i++)
            row[i] = dpi_ckks_residue(c, t, room->whole[i]);
        dpi_ntt_forward(c->ntt[t], row);
    }
    add_rows(c, x->level, room->sum[0], x->part[0]);
    x->noise += flood_spread(c, bits, x->scale);
}

void dpi_ckks_decrypt(const dpi_ckks_secret *s, const dpi_ckks_cipher *x, dpi_ckks_plain *p)
{
    const dpi_ckks *c = s->c;
    dpi_ckks_must_hold(c, p->room, x->level);
    p->level = x->level;
    p->scale = x->scale;
    p->size = x->size;
    p->noise = x->noise;
    for (size_t t = 0; t <= x->level; t++) {
        memcpy(p->row + t * c->n, x->part[0] + t * c->n, c->n * sizeof *p->row);
        c->ntt[t]->kernel->multiply_add(c->ntt[t], x->part[1] + t * c->n, s->row + t * c->n,
                                        p->row + t * c->n);
    }
}
