/* Additive BFV: encryption with the public key alone.
 *
 * With key (b, a) = (-a s + e, a): c0 + c1 s = round(q m / t) + e u + e0 + e1 s. */
#include "base/alloc.h"
#include "base/error.h"
#include "crypto/bfv-parts.h"

dp_status dpi_bfv_encrypt_public(const dpi_bfv *f, const dpi_bfv_cipher *key,
                                 const uint64_t *message, dpi_rlwe_stream *random,
                                 dpi_bfv_cipher *c, dp_error *err)
{
    const size_t n = f->n;
    int8_t *small = dpi_alloc(3 * n, sizeof *small); /* u, e0, e1 */
    uint64_t *u = dpi_alloc(n, sizeof *u);
    const dp_status status = small != NULL && u != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        dpi_rlwe_ternary(random, n, small);
        dpi_rlwe_errors(random, 2 * n, small + n);
    }
    for (size_t i = 0; i < f->levels && status == DP_OK; i++) {
        const dpi_ntt *ntt = f->ntt[i];
        uint64_t *c0 = c->c0 + i * n, *c1 = c->c1 + i * n;
        dpi_bfv_small(f, i, small, u);
        dpi_bfv_encode(f, i, message, small + n, c0);
        dpi_bfv_small(f, i, small + 2 * n, c1);
        ntt->kernel->multiply_add(ntt, key->c0 + i * n, u, c0);
        ntt->kernel->multiply_add(ntt, key->c1 + i * n, u, c1);
    }
    dpi_wipe_free(small, 3 * n * sizeof *small);
    dpi_wipe_free(u, n * sizeof *u);
    return status;
}
