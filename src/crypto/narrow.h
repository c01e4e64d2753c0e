/* Linear layers of few outputs over ciphertexts: out_o = prod_i c_i^{w_oi} E(b_o) E(0), the inputs
 * of one output spread over lanes and threads.
 *
 *   u_oi = w_oi + 2^bits > 0          A = prod_i c_i          out_o = prod_i c_i^{u_oi} A^{-2^bits}
 *
 * No weight is negative then, so there is one inverse instead of one for each input, and it is
 * there just if all inputs are ciphertexts.  Digits of u_oi go by buckets, a chain of products for
 * each output, window and part of the inputs; eight chains are a group, and groups may be computed
 * side by side.
 *
 * Time depends on the layer's shape and the bits of a weight alone; memory is touched where weights
 * say, as in dense.h. */
#ifndef DPI_CRYPTO_NARROW_H
#define DPI_CRYPTO_NARROW_H

#include "crypto/dense.h"

typedef struct dpi_narrow dpi_narrow;           /* a layer; const once made */
typedef struct dpi_narrow_desk dpi_narrow_desk; /* what one request at a time is worked on with */

/* The layer's `begin` and slots must be NULL and {0}.  Arrays are copied.  *narrow [out] owned by
 * the caller.  window is of 1 ... 8 bits, 0: the best.  DP_EINVAL, DP_EDOMAIN for a weight beyond
 * its bits, DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_narrow_new(const dpi_dense_layer *layer, unsigned window,
                                       dpi_narrow **narrow, dp_error *err);
void dpi_narrow_free(dpi_narrow *narrow);

/* Products, eight at a time, one behind the other on two threads: whether it is worth it. */
double dpi_narrow_cost(const dpi_dense_layer *layer);

/* Both are borrowed.  groups: to be computed by so many threads.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_narrow_desk_new(const dpi_narrow *narrow,
                                            const dpi_paillier_public *key, size_t threads,
                                            dpi_narrow_desk **desk, dp_error *err);
void dpi_narrow_desk_free(dpi_narrow_desk *desk);

/* One request, in three steps.  Takes c[to - from], inputs from ... to - 1; parts may be taken side
 * by side.  DP_EPEER when one is no residue. */
DP_MUST_CHECK dp_status dpi_narrow_take(dpi_narrow_desk *desk, size_t from, size_t to,
                                        const mp_limb_t *c, dp_error *err);

/* When all are taken: groups from ... to - 1, side by side or not. */
size_t dpi_narrow_groups(const dpi_narrow_desk *desk);
DP_MUST_CHECK dp_status dpi_narrow_multiply(dpi_narrow_desk *desk, size_t from, size_t to,
                                            dp_error *err);

/* When all are multiplied: out[outputs].  Zeros as in dpi_dense_outputs.  DP_EPEER when an input
 * was no ciphertext, DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_narrow_finish(dpi_narrow_desk *desk, dpi_zeros *zeros, mp_limb_t *out,
                                          dp_error *err);

#endif
