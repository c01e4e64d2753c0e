/* Values and keys as bytes: rows of residues packed into as many bits as their primes have, and
 * seeds in place of what is uniform.  Degrees are multiples of 8, so that rows end with a byte. */
#include <string.h>

#include "base/error.h"
#include "crypto/packed.h"
#include "fhe/ckks-parts.h"

/* Of primes 0 ... last - 1. */
static size_t rows_size(const dpi_ckks *c, size_t last)
{
    size_t size = 0;
    for (size_t t = 0; t < last; t++)
        size += dpi_packed_size(c->n, c->ntt[t]->m.bits);
    return size;
}

static unsigned char *write_rows(const dpi_ckks *c, size_t last, const uint64_t *row,
                                 unsigned char *to)
{
    for (size_t t = 0; t < last; t++) {
        dpi_packed_write(c->n, c->ntt[t]->m.bits, row + t * c->n, to);
        to += dpi_packed_size(c->n, c->ntt[t]->m.bits);
    }
    return to;
}

/* NULL where a residue is not below its prime. */
static const unsigned char *read_rows(const dpi_ckks *c, size_t last, const unsigned char *from,
                                      uint64_t *row)
{
    uint64_t above = 0;
    for (size_t t = 0; t < last; t++) {
        const dpi_modulus *m = &c->ntt[t]->m;
        (void)dpi_packed_read(c->n, m->bits, from, row + t * c->n);
        from += dpi_packed_size(c->n, m->bits);
        for (size_t i = t * c->n; i < (t + 1) * c->n; i++)
            above |= row[i] >= m->q;
    }
    return above == 0 ? from : NULL;
}

static dp_status check_length(size_t n, size_t wanted, const char *what, dp_error *err)
{
    return n == wanted ? DP_OK
                       : dpi_fail(err, DP_EPEER, "%s of %zu bytes came, of %zu was expected", what,
                                  n, wanted);
}

static dp_status no_residues(const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EPEER, "%s came whose residues are not below their primes", what);
}

/* ---- ciphertexts ---- */

size_t dpi_ckks_cipher_size(const dpi_ckks *c, size_t level, bool seeded)
{
    if (level >= c->levels)
        dpi_misuse(__func__,
                   "there is no such level; of one that came from others, that is checked");
    return seeded ? DPI_RLWE_SEED + rows_size(c, level + 1) : 2 * rows_size(c, level + 1);
}

void dpi_ckks_cipher_write(const dpi_ckks *c, const dpi_ckks_cipher *x, bool seeded,
                           unsigned char *to)
{
    if (x->scale != c->scale[x->level] || (seeded && !x->seeded))
        dpi_misuse(__func__, "a product is rescaled first, and a seed is of what was encrypted");
    to = write_rows(c, x->level + 1, x->part[0], to);
    if (seeded)
        memcpy(to, x->seed, sizeof x->seed);
    else
        (void)write_rows(c, x->level + 1, x->part[1], to);
}

dp_status dpi_ckks_cipher_read(const dpi_ckks *c, size_t level, double size, bool seeded,
                               size_t n_bytes, const unsigned char *from, dpi_ckks_cipher *x,
                               dp_error *err)
{
    dp_status status =
        check_length(n_bytes, dpi_ckks_cipher_size(c, level, seeded), "a ciphertext", err);
    if (status != DP_OK)
        return status;
    dpi_ckks_must_hold(c, x->room, level);
    x->seeded = false;
    from = read_rows(c, level + 1, from, x->part[0]);
    if (from != NULL && seeded) {
        memcpy(x->seed, from, sizeof x->seed);
        dpi_ckks_expand(c, level + 1, x->seed, x->part[1]);
    } else if (from != NULL)
        from = read_rows(c, level + 1, from, x->part[1]);
    if (from == NULL)
        return no_residues("a ciphertext", err);
    x->level = level;
    x->seeded = seeded;
    x->scale = c->scale[level];
    x->size = size;
    x->noise = dpi_ckks_fresh(c, seeded, size, x->scale);
    return DP_OK;
}

/* ---- answers ---- */

/* Coefficients of polynomials that hold so many places. */
static size_t coefficients(const dpi_ckks *c, size_t places)
{
    if (places < 1 || places > c->n / 2 || (places & (places - 1)) != 0)
        dpi_misuse(__func__, "places are a power of two up to n / 2");
    return 2 * places;
}

size_t dpi_ckks_answer_size(const dpi_ckks *c, size_t places)
{
    const int bits = c->ntt[0]->m.bits;
    return dpi_packed_size(coefficients(c, places), bits) + dpi_packed_size(c->n, bits);
}

