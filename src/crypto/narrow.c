/* A request to a layer of few outputs: inputs, chains of products, and how they are joined. */
#include "crypto/narrow.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/narrow-plan.h"

size_t dpi_narrow_groups(const dpi_narrow_desk *desk)
{
    return desk->groups;
}

static dp_status refuse(const dpi_narrow_desk *d, dp_error *err)
{
    return dpi_fail(err, DP_EPEER,
                    "the other side sent %zu numbers of which one is no ciphertext under its key",
                    d->of->inputs);
}

dp_status dpi_narrow_take(dpi_narrow_desk *desk, size_t from, size_t to, const mp_limb_t *c,
                          dp_error *err)
{
    const dpi_montgomery *m = desk->m;
    for (size_t i = from; i < to; i++, c += m->limbs) {
        if (mpn_cmp(c, m->number[0], (mp_size_t)m->limbs) >= 0)
            return refuse(desk, err);
        m->backend->split(m, c, desk->input + i * m->words);
    }
    return DP_OK;
}

/* A part of the inputs, with the digits of one window. */
typedef struct narrow_chain {
    const uint64_t *lifted; /* [inputs] */
    size_t next, last;
    size_t shift;
} narrow_chain;

static narrow_chain chain_of(const dpi_narrow_desk *d, size_t number)
{
    const dpi_narrow *n = d->of;
    size_t p = 0;
    while (dpi_narrow_begin(n, d->groups, p + 1) <= number)
        p++;
    size_t first = dpi_narrow_begin(n, d->groups, p), part = number - first;
    size_t parts = dpi_narrow_begin(n, d->groups, p + 1) - first;
    return (narrow_chain){.lifted = n->lifted + p / n->windows * n->inputs,
                          .next = n->inputs * part / parts,
                          .last = n->inputs * (part + 1) / parts,
                          .shift = p % n->windows * n->window};
}

/* Each chain's inputs into its buckets; one that has ended multiplies 1 into a bucket of it. */
static void fill_buckets(const dpi_narrow_desk *d, narrow_chain *chains, uint64_t *buckets,
                         uint64_t *a, uint64_t *b)
{
    const dpi_montgomery *m = d->m;
    size_t each = (size_t)1 << d->of->window, longest = 0;
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        size_t length = chains[lane].last - chains[lane].next;
        longest = length > longest ? length : longest;
    }
    for (size_t t = 0; t < longest; t++) {
        uint64_t *bucket[DPI_LANES];
        const uint64_t *from[DPI_LANES], *factor[DPI_LANES];
        for (size_t lane = 0; lane < DPI_LANES; lane++) {
            narrow_chain *c = &chains[lane];
            bool more = c->next < c->last;
            size_t digit = more ? c->lifted[c->next] >> c->shift & (each - 1) : 0;
            from[lane] = bucket[lane] = buckets + (lane * each + digit) * m->words;
            factor[lane] = more ? d->input + c->next++ * m->words : d->one;
        }
        m->backend->pack(m, from, a);
        m->backend->pack(m, factor, b);
        m->backend->multiply(m, DPI_LANES, a, b, a);
        m->backend->unpack(m, a, bucket);
    }
}

/* power = prod_b bucket_b^b and product = prod_b bucket_b: each running product from the top comes
 * in once. */
static void join_buckets(const dpi_narrow_desk *d, const uint64_t *buckets, uint64_t *power,
                         uint64_t *product, uint64_t *spare)
{
    const dpi_montgomery *m = d->m;
    size_t each = (size_t)1 << d->of->window, bytes = dpi_montgomery_eight(m) * sizeof *power;
    for (size_t b = each; b-- > 0;) {
        const uint64_t *from[DPI_LANES];
        for (size_t lane = 0; lane < DPI_LANES; lane++)
            from[lane] = buckets + (lane * each + b) * m->words;
        m->backend->pack(m, from, b + 1 == each ? product : spare);
        if (b + 1 < each)
            m->backend->multiply(m, DPI_LANES, product, spare, product);
        if (b + 1 == each)
            memcpy(power, product, bytes);
        else if (b > 0)
            m->backend->multiply(m, DPI_LANES, power, product, power);
    }
}

