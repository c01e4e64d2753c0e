/* Linear layers over ciphertexts: out_o = prod_i c_i^{w_oi} E(b_o) E(0), eight outputs at a time.
 *
 * Weights are the secret of the side that computes.  Its time depends on the layer's shape and the
 * declared bits of a weight alone; memory is touched where weights say. */
#ifndef DPI_CRYPTO_DENSE_H
#define DPI_CRYPTO_DENSE_H

#include "crypto/paillier.h"
#include "crypto/slots.h"
#include "crypto/zeros.h"

/* All arrays are copied.  Without begin every output has every input and its own weights,
 * weights [outputs][inputs].  With it, output o has the terms begin[o] to begin[o + 1] - 1, each an
 * input and the number of a weight: a convolution's outputs share weights. */
typedef struct dpi_dense_layer {
    size_t inputs, outputs, n_weights;
    const int32_t *weights; /* [n_weights], |w| < 2^weight_bits */
    const size_t *begin;    /* [outputs + 1], begin[0] = 0; or NULL */
    const uint32_t *input;  /* [begin[outputs]] */
    const uint32_t *weight; /* [begin[outputs]] */
    const int64_t *bias;    /* [outputs]; NULL: none */
    unsigned weight_bits;   /* 1 ... 32 */
    dpi_slots slots;        /* requests that each input holds, and so each output; {0}: one */
} dpi_dense_layer;

typedef enum dpi_dense_method {
    DPI_DENSE_BEST,
    DPI_DENSE_BUCKETS,
    DPI_DENSE_TABLES
} dpi_dense_method;

typedef struct dpi_dense dpi_dense;               /* a layer; const once made */
typedef struct dpi_dense_inputs dpi_dense_inputs; /* one request's inputs; const once made */

/* *dense [out], owned by the caller.  The method and the window, of 1 ... 12 bits, are those of
 * least work unless they are asked for (window 0: the best).  DP_EINVAL, DP_EDOMAIN for a weight
 * beyond its bits, DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_dense_new(const dpi_dense_layer *layer, dpi_dense_method method,
                                      unsigned window, dpi_dense **dense, dp_error *err);
void dpi_dense_free(dpi_dense *dense);

/* Products, eight at a time, one behind the other on two threads, inputs and all: for comparison
 * with narrow.h. */
double dpi_dense_cost(const dpi_dense_layer *layer);

/* What was chosen. */
dpi_dense_method dpi_dense_how(const dpi_dense *dense, unsigned *window);

/* Takes c[inputs] of the other side, computes inverses and tables.  The key is borrowed.
 * DP_EINVAL when slots do not fit the key, DP_EPEER when one is no ciphertext, DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_dense_take(const dpi_dense *dense, const dpi_paillier_public *key,
                                       const mp_limb_t *c, dpi_dense_inputs **inputs,
                                       dp_error *err);
void dpi_dense_inputs_free(dpi_dense_inputs *inputs);

/* out[to - from] = outputs from ... to - 1: parts may be computed side by side.  Without zeros
 * (NULL) they are for further sums, and nobody's to see.  DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_dense_outputs(const dpi_dense *dense, const dpi_dense_inputs *inputs,
                                          dpi_zeros *zeros, size_t from, size_t to, mp_limb_t *out,
                                          dp_error *err);

#endif