void dpi_ckks_answer_write(const dpi_ckks *c, const dpi_ckks_cipher *x, size_t places,
                           dpi_ckks_room *room, unsigned char *to)
{
    const size_t count = coefficients(c, places), gap = c->n / count;
    const int bits = c->ntt[0]->m.bits;
    uint64_t *row = room->sum[0];
    dpi_ckks_must_be_of(c, room->c);
    if (x->level != 0 || x->scale != c->scale[0])
        dpi_misuse(__func__, "an answer is at level 0");
    memcpy(row, x->part[0], c->n * sizeof *row);
    dpi_ntt_inverse(c->ntt[0], row);
    for (size_t k = 0; k < count; k++)
        row[k] = row[k * gap];
    dpi_packed_write(count, bits, row, to);
    dpi_packed_write(c->n, bits, x->part[1], to + dpi_packed_size(count, bits));
}

dp_status dpi_ckks_answer_read(const dpi_ckks *c, size_t places, double size, size_t n_bytes,
                               const unsigned char *from, dpi_ckks_cipher *x, dp_error *err)
{
    const size_t count = coefficients(c, places), gap = c->n / count;
    const dpi_modulus *m = &c->ntt[0]->m;
    uint64_t *row = x->part[0], above = 0;
    dp_status status = check_length(n_bytes, dpi_ckks_answer_size(c, places), "an answer", err);
    if (status != DP_OK)
        return status;
    dpi_ckks_must_hold(c, x->room, 0);
    x->seeded = false;
    above |= !dpi_packed_read(count, m->bits, from, row);
    for (size_t k = 0; k < count; k++)
        above |= row[k] >= m->q;
    if (above != 0 || read_rows(c, 1, from + dpi_packed_size(count, m->bits), x->part[1]) == NULL)
        return no_residues("an answer", err);
    for (size_t k = count; k-- > 0;) { /* to places behind, the last one first */
        const uint64_t kept = row[k];
        memset(row + k * gap, 0, gap * sizeof *row);
        row[k * gap] = kept;
    }
    dpi_ntt_forward(c->ntt[0], row);
    x->level = 0;
    x->scale = c->scale[0];
    x->size = size;
    x->noise = dpi_ckks_fresh(c, false, size, x->scale);
    return DP_OK;
}

/* ---- keys ---- */

size_t dpi_ckks_switch_size(const dpi_ckks *c)
{
    return c->digits * (DPI_RLWE_SEED + rows_size(c, c->primes));
}

void dpi_ckks_switch_write(const dpi_ckks_switch *k, unsigned char *to)
{
    const dpi_ckks *c = k->c;
    for (size_t i = 0; i < c->digits; i++) {
        memcpy(to, k->seed[i], DPI_RLWE_SEED);
        to = write_rows(c, c->primes, k->b + i * c->primes * c->n, to + DPI_RLWE_SEED);
    }
}

dp_status dpi_ckks_switch_read(const dpi_ckks *c, size_t turn, size_t n_bytes,
                               const unsigned char *from, dpi_ckks_switch **to, dp_error *err)
{
    const size_t each = c->primes * c->n;
    *to = NULL;
    dp_status status = check_length(n_bytes, dpi_ckks_switch_size(c), "a key", err);
    if (status == DP_OK)
        status = dpi_ckks_switch_room(c, turn, to, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < c->digits && from != NULL; i++) {
        memcpy((*to)->seed[i], from, DPI_RLWE_SEED);
        from = read_rows(c, c->primes, from + DPI_RLWE_SEED, (*to)->b + i * each);
        dpi_ckks_expand(c, c->primes, (*to)->seed[i], (*to)->a + i * each);
    }
    if (from != NULL)
        return DP_OK;
    dpi_ckks_switch_free(*to);
    *to = NULL;
    return no_residues("a key", err);
}

size_t dpi_ckks_public_size(const dpi_ckks *c)
{
    return DPI_RLWE_SEED + rows_size(c, c->levels);
}

void dpi_ckks_public_write(const dpi_ckks_public *k, unsigned char *to)
{
    memcpy(to, k->seed, DPI_RLWE_SEED);
    (void)write_rows(k->c, k->c->levels, k->b, to + DPI_RLWE_SEED);
}

dp_status dpi_ckks_public_read(const dpi_ckks *c, size_t n_bytes, const unsigned char *from,
                               dpi_ckks_public **to, dp_error *err)
{
    *to = NULL;
    dp_status status = check_length(n_bytes, dpi_ckks_public_size(c), "a key", err);
    if (status == DP_OK)
        status = dpi_ckks_public_room(c, to, err);
    if (status != DP_OK)
        return status;
    memcpy((*to)->seed, from, DPI_RLWE_SEED);
    dpi_ckks_expand(c, c->levels, (*to)->seed, (*to)->a);
    if (read_rows(c, c->levels, from + DPI_RLWE_SEED, (*to)->b) != NULL)
        return DP_OK;
    dpi_ckks_public_free(*to);
    *to = NULL;
    return no_residues("a key", err);
}