dp_status dpi_narrow_multiply(dpi_narrow_desk *desk, size_t from, size_t to, dp_error *err)
{
    const dpi_montgomery *m = desk->m;
    size_t eight = dpi_montgomery_eight(m), each = (size_t)1 << desk->of->window;
    size_t chains = DPI_LANES * desk->groups;
    uint64_t *space = dpi_montgomery_alloc(m, 4);
    if (space == NULL)
        return dpi_fail_nomem(err);
    for (size_t g = from; g < to; g++) {
        narrow_chain work[DPI_LANES];
        uint64_t *powers[DPI_LANES], *products[DPI_LANES];
        uint64_t *buckets = desk->buckets + g * each * eight;
        for (size_t lane = 0; lane < DPI_LANES; lane++) {
            work[lane] = chain_of(desk, g * DPI_LANES + lane);
            powers[lane] = desk->result + (g * DPI_LANES + lane) * m->words;
            products[lane] = powers[lane] + chains * m->words;
        }
        for (size_t b = 0; b < DPI_LANES * each; b++)
            memcpy(buckets + b * m->words, desk->one, m->words * sizeof *buckets);
        fill_buckets(desk, work, buckets, space, space + eight);
        join_buckets(desk, buckets, space, space + eight, space + 2 * eight);
        m->backend->unpack(m, space, powers);
        m->backend->unpack(m, space + eight, products);
    }
    dpi_montgomery_release(m, space);
    return DP_OK;
}

/* ---- the end of a request ---- */

/* Eight of joined from the results of their parts; A, the last of all, is pair 0's products. */
static void join_parts(dpi_narrow_desk *d, size_t first, uint64_t *a, uint64_t *b)
{
    const dpi_montgomery *m = d->m;
    const dpi_narrow *n = d->of;
    size_t pairs = dpi_narrow_pairs(n), chains = DPI_LANES * d->groups, longest = 1;
    const uint64_t *begin[DPI_LANES], *end[DPI_LANES], *from[DPI_LANES];
    uint64_t spare[2 * DPI_LIMBS_MOST], *to[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        size_t e = first + lane, p = e < pairs ? e : 0;
        size_t at = dpi_narrow_begin(n, d->groups, p), last = dpi_narrow_begin(n, d->groups, p + 1);
        const uint64_t *results = d->result + (e < pairs ? 0 : chains) * m->words;
        begin[lane] = results + at * m->words;
        end[lane] = results + last * m->words;
        to[lane] = e <= pairs ? d->joined + e * m->words : spare;
        longest = last - at > longest ? last - at : longest;
    }
    m->backend->pack(m, begin, a);
    for (size_t part = 1; part < longest; part++) {
        for (size_t lane = 0; lane < DPI_LANES; lane++) {
            begin[lane] += m->words;
            from[lane] = begin[lane] < end[lane] ? begin[lane] : d->one;
        }
        m->backend->pack(m, from, b);
        m->backend->multiply(m, DPI_LANES, a, b, a);
    }
    m->backend->unpack(m, a, to);
}

/* eight = 1 / A in all lanes; false where there is none. */
static bool invert(const dpi_narrow_desk *d, uint64_t *eight)
{
    const dpi_montgomery *m = d->m;
    mp_limb_t number[DPI_LIMBS_MOST] = {0};
    mp_limb_t *result[1] = {number};
    const mp_limb_t *numbers[DPI_LANES];
    const uint64_t *from[DPI_LANES];
    mpz_t x, modulus;
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        from[lane] = d->joined + dpi_narrow_pairs(d->of) * m->words;
        numbers[lane] = number;
    }
    m->backend->pack(m, from, eight);
    dpi_montgomery_leave(m, 1, eight, result);
    mpz_init(x);
    mpz_import(x, m->limbs, -1, sizeof(mp_limb_t), 0, 0, number);
    mpz_roinit_n(modulus, m->number[0], (mp_size_t)m->limbs);
    bool good = mpz_invert(x, x, modulus) != 0;
    memset(number, 0, sizeof number);
    if (good)
        mpz_export(number, NULL, -1, sizeof(mp_limb_t), 0, 0, x);
    mpz_clear(x);
    if (good)
        dpi_montgomery_enter(m, DPI_LANES, numbers, eight);
    return good;
}

