/* Openings of a regression by three parties: of what is on everybody's disk, and once
 * (trio-state.h). */
#ifndef DPI_SILO_TRIO_OPENINGS_H
#define DPI_SILO_TRIO_OPENINGS_H

#include "silo/trio.h"

typedef struct dpi_trio_opener {
    const dpi_silo_trio_opts *o;
    bool asked; /* the caller, by `begin` */
} dpi_trio_opener;

/* Opens x[d], the sum of a step that was taken from w[d], to all, and h[d] is it.  Without noise x
 * is coefficients: each block is opened to its owner, all to owners of rows, or all to all, and h
 * is what this party is told, else what it was.  Errors of the state and of `begin`; after an error
 * of the mesh DP_OK. */
DP_MUST_CHECK dp_status dpi_trio_open_sum(dpi_trio_opener *opener, uint64_t step, const int64_t *w,
                                          const dpi_share *x, int64_t *h, dp_error *err);

/* The same of the step before the first, where the state has it kept; x is room for it.
 *   *is_news  [out] it was opened, and this party has not got the coefficients behind it */
DP_MUST_CHECK dp_status dpi_trio_open_again(dpi_trio_opener *opener, const dpi_share *x, int64_t *h,
                                            bool *is_news, dp_error *err);

/* Keeps coefficients, and tells the others that it has.  DP_OK they are this party's own, whatever
 * becomes of the others. */
DP_MUST_CHECK dp_status dpi_trio_open_end(dpi_trio_opener *opener, const int64_t *w, dp_error *err);

#endif
