/* Contexts: primes, scales, and what is known of them beforehand. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

/* Bits of a scale beyond those of the degree, at the least. */
enum { LEAST_MORE = 10 };

/* The guidelines of 2024 (eprint 2024/463), uniform ternary secrets, 128 bits, classical. */
double dpi_ckks_most_bits(int log_n)
{
    static const double most[] = {26, 53, 106, 214, 430, 868, 1747};
    return log_n >= DPI_CKKS_LEAST_LOG && log_n <= DPI_CKKS_MOST_LOG
               ? most[log_n - DPI_CKKS_LEAST_LOG]
               : 0;
}

static dp_status check_upper(const dpi_ckks_spec *s, const dpi_ckks_upper *u, dp_error *err)
{
    const size_t left = DPI_CKKS_PRIMES - 1 - s->special - s->depth;
    if (u->squares > left || u->plains > left - u->squares)
        return dpi_fail(err, DP_EINVAL,
                        "%zu and %zu levels above depth %zu; all primes together are at most %d",
                        u->squares, u->plains, s->depth, (int)DPI_CKKS_PRIMES);
    if (u->squares + u->plains > 0 && (u->bits < s->scale_bits || u->bits > DPI_MODULUS_BITS - 1))
        return dpi_fail(err, DP_EINVAL,
                        "scales above the depth have as many bits as those below to %d, not %d",
                        DPI_MODULUS_BITS - 1, u->bits);
    return DP_OK;
}

static dp_status check(const dpi_ckks_spec *s, dp_error *err)
{
    if (s->log_n < DPI_CKKS_LEAST_LOG || s->log_n > DPI_CKKS_MOST_LOG)
        return dpi_fail(err, DP_EINVAL, "the degree is 2^%d .. 2^%d, not 2^%d",
                        (int)DPI_CKKS_LEAST_LOG, (int)DPI_CKKS_MOST_LOG, s->log_n);
    if (s->scale_bits < s->log_n + LEAST_MORE || s->scale_bits > DPI_MODULUS_BITS - 1 ||
        s->first_bits < s->scale_bits || s->first_bits > DPI_MODULUS_BITS)
        return dpi_fail(err, DP_EINVAL,
                        "scales at degree 2^%d have %d .. %d bits and the first prime as many to "
                        "%d, not %d and %d",
                        s->log_n, s->log_n + LEAST_MORE, DPI_MODULUS_BITS - 1,
                        (int)DPI_MODULUS_BITS, s->scale_bits, s->first_bits);
    if (s->special < 1 || s->alpha < 1 || s->alpha > s->special || s->special >= DPI_CKKS_PRIMES ||
        s->depth >= DPI_CKKS_PRIMES - s->special)
        return dpi_fail(
            err, DP_EINVAL,
            "%zu primes in a digit, %zu special ones and depth %zu; digits have 1 to as "
            "many as are special, and all primes together are at most %d",
            s->alpha, s->special, s->depth, (int)DPI_CKKS_PRIMES);
    return DP_OK;
}

/* ---- choice ---- */

/* Transforms of switching a key at the top: see ckks-switch.c. */
static size_t transforms(size_t levels, size_t alpha)
{
    const size_t digits = (levels + alpha - 1) / alpha;
    return digits * (levels + alpha) + 2 * (alpha + levels);
}

/* Primes have at most so many bits as they are chosen for, and a thousandth more. */
static bool is_within(const dpi_ckks_spec *s)
{
    const double bits = s->first_bits + (double)s->depth * (s->scale_bits + 1e-3) +
                        (double)s->special * DPI_MODULUS_BITS;
    return bits <= dpi_ckks_most_bits(s->log_n) && s->depth + 1 + s->special <= DPI_CKKS_PRIMES;
}

dp_status dpi_ckks_choose(size_t depth, int scale_bits, size_t places, dpi_ckks_spec *spec,
                          dp_error *err)
{
    size_t least = 0;
    dpi_ckks_spec s = {.scale_bits = scale_bits, .depth = depth};
    s.first_bits = scale_bits + 9 < DPI_MODULUS_BITS ? scale_bits + 9 : DPI_MODULUS_BITS;
    for (s.log_n = DPI_CKKS_LEAST_LOG; least == 0 && s.log_n <= DPI_CKKS_MOST_LOG; s.log_n++)
        for (size_t alpha = 1; alpha <= depth + 1 && (size_t)1 << s.log_n >= 2 * places; alpha++) {
            s.alpha = s.special = alpha;
            const size_t cost = transforms(depth + 1, alpha);
            if (!is_within(&s) || scale_bits < s.log_n + LEAST_MORE || (least > 0 && cost >= least))
                continue;
            least = cost;
            *spec = s;
        }
    return least > 0
               ? DP_OK
               : dpi_fail(err, DP_EPRIVACY,
                          "%zu products after one another at scales of %d bits do not fit "
                          "degree 2^%d at 128 bits of security; take fewer, or smaller scales",
                          depth, scale_bits, (int)DPI_CKKS_MOST_LOG);
}