/* total = powers of the inputs of eight outputs, by Horner's rule over the bits of u. */
static void join_windows(const dpi_narrow_desk *d, size_t block, size_t lanes,
                         const uint64_t *inverse, uint64_t *total, uint64_t *spare)
{
    const dpi_montgomery *m = d->m;
    const dpi_narrow *n = d->of;
    memcpy(total, inverse, dpi_montgomery_eight(m) * sizeof *total);
    for (size_t bit = n->bits;; bit--) {
        if (bit % n->window == 0) {
            const uint64_t *from[DPI_LANES];
            for (size_t lane = 0; lane < DPI_LANES; lane++) {
                size_t o = block * DPI_LANES + (lane < lanes ? lane : 0);
                from[lane] = d->joined + (o * n->windows + bit / n->window) * m->words;
            }
            m->backend->pack(m, from, spare);
            m->backend->multiply(m, lanes, total, spare, total);
        }
        if (bit == 0)
            break;
        m->backend->multiply(m, lanes, total, total, total);
    }
    m->backend->multiply(m, lanes, total, d->missing + block * dpi_montgomery_eight(m), total);
}

/* total times E(b) and, where there are zeros, E(0), out of Montgomery form. */
static dp_status hide(const dpi_narrow_desk *d, size_t first, size_t lanes, dpi_zeros *zeros,
                      uint64_t *total, uint64_t *spare, mp_limb_t *out, dp_error *err)
{
    const dpi_montgomery *m = d->m;
    const mp_limb_t *numbers[DPI_LANES];
    mp_limb_t *results[DPI_LANES];
    for (size_t lane = 0; lane < lanes; lane++)
        numbers[lane] = results[lane] = out + lane * m->limbs;
    dp_status status = zeros != NULL ? dpi_zeros_take(zeros, lanes, out, err) : DP_OK;
    if (status != DP_OK)
        return status;
    if (zeros != NULL) {
        dpi_montgomery_enter(m, lanes, numbers, spare);
        m->backend->multiply(m, lanes, total, spare, total);
    }
    if (d->of->bias != NULL) {
        dpi_paillier_encode_public(d->key, NULL, lanes, d->of->bias + first, out);
        dpi_montgomery_enter(m, lanes, numbers, spare);
        m->backend->multiply(m, lanes, total, spare, total);
    }
    dpi_montgomery_leave(m, lanes, total, results);
    return DP_OK;
}

dp_status dpi_narrow_finish(dpi_narrow_desk *desk, dpi_zeros *zeros, mp_limb_t *out, dp_error *err)
{
    const dpi_montgomery *m = desk->m;
    size_t eight = dpi_montgomery_eight(m), outputs = desk->of->outputs;
    uint64_t *total = dpi_montgomery_alloc(m, 3);
    if (total == NULL)
        return dpi_fail_nomem(err);
    uint64_t *spare = total + eight, *inverse = spare + eight;
    for (size_t first = 0; first <= dpi_narrow_pairs(desk->of); first += DPI_LANES)
        join_parts(desk, first, total, spare);
    dp_status status = invert(desk, inverse) ? DP_OK : refuse(desk, err);
    for (size_t o = 0; status == DP_OK && o < outputs; o += DPI_LANES) {
        size_t lanes = outputs - o < DPI_LANES ? outputs - o : DPI_LANES;
        join_windows(desk, o / DPI_LANES, lanes, inverse, total, spare);
        status = hide(desk, o, lanes, zeros, total, spare, out + o * m->limbs, err);
    }
    dpi_montgomery_release(m, total);
    dpi_limbs_wipe_stack();
    return status;
}
