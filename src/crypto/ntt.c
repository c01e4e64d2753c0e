/* Negacyclic number-theoretic transform: tables and the portable kernel.
 *
 * Forward: Cooley-Tukey butterflies from the largest distance to the least, inverse:
 * Gentleman-Sande backwards, both with powers of zeta in bit-reversed order, so that neither needs
 * a pass of its own for the sign of X^n = -1 or for the order (Longa and Naehrig, CANS 2016).
 * Products by known factors are Shoup's: with w' = floor(w 2^64 / q), y w - floor(y w' / 2^64) q
 * lies in [0, 2q) for every y < 2^64, and sums are reduced late (Harvey, "Faster arithmetic for
 * number-theoretic transforms", 2014): forward ones grow by 2q a stage and are below 2^56 at the
 * end, inverse ones double, and are reduced where they would reach 2^11 q.
 *
 * n log2(n) / 2 products; a transform has 4 n words of tables. */
#include "crypto/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { MOST_LOG_N = 17 };

/* y w mod q, in [0, 2q). */
DPI_INLINE uint64_t by_factor(uint64_t y, uint64_t w, uint64_t beside, uint64_t q)
{
    unsigned long long low;
    return y * w - dpi_multiply_wide(y, beside, &low) * q;
}

/* y mod q, in [0, 2q), by floor(2^64 / q). */
DPI_INLINE uint64_t by_one(uint64_t y, uint64_t beside, uint64_t q)
{
    unsigned long long low;
    return y - dpi_multiply_wide(y, beside, &low) * q;
}

static void forward(const dpi_ntt *t, uint64_t *a)
{
    const uint64_t q = t->m.q;
    size_t distance = t->n / 2;
    for (size_t blocks = 1; blocks < t->n; blocks *= 2, distance /= 2)
        for (size_t i = 0; i < blocks; i++) {
            const uint64_t w = t->root[blocks + i], beside = t->root_beside[blocks + i];
            uint64_t *x = a + 2 * i * distance, *y = x + distance;
            for (size_t j = 0; j < distance; j++) {
                uint64_t u = x[j], v = by_factor(y[j], w, beside, q);
                x[j] = u + v;
                y[j] = u + 2 * q - v;
            }
        }
    for (size_t j = 0; j < t->n; j++)
        a[j] = dpi_modulus_once(by_one(a[j], t->whole_beside[0], q), q);
}

static void inverse(const dpi_ntt *t, uint64_t *a)
{
    const uint64_t q = t->m.q;
    uint64_t below = 2 * q;
    size_t distance = 1;
    for (size_t blocks = t->n / 2; blocks > 1; blocks /= 2, distance *= 2) {
        const bool full = below > q << 9;
        for (size_t i = 0; i < blocks; i++) {
            const uint64_t w = t->back[blocks + i], beside = t->back_beside[blocks + i];
            uint64_t *x = a + 2 * i * distance, *y = x + distance;
            for (size_t j = 0; j < distance; j++) {
                uint64_t u = x[j], v = y[j];
                x[j] = full ? by_one(u + v, t->whole_beside[0], q) : u + v;
                y[j] = by_factor(u + below - v, w, beside, q);
            }
        }
        below = full ? 2 * q : 2 * below;
    }
    for (size_t j = 0; j < t->n / 2; j++) { /* the last stage, with 1/n in its factors */
        uint64_t u = a[j], v = a[t->n / 2 + j];
        uint64_t sum = by_factor(u + v, t->last[0], t->last_beside[0], q);
        uint64_t difference = by_factor(u + below - v, t->last[1], t->last_beside[1], q);
        a[j] = dpi_modulus_once(sum, q);
        a[t->n / 2 + j] = dpi_modulus_once(difference, q);
    }
}

static void multiply(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    for (size_t j = 0; j < t->n; j++)
        c[j] = dpi_modulus_multiply(&t->m, a[j], b[j]);
}

static void multiply_add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    for (size_t j = 0; j < t->n; j++)
        c[j] = dpi_modulus_add(&t->m, c[j], dpi_modulus_multiply(&t->m, a[j], b[j]));
}

static void inner(const dpi_ntt *t, const dpi_ntt_terms *terms, uint64_t *c, uint64_t *d)
{
    memset(c, 0, t->n * sizeof *c);
    memset(d, 0, t->n * sizeof *d);
    for (size_t i = 0; i < terms->n; i++) {
        multiply_add(t, terms->a[i], terms->b[i], c);
        multiply_add(t, terms->a[i], terms->e[i], d);
    }
}

static void weigh(const dpi_ntt *t, size_t terms, const uint64_t *const *a, const uint64_t *w,
                  uint64_t *c)
{
    memset(c, 0, t->n * sizeof *c);
    for (size_t i = 0; i < terms; i++) {
        const uint64_t beside = dpi_ntt_beside(t, w[i]);
        for (size_t j = 0; j < t->n; j++) {
            const uint64_t more =
                dpi_modulus_once(by_factor(a[i][j], w[i], beside, t->m.q), t->m.q);
            c[j] = dpi_modulus_add(&t->m, c[j], more);
        }
    }
}

static void scale(const dpi_ntt *t, uint64_t w, uint64_t beside, uint64_t *a)
{
    for (size_t j = 0; j < t->n; j++)
        a[j] = dpi_modulus_once(by_factor(a[j], w, beside, t->m.q), t->m.q);
}

static void add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    for (size_t j = 0; j < t->n; j++)
        c[j] = dpi_modulus_add(&t->m, a[j], b[j]);
}

static void subtract(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    for (size_t j = 0; j < t->n; j++)
        c[j] = dpi_modulus_subtract(&t->m, a[j], b[j]);
}

