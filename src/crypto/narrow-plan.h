/* The insides of a layer of few outputs. */
#ifndef DPI_CRYPTO_NARROW_PLAN_H
#define DPI_CRYPTO_NARROW_PLAN_H

#include "crypto/narrow.h"

struct dpi_narrow {
    size_t inputs, outputs, windows;
    unsigned bits, window; /* of |w|; of a digit */
    uint64_t *lifted;      /* [outputs][inputs] u */
    int64_t *bias;         /* [outputs], or NULL */
    int64_t *sum;          /* [outputs] of w */
};

struct dpi_narrow_desk {
    const dpi_narrow *of;
    const dpi_paillier_public *key;
    const dpi_montgomery *m;
    size_t groups;
    uint64_t *memory;  /* what the others lie in */
    uint64_t *missing; /* [blocks] eights R^{sum w}, a block is eight outputs */
    uint64_t *one;     /* residues from here on: 1, */
    uint64_t *input;   /* [inputs], */
    uint64_t *result;  /* [2: powers, products][8 groups], of chains, */
    uint64_t *joined;  /* [pairs + 1], of outputs and windows; the last is A, */
    uint64_t *buckets; /* [groups][8 2^window] */
};

/* Pairs of output and window: pair p is output p / windows, window p % windows. */
size_t dpi_narrow_pairs(const dpi_narrow *narrow);

/* Pair p has chains dpi_narrow_begin(p) ... dpi_narrow_begin(p + 1) - 1 of 8 groups, a part of the
 * inputs each. */
size_t dpi_narrow_begin(const dpi_narrow *narrow, size_t groups, size_t p);

#endif
