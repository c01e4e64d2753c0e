/* Keys of bootstrapping: rotations, and to and from a sparse secret.
 *
 * The key to the sparse secret lives modulo q_0 p alone, a hundred bits, at which a secret of
 * weight 32 is as safe as a dense one at Q P (Bossuat, Troncoso-Pastoriza and Hubaux, ACNS 2022);
 * the key back is one under the dense secret. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/boot-parts.h"

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

/* WEIGHT places of -1 or 1, uniform: places that are taken are drawn again.  Of n places, a power
 * of two, from 32 bits. */
static void draw_sparse(size_t n, dpi_rlwe_stream *random, int8_t *digit)
{
    memset(digit, 0, n);
    for (int left = DPI_CKKS_BOOT_WEIGHT; left > 0;) {
        unsigned char b[4];
        dpi_rlwe_bytes(random, sizeof b, b);
        const uint32_t x =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        int8_t *d = &digit[(x >> 1) & (n - 1)];
        if (*d != 0)
            continue;
        *d = (int8_t)((x & 1) != 0 ? 1 : -1);
        left--;
    }
}

static size_t prime_of(const dpi_ckks *c, int k)
{
    return k == 0 ? 0 : c->levels;
}

void dpi_ckks_boot_expand(dpi_ckks_boot_keys *k)
{
    dpi_rlwe_stream uniform;
    dpi_rlwe_start(&uniform, k->seed, "tacit ckks sparse a");
    for (int j = 0; j < 2; j++)
        dpi_rlwe_uniform(&uniform, &k->c->ntt[prime_of(k->c, j)]->m, k->c->n,
                         k->a + (size_t)j * k->c->n);
    dpi_rlwe_end(&uniform);
}

/* b = e - a sparse + p s modulo q_0 and p. */
static dp_status make_down(dpi_ckks_boot_keys *k, const dpi_ckks_secret *s, const int8_t *sparse,
                           dpi_rlwe_stream *random, dp_error *err)
{
    const dpi_ckks *c = k->c;
    const size_t n = c->n;
    int8_t *e = dpi_alloc(n, 1);
    uint64_t *row = dpi_alloc(n, sizeof *row);
    const bool good = e != NULL && row != NULL;
    if (good) {
        dpi_rlwe_bytes(random, sizeof k->seed, k->seed);
        dpi_rlwe_errors(random, n, e);
        dpi_ckks_boot_expand(k);
        for (int j = 0; j < 2; j++) {
            const size_t t = prime_of(c, j);
            const dpi_modulus *m = &c->ntt[t]->m;
            uint64_t *b = k->b + (size_t)j * n;
            const uint64_t *a = k->a + (size_t)j * n;
            dpi_ckks_small(c, t, t + 1, e, b);
            dpi_ckks_small(c, t, t + 1, sparse, row);
            const uint64_t p = j == 0 ? dpi_ckks_reduce(c, 0, c->ntt[c->levels]->m.q) : 0;
            for (size_t i = 0; i < n; i++) {
                const uint64_t as = dpi_modulus_multiply(m, a[i], row[i]);
                const uint64_t ps = dpi_modulus_multiply(m, p, s->row[t * n + i]);
                b[i] = dpi_modulus_add(m, dpi_modulus_subtract(m, b[i], as), ps);
            }
        }
    }
    wipe(e, n);
    wipe(row, n * sizeof *row);
    return good ? DP_OK : dpi_fail_nomem(err);
}

/* The sparse secret is here alone. */
static dp_status make_sparse(dpi_ckks_boot_keys *k, const dpi_ckks_secret *s,
                             dpi_rlwe_stream *random, dp_error *err)
{
    const dpi_ckks *c = k->c;
    int8_t *sparse = dpi_alloc(c->n, 1);
    uint64_t *row = dpi_alloc(c->levels * c->n, sizeof *row);
    dp_status status = sparse != NULL && row != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        draw_sparse(c->n, random, sparse);
        dpi_ckks_small(c, 0, c->levels, sparse, row);
        status = make_down(k, s, sparse, random, err);
    }
    if (status == DP_OK)
        status = dpi_ckks_switch_from(s, row, random, &k->up, err);
    wipe(sparse, c->n);
    wipe(row, c->levels * c->n * sizeof *row);
    return status;
}

static dp_status make_turns(dpi_ckks_boot_keys *k, const dpi_ckks_secret *s,
                            dpi_rlwe_stream *random, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t i = 0; i < k->turns.n && status == DP_OK; i++)
        status =
            dpi_ckks_switch_new(s, dpi_ckks_rotation(k->c, k->steps[i]), random, &k->key[i], err);
    return status;
}

