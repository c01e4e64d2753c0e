/* Sums over rows of one owner's columns times another owner's numbers, X's, that only the first
 * sees, and only with what the second adds (doc/design/silo-columns.md).
 *
 *   both    dpi_columns_sum_new: the same public shape
 *   owner   dpi_columns_sum_offer: encrypted columns, sent once
 *   other   dpi_columns_sum_take; then for each step dpi_columns_sum_answer with its s and noise
 *   owner   dpi_columns_sum_open: X's + added, exactly, where it fits
 *
 * The other side sees ciphertexts alone; the owner sees the results, and of s besides at most what
 * plan.bits says.  A stream of random numbers that makes an offer or an answer makes nothing else,
 * but the same again.  An object is one side's, and belongs to one thread. */
#ifndef DPI_SILO_COLUMNS_SUM_H
#define DPI_SILO_COLUMNS_SUM_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "crypto/lattice.h"

/* Bits of a result with sign, all results being taken modulo 2^that; and the most columns. */
enum { DPI_COLUMNS_SUM_BITS = 46, DPI_COLUMNS_SUM_MOST = 1024 };

typedef struct dpi_columns_sum {
    dpi_bfv *f;
    dpi_lattice_plan plan;
    size_t offer_bytes;           /* of what the owner sends once: its public key and the columns */
    dpi_bfv_secret *secret;       /* the owner's */
    dpi_bfv_cipher *key;          /* the owner's public key, at the other side */
    dpi_lattice_queries *columns; /* there likewise; NULL before dpi_columns_sum_take */
} dpi_columns_sum;

/* Makes a side's object.
 *   rows     1 ... 2^20     columns  1 ... DPI_COLUMNS_SUM_MOST
 *   s_most   the most that a number s can be in magnitude, 1 ... 2^30
 *   bits     of circuit privacy that every answer has at least
 * DP_ESHAPE, DP_EPRIVACY there are no such parameters; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_columns_sum_new(size_t rows, size_t columns, int64_t s_most,
                                            double bits, dpi_columns_sum **sum, dp_error *err);
void dpi_columns_sum_free(dpi_columns_sum *sum); /* wipes; NULL is allowed */

/* Draws a key and encrypts x, each |x| < 2^(DPI_COLUMNS_SUM_BITS - 1), to[offer_bytes].
 * DP_ESTATE a second time; DP_ENOMEM.  After an error `to` is zeros. */
DP_MUST_CHECK dp_status dpi_columns_sum_offer(dpi_columns_sum *sum,
                                              const int64_t *x /* [rows][columns] */,
                                              dpi_rlwe_stream *random, unsigned char *to,
                                              dp_error *err);

/* Takes the owner's bytes.  DP_EPEER they are none; DP_ESTATE a second time; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_columns_sum_take(dpi_columns_sum *sum, size_t n_bytes,
                                             const unsigned char *from, dp_error *err);

/* to[plan.answer_bytes] = an answer, for the owner.  DP_EDOMAIN a number beyond s_most; DP_ESTATE
 * before dpi_columns_sum_take; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_columns_sum_answer(dpi_columns_sum *sum, const int32_t *s /* [rows] */,
                                               const int64_t *added /* [columns] */,
                                               dpi_rlwe_stream *random, unsigned char *to,
                                               dp_error *err);

/* result[columns] = X's + added.  DP_EPEER bytes that are no answer; DP_ESTATE nothing was
 * offered; then result is zeros. */
DP_MUST_CHECK dp_status dpi_columns_sum_open(dpi_columns_sum *sum, size_t n_bytes,
                                             const unsigned char *from,
                                             int64_t *result /* [columns] */, dp_error *err);

#endif
