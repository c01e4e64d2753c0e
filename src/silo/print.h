/* Programs, parts and what is seen of them, as text that a person can read and that has one
 * form. */
#ifndef DPI_SILO_PRINT_H
#define DPI_SILO_PRINT_H

#include "base/bytes.h"
#include "silo/check.h"

/* Appends text of a format, at most 511 bytes, to b. */
void dpi_silo_say(dpi_bytes *b, const char *format, ...) DPI_PRINTF(2, 3);

/* Appends the joint program; what each party runs; what each sees of others; and what each sends
 * over all openings. */
void dpi_silo_print(const dpi_silo_program *p, const dpi_silo_part *parts /* [who.n] */,
                    size_t n_views, const dpi_silo_view *views, dpi_bytes *to);

/* Epsilon at p->delta against somebody who knows the shares of `known` owners and does without
 * those of who may drop out; +INFINITY where no share is left, or an opening has no noise. */
dp_status dpi_silo_epsilon(const dpi_silo_program *p, size_t known, double *epsilon,
                           dp_error *err) DP_MUST_CHECK;

#endif
