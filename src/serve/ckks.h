/* What the files of the row of CKKS share. */
#ifndef DPI_SERVE_CKKS_H
#define DPI_SERVE_CKKS_H

#include "serve/circuit.h"
#include "serve/protocol.h"

/* A key: the public one, one for products where there are such, and one a rotation. */
size_t dpi_ckks_row_key(const dpi_circuit *c);

/* Bytes of an answer. */
size_t dpi_ckks_row_answer(const dpi_circuit *c);

/* ---- the client's part of the row (ckks-ask.c) ---- */

dp_status dpi_ckks_client_new(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                              void **client, dp_error *err) DP_MUST_CHECK;
void dpi_ckks_client_free(void *client);
void dpi_ckks_client_write_key(const void *client, unsigned char *to);
dp_status dpi_ckks_client_encrypt(void *client, size_t layer, const int64_t *values,
                                  unsigned char *up, dpi_pool *pool, size_t threads,
                                  dp_error *err) DP_MUST_CHECK;
dp_status dpi_ckks_client_decrypt(void *client, size_t layer, const unsigned char *down,
                                  int64_t *values, dpi_pool *pool, size_t threads,
                                  dp_error *err) DP_MUST_CHECK;

#endif