/* ---- primes ---- */

static bool is_used(const uint64_t *used, size_t n, uint64_t q)
{
    for (size_t k = 0; k < n; k++)
        if (used[k] == q)
            return true;
    return false;
}

/* The unused prime q = 1 mod 2n that is nearest to x; 0: none within a fiftieth of it. */
static uint64_t nearest(double x, uint64_t step, const uint64_t *used, size_t n)
{
    const uint64_t middle = (uint64_t)llround(x / (double)step) * step + 1;
    for (uint64_t away = 0; away < middle / 50; away += step)
        for (int side = 0; side < (away > 0 ? 2 : 1); side++) {
            const uint64_t q = side == 0 ? middle - away : middle + away;
            if (q < (uint64_t)1 << DPI_MODULUS_BITS && !is_used(used, n, q) && dpi_prime(q))
                return q;
        }
    return 0;
}

/* The largest unused one of so many bits; 0: none. */
static uint64_t largest(int bits, uint64_t step, const uint64_t *used, size_t n)
{
    uint64_t q = 0;
    for (size_t skip = 0; skip == 0 || (q != 0 && is_used(used, n, q)); skip++)
        q = dpi_modulus_find(bits, step, skip);
    return q;
}

/* Primes from the one of level `last` down to that of `first`, each by the scale above it: the
 * scale at `last` is 2^bits.  That below `first` is returned. */
static double choose_run(dpi_ckks *c, size_t first, size_t last, int bits, uint64_t *prime,
                         uint64_t *used, size_t *n)
{
    double scale = exp2(bits);
    for (size_t l = last; l >= first; l--) {
        c->scale[l] = scale;
        prime[l] = used[*n] = nearest(scale * scale / exp2(bits), 2 * c->n, used, *n);
        (*n)++;
        scale = scale * scale / (double)prime[l];
    }
    return scale;
}

/* Factors have the scale that leads to the level below: the level's own where two values of it
 * are multiplied. */
static void choose_factors(dpi_ckks *c, const uint64_t *prime)
{
    const dpi_ckks_spec *s = &c->spec;
    c->factor[0] = c->scale[0];
    for (size_t l = 1; l < c->levels; l++) {
        const bool multiplies =
            l <= s->depth || (l > s->depth + 1 && l <= s->depth + c->upper.squares);
        c->factor[l] = multiplies ? c->scale[l] : c->scale[l - 1] * (double)prime[l] / c->scale[l];
    }
}

/* P's from the top, then q_0, then those of the levels by their scales; above `squares` scales stay
 * as they are. */
static dp_status choose_primes(dpi_ckks *c, uint64_t *prime, dp_error *err)
{
    const dpi_ckks_spec *s = &c->spec;
    const uint64_t step = 2 * (uint64_t)c->n;
    uint64_t used[DPI_CKKS_PRIMES];
    size_t n = 0;
    bool all = true;
    for (size_t k = 0; k < s->special; k++)
        prime[c->levels + k] = used[n] = largest(DPI_MODULUS_BITS, step, used, n), n++;
    prime[0] = used[n] = largest(s->first_bits, step, used, n), n++;
    c->scale[0] = choose_run(c, 1, s->depth, s->scale_bits, prime, used, &n);
    (void)choose_run(c, s->depth + 1, s->depth + c->upper.squares, c->upper.bits, prime, used, &n);
    for (size_t l = s->depth + c->upper.squares + 1; l < c->levels; l++) {
        prime[l] = used[n] = nearest(exp2(c->upper.bits), step, used, n), n++;
        c->scale[l] = exp2(c->upper.bits);
    }
    choose_factors(c, prime);
    for (size_t k = 0; k < c->primes; k++) {
        all = all && prime[k] != 0;
        c->bits += all ? log2((double)prime[k]) : 0;
    }
    if (!all)
        return dpi_fail(err, DP_EINVAL, "there are not as many primes for degree 2^%d", s->log_n);
    return s->toy || c->bits <= dpi_ckks_most_bits(s->log_n)
               ? DP_OK
               : dpi_fail(err, DP_EPRIVACY,
                          "moduli of %.0f bits at degree 2^%d are below 128 bits of security; up "
                          "to %.0f are allowed, take a higher degree or less depth",
                          c->bits, s->log_n, dpi_ckks_most_bits(s->log_n));
}

