/* Queries whose encrypted part is done before there is a question (doc/design/serve.md).
 *
 * Modulo 2^bits: the client has masks b and shares d = W b - r, the provider masks r.  A query is
 * x - b upwards and z = W (x - b) + bias + r downwards; z + d = W x + bias.  What is kept of a
 * layer serves once and is wiped then. */
#ifndef DPI_SERVE_MASKS_H
#define DPI_SERVE_MASKS_H

#include "base/pool.h"
#include "crypto/rlwe-sample.h"
#include "serve/protocol.h"

typedef enum dpi_masks_side { DPI_MASKS_CLIENT, DPI_MASKS_PROVIDER } dpi_masks_side;

typedef struct dpi_masks dpi_masks;

/* Of numbers of 1 ... 63 bits; the plan is borrowed. */
dp_status dpi_masks_new(const dpi_serve_plan *plan, int bits, dpi_masks_side side, dpi_masks **m,
                        dp_error *err) DP_MUST_CHECK;
void dpi_masks_free(dpi_masks *m); /* wipes; NULL is allowed */

/* Bytes of n numbers. */
size_t dpi_masks_bytes(int bits, size_t n);

/* ---- the client ---- */

/* New masks of a layer, [inputs], valid until the layer is used. */
const int64_t *dpi_masks_draw(dpi_masks *m, size_t layer, dpi_rlwe_stream *random);

/* Keeps the shares d[sent] of the layer whose masks were drawn. */
void dpi_masks_keep(dpi_masks *m, size_t layer, const int64_t *d);

/* Writes x - b; then reads z and uses the layer up.  DP_ESTATE nothing is kept of it; DP_EPEER a
 * number is beyond the layer's bits; y is 0 then. */
dp_status dpi_masks_send(dpi_masks *m, size_t layer, const int64_t *x, unsigned char *up,
                         dp_error *err) DP_MUST_CHECK;
dp_status dpi_masks_open(dpi_masks *m, size_t layer, const unsigned char *down, int64_t *y,
                         dp_error *err) DP_MUST_CHECK;

/* ---- the provider ---- */

/* New masks of a layer in that order, and less[sent] = -r, to be added to W b. */
void dpi_masks_begin(dpi_masks *m, size_t layer, const dpi_serve_order_pair *order,
                     dpi_rlwe_stream *random, int64_t *less);

/* z of what came up, and uses the layer up.  DP_ESTATE, DP_EPEER, DP_ENOMEM. */
dp_status dpi_masks_answer(dpi_masks *m, size_t layer, const dpi_serve_map *map,
                           const unsigned char *up, unsigned char *down, dpi_pool *pool,
                           size_t threads, dp_error *err) DP_MUST_CHECK;

#endif