static bool everywhere(void)
{
    return true;
}

const dpi_ntt_kernel dpi_ntt_portable = {
    .name = "portable",
    .runs_here = everywhere,
    .least_n = 2,
    .bits = 64,
    .forward = forward,
    .inverse = inverse,
    .multiply = multiply,
    .multiply_add = multiply_add,
    .inner = inner,
    .weigh = weigh,
    .scale = scale,
    .add = add,
    .subtract = subtract,
};

const dpi_ntt_kernel *dpi_ntt_best(void)
{
    if (dpi_ntt_ifma.runs_here())
        return &dpi_ntt_ifma;
    return dpi_ntt_avx2.runs_here() ? &dpi_ntt_avx2 : &dpi_ntt_portable;
}

/* floor(w 2^bits / q) of *w < q < 2^50, bits <= 32, and the rest in *w.  The quotient by doubles,
 * rounded in whatever direction, is off by one at most, which the rest tells. */
static uint64_t digit(uint64_t *w, uint64_t q, int bits)
{
    uint64_t quotient = (uint64_t)((double)*w * (double)((uint64_t)1 << bits) / (double)q);
    uint64_t rest = (*w << bits) - quotient * q;
    const uint64_t under = rest >> 63;
    quotient -= under;
    rest += q & (0 - under);
    const uint64_t over = rest >= q;
    *w = rest - (q & (0 - over));
    return quotient + over;
}

/* floor(w 2^bits / q) of w < q, bits 52 or 64. */
static uint64_t beside(uint64_t w, uint64_t q, int bits)
{
    const uint64_t high = digit(&w, q, bits / 2);
    return high << (bits / 2) | digit(&w, q, bits / 2);
}

static size_t reversed(size_t j, size_t n)
{
    size_t result = 0;
    for (; n > 1; n /= 2, j /= 2)
        result = 2 * result + (j & 1);
    return result;
}

static void fill(dpi_ntt *t)
{
    const dpi_modulus *m = &t->m;
    const uint64_t zeta = dpi_modulus_root(m, t->n), back = dpi_modulus_inverse(m, zeta);
    uint64_t up = 1, down = 1;
    for (size_t j = 0; j < t->n; j++) {
        const size_t at = reversed(j, t->n);
        t->root[at] = up;
        t->back[at] = down;
        t->root_beside[at] = beside(up, m->q, t->kernel->bits);
        t->back_beside[at] = beside(down, m->q, t->kernel->bits);
        up = dpi_modulus_multiply(m, up, zeta);
        down = dpi_modulus_multiply(m, down, back);
    }
    t->last[0] = dpi_modulus_inverse(m, dpi_modulus_reduce(m, t->n));
    t->last[1] = dpi_modulus_multiply(m, t->last[0], t->back[1]);
    t->whole[0] = 1;
    t->whole[1] = dpi_modulus_reduce(m, (uint64_t)1 << 52);
    for (int i = 0; i < 2; i++) {
        t->last_beside[i] = beside(t->last[i], m->q, t->kernel->bits);
        t->whole_beside[i] = beside(t->whole[i], m->q, t->kernel->bits);
    }
}

static dp_status allowed(size_t n, uint64_t q, const dpi_ntt_kernel *kernel, dp_error *err)
{
    if (n < 2 || n > (size_t)1 << MOST_LOG_N || (n & (n - 1)) != 0)
        return dpi_fail(err, DP_EINVAL, "a transform has 2, 4, ... 2^%d places, not %zu",
                        MOST_LOG_N, n);
    dpi_modulus m;
    if (!dpi_modulus_make(q, &m) || (q - 1) % (2 * n) != 0)
        return dpi_fail(err, DP_EINVAL,
                        "a transform of %zu places is modulo a prime below 2^%d that is 1 mod %zu, "
                        "not modulo %llu; dpi_modulus_find finds one",
                        n, DPI_MODULUS_BITS, 2 * n, (unsigned long long)q);
    if (!kernel->runs_here())
        return dpi_fail(err, DP_EUNSUPPORTED, "this processor cannot run the kernel %s",
                        kernel->name);
    return DP_OK;
}

dp_status dpi_ntt_new(size_t n, uint64_t q, const dpi_ntt_kernel *kernel, dpi_ntt **t,
                      dp_error *err)
{
    *t = NULL;
    if (kernel == NULL)
        kernel = dpi_ntt_best();
    if (n < kernel->least_n)
        kernel = &dpi_ntt_portable;
    dp_status status = allowed(n, q, kernel, err);
    if (status != DP_OK)
        return status;
    dpi_ntt *made = dpi_alloc(1, sizeof *made);
    uint64_t *tables = dpi_alloc(4 * n, sizeof *tables);
    if (made == NULL || tables == NULL) {
        dpi_free(made);
        dpi_free(tables);
        return dpi_fail_nomem(err);
    }
    (void)dpi_modulus_make(q, &made->m);
    made->n = n;
    made->kernel = kernel;
    made->root = tables;
    made->root_beside = tables + n;
    made->back = tables + 2 * n;
    made->back_beside = tables + 3 * n;
    fill(made);
    *t = made;
    return DP_OK;
}

void dpi_ntt_free(dpi_ntt *t)
{
    if (t != NULL)
        dpi_free(t->root);
    dpi_free(t);
}

uint64_t dpi_ntt_beside(const dpi_ntt *t, uint64_t w)
{
    return beside(w, t->m.q, t->kernel->bits);
}

void dpi_ntt_forward(const dpi_ntt *t, uint64_t *a)
{
    t->kernel->forward(t, a);
}

void dpi_ntt_inverse(const dpi_ntt *t, uint64_t *a)
{
    t->kernel->inverse(t, a);
}
