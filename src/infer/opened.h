/* Releases of several owners: each adds its share of the noise, and they open the sum together. */
#ifndef DPI_INFER_OPENED_H
#define DPI_INFER_OPENED_H

#include "infer/scan.h"

/* Whether there can be such owners: DP_EINVAL. */
dp_status dpi_opened_check(const dp_owners *owners, dp_error *err) DP_MUST_CHECK;

/* What the noise of a release is more than that which guards against those who know the shares of
 * others: 1 for one owner. */
double dpi_opened_excess(const dp_owners *owners);

/* The release of s->whole, which has the integers of this owner's records: with its share of noise
 * it goes to owners->open, and what that gives is the release.  s->whole is wiped.  A seeded source
 * that repeats what was made before only draws.
 * Errors of the source of noise and of open; DP_EUNSUPPORTED where sums could overflow. */
dp_status dpi_opened_release(dpi_scan *s, const dpi_pass *pass, double *out,
                             dp_error *err) DP_MUST_CHECK;

#endif
