/* Negacyclic number-theoretic transform: products of polynomials modulo X^n + 1 and a prime.
 *
 * forward: place j of the result is a(zeta^(2 rev(j) + 1)), zeta of order 2n, rev the bits of j
 * reversed; so the transform of a product is the product of the transforms, place by place.
 *
 * A transform is const and may be shared by threads.  Kernels: `portable`, `avx2` where the
 * processor has AVX2 and FMA, and `ifma` where it has AVX-512 IFMA; all give the same residues, in
 * [0, q), bit for bit.  Arrays need no alignment but are faster at 64 bytes.  No time depends on
 * residues. */
#ifndef DPI_CRYPTO_NTT_H
#define DPI_CRYPTO_NTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "crypto/modulus.h"

typedef struct dpi_ntt dpi_ntt;

typedef struct dpi_ntt_terms {
    size_t n;
    const uint64_t *const *a, *const *b, *const *e; /* [n] */
} dpi_ntt_terms;

typedef struct dpi_ntt_kernel {
    const char *name;
    bool (*runs_here)(void);
    size_t least_n; /* shorter transforms are left to the portable kernel */
    int bits;       /* factors have floor(w 2^bits / q) beside them */
    void (*forward)(const dpi_ntt *t, uint64_t *a /* [n] */);
    void (*inverse)(const dpi_ntt *t, uint64_t *a /* [n] */);
    /* c = a b and c = c + a b, place by place; may alias. */
    void (*multiply)(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
    void (*multiply_add)(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
    /* c = the sum of a[i] b[i], d = that of a[i] e[i], i < terms, place by place. */
    void (*inner)(const dpi_ntt *t, const dpi_ntt_terms *terms, uint64_t *c, uint64_t *d);
    /* c = the sum of w[i] a[i], i < terms, place by place, w[i] < q and a[i] < 2^50, which need not
     * be below q. */
    void (*weigh)(const dpi_ntt *t, size_t terms, const uint64_t *const *a, const uint64_t *w,
                  uint64_t *c);
    /* c = a + b and c = a - b, place by place; may alias. */
    void (*add)(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
    void (*subtract)(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
    /* a = w a, `beside` being dpi_ntt_beside of w. */
    void (*scale)(const dpi_ntt *t, uint64_t w, uint64_t beside, uint64_t *a);
} dpi_ntt_kernel;

extern const dpi_ntt_kernel dpi_ntt_portable;
extern const dpi_ntt_kernel dpi_ntt_avx2; /* runs_here says whether it may be called */
extern const dpi_ntt_kernel dpi_ntt_ifma; /* likewise */

struct dpi_ntt {
    dpi_modulus m;
    size_t n;
    const dpi_ntt_kernel *kernel;
    /* Powers of zeta and of its inverse in the order in which the transforms read them, and what
     * the kernel has beside them. */
    uint64_t *root, *root_beside, *back, *back_beside; /* [n] */
    /* 1/n and back[1]/n, of the last stage of the inverse. */
    uint64_t last[2], last_beside[2];
    /* 1 and 2^52, for sums of products in halves of 52 bits. */
    uint64_t whole[2], whole_beside[2];
};

/* The fastest kernel that runs here. */
const dpi_ntt_kernel *dpi_ntt_best(void);

/* Makes *t for n, a power of two of 2 .. 2^17, and a prime q = 1 mod 2n below 2^50; kernel NULL:
 * the best.  To be freed with dpi_ntt_free. DP_EINVAL n or q are not such; DP_EUNSUPPORTED the
 * kernel does not run here; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ntt_new(size_t n, uint64_t q, const dpi_ntt_kernel *kernel, dpi_ntt **t,
                                    dp_error *err);
void dpi_ntt_free(dpi_ntt *t);

/* What t's kernel wants beside a factor w < q: floor(w 2^bits / q). */
uint64_t dpi_ntt_beside(const dpi_ntt *t, uint64_t w);

/* Both in place, residues in [0, q). */
void dpi_ntt_forward(const dpi_ntt *t, uint64_t *a /* [n] */);
void dpi_ntt_inverse(const dpi_ntt *t, uint64_t *a /* [n] */);

#endif