/* ---- what is known beforehand ---- */

static dpi_ckks_factor factor(const dpi_ckks *c, size_t prime, uint64_t w)
{
    return (dpi_ckks_factor){w, dpi_ntt_beside(c->ntt[prime], w)};
}

/* The product of primes first ... first + count - 1 but for `but`, modulo prime t. */
static uint64_t product(const dpi_ckks *c, size_t first, size_t count, size_t but, size_t t)
{
    const dpi_modulus *m = &c->ntt[t]->m;
    uint64_t all = 1;
    for (size_t k = first; k < first + count; k++)
        if (k != but)
            all = dpi_modulus_multiply(m, all, dpi_modulus_reduce(m, c->ntt[k]->m.q));
    return all;
}

static dp_status make_raising(const dpi_ckks *c, size_t first, size_t count, dpi_ckks_raising *r,
                              dp_error *err)
{
    const size_t terms = count + 1;
    *r = (dpi_ckks_raising){.first = first,
                            .count = count,
                            .own = dpi_alloc(count, sizeof *r->own),
                            .from = dpi_alloc(c->primes * terms, sizeof *r->from),
                            .over = dpi_alloc(count, sizeof *r->over)};
    if (r->own == NULL || r->from == NULL || r->over == NULL)
        return dpi_fail_nomem(err);
    for (size_t t = 0; t < c->primes; t++)
        r->from[t * terms + count] =
            dpi_modulus_subtract(&c->ntt[t]->m, 0, product(c, first, count, SIZE_MAX, t));
    for (size_t j = 0; j < count; j++) {
        const size_t q = first + j;
        r->bits += log2((double)c->ntt[q]->m.q);
        r->over[j] = 1 / (double)c->ntt[q]->m.q;
        r->own[j] =
            factor(c, q, dpi_modulus_inverse(&c->ntt[q]->m, product(c, first, count, q, q)));
        for (size_t t = 0; t < c->primes; t++)
            r->from[t * terms + j] = product(c, first, count, q, t);
    }
    return DP_OK;
}

static void free_raising(dpi_ckks_raising *r)
{
    dpi_free(r->own);
    dpi_free(r->from);
    dpi_free(r->over);
}

/* Each digit with all its primes and with fewer, of which there are only the first. */
static dp_status make_digits(dpi_ckks *c, dp_error *err)
{
    const size_t alpha = c->spec.alpha;
    dp_status status = DP_OK;
    c->digits = (c->levels + alpha - 1) / alpha;
    for (size_t i = 0; i < c->digits && status == DP_OK; i++) {
        const size_t first = i * alpha,
                     most = c->levels - first < alpha ? c->levels - first : alpha;
        c->digit[i] = dpi_alloc(most, sizeof *c->digit[i]);
        if (c->digit[i] == NULL)
            return dpi_fail_nomem(err);
        memset(c->digit[i], 0, most * sizeof *c->digit[i]);
        for (size_t k = 0; k < most && status == DP_OK; k++)
            status = make_raising(c, first, k + 1, &c->digit[i][k], err);
    }
    return status;
}

static void fill_special(dpi_ckks *c)
{
    for (size_t t = 0; t < c->levels; t++) {
        const dpi_modulus *m = &c->ntt[t]->m;
        c->p_mod[t] = product(c, c->levels, c->spec.special, SIZE_MAX, t);
        c->over_p[t] = factor(c, t, dpi_modulus_inverse(m, c->p_mod[t]));
        for (size_t l = t + 1; l < c->levels; l++)
            c->over_q[l][t] =
                factor(c, t, dpi_modulus_inverse(m, dpi_modulus_reduce(m, c->ntt[l]->m.q)));
    }
}

static dp_status make(dpi_ckks *c, dp_error *err)
{
    uint64_t prime[DPI_CKKS_PRIMES];
    dp_status status = choose_primes(c, prime, err);
    for (size_t k = 0; k < c->primes && status == DP_OK; k++) {
        status = dpi_ntt_new(c->n, prime[k], NULL, &c->ntt[k], err);
        c->whole[k] = UINT64_MAX / prime[k]; /* primes are odd */
    }
    if (status == DP_OK)
        status = dpi_embedding_new(c->n, &c->embedding, err);
    if (status == DP_OK)
        status = make_digits(c, err);
    if (status == DP_OK)
        status = make_raising(c, c->levels, c->spec.special, &c->p, err);
    if (status == DP_OK)
        fill_special(c);
    return status;
}

