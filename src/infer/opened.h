/* Releases of several owners: each adds its share of the noise, and they open the sum together. */
#ifndef DPI_INFER_OPENED_H
#define DPI_INFER_OPENED_H

#include "infer/scan.h"

/* The release of s->whole, which has the integers of this owner's records: with its share of noise
 * it goes to owners->open, and what that gives is the release.  s->whole is wiped.  Of what was
 * `made` before nothing is opened, and a seeded source that repeats it only draws.  Collective over
 * the owner's ranks behind their meeting: those of all add up to the owner's, and rank 0 has the
 * release.
 * Errors of the source of noise and of open; DP_EDATA, DP_EUNSUPPORTED where sums could overflow. */
dp_status dpi_opened_release(dpi_scan *s, const dpi_pass *pass, bool made, double *out,
                             dp_error *err) DP_MUST_CHECK;

#endif
