/* Starting values of parameters: the rule a site has, and the numbers it gives. */
#ifndef DPI_MODEL_INIT_H
#define DPI_MODEL_INIT_H

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"

/* What is wrong with a rule for a weight of that many rows, or NULL. */
const char *dpi_init_wrong(const dp_init *init, size_t rows);

/* Writes the start of the parameter `name` of this shape to out[dpi_shape_size].  Rules other than
 * a constant are for matrices [rows][columns].  DP_ENOMEM; DP_EENTROPY where the system has no
 * randomness at all, which libsodium needs to start. */
dp_status dpi_start_values(const dpi_start *start, const char *name, const dpi_shape *shape,
                           double *out, dp_error *err) DP_MUST_CHECK;

#endif