dp_status dpi_ckks_boot_keys_room(const dpi_ckks_boot *b, dpi_ckks_boot_keys **to, dp_error *err)
{
    const dpi_ckks *c = b->c;
    const size_t n = dpi_ckks_boot_turns(b, NULL);
    dpi_ckks_boot_keys *k = *to = dpi_alloc(1, sizeof *k);
    if (k == NULL)
        return dpi_fail_nomem(err);
    *k = (dpi_ckks_boot_keys){.c = c,
                              .b = dpi_alloc(2 * c->n, sizeof *k->b),
                              .a = dpi_alloc(2 * c->n, sizeof *k->a),
                              .steps = dpi_alloc(n, sizeof *k->steps),
                              .key = dpi_alloc(n, sizeof *k->key)};
    if (k->b == NULL || k->a == NULL || k->steps == NULL || k->key == NULL) {
        dpi_ckks_boot_keys_free(k);
        *to = NULL;
        return dpi_fail_nomem(err);
    }
    memset(k->key, 0, n * sizeof *k->key);
    (void)dpi_ckks_boot_turns(b, k->steps);
    k->turns = (dpi_ckks_turns){n, k->steps, (const dpi_ckks_switch *const *)k->key};
    return DP_OK;
}

dp_status dpi_ckks_boot_keys_new(const dpi_ckks_boot *b, const dpi_ckks_secret *s,
                                 dpi_rlwe_stream *random, dpi_ckks_boot_keys **to, dp_error *err)
{
    const dpi_ckks *c = b->c;
    dpi_ckks_must_be_of(c, s->c);
    dp_status status = dpi_ckks_boot_keys_room(b, to, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_boot_keys *k = *to;
    status = make_sparse(k, s, random, err);
    if (status == DP_OK)
        status = dpi_ckks_switch_new(s, dpi_ckks_conjugation(c), random, &k->conjugate, err);
    if (status == DP_OK)
        status = make_turns(k, s, random, err);
    if (status == DP_OK)
        return DP_OK;
    dpi_ckks_boot_keys_free(k);
    *to = NULL;
    return status;
}

void dpi_ckks_boot_keys_free(dpi_ckks_boot_keys *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < k->turns.n; i++)
        dpi_ckks_switch_free(k->key[i]);
    dpi_ckks_switch_free(k->up);
    dpi_ckks_switch_free(k->conjugate);
    dpi_free(k->steps);
    dpi_free(k->key);
    dpi_free(k->b);
    dpi_free(k->a);
    dpi_free(k);
}

size_t dpi_ckks_boot_keys_memory(const dpi_ckks_boot_keys *k)
{
    const dpi_ckks *c = k->c;
    return ((k->turns.n + 2) * 2 * c->digits * c->primes + 4) * c->n * sizeof *k->b;
}

/* ---- to the sparse secret ---- */

double dpi_ckks_boot_sparsing(const dpi_ckks *c)
{
    const double q = (double)c->ntt[0]->m.q, p = (double)c->ntt[c->levels]->m.q;
    return (double)c->n * (q / p) * (q / p) / 12 * dpi_ckks_variance() +
           (1.0 + DPI_CKKS_BOOT_WEIGHT) / 12;
}

/* to[n] modulo prime t of x[n], residues modulo prime `of` that are not transformed: centred. */
static void lift(const dpi_ckks *c, size_t of, size_t t, const uint64_t *x, uint64_t *to)
{
    const uint64_t q = c->ntt[of]->m.q;
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t above = 0 - (uint64_t)(x[i] > q / 2);
        to[i] = dpi_ckks_residue(c, t, (int64_t)(x[i] - (q & above)));
    }
    dpi_ntt_forward(c->ntt[t], to);
}

void dpi_ckks_boot_make_sparse(const dpi_ckks_boot_keys *k, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    const dpi_ckks *c = k->c;
    const size_t n = c->n, last = c->levels;
    const dpi_modulus *m = &c->ntt[0]->m;
    const uint64_t over = dpi_modulus_inverse(m, dpi_ckks_reduce(c, 0, c->ntt[last]->m.q));
    uint64_t *d = room->raised, *high = room->sum[1], *rest = room->spare, *low = room->sum[0];
    memcpy(rest, x->part[1], n * sizeof *rest);
    dpi_ntt_inverse(c->ntt[0], rest);
    lift(c, 0, last, rest, d);
    memcpy(low, x->part[1], n * sizeof *low);
    memset(x->part[1], 0, n * sizeof *low);
    for (int part = 0; part < 2; part++) {
        const uint64_t *key = part == 0 ? k->b : k->a;
        c->ntt[last]->kernel->multiply(c->ntt[last], d, key + n, high);
        dpi_ntt_inverse(c->ntt[last], high);
        lift(c, last, 0, high, rest);
        for (size_t i = 0; i < n; i++) {
            const uint64_t sum =
                dpi_modulus_subtract(m, dpi_modulus_multiply(m, low[i], key[i]), rest[i]);
            x->part[part][i] =
                dpi_modulus_add(m, x->part[part][i], dpi_modulus_multiply(m, sum, over));
        }
    }
}
