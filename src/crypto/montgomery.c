/* What both back ends share: constants of a modulus, changes of form, powers.
 *
 * Montgomery's product (Mathematics of Computation 44, 1985) of x R and y R is x y R mod N.  So a
 * number enters by a product with R^2 and leaves by one with 1. */
#include "crypto/montgomery.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/limbs.h"

enum { ENTRIES = 1 << DPI_WINDOW };

const dpi_montgomery_backend *dpi_montgomery_fastest(void)
{
    return dpi_montgomery_ifma.usable() ? &dpi_montgomery_ifma : &dpi_montgomery_gmp;
}

size_t dpi_montgomery_eight(const dpi_montgomery *m)
{
    return m->words * DPI_LANES;
}

uint64_t *dpi_montgomery_alloc(const dpi_montgomery *m, size_t eights)
{
    size_t size = dpi_montgomery_eight(m) * sizeof(uint64_t);
    return m->secret ? dpi_secret_alloc(eights, size) : dpi_alloc(eights, size);
}

void dpi_montgomery_release(const dpi_montgomery *m, uint64_t *eights)
{
    if (m->secret)
        dpi_secret_free(eights);
    else
        dpi_free(eights);
}

/* -1 / n mod 2^64 by Newton's iteration: n n = 1 mod 8, and each step doubles the bits. */
static uint64_t negative_inverse(uint64_t n)
{
    uint64_t x = n;
    for (int bits = 3; bits < 64; bits *= 2)
        x *= 2 - n * x;
    return 0 - x;
}

/* residue[limbs] = 2^exponent mod number; exponent < 64 DPI_LIMBS_ROOM. */
static void power_of_two(const dpi_montgomery *m, size_t exponent, const mp_limb_t *number,
                         mp_limb_t *residue)
{
    mp_limb_t power[DPI_LIMBS_ROOM] = {0};
    power[exponent / DPI_LIMB_BITS] = (mp_limb_t)1 << exponent % DPI_LIMB_BITS;
    dpi_limbs_mod(exponent / DPI_LIMB_BITS + 1, power, m->limbs, number, residue);
}

/* Puts numbers, of one modulus each, into all lanes as they are. */
static void spread(const dpi_montgomery *m, mp_limb_t (*numbers)[DPI_LIMBS_MOST], uint64_t *space,
                   uint64_t *eight)
{
    const uint64_t *ones[DPI_LANES];
    for (size_t i = 0; i < m->moduli; i++)
        m->backend->split(m, numbers[i], space + i * m->words);
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        ones[lane] = space + lane % m->moduli * m->words;
    m->backend->pack(m, ones, eight);
}

