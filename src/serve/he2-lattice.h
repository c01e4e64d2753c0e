/* What the files of the lattice's row share. */
#ifndef DPI_SERVE_HE2_LATTICE_H
#define DPI_SERVE_HE2_LATTICE_H

#include "crypto/lattice.h"
#include "serve/masks.h"

/* What both sides derive from the plan. */
typedef struct dpi_lattice_common {
    dpi_serve_plan plan;
    dpi_bfv *f;
    dpi_lattice_plan layer[DPI_SERVE_LAYERS];
    bool windowed[DPI_SERVE_LAYERS]; /* a convolution in its shape */
} dpi_lattice_common;

dp_status dpi_lattice_common_make(const dpi_serve_plan *plan, dpi_mode mode, dpi_lattice_common *c,
                                  dp_error *err) DP_MUST_CHECK;
void dpi_lattice_common_free(dpi_lattice_common *c);

/* DP_EUNSUPPORTED a layer in mode permute, which is a matrix, is too large. */
dp_status dpi_lattice_check(const dpi_serve_plan *plan, dpi_mode mode, dp_error *err) DP_MUST_CHECK;

/* dpi_serve_row.cost. */
dp_status dpi_lattice_cost(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                           dpi_serve_cost *cost, dp_error *err) DP_MUST_CHECK;

/* Images in the order of crypto/lattice.h, to[c][pixel] = from[pixel][c], and back. */
void dpi_lattice_to_planes(size_t pixels, size_t channels, const int64_t *from, int64_t *to);
void dpi_lattice_from_planes(size_t pixels, size_t channels, const int64_t *from, int64_t *to);

/* ---- the client's part of the row (he2-lattice-ask.c) ---- */

dp_status dpi_lattice_client_new(const dpi_serve_plan *plan, dpi_mode mode,
                                 const dpi_serve_opts *opts, void **client,
                                 dp_error *err) DP_MUST_CHECK;
void dpi_lattice_client_free(void *client);
void dpi_lattice_write_key(const void *client, unsigned char *to);
dp_status dpi_lattice_encrypt(void *client, size_t layer, const int64_t *values, unsigned char *up,
                              dpi_pool *pool, size_t threads, dp_error *err) DP_MUST_CHECK;
dp_status dpi_lattice_decrypt(void *client, size_t layer, const unsigned char *down,
                              int64_t *values, dpi_pool *pool, size_t threads,
                              dp_error *err) DP_MUST_CHECK;

/* dpi_serve_masked's. */
dp_status dpi_lattice_mask(void *client, size_t layer, const int64_t *values, unsigned char *up,
                           dpi_pool *pool, size_t threads, dp_error *err) DP_MUST_CHECK;
dp_status dpi_lattice_keep(void *client, size_t layer, const unsigned char *down, int64_t *values,
                           dpi_pool *pool, size_t threads, dp_error *err) DP_MUST_CHECK;
dp_status dpi_lattice_send(void *client, size_t layer, const int64_t *values, unsigned char *up,
                           dpi_pool *pool, size_t threads, dp_error *err) DP_MUST_CHECK;
dp_status dpi_lattice_take(void *client, size_t layer, const unsigned char *down, int64_t *values,
                           dpi_pool *pool, size_t threads, dp_error *err) DP_MUST_CHECK;

#endif
