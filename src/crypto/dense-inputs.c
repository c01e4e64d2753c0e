/* A request's ciphertexts, their inverses and, for the method of tables, small powers of both.
 *
 * Inverses by Montgomery's trick (Mathematics of Computation 48, 1987, section 10.3.1), in eight
 * lanes: one inversion each and three products an input. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/dense-plan.h"
#include "crypto/paillier-key.h"

const uint64_t *dpi_dense_entry(const dpi_dense *dense, const dpi_dense_inputs *inputs, size_t i,
                                int negative, size_t power)
{
    size_t at = (2 * i + (size_t)negative) * dense->powers + power - 1;
    return inputs->table + at * inputs->m->words;
}

static dp_status refuse(size_t inputs, dp_error *err)
{
    return dpi_fail(err, DP_EPEER,
                    "the other side sent %zu numbers of which one is no ciphertext under its key",
                    inputs);
}

/* eight = residues of c[8 k ...], 1 where there are no more.  False when one is n^2 or above. */
static bool enter_eight(const dpi_dense *d, const dpi_dense_inputs *in, const mp_limb_t *c,
                        size_t k, uint64_t *eight)
{
    size_t limbs = in->m->limbs;
    mp_limb_t unit[DPI_LIMBS_MOST] = {1};
    const mp_limb_t *numbers[DPI_LANES];
    bool good = true;
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        size_t i = k * DPI_LANES + lane;
        numbers[lane] = i < d->inputs ? c + i * limbs : unit;
        good = good && mpn_cmp(numbers[lane], in->m->number[0], (mp_size_t)limbs) < 0;
    }
    if (good)
        dpi_montgomery_enter(in->m, DPI_LANES, numbers, eight);
    return good;
}

/* eight = 1 / eight, or false. */
static bool invert_eight(const dpi_montgomery *m, uint64_t *eight)
{
    mp_limb_t number[DPI_LANES][DPI_LIMBS_MOST] = {{0}};
    const mp_limb_t *numbers[DPI_LANES];
    mp_limb_t *results[DPI_LANES];
    mpz_t x, modulus;
    bool good = true;
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        numbers[lane] = results[lane] = number[lane];
    dpi_montgomery_leave(m, DPI_LANES, eight, results);
    mpz_init(x);
    mpz_roinit_n(modulus, m->number[0], (mp_size_t)m->limbs);
    for (size_t lane = 0; lane < DPI_LANES && good; lane++) {
        mpz_import(x, m->limbs, -1, sizeof(mp_limb_t), 0, 0, number[lane]);
        good = mpz_invert(x, x, modulus) != 0;
        memset(number[lane], 0, sizeof number[lane]);
        if (good)
            mpz_export(number[lane], NULL, -1, sizeof(mp_limb_t), 0, 0, x);
    }
    mpz_clear(x);
    if (good)
        dpi_montgomery_enter(m, DPI_LANES, numbers, eight);
    return good;
}

/* Writes power 1 ... powers of eight inputs, or of their inverses, into the table. */
static void write_powers(const dpi_dense *d, dpi_dense_inputs *in, size_t k, int negative,
                         const uint64_t *eight, uint64_t *power, uint64_t *spare)
{
    const dpi_montgomery *m = in->m;
    memcpy(power, eight, dpi_montgomery_eight(m) * sizeof *power);
    for (size_t e = 1; e <= d->powers; e++) {
        uint64_t *to[DPI_LANES];
        for (size_t lane = 0; lane < DPI_LANES; lane++) {
            size_t i = k * DPI_LANES + lane;
            to[lane] = spare;
            if (i < d->inputs)
                to[lane] = in->table + ((2 * i + (size_t)negative) * d->powers + e - 1) * m->words;
        }
        m->backend->unpack(m, power, to);
        if (e < d->powers)
            m->backend->multiply(m, DPI_LANES, power, eight, power);
    }
}

/* Fills the table; space has room for 2 groups + 4 eights. */
static bool fill_table(const dpi_dense *d, dpi_dense_inputs *in, const mp_limb_t *c,
                       uint64_t *space)
{
    const dpi_montgomery *m = in->m;
    size_t eight = dpi_montgomery_eight(m), groups = (d->inputs + DPI_LANES - 1) / DPI_LANES;
    uint64_t *inputs = space, *before = space + groups * eight; /* products of those before */
    uint64_t *product = before + groups * eight, *inverse = product + eight;
    uint64_t *power = inverse + eight, *spare = power + eight;
    memcpy(product, m->one, eight * sizeof *product);
    for (size_t k = 0; k < groups; k++) {
        if (!enter_eight(d, in, c, k, inputs + k * eight))
            return false;
        memcpy(before + k * eight, product, eight * sizeof *product);
        m->backend->multiply(m, DPI_LANES, product, inputs + k * eight, product);
    }
    if (!invert_eight(m, product))
        return false;
    for (size_t k = groups; k-- > 0;) {
        m->backend->multiply(m, DPI_LANES, product, before + k * eight, inverse);
        m->backend->multiply(m, DPI_LANES, product, inputs + k * eight, product);
        write_powers(d, in, k, 0, inputs + k * eight, power, spare);
        write_powers(d, in, k, 1, inverse, power, spare);
    }
    return true;
}

dp_status dpi_dense_take(const dpi_dense *dense, const dpi_paillier_public *key, const mp_limb_t *c,
                         dpi_dense_inputs **inputs, dp_error *err)
{
    const dpi_montgomery *m = dpi_paillier_public_ring(key);
    size_t groups = (dense->inputs + DPI_LANES - 1) / DPI_LANES, cells;
    uint64_t *ones[DPI_LANES];
    *inputs = NULL;
    size_t bits = dpi_limbs_bits(m->limbs / 2, key->n), room = bits;
    if (dense->slots.count > 1)
        room = dpi_slots_room(bits, dense->slots.bits);
    if (dense->slots.count > room)
        return dpi_fail(err, DP_EINVAL, "%zu slots of %u bits do not fit a key of %zu bits",
                        dense->slots.count, dense->slots.bits, bits);
    dpi_dense_inputs *in = dpi_alloc(1, sizeof *in);
    if (in == NULL)
        return dpi_fail_nomem(err);
    *in = (dpi_dense_inputs){.key = key, .m = m, .one = dpi_alloc(m->words, sizeof *in->one)};
    if (dpi_mul(dense->inputs, 2 * dense->powers, &cells) && dpi_mul(cells, m->words, &cells))
        in->table = dpi_alloc(cells, sizeof *in->table);
    uint64_t *space = dpi_montgomery_alloc(m, 2 * groups + 4);
    dp_status status = DP_OK;
    if (in->one == NULL || in->table == NULL || space == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK) {
        for (size_t lane = 0; lane < DPI_LANES; lane++)
            ones[lane] = in->one;
        m->backend->unpack(m, m->one, ones);
        status = fill_table(dense, in, c, space) ? DP_OK : refuse(dense->inputs, err);
    }
    dpi_montgomery_release(m, space);
    if (status == DP_OK)
        *inputs = in;
    else
        dpi_dense_inputs_free(in);
    return status;
}

void dpi_dense_inputs_free(dpi_dense_inputs *inputs)
{
    if (inputs == NULL)
        return;
    dpi_free(inputs->one);
    dpi_free(inputs->table);
    dpi_free(inputs);
}
