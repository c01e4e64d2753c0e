/* Eight products one after the other by GMP: the portable back end, and the oracle of the other.
 *
 * One word of the product is cleared at a time (word-by-word reduction; Koc, Acar and Kaliski, IEEE
 * Micro 16, 1996); residues are below N throughout.  An eight is eight residues one behind the
 * other. */
#include <string.h>

#include "crypto/limbs.h"
#include "crypto/montgomery.h"

static bool is_usable(void)
{
    return true;
}

static size_t count_digits(size_t limbs)
{
    return limbs;
}

static void split(const dpi_montgomery *m, const mp_limb_t *limbs, uint64_t *one)
{
    for (size_t i = 0; i < m->limbs; i++)
        one[i] = limbs[i];
}

static void join(const dpi_montgomery *m, const uint64_t *one, mp_limb_t *limbs)
{
    for (size_t i = 0; i < m->limbs; i++)
        limbs[i] = one[i];
}

static void pack(const dpi_montgomery *m, const uint64_t *const *ones, uint64_t *eight)
{
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        memcpy(eight + lane * m->words, ones[lane], m->words * sizeof *eight);
}

static void unpack(const dpi_montgomery *m, const uint64_t *eight, uint64_t *const *ones)
{
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        memcpy(ones[lane], eight + lane * m->words, m->words * sizeof *eight);
}

/* t[2 n] = a b. */
static void full_product(const dpi_montgomery *m, const mp_limb_t *a, const mp_limb_t *b,
                         mp_limb_t *t)
{
    mp_size_t n = (mp_size_t)m->limbs;
    mp_limb_t scratch[4 * DPI_LIMBS_MOST];
    if (m->secret)
        mpn_sec_mul(t, a, n, b, n, scratch);
    else if (a == b)
        mpn_sqr(t, a, n);
    else
        mpn_mul_n(t, a, b, n);
}

static void multiply_one(const dpi_montgomery *m, size_t lane, const mp_limb_t *a,
                         const mp_limb_t *b, mp_limb_t *out)
{
    mp_size_t n = (mp_size_t)m->limbs;
    const mp_limb_t *number = m->number[lane % m->moduli];
    mp_limb_t t[2 * DPI_LIMBS_MOST], less[DPI_LIMBS_MOST];
    full_product(m, a, b, t);
    for (mp_size_t i = 0; i < n; i++) /* the limb that is cleared keeps the carry */
        t[i] = mpn_addmul_1(t + i, number, n, t[i] * m->inverse[lane]);
    mp_limb_t carry = mpn_add_n(out, t + n, t, n);
    mp_limb_t below = mpn_sub_n(less, out, number, n);
    (void)mpn_cnd_sub_n(carry | (1 - below), out, out, number, n);
}

static void multiply(const dpi_montgomery *m, size_t lanes, const uint64_t *a, const uint64_t *b,
                     uint64_t *out)
{
    for (size_t lane = 0; lane < lanes; lane++) {
        size_t at = lane * m->words;
        multiply_one(m, lane, (const mp_limb_t *)a + at, (const mp_limb_t *)b + at,
                     (mp_limb_t *)out + at);
    }
}

/* A table is [period][entries][words]. */
static void put(const dpi_montgomery *m, size_t period, size_t entries, size_t entry,
                const uint64_t *eight, uint64_t *table)
{
    for (size_t lane = 0; lane < period; lane++)
        memcpy(table + (lane * entries + entry) * m->words, eight + lane * m->words,
               m->words * sizeof *table);
}

static void select_entry(const dpi_montgomery *m, size_t period, size_t entries,
                         const uint64_t *table, const uint64_t *index, uint64_t *eight)
{
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        mpn_sec_tabselect((mp_limb_t *)eight + lane * m->words,
                          (const mp_limb_t *)table + lane % period * entries * m->words,
                          (mp_size_t)m->words, (mp_size_t)entries, (mp_size_t)index[lane]);
}

const dpi_montgomery_backend dpi_montgomery_gmp = {
    .name = "gmp",
    .usable = is_usable,
    .digits = count_digits,
    .digit_bits = DPI_LIMB_BITS,
    .aligned = 1,
    .split = split,
    .join = join,
    .pack = pack,
    .unpack = unpack,
    .multiply = multiply,
    .put = put,
    .select = select_entry,
};
