/* Additive BFV: polynomials and ciphertexts as bytes, and what came as such. */
#include <string.h>

#include "base/error.h"
#include "crypto/bfv-parts.h"
#include "crypto/packed.h"

size_t dpi_bfv_polynomial_size(const dpi_bfv *f)
{
    return f->levels * dpi_packed_size(f->n, f->spec.prime_bits);
}

void dpi_bfv_polynomial_write(const dpi_bfv *f, const uint64_t *a, unsigned char *to)
{
    const size_t step = dpi_packed_size(f->n, f->spec.prime_bits);
    for (size_t i = 0; i < f->levels; i++)
        dpi_packed_write(f->n, f->spec.prime_bits, a + i * f->n, to + i * step);
}

dp_status dpi_bfv_polynomial_read(const dpi_bfv *f, const unsigned char *from, uint64_t *a,
                                  dp_error *err)
{
    const size_t step = dpi_packed_size(f->n, f->spec.prime_bits);
    for (size_t i = 0; i < f->levels; i++) {
        uint64_t *here = a + i * f->n, above = 0;
        /* n is a multiple of 8: there are no bits behind the last. */
        (void)dpi_packed_read(f->n, f->spec.prime_bits, from + i * step, here);
        for (size_t j = 0; j < f->n; j++)
            above |= here[j] >= f->ntt[i]->m.q;
        if (above != 0)
            return dpi_fail(err, DP_EPEER,
                            "a ciphertext came whose residues are not below prime %zu", i + 1);
    }
    return DP_OK;
}

size_t dpi_bfv_cipher_size(const dpi_bfv *f)
{
    return DPI_RLWE_SEED + dpi_bfv_polynomial_size(f);
}

void dpi_bfv_cipher_write(const dpi_bfv *f, const dpi_bfv_cipher *c, unsigned char *to)
{
    memcpy(to, c->seed, sizeof c->seed);
    dpi_bfv_polynomial_write(f, c->c0, to + sizeof c->seed);
}

dp_status dpi_bfv_cipher_read(const dpi_bfv *f, size_t n_bytes, const unsigned char *from,
                              dpi_bfv_cipher *c, dp_error *err)
{
    if (n_bytes != dpi_bfv_cipher_size(f))
        return dpi_fail(err, DP_EPEER, "a ciphertext of %zu bytes came, of %zu was expected",
                        n_bytes, dpi_bfv_cipher_size(f));
    memcpy(c->seed, from, sizeof c->seed);
    const dp_status status = dpi_bfv_polynomial_read(f, from + sizeof c->seed, c->c0, err);
    if (status == DP_OK)
        dpi_bfv_expand(f, c);
    else
        dpi_bfv_cipher_clear(f, c);
    return status;
}