dp_status dpi_ckks_new(const dpi_ckks_spec *spec, dpi_ckks **to, dp_error *err)
{
    static const dpi_ckks_upper none = {0, 0, 0};
    return dpi_ckks_new_above(spec, &none, to, err);
}

dp_status dpi_ckks_new_above(const dpi_ckks_spec *spec, const dpi_ckks_upper *upper, dpi_ckks **to,
                             dp_error *err)
{
    *to = NULL;
    dp_status status = check(spec, err);
    if (status == DP_OK)
        status = check_upper(spec, upper, err);
    if (status != DP_OK)
        return status;
    dpi_ckks *c = dpi_alloc(1, sizeof *c);
    if (c == NULL)
        return dpi_fail_nomem(err);
    *c = (dpi_ckks){.spec = *spec,
                    .upper = *upper,
                    .n = (size_t)1 << spec->log_n,
                    .levels = spec->depth + upper->squares + upper->plains + 1};
    c->primes = c->levels + spec->special;
    status = make(c, err);
    if (status == DP_OK)
        *to = c;
    else
        dpi_ckks_free(c);
    return status;
}

void dpi_ckks_free(dpi_ckks *c)
{
    if (c == NULL)
        return;
    for (size_t k = 0; k < c->primes; k++)
        dpi_ntt_free(c->ntt[k]);
    for (size_t i = 0; i < c->digits; i++) {
        const size_t first = i * c->spec.alpha;
        for (size_t k = 0; c->digit[i] != NULL && k < c->spec.alpha && first + k < c->levels; k++)
            free_raising(&c->digit[i][k]);
        dpi_free(c->digit[i]);
    }
    free_raising(&c->p);
    dpi_embedding_free(c->embedding);
    dpi_free(c);
}

size_t dpi_ckks_n(const dpi_ckks *c)
{
    return c->n;
}

size_t dpi_ckks_depth(const dpi_ckks *c)
{
    return c->spec.depth;
}

double dpi_ckks_scale(const dpi_ckks *c, size_t level)
{
    return c->scale[level];
}

double dpi_ckks_factor_scale(const dpi_ckks *c, size_t level)
{
    return c->factor[level];
}

double dpi_ckks_bits(const dpi_ckks *c)
{
    return c->bits;
}

/* ---- noise ---- */

double dpi_ckks_spread(const dpi_ckks *c, double variance, double scale)
{
    return sqrt((double)c->n * variance) / scale;
}

double dpi_ckks_rounding(const dpi_ckks *c)
{
    return (1 + 2.0 / 3 * (double)c->n) / 12;
}

double dpi_ckks_variance(void)
{
    return DPI_RLWE_COINS / 2.0;
}

double dpi_ckks_fresh(const dpi_ckks *c, bool by_secret, double size, double scale)
{
    const double times = by_secret ? 1 : 1 + 4.0 / 3 * (double)c->n;
    return dpi_ckks_spread(c, 1.0 / 12, scale) + 0x1p-50 * size +
           dpi_ckks_spread(c, times * dpi_ckks_variance(), scale);
}

/* Digits are uniform between -D / 2 and D / 2. */
double dpi_ckks_switching(const dpi_ckks *c, size_t level)
{
    double digits = 0;
    for (size_t i = 0; i * c->spec.alpha <= level; i++) {
        const size_t first = i * c->spec.alpha, left = level + 1 - first;
        const size_t count = left < c->spec.alpha ? left : c->spec.alpha;
        digits += exp2(2 * (c->digit[i][count - 1].bits - c->p.bits));
    }
    return (double)c->n * digits / 12 * dpi_ckks_variance() + dpi_ckks_rounding(c);
}

/* Rounding of c1 is off by r(zeta^j) s(zeta^j), a product of two complex normals: of such places a
 * share of 2 t K_1(2 t) is beyond t deviations, K_1 the Bessel function; of 2^15, 8e-12 beyond 19. */
double dpi_ckks_error(const dpi_ckks_cipher *x)
{
    return 19 * x->noise;
}

double dpi_ckks_precision(const dpi_ckks_cipher *x)
{
    return -log2(dpi_ckks_error(x));
}