/* The eights of a modulus, in memory that has room for five. */
static void set_constants(dpi_montgomery *m, uint64_t *eights)
{
    size_t size = dpi_montgomery_eight(m), r_bits = m->digits * m->backend->digit_bits;
    uint64_t *space = eights + 4 * size;
    mp_limb_t value[2][DPI_LIMBS_MOST] = {{0}};
    for (size_t i = 0; i < m->moduli; i++)
        mpn_copyi(value[i], m->number[i], (mp_size_t)m->limbs);
    spread(m, value, space, eights);
    /* R^2 = 2^r_bits 2^r_bits: one power alone may be too long to divide. */
    for (size_t i = 0; i < m->moduli; i++) {
        mp_limb_t product[DPI_LIMBS_ROOM];
        power_of_two(m, r_bits, m->number[i], value[i]);
        dpi_limbs_mul(m->limbs, value[i], m->limbs, value[i], product);
        dpi_limbs_mod(2 * m->limbs, product, m->limbs, m->number[i], value[i]);
    }
    spread(m, value, space, eights + size);
    memset(value, 0, sizeof value);
    value[0][0] = value[1][0] = 1;
    spread(m, value, space, eights + 3 * size);
    m->modulus = eights;
    m->square = eights + size;
    m->one = eights + 2 * size;
    m->plain = eights + 3 * size;
    uint64_t *apart[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        apart[lane] = space + lane * m->words;
    m->backend->unpack(m, m->modulus, apart);
    m->apart = space;
    m->backend->multiply(m, DPI_LANES, m->square, m->plain, eights + 2 * size);
}

dp_status dpi_montgomery_new(const dpi_montgomery_backend *backend, dpi_secrecy secrecy,
                             size_t limbs, size_t moduli, const mp_limb_t *const *numbers,
                             dpi_montgomery **m, dp_error *err)
{
    *m = NULL;
    if (limbs == 0 || limbs > DPI_LIMBS_MOST || moduli < 1 || moduli > 2)
        dpi_misuse("dpi_montgomery_new", "sizes beyond what there is room for");
    bool secret = secrecy == DPI_SECRET;
    dpi_montgomery *made = secret ? dpi_secret_alloc(1, sizeof *made) : dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    *made =
        (dpi_montgomery){.backend = backend, .limbs = limbs, .moduli = moduli, .secret = secret};
    made->digits = backend->digits(limbs);
    made->words = (made->digits + backend->aligned - 1) / backend->aligned * backend->aligned;
    size_t size = dpi_montgomery_eight(made), copies = (moduli * limbs + size - 1) / size;
    uint64_t *eights = dpi_montgomery_alloc(made, 5 + copies);
    if (eights == NULL) {
        dpi_montgomery_free(made);
        return dpi_fail_nomem(err);
    }
    mp_limb_t *copy = (mp_limb_t *)(eights + 5 * size);
    for (size_t i = 0; i < moduli; i++) {
        mpn_copyi(copy + i * limbs, numbers[i], (mp_size_t)limbs);
        made->number[i] = copy + i * limbs;
    }
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        made->inverse[lane] = negative_inverse(numbers[lane % moduli][0]);
    set_constants(made, eights);
    *m = made;
    return DP_OK;
}

void dpi_montgomery_free(dpi_montgomery *m)
{
    if (m == NULL)
        return;
    /* The constants lie in the memory that begins with the modulus. */
    dpi_montgomery_release(m, (uint64_t *)(uintptr_t)m->modulus);
    if (m->secret)
        dpi_secret_free(m);
    else
        dpi_free(m);
}

void dpi_montgomery_enter(const dpi_montgomery *m, size_t lanes, const mp_limb_t *const *numbers,
                          uint64_t *eight)
{
    uint64_t split[DPI_LANES][2 * DPI_LIMBS_MOST];
    const uint64_t *ones[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        ones[lane] = split[lane < lanes ? lane : 0];
    for (size_t lane = 0; lane < lanes; lane++)
        m->backend->split(m, numbers[lane], split[lane]);
    m->backend->pack(m, ones, eight);
    m->backend->multiply(m, lanes, eight, m->square, eight);
}

void dpi_montgomery_leave(const dpi_montgomery *m, size_t lanes, const uint64_t *eight,
                          mp_limb_t *const *numbers)
{
    _Alignas(64) uint64_t product[DPI_LANES * 2 * DPI_LIMBS_MOST];
    uint64_t split[DPI_LANES][2 * DPI_LIMBS_MOST];
    uint64_t *ones[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        ones[lane] = split[lane];
    memset(product, 0, dpi_montgomery_eight(m) * sizeof *product);
    m->backend->multiply(m, lanes, eight, m->plain, product);
    m->backend->unpack(m, product, ones);
    for (size_t lane = 0; lane < lanes; lane++) {
        const mp_limb_t *number = m->number[lane % m->moduli];
        mp_limb_t less[DPI_LIMBS_MOST];
        m->backend->join(m, split[lane], numbers[lane]);
        mp_limb_t below = mpn_sub_n(less, numbers[lane], number, (mp_size_t)m->limbs);
        (void)mpn_cnd_sub_n(1 - below, numbers[lane], numbers[lane], number, (mp_size_t)m->limbs);
    }
}

void dpi_montgomery_multiply(const dpi_montgomery *m, size_t lanes, const uint64_t *a,
                             const uint64_t *b, uint64_t *out)
{
    m->backend->multiply(m, lanes, a, b, out);
}

uint64_t dpi_montgomery_window(const mp_limb_t *number, size_t bits, size_t at, size_t count)
{
    size_t limb = at / DPI_LIMB_BITS, shift = at % DPI_LIMB_BITS;
    uint64_t value = number[limb] >> shift;
    if (shift + count > DPI_LIMB_BITS && (limb + 1) * DPI_LIMB_BITS < bits)
        value |= number[limb + 1] << (DPI_LIMB_BITS - shift);
    return value & (((uint64_t)1 << count) - 1);
}

size_t dpi_montgomery_power_space(const dpi_montgomery *m)
{
    return (ENTRIES + 1) * dpi_montgomery_eight(m);
}

/* Fixed windows from the top: four squarings and one product with an entry of the table
 * base^0 ... base^15, whatever the bits are. */
void dpi_montgomery_power(const dpi_montgomery *m, size_t lanes, const uint64_t *base,
                          const mp_limb_t *const *exponent, size_t bits, uint64_t *space,
                          uint64_t *out)
{
    size_t bytes = dpi_montgomery_eight(m) * sizeof *out;
    uint64_t *table = space, *factor = space + ENTRIES * dpi_montgomery_eight(m);
    memcpy(factor, m->one, bytes);
    for (size_t entry = 0; entry < ENTRIES; entry++) {
        m->backend->put(m, DPI_LANES, ENTRIES, entry, factor, table);
        m->backend->multiply(m, lanes, factor, base, factor);
    }
    memcpy(out, m->one, bytes);
    for (size_t window = (bits + DPI_WINDOW - 1) / DPI_WINDOW; window-- > 0;) {
        uint64_t index[DPI_LANES] = {0};
        for (size_t lane = 0; lane < lanes; lane++)
            index[lane] =
                dpi_montgomery_window(exponent[lane], bits, DPI_WINDOW * window, DPI_WINDOW);
        for (int i = 0; i < DPI_WINDOW; i++)
            m->backend->multiply(m, lanes, out, out, out);
        m->backend->select(m, DPI_LANES, ENTRIES, table, index, factor);
        m->backend->multiply(m, lanes, out, factor, out);
    }
}
