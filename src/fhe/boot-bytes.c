/* Keys of bootstrapping as bytes: the one to the sparse secret, a seed and two packed rows; then the
 * one back, that of conjugates, and those of rotations, as ckks-bytes.c has them. */
#include <string.h>

#include "base/error.h"
#include "crypto/packed.h"
#include "fhe/boot-parts.h"

static const dpi_modulus *modulus_of(const dpi_ckks *c, int k)
{
    return &c->ntt[k == 0 ? 0 : c->levels]->m;
}

static size_t sparse_size(const dpi_ckks *c)
{
    return DPI_RLWE_SEED + dpi_packed_size(c->n, modulus_of(c, 0)->bits) +
           dpi_packed_size(c->n, modulus_of(c, 1)->bits);
}

size_t dpi_ckks_boot_keys_size(const dpi_ckks_boot *b)
{
    return sparse_size(b->c) + (2 + dpi_ckks_boot_turns(b, NULL)) * dpi_ckks_switch_size(b->c);
}

void dpi_ckks_boot_keys_write(const dpi_ckks_boot_keys *k, unsigned char *to)
{
    const dpi_ckks *c = k->c;
    const size_t each = dpi_ckks_switch_size(c);
    memcpy(to, k->seed, sizeof k->seed);
    to += sizeof k->seed;
    for (int j = 0; j < 2; j++) {
        const int bits = modulus_of(c, j)->bits;
        dpi_packed_write(c->n, bits, k->b + (size_t)j * c->n, to);
        to += dpi_packed_size(c->n, bits);
    }
    dpi_ckks_switch_write(k->up, to);
    dpi_ckks_switch_write(k->conjugate, to + each);
    for (size_t i = 0; i < k->turns.n; i++)
        dpi_ckks_switch_write(k->key[i], to + (2 + i) * each);
}

static dp_status read_sparse(dpi_ckks_boot_keys *k, const unsigned char *from, dp_error *err)
{
    const dpi_ckks *c = k->c;
    uint64_t above = 0;
    memcpy(k->seed, from, sizeof k->seed);
    from += sizeof k->seed;
    for (int j = 0; j < 2; j++) {
        const dpi_modulus *m = modulus_of(c, j);
        uint64_t *b = k->b + (size_t)j * c->n;
        (void)dpi_packed_read(c->n, m->bits, from, b);
        from += dpi_packed_size(c->n, m->bits);
        for (size_t i = 0; i < c->n; i++)
            above |= b[i] >= m->q;
    }
    dpi_ckks_boot_expand(k);
    return above == 0
               ? DP_OK
               : dpi_fail(err, DP_EPEER, "a key came whose residues are not below their primes");
}

dp_status dpi_ckks_boot_keys_read(const dpi_ckks_boot *b, size_t n_bytes, const unsigned char *from,
                                  dpi_ckks_boot_keys **to, dp_error *err)
{
    const dpi_ckks *c = b->c;
    const size_t each = dpi_ckks_switch_size(c), wanted = dpi_ckks_boot_keys_size(b);
    *to = NULL;
    if (n_bytes != wanted)
        return dpi_fail(err, DP_EPEER, "keys of %zu bytes came, of %zu were expected", n_bytes,
                        wanted);
    dp_status status = dpi_ckks_boot_keys_room(b, to, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_boot_keys *k = *to;
    status = read_sparse(k, from, err);
    from += sparse_size(c);
    if (status == DP_OK)
        status = dpi_ckks_switch_read(c, DPI_CKKS_SQUARE, each, from, &k->up, err);
    if (status == DP_OK)
        status =
            dpi_ckks_switch_read(c, dpi_ckks_conjugation(c), each, from + each, &k->conjugate, err);
    for (size_t i = 0; i < k->turns.n && status == DP_OK; i++)
        status = dpi_ckks_switch_read(c, dpi_ckks_rotation(c, k->steps[i]), each,
                                      from + (2 + i) * each, &k->key[i], err);
    if (status == DP_OK)
        return DP_OK;
    dpi_ckks_boot_keys_free(k);
    *to = NULL;
    return status;
}
