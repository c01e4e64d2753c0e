/* The sums that a run without noise has opened, on the disk: a run that goes on after a crash has
 * them from here, and opens none a second time.  (With noise the fit's journal has them.)
 *
 * What is there is what all owners have seen; still it is this owner's alone. */
#ifndef DPI_SILO_SUMS_H
#define DPI_SILO_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "silo/post.h"

typedef struct dpi_silo_sums dpi_silo_sums;

/* Opens the file, or makes one that only its owner can read; `whose` is dpi_silo_state_whose.  A
 * sum at its end that a crash has cut off is taken away: its round is in the state, and is made
 * again.  DP_ESTATE it is of another plan or owner; DP_EDATA it is no such file, or a sum is not as
 * it was written; DP_EPRIVACY others can read it; DP_EIO; DP_ENOMEM.  The file is not changed
 * then. */
dp_status dpi_silo_sums_open(const char *path, const unsigned char whose[DPI_SILO_HASH],
                             dpi_silo_sums **s, dp_error *err) DP_MUST_CHECK;
void dpi_silo_sums_close(dpi_silo_sums *s);

/* Sums that were read or added, and whether there are more to read. */
uint64_t dpi_silo_sums_done(const dpi_silo_sums *s);
bool dpi_silo_sums_ahead(const dpi_silo_sums *s);

/* values[n] = the next sum.  DP_ESTATE it is one of another question; DP_EDATA it is not
 * as it was written; DP_EIO; DP_ENOMEM. */
dp_status dpi_silo_sums_next(dpi_silo_sums *s, const unsigned char question[32], size_t n,
                             uint64_t *values, dp_error *err) DP_MUST_CHECK;

/* Adds values[n] behind all others, and waits for the disk.  DP_EIO, after which nothing is added
 * any more; DP_ENOMEM. */
dp_status dpi_silo_sums_add(dpi_silo_sums *s, const unsigned char question[32], size_t n,
                            const uint64_t *values, dp_error *err) DP_MUST_CHECK;

#endif
