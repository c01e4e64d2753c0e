/* Releases of several owners: each adds its share of the noise, and they open the sum together. */
#ifndef DPI_INFER_OPENED_H
#define DPI_INFER_OPENED_H

#include "infer/scan.h"

/* The release of s->whole, which has the integers of this owner's records: with its share of noise
 * it goes to owners->open, and what that gives is the release.  s->whole is wiped.  A seeded source
 * that repeats what was made before only draws.
 * Errors of the source of noise and of open; DP_EUNSUPPORTED where sums could overflow. */
dp_status dpi_opened_release(dpi_scan *s, const dpi_pass *pass, double *out,
                             dp_error *err) DP_MUST_CHECK;

#endif
